import { operation } from '../http/operation.js';
import { presentRun } from '../presenters/syncRun.js';
import { listOf } from '../schemas/answers.js';
import { runRecord, runsQuery, toRunFilter } from '../schemas/syncRuns.js';
import { syncRunOf } from './syncRunOf.js';

/** GET /sync_runs: lists runs, newest first. */
export const listSyncRuns = operation({
  method: 'get',
  path: '/sync_runs',
  operationId: 'list_sync_runs',
  tag: 'Runs',
  auth: 'either',
  summary: "Lists the runs of a user, or with an API key alone those of all the organization's users, newest first.",
  description: [],
  query: runsQuery,
  answer: listOf('SyncRuns', runRecord),
  async handle({ caller, query, deps }) {
    const { store } = deps;
    const asked = query;
    const filter = toRunFilter(asked);
    const [runs, count] = await Promise.all([
      store.runs.list(caller, filter, { limit: asked.limit, offset: asked.offset }),
      store.runs.count(caller, filter),
    ]);
    const tallies = await store.ledger.tallies(runs);
    return { results: runs.map((run) => presentRun(run, tallies.get(run._id), deps)), count };
  },
});

/** GET /sync_runs/{sync_run_id}: returns one run. */
export const getSyncRun = operation({
  method: 'get',
  path: '/sync_runs/{sync_run_id}',
  operationId: 'get_sync_run',
  tag: 'Runs',
  auth: 'either',
  summary: 'Tells how a run stands, or how it ended: counts that add up, bytes, and tokens embedded and reused.',
  description: [],
  answer: runRecord,
  async handle(call) {
    const run = await syncRunOf(call);
    const tallies = await call.deps.store.ledger.tallies([run]);
    return presentRun(run, tallies.get(run._id), call.deps);
  },
});
