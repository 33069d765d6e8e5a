import Joi from 'joi';

import { DATA_SOURCE_ORDERS, type DataSourceListing } from '../../contract/accounts/dataSourceFilters.js';
import { DATA_SOURCE_ACTIONS, DATA_SOURCE_SYNC_STATUSES } from '../../contract/files/statuses.js';
import { wholeRecord, workflowFields } from './answers.js';
import { integer, nullable, orNull, timestamp } from './fields.js';
import { idList, pagination, toPage } from './listing.js';
import { tagTree, storedTags } from './tags.js';
import type { Infer } from './inferred.js';
import { alsoAccepting, named } from './reference.js';
import { sourceType, orderDirection } from './enums.js';

/** Schema of a data source record; all keys are in every response. */
export const dataSourceRecord = named(
  'OrganizationUserDataSourceAPI',
  wholeRecord({
    id: integer().description(
      'Id of the data source, for `data_source_id` of requests. Connecting the account again does not change it.',
    ),
    data_source_external_id: nullable(Joi.string().allow('')).description(
      'Type and account at the source, such as `GOOGLE_DRIVE|name@example.com`. Connecting the same account again changes this record. Null if the source has no name for the account.',
    ),
    data_source_type: sourceType().description(
      'Service of the account, such as `GOOGLE_DRIVE`; `RSS_FEED` for a feed.',
    ),
    token: nullable(Joi.object().unknown()).description(
      '`{}` if credentials are stored, null if not. The credentials themselves are never returned.',
    ),
    sync_status: named(
      'DataSourceSyncStatuses',
      Joi.string()
        .valid(...DATA_SOURCE_SYNC_STATUSES)
        .description(
          'State of the listing of an account, not of its files. `QUEUED_FOR_SYNCING`: it waits. `SYNCING`: it is in progress. `READY`: no listing is in progress. `SYNC_ERROR`: the last listing failed; `items_error` in `data_source_metadata` says why.',
        ),
    ).description('State of the latest listing of the account. `READY`: no listing is in progress.'),
    source_items_synced_at: nullable(timestamp()).description(
      'When the account was last listed completely. Null before the first listing.',
    ),
    organization_user_id: integer().description(
      '`id` of the end user who connected the account, as `POST /list_users` returns it.',
    ),
    organization_id: integer().description(
      '`id` of the organization whose end user connected the account, as `GET /organization` returns it.',
    ),
    organization_supplied_user_id: Joi.string().description(
      'Your id of the end user who connected the account, as in the header `customer-id`.',
    ),
    revoked_access: Joi.boolean().description(
      '`true`: the credentials were deleted, by a request or because the source refused them. Connect the account again to sync it.',
    ),
    last_synced_at: timestamp().description(
      'When `last_sync_action` was set, also if it was the same action again. It is not the time of a sync.',
    ),
    last_sync_action: named(
      'DataSourceLastSyncActions',
      Joi.string()
        .valid(...DATA_SOURCE_ACTIONS)
        .description(
          'Last change of a data source. `ADD`: connected, or connected again. `UPDATE`: a request to sync items was accepted. `CANCEL`: the user refused a renewed consent, or cancelled the choice of items. `REVOKE`: access ended. The event of the same name reports it.',
        ),
    ).description('What last happened to the connection; `last_synced_at` says when.'),
    enable_auto_sync: nullable(Joi.boolean()).description(
      'Whether this account is synced automatically, as its connection requested. Null: `auto_sync_enabled_sources` of the user or the organization applies.',
    ),
    created_at: timestamp().description(
      'When the account was connected for the first time, in UTC. Connecting it again does not change it.',
    ),
    updated_at: timestamp().description('When any field of the record last changed, in UTC, for example by a listing.'),
    files_synced_at: nullable(timestamp()).description(
      'When a run that syncs its files last ended. Null before the first one.',
    ),
    data_source_metadata: Joi.object()
      .unknown()
      .description(
        'Details of the account by name, and open problems: `items_error` (why a listing failed), `files_error` (why a sync found no files), `files_paused` (a sync is paused at its `max_tokens`), `items_refused` (inaccessible items), `deletions_held` (number of files), `tags_pending` (a change of tags was interrupted).',
      ),
    tags: storedTags().description('Tags of the data source, by key. Its files have them too.'),
    ...workflowFields,
  }).description('A connected account, or a feed, of an end user. Files that are synced from it refer to its `id`.'),
);

/** Returns the schema of the body of both lists of data sources. */
export const dataSourceListing = () =>
  named(
    'OrganizationUserDataSourceQueryInput',
    Joi.object({
      filters: named(
        'OrganizationUserDataSourceFilters',
        Joi.object({
          source: orNull(sourceType()).description('Only accounts of this service. Absent or null: all services.'),
          ids: orNull(idList()).description('Only data sources with these ids, at most 10,000. Null or empty: all.'),
          revoked_access: orNull(Joi.boolean()).description(
            '`false`: only accounts that can be synced. `true`: only those without access. Absent or null: both.',
          ),
          // Published front-ends send {}. It has no conditions, so it counts as absent.
          tags: alsoAccepting(
            tagTree()
              .allow(null)
              .empty([null, Joi.object().length(0)]),
            { type: 'object', maxProperties: 0 },
          ).description('Only data sources whose tags meet these conditions. `{}` and null select all.'),
        }).description(
          'Which data sources to list: by service, `id`, access and tags. A data source has to meet every filter that is set.',
        ),
      )
        .default({})
        .description('Only data sources that match these filters. `{}` selects all, also those without access.'),
      order_by: named(
        'OrganizationUserDataSourceOrderByColumns',
        Joi.string()
          .valid(...DATA_SOURCE_ORDERS)
          .description(
            '`created_at`: when the account was first connected. `updated_at`: when the record last changed, for example by a listing. Equal times are sorted by id.',
          ),
      )
        .default('updated_at')
        .description(
          'Time by which data sources are sorted: first connection (`created_at`) or last change (`updated_at`).',
        ),
      order_dir: orderDirection().default('asc').description('`asc`: the oldest first; `desc`: the newest first.'),
      pagination: pagination(),
    }).description('Which data sources to list, in which order and page. `{}` lists the first 10.'),
  );

type DataSourceListingBody = Infer<ReturnType<typeof dataSourceListing>>;

/** Converts the body of a list of data sources. */
export function toDataSourceListing({ filters, ...body }: DataSourceListingBody): DataSourceListing {
  return {
    filters: {
      ...(filters.source === undefined ? {} : { type: filters.source }),
      ...(filters.ids === undefined ? {} : { ids: filters.ids }),
      ...(filters.revoked_access === undefined ? {} : { revokedAccess: filters.revoked_access }),
      ...(filters.tags === undefined ? {} : { tagTree: filters.tags }),
    },
    orderBy: body.order_by,
    orderDir: body.order_dir,
    page: toPage(body.pagination),
  };
}
