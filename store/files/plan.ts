import type { Model, QueryFilter, SortOrder } from 'mongoose';

import type { FileFilters, FileListing, FileOrder } from '../../contract/files/fileFilters.js';
import { requiredPairs } from '../tagQuery.js';
import type { Tenant } from '../users/accept.js';
import { tagQueries } from './filter.js';
import {
  FILTER_INDEXES,
  IDENTITY_INDEX,
  type IndexKeys,
  ORDER_FIELDS,
  ORDER_INDEXES,
  PARTIAL_INDEXES,
} from '../models/fileIndexes.js';
import type { FileDoc } from '../models/files.js';

type Query = QueryFilter<FileDoc>;

/**
 * Up to this number of matches, files are read by the index of their filter and sorted. With more matches, the index of
 * the order finds a page quickly.
 */
const FEW_MATCHES = 12_000;
/** Maximum number of filters of one request that are counted: there can be many tags. */
const FILTERS_COUNTED = 6;
/** From this number of matches on, sorting takes longer than the longest scan of an order's index. */
const MANY_MATCHES = 40_000;
/**
 * Time limit in milliseconds for scanning an order's index, because all matches may be at its far end: a fixed part,
 * and an amount per row.
 */
const SCAN_MS = 60;
const SCAN_MS_PER_ROW = 0.04;
const TIME_LIMIT_EXCEEDED = 50;

/** Plan for reading files in the order of a list. */
export interface ReadingPlan {
  readonly index: IndexKeys;
  /**
   * Filter whose index replaces `index` if the scan exceeds its time limit and the filter has fewer than MANY_MATCHES
   * matches.
   */
  readonly otherwise: IndexedFilter | null;
}

/** A filter with an index that supports it. */
interface IndexedFilter {
  readonly index: IndexKeys;
  readonly query: Query;
}

/** Returns the filters that an index supports. */
function indexedFilters(filters: FileFilters, startingId: number): IndexedFilter[] {
  const found: IndexedFilter[] = [];
  const addFilter = <T>(field: string, index: IndexKeys, values: readonly T[] | undefined): void => {
    if (values?.length) found.push({ index, query: { [field]: { $in: [...values] } } });
  };
  addFilter('_id', ORDER_INDEXES.id, filters.ids);
  if (startingId > 0) found.push({ index: ORDER_INDEXES.id, query: { _id: { $gt: startingId } } });
  addFilter('syncStatus', FILTER_INDEXES.status, filters.syncStatuses);
  addFilter('source', IDENTITY_INDEX, filters.sources);
  addFilter('parentId', FILTER_INDEXES.parent, filters.parentFileIds);
  addFilter('requestId', FILTER_INDEXES.request, filters.requestIds);
  addFilter('externalUrl', FILTER_INDEXES.externalUrl, filters.externalUrls);
  addFilter('options.embeddingModel', FILTER_INDEXES.status, filters.embeddingModels);
  // The next three indexes are partial: MongoDB uses one only if the query implies the condition of the index.
  if (filters.dataSourceIds?.every((id) => id > 0))
    addFilter('dataSourceId', PARTIAL_INDEXES.dataSource.keys, filters.dataSourceIds);
  if (filters.uploadIds?.every((id) => id > '')) addFilter('uploadId', PARTIAL_INDEXES.upload.keys, filters.uploadIds);
  if (filters.fileTypesAtSource?.every((type) => type > ''))
    addFilter('fileTypeAtSource', PARTIAL_INDEXES.fileType.keys, filters.fileTypesAtSource);
  if (filters.rootFilesOnly === true) addFilter('parentId', FILTER_INDEXES.parent, [null]);
  if (filters.nonSyncedOnly === true) addFilter('lastSync', ORDER_INDEXES.last_sync, [null]);
  for (const pairs of tagQueries(filters).flatMap(requiredPairs))
    addFilter('tagPairs', PARTIAL_INDEXES.tag.keys, pairs);
  return found;
}

/** Returns whether files with equal values are ordered by id in an index. */
const isById = (index: IndexKeys): boolean => Object.keys(index).at(-1) === '_id';

/**
 * Chooses an index by counting matches. MongoDB's own planner would reuse the plan of the last request of the same
 * shape, even for other values.
 */
export async function planReading(
  files: Model<FileDoc>,
  { organizationId, userId }: Tenant,
  filters: FileFilters,
  startingId: number,
  order: FileOrder,
): Promise<ReadingPlan> {
  const byOrder = ORDER_INDEXES[order];
  // The number of named ids limits the number of matches.
  if (filters.externalFileIds?.length) return { index: IDENTITY_INDEX, otherwise: null };
  if (filters.ids?.length && filters.ids.length <= FEW_MATCHES) return { index: ORDER_INDEXES.id, otherwise: null };
  const counted = await Promise.all(
    indexedFilters(filters, startingId)
      .slice(0, FILTERS_COUNTED)
      .map(async ({ index, query: filterQuery }) => {
        const query = { organizationId, userId, ...filterQuery };
        return { index, query, number: await files.countDocuments(query, { hint: index, limit: FEW_MATCHES }) };
      }),
  );
  const [best] = counted.toSorted((a, b) => a.number - b.number);
  if (!best) return { index: byOrder, otherwise: null };
  if (best.number < FEW_MATCHES || (order === 'id' && isById(best.index)))
    return { index: best.index, otherwise: null };
  return { index: byOrder, otherwise: { index: best.index, query: best.query } };
}

const sortOf = ({ orderBy, orderDir }: Pick<FileListing, 'orderBy' | 'orderDir'>): Record<string, SortOrder> =>
  orderBy === 'id' ? { _id: orderDir } : { [ORDER_FIELDS[orderBy]]: orderDir, _id: orderDir };

const tookTooLong = (error: unknown): boolean =>
  typeof error === 'object' && error !== null && 'code' in error && error.code === TIME_LIMIT_EXCEEDED;

/** Query, order and page of files to read. */
export interface Reading {
  readonly query: Query;
  readonly projection: Readonly<Record<string, 1>> | null;
  readonly listing: Pick<FileListing, 'orderBy' | 'orderDir'>;
  readonly offset: number;
  readonly limit: number;
  /** Rows per batch from MongoDB. Without it, the second batch would contain all remaining rows. */
  readonly batchSize: number;
}

const timeLimitFor = (rows: number): number => Math.ceil(SCAN_MS + rows * SCAN_MS_PER_ROW);

/**
 * Yields the files of a query in a list's order, with a plan.
 * @param timeLimit returns the time limit in milliseconds for scanning the plan's first index up to a number of rows
 */
export async function* readInOrder<Row extends Pick<FileDoc, '_id'>>(
  files: Model<FileDoc>,
  { index, otherwise }: ReadingPlan,
  { query, projection, listing, offset, limit, batchSize }: Reading,
  timeLimit = timeLimitFor,
): AsyncIterable<Row> {
  const read = (hint: IndexKeys, timeLimitMs?: number): AsyncIterable<Row> =>
    files
      .find(query, projection, timeLimitMs === undefined ? {} : { maxTimeMS: timeLimitMs })
      .sort(sortOf(listing))
      .skip(offset)
      .limit(limit)
      .hint(hint)
      .allowDiskUse(true)
      .lean()
      .cursor({ batchSize }) as AsyncIterable<Row>;
  if (otherwise === null) {
    yield* read(index);
    return;
  }
  const yielded = new Set<number>();
  try {
    for await (const row of read(index, timeLimit(offset + limit))) {
      yielded.add(row._id);
      yield row;
    }
  } catch (error) {
    if (!tookTooLong(error)) throw error;
    const number = await files.countDocuments(otherwise.query, { hint: otherwise.index, limit: MANY_MATCHES });
    const remaining = read(number < MANY_MATCHES ? otherwise.index : index);
    for await (const row of remaining) if (!yielded.has(row._id)) yield row;
  }
}
