import { randomUUID } from 'node:crypto';
import Joi from 'joi';

import { workflowIds } from '../../contract/runs/workflowIds.js';
import { fileOfKey } from '../../store/ledger/items.js';
import type { ItemFilter } from '../../store/ledger/live.js';
import type { RunDoc } from '../../store/models/runs.js';
import type { Tenant } from '../../store/users/accept.js';
import { busy } from '../files/refuseBusy.js';
import type { ApiDeps } from '../http/deps.js';
import { HttpError, invalid, notFound } from '../http/errors.js';
import { operation } from '../http/operation.js';
import { integer, nullable } from '../schemas/fields.js';
import { named } from '../schemas/reference.js';
import { retryBody, type RetryBody } from '../schemas/syncRuns.js';
import { syncRunOf } from './syncRunOf.js';

/**
 * Maximum number of files queued per request. One transaction writes them all: 100 files take 0.2 s, and the embedded
 * MongoDB aborts transactions after 5 s (transactionLifetimeLimitSeconds).
 */
const MAX_FILES = 1_000;
/** Number of items per read of the ledger. */
const PER_READ = 500;

/**
 * Returns the ids of the files that a request names. @throws HttpError 404 for files or items of other runs, 409 for
 * items without a file
 */
async function namedFiles(
  run: RunDoc,
  { item_ids = [], file_ids = [] }: RetryBody,
  { store }: ApiDeps,
): Promise<number[]> {
  const ofItems = item_ids.map(fileOfKey);
  const processedIds = new Set(await store.ledger.processed(run, { fileIds: file_ids, itemIds: item_ids }));
  if ([...file_ids.map(String), ...item_ids].some((id) => !processedIds.has(id))) throw notFound('item of this run');
  const fromItems = ofItems.filter((id) => id !== null);
  if (fromItems.length < ofItems.length)
    throw new HttpError(409, 'This item has no file to sync again. Its remedy says what to do.');
  return [...new Set([...file_ids, ...fromItems])];
}

/**
 * Returns the ids of the retryable files among the items that match a filter. Stops once there are more than MAX_FILES,
 * so that the caller can see that files remain.
 */
async function matching(run: RunDoc, tenant: Tenant, filter: ItemFilter, { store }: ApiDeps): Promise<number[]> {
  const fileIds: number[] = [];
  for (let after: string | null = null; fileIds.length <= MAX_FILES;) {
    const items = await store.ledger.items(run, filter, after, PER_READ);
    fileIds.push(
      ...(await store.files.retryable(
        tenant,
        items.flatMap(({ fileId }) => fileId ?? []),
        true,
      )),
    );
    after = items.at(-1)?.id ?? null;
    if (items.length < PER_READ) break;
  }
  return fileIds;
}

/** POST /sync_runs/{sync_run_id}/retry: syncs the failed or named files of a run again, in one new run. */
export const retrySyncRun = operation({
  method: 'post',
  path: '/sync_runs/{sync_run_id}/retry',
  operationId: 'retry_sync_run',
  tag: 'Runs',
  auth: 'either',
  summary: 'Retry items of a run',
  description: [
    'Syncs files of a run again in one new run: all failed ones (`{}`), named ones, or those that match a filter. Each file keeps its options; the events FILE_READY or FILE_ERROR report its result.\n\nA request queues at most 1,000 files: while `has_more` is `true`, repeat it. A filter excludes files that are READY or in progress; a file that has failed again matches again. Items without a file cannot be retried; their `remedy` says what to do.',
  ],
  returns: 'The new run, how many files it syncs again, and whether more files match.',
  errors: {
    404: 'The run does not exist or belongs to another caller, or a named item is not one of its items.',
    409: 'Nothing of the run can be retried, a named file is being synced, or a named item has no file; or a request with the same Idempotency-Key is in progress.',
  },
  createsWork: true,
  body: retryBody,
  answer: named(
    'RetriedSyncRun',
    Joi.object({
      sync_run_id: integer()
        .required()
        .description('`id` of the new run. `GET /sync_runs/{sync_run_id}` returns its progress.'),
      request_id: Joi.string()
        .required()
        .description(
          'Id that the server created for this retry. Files and events of the new run have it as `request_id`.',
        ),
      queued: integer().required().description('Number of files that the new run syncs again, at most 1,000.'),
      has_more: Joi.boolean()
        .required()
        .description('`true`: more than 1,000 files match. Repeat the request for the others.'),
      workflow_id: Joi.string()
        .required()
        .description('Id of the workflow of the new run in Temporal, for the operator. Clients use `sync_run_id`.'),
      workflow_url: nullable(Joi.string())
        .required()
        .description(
          "Address of the workflow `workflow_id` in Temporal's Web UI. Null if there is no workflow, or if the server setting `TEMPORAL_UI_URL` is not set.",
        ),
    }).description('The new run that syncs files of another run again, and the number of its files.'),
  ),
  async handle(call) {
    const { body, deps } = call;
    const { store, unit } = deps;
    const run = await syncRunOf(call);
    const owner = await store.users.find(run);
    if (!owner) throw notFound('sync run');
    const isNamed = body.item_ids !== undefined || body.file_ids !== undefined;
    const { outcomes = ['failed'], stages, causes } = body;
    const filter = { outcomes, ...(stages ? { stages } : {}), ...(causes ? { causes } : {}) };
    const fileIds = isNamed ? await namedFiles(run, body, deps) : await matching(run, owner, filter, deps);
    if (isNamed && fileIds.length > MAX_FILES)
      throw invalid(['body'], `Name at most ${MAX_FILES} files, by \`item_ids\` and \`file_ids\` together`, 'too_long');
    const ids = fileIds.slice(0, MAX_FILES);
    const runId = await store.runs.nextId();
    const again = { runId, workflowId: workflowIds.retry(runId), requestId: randomUUID() };
    const queued = await unit.transaction(async (session) => {
      const number = await store.files.retry(owner, ids, !isNamed, again, session);
      if (isNamed && number < ids.length) throw busy();
      if (number === 0)
        throw new HttpError(409, 'Nothing of this run can be retried: its files are synced or deleted.');
      const { workflowId, requestId } = again;
      const about = { kind: 'resyncFile', workflowId, owner, fileId: null, requestId, cause: 'retry' } as const;
      const sourceOfRun = run.dataSourceId ? { dataSourceId: run.dataSourceId } : {};
      await store.runs.accept(runId, { ...about, ...sourceOfRun, request: { retryOf: run._id } }, session);
      return number;
    });
    unit.start(runId);
    return {
      sync_run_id: runId,
      request_id: again.requestId,
      queued,
      has_more: fileIds.length > MAX_FILES,
      ...deps.workflowLink(again.workflowId),
    };
  },
});
