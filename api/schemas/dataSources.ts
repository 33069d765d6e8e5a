import Joi from 'joi';

import { DATA_SOURCE_ORDERS, type DataSourceListing } from '../../contract/dataSourceFilters.js';
import { DATA_SOURCE_ACTIONS, DATA_SOURCE_SYNC_STATUSES } from '../../contract/statuses.js';
import { wholeRecord, workflowFields } from './answers.js';
import { integer, nullable, orNull, timestamp } from './fields.js';
import { idList, pagination, toPage } from './listing.js';
import { tagTree } from './tags.js';
import type { Infer } from './inferred.js';
import { named } from './reference.js';
import { sourceType, orderDirection } from './enums.js';

/** Schema of a data source record; all keys are in every response. */
export const dataSourceRecord = named(
  'OrganizationUserDataSourceAPI',
  wholeRecord({
    id: integer(),
    data_source_external_id: nullable(Joi.string().allow('')),
    data_source_type: sourceType(),
    token: nullable(Joi.object().unknown()),
    sync_status: named('DataSourceSyncStatuses', Joi.string().valid(...DATA_SOURCE_SYNC_STATUSES)),
    source_items_synced_at: nullable(timestamp()),
    organization_user_id: integer(),
    organization_id: integer(),
    organization_supplied_user_id: Joi.string(),
    revoked_access: Joi.boolean(),
    last_synced_at: timestamp(),
    last_sync_action: named('DataSourceLastSyncActions', Joi.string().valid(...DATA_SOURCE_ACTIONS)),
    enable_auto_sync: nullable(Joi.boolean()),
    created_at: timestamp(),
    updated_at: timestamp(),
    files_synced_at: nullable(timestamp()),
    data_source_metadata: Joi.object().unknown(),
    tags: Joi.object().unknown(),
    ...workflowFields,
  }),
);

/** Body of both lists of data sources. */
export const dataSourceListing = () =>
  named(
    'OrganizationUserDataSourceQueryInput',
    Joi.object({
      filters: named(
        'OrganizationUserDataSourceFilters',
        Joi.object({
          source: orNull(sourceType()),
          ids: orNull(idList()),
          revoked_access: orNull(Joi.boolean()),
          // Published front-ends send {}, which selects nothing.
          tags: tagTree()
            .allow(null)
            .empty([null, Joi.object().length(0)]),
        }),
      ).default({}),
      order_by: named('OrganizationUserDataSourceOrderByColumns', Joi.string().valid(...DATA_SOURCE_ORDERS)).default(
        'updated_at',
      ),
      order_dir: orderDirection().default('asc'),
      pagination: pagination(),
    }),
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
