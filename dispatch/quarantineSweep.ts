import { randomUUID } from 'node:crypto';

import { workflowIds } from '../contract/orchestration.js';
import type { QuarantineRequest } from '../contract/quarantine.js';
import type { Log } from '../observability/log.js';
import type { Store } from '../store/connect.js';
import type { Dispatcher } from './dispatcher.js';
import { pause } from './pause.js';

/** Users whose files are looked after in one round. */
const USERS_PER_ROUND = 100;

type SweptStores = Pick<Store, 'runs' | 'moves' | 'quarantine' | 'transaction'>;

/** Starts a run for everybody who has files in quarantine whose time is up, or that were left halfway; answers how many. */
export async function quarantineSweepOnce(
  { runs, moves, quarantine, transaction }: SweptStores,
  dispatcher: Pick<Dispatcher, 'start'>,
  now = new Date(),
): Promise<number> {
  let begun = 0;
  for (const owner of await quarantine.owners(now, USERS_PER_ROUND)) {
    const workflowId = workflowIds.eraseQuarantine(owner.userId);
    // One that two workers begin at the same moment runs twice, and finds nothing the second time.
    if (await moves.isUnderWay(owner, workflowId)) continue;
    const runId = await runs.nextId();
    const options: QuarantineRequest = { does: 'erase' };
    const run = {
      kind: 'settleQuarantine',
      workflowId,
      owner,
      fileId: null,
      requestId: randomUUID(),
      options,
    } as const;
    await transaction((session) => runs.accept(runId, run, session));
    await dispatcher.start(runId);
    begun += 1;
  }
  return begun;
}

/** Sweeps every `intervalMs` until the signal is aborted. */
export async function quarantineSweep(
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
      const begun = await quarantineSweepOnce(stores, dispatcher);
      if (begun > 0) log.info({ runs: begun }, 'files whose time in quarantine is up are erased');
    } catch (error) {
      log.warn({ err: error }, 'files in quarantine could not be looked for; trying again');
    }
  }
}
