/** Status values of the public interface, exactly as defined there. */

export const FILE_SYNC_STATUSES = [
  'DELAYED',
  'QUEUED_FOR_SYNC',
  'SYNCING',
  'READY',
  'SYNC_ERROR',
  'EVALUATING_RESYNC',
  'RATE_LIMITED',
  'SYNC_ABORTED',
  'QUEUED_FOR_OCR',
  'READY_TO_SYNC',
] as const;
export type FileSyncStatus = (typeof FILE_SYNC_STATUSES)[number];

/** Final statuses: no workflow owns the file. In every other status, one does. */
export const FINAL_FILE_STATUSES = [
  'READY',
  'SYNC_ERROR',
  'SYNC_ABORTED',
  'READY_TO_SYNC',
] as const satisfies FileSyncStatus[];

/** Statuses in which a run processes the file. EVALUATING_RESYNC: it is being compared with its source. */
export const IN_PROGRESS_STATUSES = [
  'SYNCING',
  'QUEUED_FOR_OCR',
  'EVALUATING_RESYNC',
] as const satisfies FileSyncStatus[];

/** Statuses of accepted files that wait for their first or next attempt. */
export const WAITING_FILE_STATUSES = ['DELAYED', 'QUEUED_FOR_SYNC', 'RATE_LIMITED'] as const satisfies FileSyncStatus[];

export const DATA_SOURCE_SYNC_STATUSES = ['QUEUED_FOR_SYNCING', 'SYNCING', 'READY', 'SYNC_ERROR'] as const;
export type DataSourceSyncStatus = (typeof DATA_SOURCE_SYNC_STATUSES)[number];

/** The last action on a data source. */
export const DATA_SOURCE_ACTIONS = ['ADD', 'UPDATE', 'CANCEL', 'REVOKE'] as const;
export type DataSourceAction = (typeof DATA_SOURCE_ACTIONS)[number];

export const EMBEDDING_STORAGE_STATUSES = ['HOT_STORAGE', 'HOT_TO_COLD', 'COLD_STORAGE', 'COLD_TO_HOT'] as const;
export type EmbeddingStorageStatus = (typeof EMBEDDING_STORAGE_STATUSES)[number];
