import { randomUUID } from 'node:crypto';

import { workflowIds } from '../contract/orchestration.js';
import type { Log } from '../observability/log.js';
import type { Store } from '../store/connect.js';
import type { Dispatcher } from './dispatcher.js';
import { pause } from './pause.js';

/** Users whose files are looked after in one round. */
const USERS_PER_ROUND = 100;

export type SweptStores = Pick<Store, 'runs' | 'moves' | 'transaction'>;

/** Starts a run for everybody who has vectors that were not used for their days; answers how many. */
export async function coldSweepOnce(
  { runs, moves, transaction }: SweptStores,
  dispatcher: Pick<Dispatcher, 'start'>,
  now = new Date(),
): Promise<number> {
  let begun = 0;
  for (const owner of await moves.owners(now, USERS_PER_ROUND)) {
    const workflowId = workflowIds.moveToCold(owner.userId);
    // One that two workers begin at the same moment runs twice, and finds nothing the second time.
    if (await moves.isUnderWay(owner, workflowId)) continue;
    const runId = await runs.nextId();
    const run = {
      kind: 'moveStorage',
      workflowId,
      owner,
      fileId: null,
      requestId: randomUUID(),
      options: { move: 'toCold' },
    } as const;
    await transaction((session) => runs.accept(runId, run, session));
    await dispatcher.start(runId);
    begun += 1;
  }
  return begun;
}

/** Sweeps every `intervalMs` until the signal is aborted. */
export async function coldSweep(
  stores: SweptStores,
  dispatcher: Pick<Dispatcher, 'start'>,
  log: Log,
  intervalMs: number,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    await pause(intervalMs, signal);
    if (signal.aborted) return;
    try {
      const begun = await coldSweepOnce(stores, dispatcher);
      if (begun > 0) log.info({ runs: begun }, 'vectors that were not used for long go into file storage');
    } catch (error) {
      log.warn({ err: error }, 'vectors that were not used for long could not be looked for; trying again');
    }
  }
}
