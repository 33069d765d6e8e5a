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
  summary: 'List runs',
  description: [
    'Lists the runs of an end user, newest first. With an API key alone it lists those of the whole organization.\n\nUse it to see what a request started (`request_id`), what is in progress (`statuses`), or what an account did (`data_source_id`). Filters of different parameters must all match.\n\nFinished runs are kept LEDGER_LIFE_DAYS (default 90).',
  ],
  returns: 'One page of runs, newest first, and the number of all that match.',
  errors: { 404: null },
  query: runsQuery,
  answer: listOf('SyncRuns', runRecord, 'runs'),
  async handle({ caller, query, deps }) {
    const { store } = deps;
    const filter = toRunFilter(query);
    const [runs, count] = await Promise.all([
      store.runs.list(caller, filter, { limit: query.limit, offset: query.offset }),
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
  summary: 'Get a run',
  description: [
    'Returns the state of a run with the counts of its items: ok + failed + skipped + aborted + pending = discovered.\n\nPoll it until `finished_at` is set. `message` of a `stalled` run names the cause, and a `paused` one continues after `POST /sync_runs/{sync_run_id}/resume`. A scheduled sync starts several runs, such as a listing and a sync of files; its counts are the sums of theirs. `GET /sync_runs/{sync_run_id}/items` lists the single items.',
  ],
  returns: 'State of the run now, with the counts of its items. `finished_at` is null while it is in progress.',
  answer: runRecord,
  async handle(call) {
    const run = await syncRunOf(call);
    const tallies = await call.deps.store.ledger.tallies([run]);
    return presentRun(run, tallies.get(run._id), call.deps);
  },
});
