import { type FileSyncStatus, FINAL_FILE_STATUSES } from '../../contract/files/statuses.js';
import type { FileDoc } from '../../store/models/files.js';
import { HttpError } from '../http/errors.js';

export const busy = (): HttpError =>
  new HttpError(409, 'The file is being synced. Wait until the sync has ended, then try again.');

/** @throws HttpError 409 if an active run owns the file */
export function refuseBusy({ syncStatus }: Pick<FileDoc, 'syncStatus'>): void {
  if (!(FINAL_FILE_STATUSES as readonly FileSyncStatus[]).includes(syncStatus)) throw busy();
}
