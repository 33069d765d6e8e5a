import Joi from 'joi';

import { type FileSyncStatus, FINAL_FILE_STATUSES } from '../../contract/files/statuses.js';
import { HttpError, notFound } from '../http/errors.js';
import { operation } from '../http/operation.js';
import { presentFile } from '../presenters/file.js';
import { fileRecord } from '../schemas/answers.js';
import { integer } from '../schemas/fields.js';
import { named } from '../schemas/reference.js';

/** POST /cancel_sync: cancels the run of an unfinished file. Finished files stay, the others end as SYNC_ABORTED. */
export const cancelSync = operation({
  method: 'post',
  path: '/cancel_sync',
  operationId: 'cancel_sync',
  tag: 'Files',
  auth: 'user',
  summary: 'Cancel the sync of a file',
  description: [
    'Cancels the run that is processing a file: its upload, its re-sync, or the whole scrape or sync of items that it belongs to. Files that are already in a final state keep it. The others end as `SYNC_ABORTED`, and FILES_SKIPPED reports them. The cancellation takes a moment: poll `POST /user_files_v2` until the file is in a final state. A file without a sync in progress returns 409.',
  ],
  returns: 'Record of the file right after the request; its run may still be ending.',
  body: named(
    'CancelSyncRequest',
    Joi.object({
      file_id: integer()
        .required()
        .description('`id` of a file that is queued or being synced, or of the parent of a scrape.'),
    }).description(
      'The file whose run is cancelled, with all other files of that run, such as the other pages of a scrape.',
    ),
  ),
  answer: fileRecord,
  async handle({ caller, body, deps: { store, dispatcher, workflowLink } }) {
    const [file] = await store.files.byIds(caller, [body.file_id]);
    if (!file) throw notFound('file');
    const isFinal = (FINAL_FILE_STATUSES as readonly FileSyncStatus[]).includes(file.syncStatus);
    if (isFinal || file.runId === null)
      throw new HttpError(409, 'No sync of the file is in progress, so there is nothing to cancel.');
    await dispatcher.cancel(file.runId);
    const [now] = await store.files.byIds(caller, [body.file_id]);
    return presentFile(now ?? file, { workflowLink });
  },
});
