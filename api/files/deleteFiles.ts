import { randomUUID } from 'node:crypto';
import Joi from 'joi';

import type { DeleteFilesRequest } from '../../contract/files/deleteFiles.js';
import { workflowIds } from '../../contract/runs/workflowIds.js';
import type { ApiDeps } from '../http/deps.js';
import { HttpError, notFound } from '../http/errors.js';
import { operation, type UserCaller } from '../http/operation.js';
import { pathId } from '../http/pathId.js';
import { orNull } from '../schemas/fields.js';
import { keywords, named } from '../schemas/reference.js';
import { fileFilters, idList, toFileFilters } from '../schemas/listing.js';
import { fileSyncStatus } from '../schemas/enums.js';
import { success } from '../schemas/answers.js';

/**
 * Returns whether the filters select only some of the files. False and empty values restrict nothing.
 * includeContainers and includeAllChildren are ignored. Without other filters, both values of includeContainers select
 * all files, with or without containers, and includeAllChildren has no effect.
 */
function restrictsFiles(filters: DeleteFilesRequest['filters']): boolean {
  const { includeAllChildren: _children, includeContainers: _containers, name = '', ...rest } = filters;
  return (
    name !== '' ||
    Object.values(rest).some((value) => {
      if (value === false || value === undefined) return false;
      if (Array.isArray(value)) return value.length > 0;
      return typeof value !== 'object' || Object.keys(value).length > 0;
    })
  );
}

/** Accepts a deletion as a run. @throws HttpError 400 if the filters restrict nothing, which would delete everything */
async function accept(
  caller: UserCaller,
  request: DeleteFilesRequest,
  { store, unit }: ApiDeps,
): Promise<{ success: boolean }> {
  if (!restrictsFiles(request.filters)) throw new HttpError(400, 'name at least one filter');
  const runId = await store.runs.nextId();
  const workflowId = workflowIds.delete(runId);
  const run = {
    kind: 'deleteFiles',
    workflowId,
    owner: caller,
    fileId: null,
    requestId: randomUUID(),
    request,
  } as const;
  await unit.transaction((session) => store.runs.accept(runId, run, session));
  unit.start(runId);
  return { success: true };
}

/** POST /delete_files_v2: deletes the matching files with their chunks, vectors and stored contents. */
export const deleteFilesV2 = operation({
  method: 'post',
  path: '/delete_files_v2',
  operationId: 'delete_files_v2_endpoint_delete_files_v2_post',
  tag: 'Files',
  auth: 'user',
  summary: 'Delete files',
  description: [
    'Deletes the files that match all filters when the request is accepted, with their chunks, vectors and stored contents. Ids that belong to no file of the caller are ignored. At least one filter is required (400), so that no request deletes everything by mistake. A run first stops syncs of these files, then deletes them in batches; `GET /sync_runs` has its progress. Children of a deleted parent stay unless the filters match them. Scheduled syncs do not restore deleted files; a new request for them does.',
  ],
  returns:
    '`success: true`: the request is accepted, and a run deletes the matching files. The response is the same if no file matches.',
  createsWork: true,
  body: named(
    'DeleteFilesV2QueryInput',
    keywords(
      Joi.object({
        filters: fileFilters()
          .default({ include_all_children: false, non_synced_only: false })
          .description(
            'Files to delete. Filters are combined with AND; without one that restricts the files, the response is 400.',
          ),
        send_webhook: Joi.boolean()
          .default(false)
          .description(
            '`true`: the event FILE_DELETED reports each deleted file. `false`: no event reports the deletion.',
          ),
        preserve_file_record: Joi.boolean()
          .default(false)
          .description(
            '`true`: only contents, chunks and vectors are deleted. The record stays as `READY_TO_SYNC` with `file_contents_deleted: true`.',
          ),
      }).description('Which files to delete, and what to keep of them.'),
      { minProperties: 1 },
    ),
  ),
  answer: success,
  handle: ({ caller, body, deps }) =>
    accept(
      caller,
      {
        filters: toFileFilters(body.filters),
        preserveFileRecord: body.preserve_file_record,
        sendWebhook: body.send_webhook,
      },
      deps,
    ),
});

/**
 * POST /delete_files: the older form. Filters are combined with AND; children of matching files are deleted on request.
 */
export const deleteFiles = operation({
  method: 'post',
  path: '/delete_files',
  operationId: 'delete_files_endpoint_delete_files_post',
  tag: 'Files',
  auth: 'user',
  summary: 'Delete files (older form)',
  description: [
    'Deletes files by ids or statuses, with their chunks, vectors and stored contents. Fields are combined with AND, and at least one has to restrict the files (400). Ids that belong to no file of the caller are ignored. A run deletes them after the response; with `send_webhook`, FILE_DELETED reports each file.',
  ],
  returns:
    '`success: true`: the request is accepted, and a run deletes the matching files. The response is the same if no file matches.',
  replacedBy: 'POST /delete_files_v2',
  createsWork: true,
  body: named(
    'DeleteFilesQueryInput',
    keywords(
      Joi.object({
        file_ids: orNull(idList()).description(
          'Only files with one of these values of `id`; at most 10,000. Null or empty: any.',
        ),
        sync_statuses: orNull(Joi.array().items(fileSyncStatus())).description(
          'Only files whose `sync_status` is in the list. Null or empty: any.',
        ),
        delete_non_synced_only: Joi.boolean()
          .default(false)
          .description('`true`: only files that no sync has finished yet.'),
        send_webhook: Joi.boolean()
          .default(false)
          .description(
            '`true`: the event FILE_DELETED reports each deleted file. `false`: no event reports the deletion.',
          ),
        delete_child_files: Joi.boolean()
          .default(false)
          .description('`true`: all descendants of matching files are deleted too.'),
      }).description(
        'Which files to delete, by `id` or status. A file has to meet every field that is set, and at least one has to be set (400).',
      ),
      { minProperties: 1 },
    ),
  ),
  answer: success,
  handle: ({ caller, body, deps }) =>
    accept(
      caller,
      {
        filters: {
          ...(body.file_ids ? { ids: body.file_ids } : {}),
          ...(body.sync_statuses ? { syncStatuses: body.sync_statuses } : {}),
          nonSyncedOnly: body.delete_non_synced_only,
        },
        deleteChildren: body.delete_child_files,
        preserveFileRecord: false,
        sendWebhook: body.send_webhook,
      },
      deps,
    ),
});

/** DELETE /deletefile/{file_id}: deletes one file, in the oldest form. */
export const deleteFile = operation({
  method: 'delete',
  path: '/deletefile/{file_id}',
  operationId: 'delete_file',
  tag: 'Files',
  auth: 'user',
  summary: 'Delete one file',
  description: [
    'Deletes one file with its chunks, vectors and stored contents, for older front ends. A run deletes it after the response; no event is written. An unknown id returns 404. Children of the file stay.',
  ],
  returns: '`success: true`: a run now deletes the file.',
  replacedBy: 'POST /delete_files_v2',
  answer: success,
  async handle({ caller, params, deps }) {
    const [file] = await deps.store.files.byIds(caller, [pathId(params, 'file_id')]);
    if (!file) throw notFound('file');
    return accept(caller, { filters: { ids: [file._id] }, preserveFileRecord: false, sendWebhook: false }, deps);
  },
});
