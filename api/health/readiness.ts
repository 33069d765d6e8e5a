import { stallSentence } from '../../contract/runs/stalls.js';
import { workersProblem } from '../../contract/runs/workers.js';
import type { Dispatcher } from '../../dispatch/dispatcher.js';
import type { EngineName } from '../../engines/engine.js';
import type { Store } from '../../store/connect.js';
import type { Check, Readiness } from '../http/overviews.js';
import { outdatedMessage } from '../../store/migrations/schemaWatch.js';

/** A dependency that responds later than this counts as unavailable. */
const CHECK_TIMEOUT_MS = 5_000;

export interface ReadinessDeps {
  readonly store: Pick<Store, 'pingMongo' | 'schema' | 'vectors' | 'workers' | 'stalls'>;
  readonly dispatcher: Pick<Dispatcher, 'ping'>;
  /** Returns a sentence if free disk space is low. */
  readonly diskProblem: () => Promise<string | null>;
  /** Describes an embedded engine that does not respond, and what to do; null for an external server. */
  readonly engineProblem: (name: EngineName) => Promise<string | null>;
}

const NO_ANSWER = Symbol('no answer');

/**
 * Runs a check and measures its duration. An error, or no result within CHECK_TIMEOUT_MS, counts as a failure.
 * @param hint used if the check fails or takes too long
 * @param explain returns a better hint if the cause is known
 */
async function check(
  hint: string,
  work: () => Promise<string | null | void>,
  explain: () => Promise<string | null> = () => Promise.resolve(null),
): Promise<Check> {
  const startedAt = performance.now();
  const outcome = await Promise.race([
    work().then(
      (problem) => problem ?? null,
      () => NO_ANSWER,
    ),
    new Promise<symbol>((resolve) => setTimeout(() => resolve(NO_ANSWER), CHECK_TIMEOUT_MS).unref()),
  ]);
  const latency_ms = Math.round(performance.now() - startedAt);
  if (outcome === null) return { ok: true, latency_ms };
  return { ok: false, latency_ms, hint: typeof outcome === 'string' ? outcome : ((await explain()) ?? hint) };
}

/** Checks the stores, Temporal, the workers, stalled runs and disk space, all concurrently. */
export async function readiness({ store, dispatcher, diskProblem, engineProblem }: ReadinessDeps): Promise<Readiness> {
  const [mongodb, schema, qdrant, temporal, worker, runs, disk] = await Promise.all([
    check(
      'MongoDB does not answer; see MONGODB_URI',
      () => store.pingMongo(),
      () => engineProblem('mongodb'),
    ),
    check('The stored version of the records could not be read', async () => {
      const newer = await store.schema.check();
      return newer === null ? null : outdatedMessage(newer);
    }),
    check(
      'Qdrant does not answer; see QDRANT_URL',
      async () => {
        const broken = await store.vectors.probe();
        if (broken.length === 0) return null;
        const names = broken.map(({ name }) => name).join(', ');
        return `Qdrant fails searches in ${names}: a segment is damaged or its disk is full; run npm run cli -- doctor`;
      },
      () => engineProblem('qdrant'),
    ),
    check(
      'Temporal does not answer; see TEMPORAL_ADDRESS',
      async () => void (await dispatcher.ping()),
      () => engineProblem('temporal'),
    ),
    check('The heartbeats of the workers could not be read', async () => workersProblem(await store.workers.list())),
    check('Stalled runs could not be counted', async () => {
      const groups = await store.stalls.groupByCause();
      return groups.length === 0 ? null : groups.map(stallSentence).join('. ');
    }),
    check('Free disk space could not be read; see DATA_DIR and FILE_STORAGE_DIR', diskProblem),
  ]);
  return { mongodb, schema, qdrant, temporal, worker, runs, disk };
}
