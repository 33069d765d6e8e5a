import type { Model, SortOrder } from 'mongoose';

import type { FileFilters, FileListing, FileOrder } from '../../contract/fileFilters.js';
import type { EmbeddingModelId } from '../../contract/embeddingModels.js';
import { inParts } from '../inParts.js';
import type { Tenant } from '../users/accept.js';
import { fileQuery } from './filter.js';
import { type FileDoc, TOTALS_INDEX } from './model.js';

/** The field behind each order of a list. */
export const ORDER_FIELDS: Record<FileOrder, string> = {
  created_at: 'createdAt',
  updated_at: 'updatedAt',
  name: 'name',
  last_sync: 'lastSync',
  file_size: 'statistics.fileSize',
  id: '_id',
};

/** What a reader of chunks must know of a file. */
export type FileContent = Pick<FileDoc, '_id' | 'generation' | 'numChunks' | 'vectorSpace'>;

export interface FileQueries {
  /** A page of files, some rows at a time. */
  list(tenant: Tenant, listing: FileListing): AsyncIterable<FileDoc[]>;
  count(tenant: Tenant, filters: FileFilters, startingId: number): Promise<number>;
  /** Chunks of all matching files. */
  countChunks(tenant: Tenant, filters: FileFilters, startingId: number): Promise<number>;
  /** The matching files that have chunks, in the listing's order, one by one. Page limits are not applied. */
  contents(tenant: Tenant, listing: Omit<FileListing, 'page'>, startingId: number): AsyncIterable<FileContent>;
  /** Those of these files, and of all below them, that have children. */
  parentsBelow(tenant: Tenant, roots: readonly number[]): Promise<number[]>;
  byIds(tenant: Tenant, ids: readonly number[]): Promise<FileDoc[]>;
  /** The ids of matching files, at most `limit`. */
  ids(tenant: Tenant, filters: FileFilters, limit: number): Promise<number[]>;
  /** The vector spaces in which the caller's files of a model lie. */
  spacesOf(tenant: Tenant, model: EmbeddingModelId): Promise<string[]>;
}

/** All files of a user: MongoDB would take the first index that begins with the user, whose keys are the longest. */
const hintFor = (query: object): { hint?: typeof TOTALS_INDEX } => ('$and' in query ? {} : { hint: TOTALS_INDEX });

/** Containers have no chunks: where chunks are meant, they need not be left out. */
function withChunksOnly({ includeContainers: _none, ...filters }: FileFilters): FileFilters {
  return filters;
}

export function createFileQueries(files: Model<FileDoc>): FileQueries {
  const sortOf = ({ orderBy, orderDir }: Omit<FileListing, 'page'>): Record<string, SortOrder> =>
    orderBy === 'id' ? { _id: orderDir } : { [ORDER_FIELDS[orderBy]]: orderDir, _id: orderDir };

  /** One pass over the parents there are, however deep they lie: their index names each once. */
  const parentsBelow = async (tenant: Tenant, roots: readonly number[]): Promise<number[]> => {
    const { organizationId, userId } = tenant;
    const parents = (await files.distinct('parentId', { organizationId, userId })).filter((id) => id !== null);
    const rows = await files
      .find({ organizationId, userId, _id: { $in: parents } }, { parentId: 1 })
      .lean<Pick<FileDoc, '_id' | 'parentId'>[]>();
    const childrenOf = new Map<number, number[]>();
    for (const { _id, parentId } of rows) {
      if (parentId === null) continue;
      const siblings = childrenOf.get(parentId);
      if (siblings) siblings.push(_id);
      else childrenOf.set(parentId, [_id]);
    }
    // A set is walked to its end while it grows.
    const below = new Set(roots);
    for (const id of below) childrenOf.get(id)?.forEach((child) => below.add(child));
    const known = new Set(parents);
    return [...below].filter((id) => known.has(id));
  };

  /** Adds the folders below the named parents when all descendants are meant. */
  const expand = async (tenant: Tenant, filters: FileFilters): Promise<FileFilters> => {
    if (filters.includeAllChildren !== true || !filters.parentFileIds?.length) return filters;
    // The named ones stay in any case: an empty list would name everything.
    const below = await parentsBelow(tenant, filters.parentFileIds);
    return { ...filters, parentFileIds: [...new Set([...filters.parentFileIds, ...below])] };
  };

  return {
    parentsBelow,
    async *list(tenant, listing) {
      const query = fileQuery(tenant, await expand(tenant, listing.filters), listing.page.startingId);
      const cursor = files
        .find(query)
        .sort(sortOf(listing))
        .skip(listing.page.offset)
        .limit(listing.page.limit)
        .lean<FileDoc>()
        .cursor();
      yield* inParts<FileDoc>(cursor);
    },
    async count(tenant, filters, startingId) {
      const query = fileQuery(tenant, await expand(tenant, filters), startingId);
      return files.countDocuments(query, hintFor(query));
    },
    async countChunks(tenant, filters, startingId) {
      const $match = fileQuery(tenant, await expand(tenant, withChunksOnly(filters)), startingId);
      const [row] = await files
        .aggregate<{
          chunks: number;
        }>([{ $match }, { $group: { _id: null, chunks: { $sum: '$numChunks' } } }])
        .option(hintFor($match));
      return row?.chunks ?? 0;
    },
    async *contents(tenant, listing, startingId) {
      const filters = await expand(tenant, withChunksOnly(listing.filters));
      const query = { ...fileQuery(tenant, filters, startingId), numChunks: { $gt: 0 } };
      yield* files
        .find(query, { generation: 1, numChunks: 1, vectorSpace: 1 })
        .sort(sortOf(listing))
        .lean<FileContent>()
        .cursor();
    },
    async byIds({ organizationId, userId }, ids) {
      return files.find({ organizationId, userId, _id: { $in: ids } }).lean<FileDoc[]>();
    },
    async ids(tenant, filters, limit) {
      const rows = await files
        .find(fileQuery(tenant, await expand(tenant, filters)), { _id: 1 })
        .limit(limit)
        .lean();
      return rows.map((row) => row._id);
    },
    async spacesOf({ organizationId, userId }, model) {
      const spaces = await files.distinct('vectorSpace', {
        organizationId,
        userId,
        vectorSpace: { $ne: null },
        'options.embeddingModel': model,
      });
      return spaces.filter((space) => space !== null);
    },
  };
}
