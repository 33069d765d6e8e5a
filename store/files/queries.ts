import type { Model, SortOrder } from 'mongoose';

import type { FileFilters, FileListing, FileOrder } from '../../contract/fileFilters.js';
import type { EmbeddingModelId } from '../../contract/embeddingModels.js';
import type { Tenant } from '../users/accept.js';
import { fileQuery } from './filter.js';
import type { FileDoc } from './model.js';

/** The field behind each order of a list. */
const ORDER_FIELDS: Record<FileOrder, string> = {
  created_at: 'createdAt',
  updated_at: 'updatedAt',
  name: 'name',
  last_sync: 'lastSync',
  file_size: 'statistics.fileSize',
  id: '_id',
};

/** Rows handed on at once, so that a page of any size takes bounded memory. */
const ROWS_PER_READ = 250;

/** How many levels of folders `include_all_children` goes down. */
const MAX_FOLDER_DEPTH = 50;

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
  byIds(tenant: Tenant, ids: readonly number[]): Promise<FileDoc[]>;
  /** The ids of matching files, at most `limit`. */
  ids(tenant: Tenant, filters: FileFilters, limit: number): Promise<number[]>;
  /** The vector spaces in which the caller's files of a model lie. */
  spacesOf(tenant: Tenant, model: EmbeddingModelId): Promise<string[]>;
}

export function createFileQueries(files: Model<FileDoc>): FileQueries {
  const sortOf = ({ orderBy, orderDir }: Omit<FileListing, 'page'>): Record<string, SortOrder> =>
    orderBy === 'id' ? { _id: orderDir } : { [ORDER_FIELDS[orderBy]]: orderDir, _id: orderDir };

  /** Adds the folders below the named parents when all descendants are meant. */
  const expand = async (tenant: Tenant, filters: FileFilters): Promise<FileFilters> => {
    if (filters.includeAllChildren !== true || !filters.parentFileIds?.length) return filters;
    const seen = new Set(filters.parentFileIds);
    let level: readonly number[] = filters.parentFileIds;
    for (let depth = 0; level.length > 0 && depth < MAX_FOLDER_DEPTH; depth += 1) {
      // A level can only be read after the one above it.
      const below = await files.find(fileQuery(tenant, { parentFileIds: level }), { _id: 1 }).lean();
      level = below.map((row) => row._id).filter((id) => !seen.has(id));
      level.forEach((id) => seen.add(id));
    }
    return { ...filters, parentFileIds: [...seen] };
  };

  return {
    async *list(tenant, listing) {
      const query = fileQuery(tenant, await expand(tenant, listing.filters), listing.page.startingId);
      const cursor = files
        .find(query)
        .sort(sortOf(listing))
        .skip(listing.page.offset)
        .limit(listing.page.limit)
        .lean<FileDoc>()
        .cursor();
      let part: FileDoc[] = [];
      for await (const file of cursor) {
        part.push(file as unknown as FileDoc);
        if (part.length === ROWS_PER_READ) {
          yield part;
          part = [];
        }
      }
      if (part.length > 0) yield part;
    },
    async count(tenant, filters, startingId) {
      return files.countDocuments(fileQuery(tenant, await expand(tenant, filters), startingId));
    },
    async countChunks(tenant, filters, startingId) {
      const $match = fileQuery(tenant, await expand(tenant, filters), startingId);
      const [row] = await files.aggregate<{ chunks: number }>([
        { $match },
        { $group: { _id: null, chunks: { $sum: '$numChunks' } } },
      ]);
      return row?.chunks ?? 0;
    },
    async *contents(tenant, listing, startingId) {
      const query = { ...fileQuery(tenant, await expand(tenant, listing.filters), startingId), numChunks: { $gt: 0 } };
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
