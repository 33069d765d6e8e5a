import type { QueryFilter } from 'mongoose';

import type { FileFilters } from '../../contract/files/fileFilters.js';
import { tagCondition, type TagQuery, tagTreeQuery } from '../tagQuery.js';
import { SOURCE_TYPES } from '../../contract/sources/sources.js';
import type { Tenant } from '../users/accept.js';
import type { FileDoc } from '../models/files.js';

type Query = QueryFilter<FileDoc>;

/** Returns a pattern that matches a substring. The user's text is escaped, so it is never a pattern itself. */
const substringPattern = (text: string): RegExp => new RegExp(text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'), 'i');

const anyOf = <T>(values: readonly T[] | undefined): { $in: T[] } | undefined =>
  values === undefined || values.length === 0 ? undefined : { $in: [...values] };

/** Returns the conditions of the tag filters, combined with AND. */
export function tagQueries({ tagTree, tags = {} }: FileFilters): TagQuery[] {
  if (tagTree) return [tagTreeQuery(tagTree)].filter((part) => part !== undefined);
  return Object.entries(tags).map(([key, value]) => tagCondition({ key, value }));
}

/** Returns the MongoDB query for a caller's files. It always contains the caller's organization and user. */
export function fileQuery({ organizationId, userId }: Tenant, filters: FileFilters, startingId = 0): Query {
  const query: Query = { organizationId, userId };
  const and: Query[] = [];
  const addCondition = <T>(field: string, values: readonly T[] | undefined): void => {
    const condition = anyOf(values);
    if (condition) and.push({ [field]: condition } as Query);
  };
  addCondition('_id', filters.ids);
  if (startingId > 0) and.push({ _id: { $gt: startingId } });
  // The index of external ids begins with the source, so the query names all sources.
  addCondition('source', filters.externalFileIds?.length && !filters.sources?.length ? SOURCE_TYPES : filters.sources);
  addCondition('externalFileId', filters.externalFileIds);
  addCondition('externalUrl', filters.externalUrls);
  addCondition('syncStatus', filters.syncStatuses);
  addCondition('parentId', filters.parentFileIds);
  addCondition('dataSourceId', filters.dataSourceIds);
  addCondition('options.embeddingModel', filters.embeddingModels);
  addCondition('requestId', filters.requestIds);
  addCondition('uploadId', filters.uploadIds);
  addCondition('fileTypeAtSource', filters.fileTypesAtSource);
  if (filters.name !== undefined && filters.name !== '') and.push({ name: substringPattern(filters.name) });
  if (filters.createdFrom) and.push({ createdAt: { $gte: filters.createdFrom } });
  if (filters.createdBefore) and.push({ createdAt: { $lt: filters.createdBefore } });
  if (filters.rootFilesOnly === true) and.push({ parentId: null });
  if (filters.nonSyncedOnly === true) and.push({ lastSync: null });
  if (filters.includeContainers === false) and.push({ isContainer: false });
  if (filters.syncErrorMessage === '') and.push({ syncErrorMessage: null });
  else if (filters.syncErrorMessage !== undefined)
    and.push({ syncErrorMessage: substringPattern(filters.syncErrorMessage) });
  and.push(...tagQueries(filters));
  return and.length === 0 ? query : { ...query, $and: and };
}
