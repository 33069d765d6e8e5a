import { periodically } from '../config/process/periodically.js';
import { workflowIds } from '../contract/orchestration.js';
import type { Log } from '../observability/log.js';
import type { Store } from '../store/connect.js';
import type { Dispatcher } from './dispatcher.js';
import { beginForEach } from './sweep.js';

/** Users whose files are looked after in one round. */
const USERS_PER_ROUND = 100;

export type SweptStores = Pick<Store, 'runs' | 'moves' | 'transaction'>;

/** Starts a run for everybody who has vectors that were not used for their days; answers how many. */
export async function coldSweepOnce(
  stores: SweptStores,
  dispatcher: Pick<Dispatcher, 'start'>,
  now = new Date(),
): Promise<number> {
  const owners = await stores.moves.owners(now, USERS_PER_ROUND);
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
    if (begun > 0) log.info({ runs: begun }, 'vectors that were not used for long go into file storage');
  };
  const onError = (error: unknown): void =>
    log.warn({ err: error }, 'vectors that were not used for long could not be looked for; trying again');
  await periodically(sweepOnce, { intervalMs, signal, onError, waitsFirst: true });
}
