import type { FileFilters } from './fileFilters.js';

/** What a run of deleteFiles was asked for, as its row keeps it. */
export interface DeleteFilesRequest {
  readonly filters: FileFilters;
  /** Contents, chunks and vectors go; the record stays, so that the file can be synced again. */
  readonly preserveFileRecord: boolean;
  readonly sendWebhook: boolean;
}
