import { stallSentence } from '../../contract/stalls.js';
import { workersTrouble } from '../../contract/workers.js';
import type { Dispatcher } from '../../dispatch/dispatcher.js';
import type { Store } from '../../store/connect.js';
import { outdatedMessage } from '../../store/migrations/schemaWatch.js';

/** A dependency that answers slower than this counts as away. */
const CHECK_TIMEOUT_MS = 5_000;

export interface Check {
  readonly ok: boolean;
  readonly latency_ms: number;
  /** What to do, when it is not well. */
  readonly hint?: string;
}

interface Engines {
  readonly store: Pick<Store, 'pingMongo' | 'schema' | 'vectors' | 'workers' | 'stalls'>;
  readonly dispatcher: Pick<Dispatcher, 'ping'>;
  /** Returns a sentence where free disk space is low. */
  readonly diskTrouble: () => Promise<string | null>;
}

export type Readiness = Readonly<
  Record<'mongodb' | 'schema' | 'qdrant' | 'temporal' | 'worker' | 'runs' | 'disk', Check>
>;

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

/** Checks every store that work needs, and whether a worker runs at full speed. */
export async function readiness({ store, dispatcher, diskTrouble }: Engines): Promise<Readiness> {
  const [mongodb, schema, qdrant, temporal, worker, runs, disk] = await Promise.all([
    check('MongoDB does not answer; see MONGODB_URI', () => store.pingMongo()),
    check('The stored version of the records could not be read', async () => {
      const newer = await store.schema.check();
      return newer === null ? null : outdatedMessage(newer);
    }),
    check('Qdrant does not answer; see QDRANT_URL', async () => {
      const broken = await store.vectors.probe();
      if (broken.length === 0) return null;
      const names = broken.map(({ name }) => name).join(', ');
      return `Qdrant fails searches in ${names}: a segment is damaged or its disk is full; run npm run cli -- doctor`;
    }),
    check('Temporal does not answer; see TEMPORAL_ADDRESS', async () => void (await dispatcher.ping())),
    check('The heartbeats of the workers could not be read', async () => workersTrouble(await store.workers.list())),
    check('Stalled runs could not be counted', async () => {
      const groups = await store.stalls.groups();
      return groups.length === 0 ? null : groups.map(stallSentence).join('. ');
    }),
    check('Free disk space could not be read; see DATA_DIR and FILE_STORAGE_DIR', diskTrouble),
  ]);
  return { mongodb, schema, qdrant, temporal, worker, runs, disk };
}
