import type { FileFilters } from './fileFilters.js';

/** Request of a deleteFiles run. */
export interface DeleteFilesRequest {
  readonly filters: FileFilters;
  /** Whether only contents, chunks and vectors are deleted. The record stays, so the file can be synced again. */
  readonly preserveFileRecord: boolean;
  readonly sendWebhook: boolean;
  /** Whether descendants of the matching files are deleted too. */
  readonly deleteChildren?: boolean;
}

export interface DeleteFilesProgress {
  /** The parents whose children are deleted. They are found before the first deletion; absent until then. */
  readonly parents?: readonly number[];
}
