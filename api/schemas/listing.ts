import Joi from 'joi';

import {
  FILE_ORDERS,
  type FileFilters,
  type FileListing,
  MAX_PAGE_LIMIT,
  type Page,
} from '../../contract/files/fileFilters.js';
import { integer, orNull, strings } from './fields.js';
import { hasConditions, tagFilter, tagTree } from './tags.js';
import type { Infer, Present, Shape } from './inferred.js';
import { named } from './reference.js';
import { embeddingModel, sourceType, fileSyncStatus, orderDirection, typeAtSource } from './enums.js';

/** Maximum number of values per list in a filter, to limit the size of the query. */
export const MAX_MEMBERS = 10_000;

export const idList = () => Joi.array().items(integer()).max(MAX_MEMBERS);
/** Maximum length of a text to search in names and messages: MongoDB rejects very long patterns. */
const MAX_SUBSTRING = 2_048;

const substring = () => Joi.string().allow('').max(MAX_SUBSTRING);

/** Returns the schema of page size, offset and start of a list. */
export const pagination = () =>
  named(
    'Pagination',
    Joi.object({
      limit: integer()
        .min(1)
        .max(MAX_PAGE_LIMIT)
        .default(10)
        .description('Maximum number of records in the response. `count` has the number of all that match.'),
      offset: integer()
        .min(0)
        .default(0)
        .description(
          'Number of matching records to skip before the first one of the response. For long lists, use `starting_id` instead: skipped records take time.',
        ),
      starting_id: integer()
        .min(0)
        .default(0)
        .description(
          'Only records with a higher `id` than this one, so 0 means all. In lists of chunks, it is compared with the id of the file.',
        ),
    }).description(
      'Which part of a list is returned. `count` of the response does not depend on `limit` and `offset`.',
    ),
  )
    .default({ limit: 10, offset: 0, starting_id: 0 })
    .description('Which part of the list to return. Absent: the first 10 records.');

type PaginationBody = Infer<ReturnType<typeof pagination>>;

/** Returns the file filters of lists of files and chunks, /delete_files_v2, /files/reembed and cold storage. */
export const fileFilters = () =>
  named(
    'OrganizationUserFilesToSyncFilters',
    Joi.object({
      source: orNull(Joi.alternatives(sourceType(), Joi.array().items(sourceType()))).description(
        'Only files of this source, or of one of these sources. For uploads it is the format, such as `PDF`. Null: all sources.',
      ),
      name: orNull(substring()).description(
        'Only files whose name contains this text, ignoring case; at most 2,048 characters. Null or empty: all files.',
      ),
      tags: orNull(tagFilter()).description(
        'Only files with all of these tags; a list of values matches any of them. It is ignored if `tags_v2` has conditions. Null or `{}`: all files.',
      ),
      tags_v2: orNull(tagTree()).description(
        'Only files whose tags match these conditions, combined with AND and OR. Tags of the data source count too. Null: all files.',
      ),
      ids: orNull(idList()).description(
        'Only files with one of these values of `id`; at most 10,000. Null or empty: all files.',
      ),
      external_file_ids: orNull(strings().max(MAX_MEMBERS)).description(
        'Only files with one of these values of `external_file_id`; at most 10,000. Null or empty: all files.',
      ),
      external_urls: orNull(strings().max(MAX_MEMBERS)).description(
        'Only files whose `external_url` is exactly one of these; at most 10,000. Null or empty: all files.',
      ),
      sync_statuses: orNull(Joi.array().items(fileSyncStatus()).max(MAX_MEMBERS)).description(
        'Only files whose `sync_status` is one of these. Null or empty: files in all states.',
      ),
      parent_file_ids: orNull(idList()).description(
        'Only direct children of the files with these ids; with `include_all_children`, all descendants. Null or empty: all files.',
      ),
      organization_user_data_source_id: orNull(idList()).description(
        'Only files of the data sources with these values of `id`. Null or empty: files of all data sources and uploads.',
      ),
      embedding_generators: orNull(Joi.array().items(embeddingModel()).max(MAX_MEMBERS)).description(
        'Only files whose option `embedding_model` is one of these. Null or empty: files of all models.',
      ),
      root_files_only: orNull(Joi.boolean()).description(
        '`true`: only files without a parent. Not together with `parent_file_ids` or `include_all_children` (422). Null: `false`.',
      ),
      include_all_children: Joi.boolean()
        .default(false)
        .description(
          '`true`: widens `parent_file_ids` from direct children to all descendants. Alone it has no effect.',
        ),
      non_synced_only: Joi.boolean()
        .default(false)
        .description('`true`: only files that no sync has completed successfully yet (`last_sync` is null).'),
      request_ids: orNull(strings().max(100)).description(
        'Only files whose `request_id`, that of the latest sync, is one of these; at most 100. Null or empty: all files.',
      ),
      upload_ids: orNull(strings().max(100)).description(
        'Only files whose `upload_id`, that of the latest upload, is one of these; at most 100. Null or empty: all files.',
      ),
      sync_error_message: orNull(substring()).description(
        'Only files whose error message contains this text, ignoring case. An empty text: only files without a message. Null: all files.',
      ),
      include_containers: orNull(Joi.boolean()).description(
        '`false`: without parent files of feeds and scrapes, which have no chunks. Null and `true` include them.',
      ),
      file_types_at_source: orNull(Joi.array().items(typeAtSource()).max(MAX_MEMBERS)).description(
        'Only files of one of these types, as `FileTypeAtSource` names them: for example `TICKET` or `ARTICLE`. Null or empty: files of all types.',
      ),
    })
      .description(
        'Filters of files, combined with AND. Absent, null and empty ones filter nothing, except an empty ' +
          '`sync_error_message`.',
      )
      .custom(
        (
          filters: { root_files_only?: boolean; include_all_children: boolean; parent_file_ids?: number[] },
          helpers,
        ) => {
          const combined =
            filters.root_files_only === true &&
            (filters.include_all_children || (filters.parent_file_ids?.length ?? 0) > 0);
          return combined
            ? helpers.message({
                custom: 'root_files_only cannot be combined with parent_file_ids or include_all_children',
              })
            : filters;
        },
      ),
  );

export type FileFiltersBody = Infer<ReturnType<typeof fileFilters>>;

/** Returns the fields of a list of files: filters, order and page. */
export const listingFields = (filters: ReturnType<typeof fileFilters> & Present) => ({
  filters: filters.description('Only files that meet all of these conditions. `{}` selects all files of the caller.'),
  order_by: named(
    'OrganizationUserFilesToSyncOrderByTypes',
    Joi.string()
      .valid(...FILE_ORDERS)
      .description(
        'Field by which files are sorted. `created_at`, `updated_at`: creation and last change of the record. `last_sync`: last sync that succeeded. `file_size`: size of the content in bytes. `name`, `id`: the fields of the file.',
      ),
  )
    .default('updated_at')
    .description(
      'Field by which files are sorted, such as `updated_at`, their last change. Equal values are sorted by id.',
    ),
  order_dir: orderDirection()
    .default('asc')
    .description(
      '`asc`: the lowest or oldest first, and files without a value before all others. `desc`: the reverse. ' +
        'Files with equal values are sorted by id in the same direction.',
    ),
  pagination: pagination(),
});
export type FileListingBody = Shape<ReturnType<typeof listingFields>>;

/** Converts the filters of a request; absent ones are omitted. */
export function toFileFilters(body: FileFiltersBody): FileFilters {
  const given = {
    sources: body.source === undefined ? undefined : [body.source].flat(),
    name: body.name,
    tags: body.tags,
    tagTree: body.tags_v2 && hasConditions(body.tags_v2) ? body.tags_v2 : undefined,
    ids: body.ids,
    externalFileIds: body.external_file_ids,
    externalUrls: body.external_urls,
    syncStatuses: body.sync_statuses,
    parentFileIds: body.parent_file_ids,
    includeAllChildren: body.include_all_children,
    dataSourceIds: body.organization_user_data_source_id,
    embeddingModels: body.embedding_generators,
    rootFilesOnly: body.root_files_only,
    nonSyncedOnly: body.non_synced_only,
    requestIds: body.request_ids,
    uploadIds: body.upload_ids,
    syncErrorMessage: body.sync_error_message,
    includeContainers: body.include_containers,
    fileTypesAtSource: body.file_types_at_source,
  };
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
}

export const toPage = (body: PaginationBody): Page => ({
  limit: body.limit,
  offset: body.offset,
  startingId: body.starting_id,
});

/** Converts the body of a list of files. */
export const toListing = (body: FileListingBody): FileListing => ({
  filters: toFileFilters(body.filters),
  orderBy: body.order_by,
  orderDir: body.order_dir,
  page: toPage(body.pagination),
});
