import Joi from 'joi';

import {
  FILE_ORDERS,
  type FileFilters,
  type FileListing,
  MAX_PAGE_LIMIT,
  type Page,
} from '../../contract/fileFilters.js';
import { integer, orNull, strings } from './fields.js';
import { asksForTags, tagFilter, tagTree } from './tags.js';
import type { Infer, Present, Shape } from './inferred.js';
import { named } from './reference.js';
import { embeddingModel, sourceType, fileSyncStatus, orderDirection, typeAtSource } from './enums.js';

/** Maximum number of values per list in a filter, to limit the size of the query. */
export const MAX_MEMBERS = 10_000;

export const idList = () => Joi.array().items(integer()).max(MAX_MEMBERS);
/** Maximum length of a text to search in names and messages: MongoDB accepts no longer pattern. */
const MAX_SUBSTRING = 2_048;

const substring = () => Joi.string().allow('').max(MAX_SUBSTRING);

/** Page size, offset and start of a list. */
export const pagination = () =>
  named(
    'Pagination',
    Joi.object({
      limit: integer()
        .min(1)
        .max(MAX_PAGE_LIMIT)
        .default(10)
        .description('Largest number of records per page, from 1 to 10,000.'),
      offset: integer()
        .min(0)
        .default(0)
        .description(
          'Number of matching records to skip. Large offsets are slow: page with `starting_id` and `order_by: id` instead.',
        ),
      starting_id: integer()
        .min(0)
        .default(0)
        .description(
          'Only records with a higher id. 0 means all; in lists of chunks it is compared with the id of the file.',
        ),
    }).description('Which page of a list to return.'),
  ).default({ limit: 10, offset: 0, starting_id: 0 });

type PaginationBody = Infer<ReturnType<typeof pagination>>;

/** Returns the file filters, shared by every operation that selects files. */
export const fileFilters = () =>
  named(
    'OrganizationUserFilesToSyncFilters',
    Joi.object({
      source: orNull(Joi.alternatives(sourceType(), Joi.array().items(sourceType()))).description(
        'Only files of this source, or of one of these.',
      ),
      name: orNull(substring()).description(
        'Only files whose name contains this text. Upper and lower case are equal.',
      ),
      tags: orNull(tagFilter()).description(
        'Older form of `tags_v2`: all of these tags must match; a list matches any of its values. Ignored if `tags_v2` has conditions.',
      ),
      tags_v2: orNull(tagTree()).description(
        'Only files whose tags meet these conditions. An empty list of conditions matches everything.',
      ),
      ids: orNull(idList()).description(
        'Only files with one of these ids. An empty list matches everything, here and in the other lists.',
      ),
      external_file_ids: orNull(strings().max(MAX_MEMBERS)).description(
        'Only files with one of these ids at their source.',
      ),
      external_urls: orNull(strings().max(MAX_MEMBERS)).description('Only files with one of these addresses.'),
      sync_statuses: orNull(Joi.array().items(fileSyncStatus()).max(MAX_MEMBERS)).description(
        'Only files in one of these states.',
      ),
      parent_file_ids: orNull(idList()).description(
        'Only direct children of these files: pages of a scrape, attachments of a mail, items of a folder.',
      ),
      organization_user_data_source_id: orNull(idList()).description('Only files of these data sources.'),
      embedding_generators: orNull(Joi.array().items(embeddingModel()).max(MAX_MEMBERS)).description(
        'Only files with one of these embedding models.',
      ),
      root_files_only: orNull(Joi.boolean()).description(
        '`true`: only files without a parent. It cannot be combined with `parent_file_ids` or `include_all_children` (422).',
      ),
      include_all_children: Joi.boolean()
        .default(false)
        .description('With `parent_file_ids`: all descendants instead of the direct children.'),
      non_synced_only: Joi.boolean()
        .default(false)
        .description('`true`: only files that were never synced with success.'),
      request_ids: orNull(strings().max(100)).description('Only files of these requests, by their `request_id`.'),
      upload_ids: orNull(strings().max(100)).description('Only files of these uploads, by their `upload_id`.'),
      sync_error_message: orNull(substring()).description(
        'Only files whose error message contains this text. Empty: only files without an error.',
      ),
      include_containers: orNull(Joi.boolean()).description(
        '`false`: without containers, such as folders and scrapes as a whole.',
      ),
      file_types_at_source: orNull(Joi.array().items(typeAtSource()).max(MAX_MEMBERS)).description(
        'Only files of these types at their source.',
      ),
    })
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
                custom: 'root_files_only can not be combined with parent_file_ids or include_all_children',
              })
            : filters;
        },
      )
      .description(
        'Which files to select. Filters are combined with AND; null and absent ones match everything. Each list has at most 10,000 entries.',
      ),
  );

export type FileFiltersBody = Infer<ReturnType<typeof fileFilters>>;

/** Returns the fields of a list of files: filters, order and page. */
export const listingFields = (filters: ReturnType<typeof fileFilters> & Present) => ({
  filters,
  order_by: named(
    'OrganizationUserFilesToSyncOrderByTypes',
    Joi.string()
      .valid(...FILE_ORDERS)
      .description('Field of the files to order by. Equal values are ordered by id.'),
  ).default('updated_at'),
  order_dir: orderDirection().default('asc'),
  pagination: pagination(),
});
export type FileListingBody = Shape<ReturnType<typeof listingFields>>;

/** Converts the filters of the interface; absent ones are omitted. */
export function toFileFilters(body: FileFiltersBody): FileFilters {
  const given = {
    sources: body.source === undefined ? undefined : [body.source].flat(),
    name: body.name,
    tags: body.tags,
    tagTree: body.tags_v2 && asksForTags(body.tags_v2) ? body.tags_v2 : undefined,
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
