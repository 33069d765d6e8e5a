import type { FileFilters } from './fileFilters.js';

/** What a run of deleteFiles was asked for. */
export interface DeleteFilesRequest {
  readonly filters: FileFilters;
  /** Contents, chunks and vectors go; the record stays, so that the file can be synced again. */
  readonly preserveFileRecord: boolean;
  readonly sendWebhook: boolean;
  /** Whether descendants of the matching files are deleted too. */
  readonly deleteChildren?: boolean;
}

export interface DeleteFilesProgress {
  /** The parents whose children are deleted. They are found before the first deletion; absent until then. */
  readonly parents?: readonly number[];
}
