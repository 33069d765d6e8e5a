import Joi from 'joi';

import type { FileRecord } from '../../../contract/files/records.js';
import { resyncFile } from '../../files/resyncFile.js';
import { integer } from '../../schemas/fields.js';
import { queued, queuedOf } from '../queued.js';
import { tool } from '../tool.js';

/** Syncs a file again. */
export const resync = tool({
  name: 'resync',
  title: 'Sync a file again',
  description:
    'Fetches and reads a file again, or all files of a site, feed or folder. It returns before the files are processed; poll sync_status for the progress.',
  scope: 'write',
  annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: true, openWorldHint: true },
  input: Joi.object({ file_id: integer().required().description('Id of the file, or of the site, feed or folder.') }),
  output: queued,
  run: async ({ file_id }, { perform }) => queuedOf((await perform(resyncFile, { body: { file_id } })) as FileRecord),
});
