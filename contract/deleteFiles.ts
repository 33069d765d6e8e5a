import type { FileFilters } from './fileFilters.js';

/** What a run of deleteFiles was asked for, as its row keeps it. */
export interface DeleteFilesRequest {
  readonly filters: FileFilters;
  /** Contents, chunks and vectors go; the record stays, so that the file can be synced again. */
  readonly preserveFileRecord: boolean;
  readonly sendWebhook: boolean;
  /** The descendants of the matching files go as well. Absent in older rows: not. */
  readonly deleteChildren?: boolean;
  /** The parents whose children are meant, found before the first of them is deleted; absent until then. */
  readonly parents?: readonly number[];
}
