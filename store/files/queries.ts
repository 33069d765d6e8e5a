import type { Model, QueryFilter } from 'mongoose';

import type { FileFilters, FileListing } from '../../contract/files/fileFilters.js';
import type { EmbeddingModelId } from '../../contract/vectors/embeddingModels.js';
import { inParts } from '../database/inParts.js';
import type { Tenant } from '../users/accept.js';
import { fileQuery } from './filter.js';
import { FILTER_INDEXES, type IndexKeys, PARTIAL_INDEXES } from '../models/fileIndexes.js';
import type { FileDoc } from '../models/files.js';
import { planReading, readInOrder } from './plan.js';
import type { CreateSumCache } from './sumCache.js';
import { countRows, distinctValues, readRows } from '../database/driver.js';

/**
 * A page of chunks needs few files. Without a batch size, MongoDB's second batch would contain all remaining files, up
 * to 16 MB.
 */
const FILES_PER_BATCH = 200;
const ROWS_PER_BATCH = 1_000;

/** Fields of a file that a reader of chunks needs. */
export type FileContent = Pick<FileDoc, '_id' | 'generation' | 'numChunks' | 'vectorSpace'>;

export interface FileQueries {
  /** Streams a page of files in batches. */
  list(tenant: Tenant, listing: FileListing): AsyncIterable<FileDoc[]>;
  count(tenant: Tenant, filters: FileFilters, startingId: number): Promise<number>;
  /** Counts the chunks of all matching files. */
  countChunks(tenant: Tenant, filters: FileFilters, startingId: number): Promise<number>;
  /** Streams the matching files that have chunks, in the listing's order: as many as its page of chunks can need. */
  contents(tenant: Tenant, listing: FileListing): AsyncIterable<FileContent>;
  /** Returns the ids of the files that have children, among `roots` and their descendants. */
  descendantParents(tenant: Tenant, roots: readonly number[]): Promise<number[]>;
  byIds(tenant: Tenant, ids: readonly number[]): Promise<FileDoc[]>;
  /** Adds the folders below the named parents to the filters, if the filters set includeAllChildren. */
  expand(tenant: Tenant, filters: FileFilters): Promise<FileFilters>;
  /** Returns the ids of matching files, at most `limit`. */
  ids(tenant: Tenant, filters: FileFilters, limit: number): Promise<number[]>;
  /** Returns the vector spaces of the caller's files of a model. */
  spacesOf(tenant: Tenant, model: EmbeddingModelId): Promise<string[]>;
  /** Returns the number of dimensions of the caller's vectors in a space; null if there are none. */
  dimensionsIn(tenant: Tenant, model: EmbeddingModelId, space: string): Promise<number | null>;
}

/** Maximum number of cached totals, over all users. */
const TOTALS_KEPT = 20_000;

/** From this number of files with the model, the files of other models are counted and subtracted instead. */
const FEW_OF_MODEL = 2_000;

/** Counts the files of a query, or their chunks. */
type Measure = (query: QueryFilter<FileDoc>, hint?: IndexKeys) => Promise<number>;

/**
 * Counts matching files. Without containers, counts all files and subtracts the containers. If at least FEW_OF_MODEL
 * files have one of the models, counts the files of all models and subtracts those of other models. Besides one index
 * range, this reads few keys if there are few containers or files of other models. Names the index, because MongoDB
 * would choose any that begins with the user.
 */
async function measureFiles(
  files: Model<FileDoc>,
  tenant: Tenant,
  filters: FileFilters,
  startingId: number,
  measure: Measure,
): Promise<number> {
  const { includeContainers, ...fileFilters } = filters;
  const { embeddingModels: models = [], ...otherFilters } = fileFilters;
  const query = fileQuery(tenant, fileFilters, startingId);
  if (includeContainers === false) {
    const [all, containers] = await Promise.all([
      measureFiles(files, tenant, fileFilters, startingId, measure),
      measure({ ...query, isContainer: true }, PARTIAL_INDEXES.container.keys),
    ]);
    return all - containers;
  }
  const all = fileQuery(tenant, otherFilters, startingId);
  if ('$and' in all) return measure(query);
  const hint = FILTER_INDEXES.status;
  if (models.length === 0 || (await countRows(files, query, { hint, limit: FEW_OF_MODEL })) < FEW_OF_MODEL)
    return measure(query, hint);
  const otherModelsQuery = { ...all, 'options.embeddingModel': { $nin: [...models] } };
  const [totalOfAllModels, totalOfOtherModels] = await Promise.all([
    measure(all, hint),
    measure(otherModelsQuery, hint),
  ]);
  return totalOfAllModels - totalOfOtherModels;
}

/** Removes the filter that excludes containers: they have no chunks, so queries for chunks do not need it. */
function withChunksOnly({ includeContainers: _none, ...filters }: FileFilters): FileFilters {
  return filters;
}

export function createFileQueries(files: Model<FileDoc>, createCache: CreateSumCache): FileQueries {
  const totals = createCache<number>(TOTALS_KEPT);
  /**
   * Takes two queries, whatever the depth of the tree. The first reads the id of each parent of the user once from the
   * index on parentId, however many children it has. The second reads the parents of these files.
   */
  const descendantParents = async (tenant: Tenant, roots: readonly number[]): Promise<number[]> => {
    const { organizationId, userId } = tenant;
    const parents = (await files.distinct('parentId', { organizationId, userId })).filter((id) => id !== null);
    const rows = await files.find({ organizationId, userId, _id: { $in: parents } }, { parentId: 1 }).lean();
    const childrenOf = new Map<number, number[]>();
    for (const { _id, parentId } of rows) {
      if (parentId === null) continue;
      const siblings = childrenOf.get(parentId);
      if (siblings) siblings.push(_id);
      else childrenOf.set(parentId, [_id]);
    }
    // Iterating over a set also visits the members that are added meanwhile.
    const descendants = new Set(roots);
    for (const id of descendants) childrenOf.get(id)?.forEach((child) => descendants.add(child));
    const parentIds = new Set(parents);
    return [...descendants].filter((id) => parentIds.has(id));
  };

  const expand = async (tenant: Tenant, filters: FileFilters): Promise<FileFilters> => {
    if (filters.includeAllChildren !== true || !filters.parentFileIds?.length) return filters;
    // The named parents stay in the filter in any case: an empty list would match every file.
    const descendants = await descendantParents(tenant, filters.parentFileIds);
    return { ...filters, parentFileIds: [...new Set([...filters.parentFileIds, ...descendants])] };
  };

  return {
    descendantParents,
    expand,
    async *list(tenant, listing) {
      const { startingId, offset, limit } = listing.page;
      const filters = await expand(tenant, listing.filters);
      const query = fileQuery(tenant, filters, startingId);
      const plan = await planReading(files, tenant, filters, startingId, listing.orderBy);
      yield* inParts<FileDoc>(
        readInOrder<FileDoc>(files, plan, {
          ...{ query, projection: null, listing, offset, limit },
          batchSize: Math.min(limit, ROWS_PER_BATCH),
        }),
      );
    },
    count: (tenant, filters, startingId) =>
      totals.get(tenant, ['files', filters, startingId], async () => {
        const expanded = await expand(tenant, filters);
        return measureFiles(files, tenant, expanded, startingId, (query, hint) =>
          countRows(files, query, hint ? { hint } : {}),
        );
      }),
    countChunks: (tenant, filters, startingId) =>
      totals.get(tenant, ['chunks', filters, startingId], async () => {
        const expanded = await expand(tenant, withChunksOnly(filters));
        return measureFiles(files, tenant, expanded, startingId, async ($match, hint) => {
          const sum = { $group: { _id: null, chunks: { $sum: '$numChunks' } } };
          const [row] = await files.aggregate<{ chunks: number }>([{ $match }, sum]).option(hint ? { hint } : {});
          return row?.chunks ?? 0;
        });
      }),
    async *contents(tenant, listing) {
      const { startingId, offset, limit } = listing.page;
      const filters = await expand(tenant, withChunksOnly(listing.filters));
      const plan = await planReading(files, tenant, filters, startingId, listing.orderBy);
      yield* readInOrder<FileContent>(files, plan, {
        query: { ...fileQuery(tenant, filters, startingId), numChunks: { $gt: 0 } },
        projection: { generation: 1, numChunks: 1, vectorSpace: 1 },
        ...{ listing, offset: 0, limit: offset + limit },
        batchSize: FILES_PER_BATCH,
      });
    },
    byIds: ({ organizationId, userId }, ids) =>
      readRows(files, { organizationId, userId, _id: { $in: [...ids] } }, { maxRows: ids.length }),
    async ids(tenant, filters, limit) {
      const rows = await files
        .find(fileQuery(tenant, await expand(tenant, filters)), { _id: 1 })
        .limit(limit)
        .lean();
      return rows.map((row) => row._id);
    },
    async spacesOf({ organizationId, userId }, model) {
      const spaces = await distinctValues(files, 'vectorSpace', {
        organizationId,
        userId,
        vectorSpace: { $ne: null },
        'options.embeddingModel': model,
      });
      return spaces.filter((space) => typeof space === 'string');
    },
    async dimensionsIn({ organizationId, userId }, model, vectorSpace) {
      const file = await files
        .findOne({ organizationId, userId, 'options.embeddingModel': model, vectorSpace }, { dimensions: 1 })
        .lean();
      return file?.dimensions ?? null;
    },
  };
}
