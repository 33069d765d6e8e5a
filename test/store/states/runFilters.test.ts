import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Connection, Model } from 'mongoose';

import { type RunDoc, runModel } from '../../../store/models/runs.js';
import { createRunList, RUN_STATES, stateOfRun } from '../../../store/runs/list.js';
import { everyRow } from '../../support/everyRow.js';
import { ADA, AGO, dropDatabase, openDatabase, seed } from './writes.js';

const PAUSE = { reason: 'max_tokens', at: AGO, wanted: 1, resumedAt: null } as const;
const RESUMED = { ...PAUSE, resumedAt: AGO } as const;
const STALL = { cause: 'no_worker', message: 'No worker runs.', since: AGO } as const;
const STARTED = { startedAt: AGO } as const;
const ENDED = { startedAt: AGO, finishedAt: AGO } as const;

const RUNS: Readonly<Record<string, object>> = {
  queued: {},
  queuedStalled: { stall: STALL },
  running: STARTED,
  paused: { ...STARTED, pause: PAUSE },
  // The workflow has not removed the pause yet.
  resumed: { ...STARTED, pause: RESUMED },
  stalled: { ...STARTED, stall: STALL },
  stalledPaused: { ...STARTED, stall: STALL, pause: PAUSE },
  stalledResumed: { ...STARTED, stall: STALL, pause: RESUMED },
  finished: { ...ENDED, outcome: 'finished' },
  failed: { ...ENDED, outcome: 'failed' },
  aborted: { ...ENDED, outcome: 'aborted' },
  // Its workflow was terminated while the run was paused.
  abortedPaused: { ...ENDED, outcome: 'aborted', pause: PAUSE },
};

let connection: Connection;
let runs: Model<RunDoc>;
beforeAll(async () => {
  connection = await openDatabase();
  runs = runModel(connection);
});
afterAll(() => dropDatabase(connection));

test('the filter by a state returns exactly the runs that show this state', async () => {
  const common = { ...ADA, kind: 'syncItems', acceptedAt: AGO, startedAt: null, finishedAt: null, outcome: null };
  const ids = await seed(runs, () => common, RUNS);
  const rows = new Map((await runs.find().lean<RunDoc[]>()).map((run) => [run._id, run]));
  const list = createRunList(runs, undefined as never, () => Promise.resolve(null));
  await everyRow(RUN_STATES, String, async (state) => {
    const found = await list.list(ADA, { states: [state] }, { limit: 100, offset: 0 });
    const names = [...ids].filter(([, id]) => found.some(({ _id }) => _id === id)).map(([name]) => name);
    const shown = [...ids].filter(([, id]) => stateOfRun(rows.get(id)!) === state).map(([name]) => name);
    expect(names).toEqual(shown);
    expect(await list.count(ADA, { states: [state] })).toBe(shown.length);
  });
});
