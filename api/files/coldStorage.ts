import { randomUUID } from 'node:crypto';
import Joi from 'joi';

import { workflowIds } from '../../contract/runs/workflowIds.js';
import { operation } from '../http/operation.js';
import { integer, orNull } from '../schemas/fields.js';
import { fileFilters, toFileFilters } from '../schemas/listing.js';
import { named } from '../schemas/reference.js';

/** Maximum number of files that are changed before the response; a run changes the others. */
const CHANGED_AT_ONCE = 500;

const filters = () =>
  fileFilters()
    .default({ include_all_children: false, non_synced_only: false })
    .description('Files to change, combined with AND. Without filters: all files of the caller.');

/** POST /move_to_hot_storage: restores the vectors of matching files from cold storage. */
export const moveToHotStorage = operation({
  method: 'post',
  path: '/move_to_hot_storage',
  operationId: 'Files_moveToHotStorage',
  tag: 'Files',
  auth: 'user',
  summary: 'Move files to hot storage',
  description: [
    'Restores the vectors of matching files from cold storage, so that searches find these files again. Use it when a search returns 409 because of files in cold storage. Without filters it selects all files of the caller. A run moves the vectors: a file is `COLD_TO_HOT`, then `HOT_STORAGE`, and MOVED_TO_HOT_STORAGE names up to 200 files in each event. A file whose stored vectors cannot be read ends in `SYNC_ERROR`; a re-sync creates them again.',
  ],
  returns: '`true`: the request was accepted, and a run moves the vectors. MOVED_TO_HOT_STORAGE names the moved files.',
  createsWork: true,
  body: named(
    'MoveToHotStorageQueryInput',
    Joi.object({ filters: filters() }).description(
      'Which files get their vectors back from cold storage. `{}`: all files of the caller.',
    ),
  ),
  answer: Joi.boolean(),
  async handle({ caller, body, deps: { store, unit } }) {
    const runId = await store.runs.nextId();
    const run = {
      kind: 'moveStorage',
      request: { move: 'toHot', filters: toFileFilters(body.filters) },
      workflowId: workflowIds.moveToHot(runId),
      owner: caller,
      fileId: null,
      requestId: randomUUID(),
    } as const;
    await unit.transaction((session) => store.runs.accept(runId, run, session));
    unit.start(runId);
    return true;
  },
});

/** POST /modify_cold_storage_parameters: sets whether and after how many days matching files move to cold storage. */
export const modifyColdStorageParameters = operation({
  method: 'post',
  path: '/modify_cold_storage_parameters',
  operationId: 'Files_modifyColdStorageParameters',
  tag: 'Files',
  auth: 'user',
  summary: 'Change cold storage settings',
  description: [
    'Sets whether, and after how many days without use, the vectors of matching files move to cold storage. Without filters it changes all files of the caller; null and absent settings change nothing. A changed number of days is counted from the last use of each file. Disabling cold storage moves files back. Up to 500 files are changed before the response, the others by a run shortly after. EMBEDDING_STORAGE_MODIFIED names the changed files.',
  ],
  returns: '`true`: the change was made, or accepted for the files beyond the first 500.',
  createsWork: true,
  body: named(
    'ModifyColdStorageParametersQueryInput',
    Joi.object({
      filters: filters(),
      enable_cold_storage: orNull(Joi.boolean()).description(
        'Whether unused vectors may move to cold storage. `false` also moves vectors that are in cold storage back. Null: unchanged.',
      ),
      hot_storage_time_to_live: orNull(integer().min(1)).description(
        'Days without use after which vectors move to cold storage. Null: unchanged. It has no effect on files without cold storage.',
      ),
    }).description('Files whose cold storage settings change, and their new settings.'),
  ),
  answer: Joi.boolean(),
  async handle({ caller, body, deps: { store, unit } }) {
    const runId = await store.runs.nextId();
    const requestId = randomUUID();
    const selected = toFileFilters(body.filters);
    const change = { enabled: body.enable_cold_storage ?? null, days: body.hot_storage_time_to_live ?? null };
    const by = { organizationId: caller.organizationId, userId: caller.userId, requestId };
    const needsRun = await unit.transaction(async (session) => {
      const afterId = await store.moves.modify(by, selected, change, { afterId: 0, limit: CHANGED_AT_ONCE }, session);
      // If cold storage was disabled, a run is always needed: it moves vectors back from cold storage.
      if (afterId === null && change.enabled !== false) return false;
      const work = {
        kind: 'moveStorage',
        request: { move: 'modify', filters: selected, change },
        progress: { modifiedTo: afterId ?? Number.MAX_SAFE_INTEGER },
      } as const;
      const workflowId = workflowIds.modifyStorage(runId);
      await store.runs.accept(runId, { ...work, workflowId, owner: caller, fileId: null, requestId }, session);
      return true;
    });
    if (needsRun) unit.start(runId);
    return true;
  },
});
