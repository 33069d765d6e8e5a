import { randomUUID } from 'node:crypto';

import type { Store } from '../store/connect.js';
import type { NewWork } from '../contract/runs/runs.js';
import type { NewRun } from '../store/runs/outbox.js';
import type { Dispatcher } from './dispatcher.js';

/** Starts a run for each owner that has no active run of the same workflow; returns the number of runs. */
export async function beginForEach(
  { runs, moves, transaction }: Pick<Store, 'runs' | 'moves' | 'transaction'>,
  dispatcher: Pick<Dispatcher, 'start'>,
  owners: readonly NewRun['owner'][],
  runOf: (owner: NewRun['owner']) => NewWork & Pick<NewRun, 'workflowId'>,
): Promise<number> {
  let begun = 0;
  for (const owner of owners) {
    const run = { ...runOf(owner), owner, fileId: null, requestId: randomUUID() };
    // Two workers may accept a run of the same workflow concurrently. The second run then finds no work.
    if (await moves.isRunOpen(owner, run.workflowId)) continue;
    const runId = await runs.nextId();
    await transaction((session) => runs.accept(runId, run, session));
    await dispatcher.start(runId);
    begun += 1;
  }
  return begun;
}
