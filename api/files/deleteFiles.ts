import { randomUUID } from 'node:crypto';
import Joi from 'joi';

import type { DeleteFilesRequest } from '../../contract/deleteFiles.js';
import { workflowIds } from '../../contract/orchestration.js';
import { HttpError } from '../http/errors.js';
import { operation } from '../http/operation.js';
import { fileFilters, type FileFiltersBody, toFileFilters } from '../schemas/listing.js';

interface Body {
  filters: FileFiltersBody;
  send_webhook: boolean;
  preserve_file_record: boolean;
}

/** Whether the filters name anything: what is false, empty or only widens does not. */
function namesAnything(filters: DeleteFilesRequest['filters']): boolean {
  const { includeAllChildren: _widens, includeContainers: _narrows, ...rest } = filters;
  return Object.values(rest).some((value) => {
    if (value === false || value === undefined) return false;
    if (Array.isArray(value)) return value.length > 0;
    return typeof value !== 'object' || Object.keys(value).length > 0;
  });
}

/** POST /delete_files_v2: deletes the matching files, with their chunks, vectors and stored contents. */
export const deleteFilesV2 = operation<'user', Body>({
  method: 'post',
  path: '/delete_files_v2',
  auth: 'user',
  summary: 'Deletes matching files with all that belongs to them.',
  createsWork: true,
  body: Joi.object({
    filters: fileFilters().default({ include_all_children: false, non_synced_only: false }),
    send_webhook: Joi.boolean().default(false),
    preserve_file_record: Joi.boolean().default(false),
  }),
  answer: Joi.object({ success: Joi.boolean().required() }),
  async handle({ caller, body, deps: { store, dispatcher } }) {
    const filters = toFileFilters(body.filters);
    if (!namesAnything(filters)) throw new HttpError(400, 'name at least one filter');
    const runId = await store.runs.nextId();
    const options: DeleteFilesRequest = {
      filters,
      preserveFileRecord: body.preserve_file_record,
      sendWebhook: body.send_webhook,
    };
    await store.transaction((session) =>
      store.runs.accept(
        runId,
        {
          kind: 'deleteFiles',
          workflowId: workflowIds.delete(runId),
          owner: caller,
          fileId: null,
          requestId: randomUUID(),
          options,
        },
        session,
      ),
    );
    void dispatcher.start(runId);
    return { success: true };
  },
});
