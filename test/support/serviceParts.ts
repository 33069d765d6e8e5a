/** Starts the parts of a service in this process, compiled, as in production. */
import { randomInt } from 'node:crypto';

import type { Activities } from '../../activities/index.js';
import type { FileRecord } from '../../contract/files/records.js';
import type { TemporalNames } from '../../contract/runs/temporalNames.js';
import type { EmbeddingProvider } from '../../providers/embeddings/types.js';
import type { Store } from '../../store/connect.js';
import { testUser, type TestUser } from './client.js';
import { connectMongo } from './mongo.js';
import { type Api, loadProduct } from './product.js';
import { quietTemporal } from './quietTemporal.js';

export interface TestService {
  readonly url: string;
  readonly store: Store;
  readonly apiKey: string;
  /** Settings for separate processes of this service. */
  readonly env: NodeJS.ProcessEnv;
  /** The names of its task queue and workflows: all suites share one Temporal namespace. */
  readonly names: TemporalNames;
  /** Returns an end user of the organization of `apiKey`, or of another key. */
  user(customerId: string, apiKey?: string): Promise<TestUser>;
  /** Starts a worker in this process. @param wrap replaces or wraps activities for a test */
  startWorker(wrap?: (activities: Activities) => Activities): Promise<void>;
  stopWorker(): Promise<void>;
  close(): Promise<void>;
}

/** Load measurements without values: other suites delay this process, which would look like an overloaded machine. */
export const UNMEASURED = { waitShare: null, waited: null, othersShare: null };

export interface ApiParts {
  readonly localModel: EmbeddingProvider;
  /** Receives the log lines. Default: standard output. */
  readonly logTo?: { write(line: string): void } | undefined;
  /** Default: true. */
  readonly searchesStalls?: boolean;
}

interface WorkerParts extends Pick<ApiParts, 'localModel' | 'logTo'> {
  readonly store: Store;
  /** Replaces or wraps activities. */
  readonly wrap?: ((activities: Activities) => Activities) | undefined;
}

/**
 * Starts the ids of each new database at a random number, so that an id of one service does not exist in another. A
 * database that an earlier service used keeps its numbers.
 */
async function spreadIds(uri: string): Promise<void> {
  const connection = await connectMongo(uri);
  const last = randomInt(1, 100_000) * 10_000;
  const sequences = connection.collection<{ _id: string; last: number }>('sequences');
  await sequences.bulkWrite(
    ['file', 'run', 'user', 'dataSource', 'webhook'].map((_id) => ({
      updateOne: { filter: { _id }, update: { $setOnInsert: { last } }, upsert: true },
    })),
  );
  await connection.close();
}

async function configured(env: NodeJS.ProcessEnv, logTo: ApiParts['logTo']) {
  const { createTestLog, loadConfig } = await loadProduct();
  const config = loadConfig(env);
  return { config, log: createTestLog(config.logLevel, logTo) };
}

/** Starts the API of a new service. */
export async function startApi(
  env: NodeJS.ProcessEnv,
  { localModel, logTo, searchesStalls = true }: ApiParts,
): Promise<Api> {
  const { createApi } = await loadProduct();
  const { config, log } = await configured(env, logTo);
  await spreadIds(env['MONGODB_URI'] ?? '');
  return createApi(config, { log, localModel, searchesStalls });
}

/** Starts a worker. @returns a function that stops it and waits for its end */
async function startWorker(
  env: NodeJS.ProcessEnv,
  { store, localModel, logTo, wrap }: WorkerParts,
): Promise<() => Promise<void>> {
  await quietTemporal();
  const { createWorker } = await loadProduct();
  const { config, log } = await configured(env, logTo);
  const measureLoad = () => UNMEASURED;
  const worker = await createWorker(config, { log, localModel, store, measureLoad, ...(wrap && { wrap }) });
  const ended = worker.run();
  return async () => {
    worker.stop();
    await ended;
  };
}

/**
 * Returns a client for an end user. Its `settled` polls the store, and requests the file from the API again only after
 * its status has changed.
 */
function userOf(url: string, store: Store, customerId: string, apiKey: string): Promise<TestUser> {
  const hasStatus = async ({
    id,
    organization_id,
    organization_user_id,
    sync_status,
  }: FileRecord): Promise<boolean> => {
    const tenant = { organizationId: organization_id, userId: organization_user_id ?? 0 };
    const [stored] = await store.files.byIds(tenant, [id]);
    return stored?.syncStatus === sync_status;
  };
  return testUser(url, apiKey, customerId, 0, hasStatus);
}

/** Returns the functions of a service for one suite. @param apiKey the key of its organization */
export function serviceOf(
  { port, store, names }: Api,
  { env, apiKey, localModel, logTo }: { env: NodeJS.ProcessEnv; apiKey: string } & ApiParts,
): Omit<TestService, 'close'> {
  const url = `http://127.0.0.1:${port}`;
  let stopWorker: (() => Promise<void>) | null = null;
  return {
    ...{ url, store, apiKey, env, names },
    user: (customerId, key = apiKey) => userOf(url, store, customerId, key),
    async startWorker(wrap) {
      stopWorker = await startWorker(env, { store, localModel, logTo, wrap });
    },
    async stopWorker() {
      const stop = stopWorker;
      stopWorker = null;
      await stop?.();
    },
  };
}
