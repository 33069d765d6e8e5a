import type { FileOrder } from '../../contract/files/fileFilters.js';

export type IndexKeys = Readonly<Record<string, 1>>;

const tenant = { organizationId: 1, userId: 1 } as const;

/** The field that defines each order of a list. */
export const ORDER_FIELDS: Record<FileOrder, string> = {
  created_at: 'createdAt',
  updated_at: 'updatedAt',
  name: 'name',
  last_sync: 'lastSync',
  file_size: 'statistics.fileSize',
  id: '_id',
};

/**
 * One index for each order of `list`, ties broken by id. Also used by `candidates` (order by id),
 * `createSumCaches` (last change) and `createStorageOverview` (sums of sizes).
 */
export const ORDER_INDEXES: Record<FileOrder, IndexKeys> = {
  id: { ...tenant, _id: 1 },
  updated_at: { ...tenant, updatedAt: 1, _id: 1 },
  created_at: { ...tenant, createdAt: 1, _id: 1 },
  name: { ...tenant, name: 1, _id: 1 },
  last_sync: { ...tenant, lastSync: 1, _id: 1 },
  file_size: { ...tenant, 'statistics.fileSize': 1, _id: 1 },
};

/** One index for each equality filter; `planReading` chooses among them. */
export const FILTER_INDEXES = {
  parent: { ...tenant, parentId: 1, _id: 1 },
  externalUrl: { ...tenant, externalUrl: 1, _id: 1 },
  request: { ...tenant, requestId: 1, _id: 1 },
  /**
   * Statuses and embedding models. Used by `spacesOf` and `findWithOtherSpaces`. It covers the counts and sums of
   * `count`, `countChunks`, `createStorageOverview` and `countFilesByStatus`, so that these read no documents.
   */
  status: { ...tenant, syncStatus: 1, source: 1, 'options.embeddingModel': 1, vectorSpace: 1, numChunks: 1 },
} as const satisfies Record<string, IndexKeys>;

/**
 * External ids, unique within their source and account. `accept` uses it to find known files, `planReading` to find
 * files of a source.
 */
export const IDENTITY_INDEX = { ...tenant, source: 1, externalFileId: 1, accountId: 1 } as const;

/** Partial indexes for fields that most files lack. MongoDB uses them only for queries that imply the filter `only`. */
export const PARTIAL_INDEXES = {
  dataSource: { keys: { ...tenant, dataSourceId: 1, _id: 1 }, only: { dataSourceId: { $gt: 0 } } },
  upload: { keys: { ...tenant, uploadId: 1, _id: 1 }, only: { uploadId: { $gt: '' } } },
  fileType: { keys: { ...tenant, fileTypeAtSource: 1, _id: 1 }, only: { fileTypeAtSource: { $gt: '' } } },
  tag: { keys: { ...tenant, tagPairs: 1, _id: 1 }, only: { tagPairs: { $gt: '' } } },
  /** Used by `count` to subtract containers, and by `containersOf` to find them. */
  container: { keys: { ...tenant, isContainer: 1, _id: 1 }, only: { isContainer: true } },
} as const;

/**
 * Overviews of an organization. `createFileFailures` lists and counts failed files of all data sources and of one, by
 * cause and last change, and its counts read only keys; it lists files with warnings too. `createHeldOverview` lists
 * containers with missing files that are not deleted until an operator approves it (`deletions_held`).
 */
export const OPERATOR_INDEXES = {
  failed: {
    keys: { organizationId: 1, syncStatus: 1, 'ended.cause': 1, updatedAt: 1, _id: 1 },
    only: { syncStatus: 'SYNC_ERROR' },
  },
  failedOfSource: {
    keys: { organizationId: 1, dataSourceId: 1, syncStatus: 1, 'ended.cause': 1, updatedAt: 1, _id: 1 },
    only: { syncStatus: 'SYNC_ERROR', dataSourceId: { $gt: 0 } },
  },
  warned: {
    keys: { organizationId: 1, 'fileMetadata.warnings.cause': 1, updatedAt: 1, _id: 1 },
    only: { 'fileMetadata.warnings.cause': { $gt: '' } },
  },
  held: {
    keys: { organizationId: 1, isContainer: 1, 'fileMetadata.deletions_held': 1 },
    only: { 'fileMetadata.deletions_held': { $gt: 0 } },
  },
} as const satisfies Record<string, { keys: IndexKeys; only: object }>;

/** The files of a run by state. Used by `createRunProgress`, the ledger and limits. */
export const RUN_INDEX = { runId: 1, syncStatus: 1, _id: 1 } as const;

/** Files whose vectors may leave Qdrant after their due time. */
export const CAN_BECOME_COLD = {
  embeddingStorageStatus: 'HOT_STORAGE',
  supportsColdStorage: true,
  syncStatus: 'READY',
  vectorSpace: { $gt: '' },
} as const;
const ANY_TIME = { $gt: new Date(0) };

/** Partial indexes of cold storage; files that never leave Qdrant are in none of them. */
export const COLD_INDEXES = {
  /** Due files of all users, and of one. Used by `listOwnersOfDue` and `claimDue`. */
  due: { keys: { coolsAt: 1, organizationId: 1, userId: 1 }, only: { ...CAN_BECOME_COLD, coolsAt: ANY_TIME } },
  dueOfUser: { keys: { ...tenant, coolsAt: 1 }, only: { ...CAN_BECOME_COLD, coolsAt: ANY_TIME } },
  /**
   * Used by `createColdFiles` and `findWithOtherSpaces`: COLD_STORAGE and COLD_TO_HOT, the two statuses before
   * HOT_STORAGE in the alphabet.
   */
  cold: {
    keys: { ...tenant, _id: 1, embeddingStorageStatus: 1 },
    only: { embeddingStorageStatus: { $lt: 'HOT_STORAGE' } },
  },
  /** Files that a run moves. Used by `adopt` and `listClaimed`. */
  moving: { keys: { 'move.runId': 1, _id: 1 }, only: { 'move.runId': { $gt: 0 } } },
} as const;
