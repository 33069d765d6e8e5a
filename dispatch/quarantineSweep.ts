import { periodically } from '../config/process/periodically.js';
import { workflowIds } from '../contract/runs/workflowIds.js';
import type { Log } from '../observability/log.js';
import type { Store } from '../store/connect.js';
import type { Dispatcher } from './dispatcher.js';
import { beginForEach } from './sweep.js';

/** Maximum number of users per iteration. */
const USERS_PER_ITERATION = 100;

type SweptStores = Pick<Store, 'runs' | 'moves' | 'quarantine' | 'transaction'>;

/**
 * Starts a run for each user with files whose quarantine has expired or whose erasure was interrupted; returns the
 * number of runs.
 */
export async function quarantineSweepOnce(
  stores: SweptStores,
  dispatcher: Pick<Dispatcher, 'start'>,
  now = new Date(),
): Promise<number> {
  const owners = await stores.quarantine.listOwnersOfDue(now, USERS_PER_ITERATION);
  return beginForEach(stores, dispatcher, owners, ({ userId }) => ({
    kind: 'settleQuarantine',
    workflowId: workflowIds.eraseQuarantine(userId),
    request: { does: 'erase' },
  }));
}

/** Sweeps every `intervalMs` until the signal is aborted. */
export async function quarantineSweep(
  stores: SweptStores,
  dispatcher: Pick<Dispatcher, 'start'>,
  log: Log,
  intervalMs: number,
  signal: AbortSignal,
): Promise<void> {
  const sweepOnce = async (): Promise<void> => {
    const begun = await quarantineSweepOnce(stores, dispatcher);
    if (begun > 0) log.info({ runs: begun }, 'files with expired quarantine are being erased');
  };
  const onError = (error: unknown): void =>
    log.warn({ err: error }, 'the search for expired quarantine failed; trying again');
  await periodically(sweepOnce, { intervalMs, signal, onError, waitsFirst: true });
}
