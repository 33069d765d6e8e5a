import { periodically } from '../config/process/periodically.js';
import { workflowIds } from '../contract/runs/workflowIds.js';
import type { Log } from '../observability/log.js';
import type { Store } from '../store/connect.js';
import type { Dispatcher } from './dispatcher.js';
import { beginForEach } from './sweep.js';

/** Maximum number of users per iteration. */
const USERS_PER_ITERATION = 100;

export type SweptStores = Pick<Store, 'runs' | 'moves' | 'transaction'>;

/**
 * Starts a move to file storage for each user with vectors that were not used for the configured days; returns the
 * number of runs.
 */
export async function coldSweepOnce(
  stores: SweptStores,
  dispatcher: Pick<Dispatcher, 'start'>,
  now = new Date(),
): Promise<number> {
  const owners = await stores.moves.listOwnersOfDue(now, USERS_PER_ITERATION);
  return beginForEach(stores, dispatcher, owners, ({ userId }) => ({
    kind: 'moveStorage',
    workflowId: workflowIds.moveToCold(userId),
    request: { move: 'toCold' },
  }));
}

/** Sweeps every `intervalMs` until the signal is aborted. */
export async function coldSweep(
  stores: SweptStores,
  dispatcher: Pick<Dispatcher, 'start'>,
  log: Log,
  intervalMs: number,
  signal: AbortSignal,
): Promise<void> {
  const sweepOnce = async (): Promise<void> => {
    const begun = await coldSweepOnce(stores, dispatcher);
    if (begun > 0) log.info({ runs: begun }, 'unused vectors are being moved to file storage');
  };
  const onError = (error: unknown): void =>
    log.warn({ err: error }, 'the search for unused vectors failed; trying again');
  await periodically(sweepOnce, { intervalMs, signal, onError, waitsFirst: true });
}
