/** The state sets of the public interface. Values exactly as written there. */

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

/** A file in one of these is at rest: no workflow owns it. Every other status has an owner workflow. */
export const FINAL_FILE_STATUSES = [
  'READY',
  'SYNC_ERROR',
  'SYNC_ABORTED',
  'READY_TO_SYNC',
] as const satisfies FileSyncStatus[];

export const EMBEDDING_STORAGE_STATUSES = ['HOT_STORAGE', 'HOT_TO_COLD', 'COLD_STORAGE', 'COLD_TO_HOT'] as const;
export type EmbeddingStorageStatus = (typeof EMBEDDING_STORAGE_STATUSES)[number];
