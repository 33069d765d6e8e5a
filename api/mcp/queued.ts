import Joi from 'joi';

import type { FileRecord } from '../../contract/files/records.js';
import { fileFields, record, stateFields } from './schemas.js';
import { uriOf } from './uris.js';

/** Result of tools that queue a sync. */
export const queued = record({
  ...fileFields,
  ...stateFields,
  next: Joi.string().description('What to do next.'),
});

/** Returns the result for a queued file. */
export function queuedOf(file: FileRecord | undefined) {
  if (!file) throw new Error('The operation returned no file');
  return {
    file_id: file.id,
    uri: uriOf(file.id),
    name: file.name,
    source: file.source,
    url: file.external_url,
    status: file.sync_status,
    error: file.sync_error_message,
    next: `Call sync_status with file_id ${file.id} until is_done is true.`,
  };
}
