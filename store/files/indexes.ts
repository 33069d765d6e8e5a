import type { FileOrder } from '../../contract/fileFilters.js';

export type IndexKeys = Readonly<Record<string, 1>>;

const tenant = { organizationId: 1, userId: 1 } as const;

/** The field behind each order of a list. */
export const ORDER_FIELDS: Record<FileOrder, string> = {
  created_at: 'createdAt',
  updated_at: 'updatedAt',
  name: 'name',
  last_sync: 'lastSync',
  file_size: 'statistics.fileSize',
  id: '_id',
};

/** One index for each order of a list, ties broken by id. Also: ids, and what was never synced. */
export const ORDER_INDEXES: Record<FileOrder, IndexKeys> = {
  id: { ...tenant, _id: 1 },
  updated_at: { ...tenant, updatedAt: 1, _id: 1 },
  created_at: { ...tenant, createdAt: 1, _id: 1 },
  name: { ...tenant, name: 1, _id: 1 },
  last_sync: { ...tenant, lastSync: 1, _id: 1 },
  file_size: { ...tenant, 'statistics.fileSize': 1, _id: 1 },
};

/** One for each filter by equality. */
export const FILTER_INDEXES = {
  parent: { ...tenant, parentId: 1, _id: 1 },
  tag: { ...tenant, tagPairs: 1, _id: 1 },
  externalUrl: { ...tenant, externalUrl: 1, _id: 1 },
  request: { ...tenant, requestId: 1, _id: 1 },
  container: { ...tenant, isContainer: 1, _id: 1 },
  /** With the number of chunks, so that totals are summed without a look at the files. */
  model: { ...tenant, 'options.embeddingModel': 1, vectorSpace: 1, numChunks: 1 },
  /** Statuses, and sums over all files or those of a source: short keys, and the number of chunks in them. */
  status: { ...tenant, syncStatus: 1, source: 1, numChunks: 1 },
} as const satisfies Record<string, IndexKeys>;

/** External ids, within their source and account; unique. */
export const IDENTITY_INDEX = { ...tenant, source: 1, externalFileId: 1, accountId: 1 } as const;

/** For what few files have: the others cost nothing. They serve a filter that names values of these kinds only. */
export const SPARSE_INDEXES = {
  dataSource: { keys: { ...tenant, dataSourceId: 1, _id: 1 }, only: { dataSourceId: { $gt: 0 } } },
  upload: { keys: { ...tenant, uploadId: 1, _id: 1 }, only: { uploadId: { $gt: '' } } },
  fileType: { keys: { ...tenant, fileTypeAtSource: 1, _id: 1 }, only: { fileTypeAtSource: { $gt: '' } } },
} as const;

/**
 * For whoever looks after an organization: what failed, of all and of one data source, by cause, the latest last; and
 * containers whose deletions are held. With the status in it, files are counted without a look at them.
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
  held: {
    keys: { organizationId: 1, isContainer: 1, 'fileMetadata.deletions_held': 1 },
    only: { 'fileMetadata.deletions_held': { $gt: 0 } },
  },
} as const satisfies Record<string, { keys: IndexKeys; only: object }>;

/** What a run still has to do. */
export const RUN_INDEX = { runId: 1, syncStatus: 1, _id: 1 } as const;

/** A file whose vectors may leave Qdrant once its time has come. */
export const MAY_COOL = {
  embeddingStorageStatus: 'HOT_STORAGE',
  supportsColdStorage: true,
  syncStatus: 'READY',
  vectorSpace: { $gt: '' },
} as const;
const EVER = { $gt: new Date(0) };

/** For what cold storage looks for; files that never leave Qdrant are in none of them. */
export const COLD_INDEXES = {
  /** What is due, of everybody and of one user. */
  due: { keys: { coolsAt: 1, organizationId: 1, userId: 1 }, only: { ...MAY_COOL, coolsAt: EVER } },
  dueOfUser: { keys: { ...tenant, coolsAt: 1 }, only: { ...MAY_COOL, coolsAt: EVER } },
  /** COLD_STORAGE and COLD_TO_HOT, the two statuses before HOT_STORAGE in the alphabet. */
  cold: {
    keys: { ...tenant, _id: 1, embeddingStorageStatus: 1 },
    only: { embeddingStorageStatus: { $lt: 'HOT_STORAGE' } },
  },
  moving: { keys: { 'move.runId': 1, _id: 1 }, only: { 'move.runId': { $gt: 0 } } },
} as const;
