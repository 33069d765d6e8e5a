import { randomUUID } from 'node:crypto';

import type { Store } from '../store/connect.js';
import type { NewWork } from '../contract/runs.js';
import type { NewRun } from '../store/runs/outbox.js';
import type { Dispatcher } from './dispatcher.js';

/** Begins a run for each owner who has none of its workflow under way; answers how many. */
export async function beginForEach(
  { runs, moves, transaction }: Pick<Store, 'runs' | 'moves' | 'transaction'>,
  dispatcher: Pick<Dispatcher, 'start'>,
  owners: readonly NewRun['owner'][],
  runOf: (owner: NewRun['owner']) => NewWork & Pick<NewRun, 'workflowId'>,
): Promise<number> {
  let begun = 0;
  for (const owner of owners) {
    const run = { ...runOf(owner), owner, fileId: null, requestId: randomUUID() };
    // One that two workers begin at the same moment runs twice, and finds nothing the second time.
    if (await moves.isUnderWay(owner, run.workflowId)) continue;
    const runId = await runs.nextId();
    await transaction((session) => runs.accept(runId, run, session));
    await dispatcher.start(runId);
    begun += 1;
  }
  return begun;
}
