import type { Dispatcher } from '../../dispatch/dispatcher.js';
import type { Store } from '../../store/connect.js';

/** A dependency that answers slower than this counts as away. */
const CHECK_TIMEOUT_MS = 5_000;

export interface Check {
  readonly ok: boolean;
  readonly latency_ms: number;
  /** What to do, when it is not well. */
  readonly hint?: string;
}

interface Engines {
  readonly store: Pick<Store, 'pingMongo' | 'vectors'>;
  readonly dispatcher: Pick<Dispatcher, 'ping'>;
}

export type Readiness = Readonly<Record<'mongodb' | 'qdrant' | 'temporal', Check>>;

async function check(hint: string, work: () => Promise<string | null | void>): Promise<Check> {
  const begun = performance.now();
  const outcome = await Promise.race([
    work().then(
      (trouble) => trouble ?? null,
      () => hint,
    ),
    new Promise<string>((resolve) => setTimeout(() => resolve(hint), CHECK_TIMEOUT_MS).unref()),
  ]);
  const latency_ms = Math.round(performance.now() - begun);
  return outcome === null ? { ok: true, latency_ms } : { ok: false, latency_ms, hint: outcome };
}

/** Asks everything that work needs, and whether a worker polls. */
export async function readiness({ store, dispatcher }: Engines): Promise<Readiness> {
  const [mongodb, qdrant, temporal] = await Promise.all([
    check('MongoDB does not answer; see MONGODB_URI', () => store.pingMongo()),
    check('Qdrant does not answer; see QDRANT_URL', () => store.vectors.ping()),
    check('Temporal does not answer; see TEMPORAL_ADDRESS', async () => {
      const { pollers } = await dispatcher.ping();
      return pollers > 0 ? null : 'No worker polls the task queue; start one with npm run worker';
    }),
  ]);
  return { mongodb, qdrant, temporal };
}
