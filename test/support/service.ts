import { randomBytes, randomInt, randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';

import type { Activities } from '../../activities/index.js';
import type { FileRecord } from '../../contract/files/records.js';
import type { TemporalNames } from '../../contract/runs/temporalNames.js';
import type { Store } from '../../store/connect.js';
import { watchAnswers } from './answeredOperations.js';
import { testEngines } from './engines.js';
import { throwOnWrongCounts, findWrongCounts } from './ledger.js';
import { loadProduct } from './product.js';
import { quietTemporal } from './quietTemporal.js';
import { sharedLocalModel } from './sharedLocalModel.js';
import { testUser, type TestUser } from './client.js';
import { connectMongo } from './mongo.js';

export interface TestService {
  readonly url: string;
  readonly store: Store;
  readonly apiKey: string;
  /** Settings for separate processes of this service. */
  readonly env: NodeJS.ProcessEnv;
  /** The names of its task queue and workflows: all suites share one Temporal namespace. */
  readonly names: TemporalNames;
  /** Returns an end user of organization 1, or of another key's organization. */
  user(customerId: string, apiKey?: string): Promise<TestUser>;
  /** Starts a worker in this process. @param wrap replaces or wraps activities for a test */
  startWorker(wrap?: (activities: Activities) => Activities): Promise<void>;
  stopWorker(): Promise<void>;
  close(): Promise<void>;
}

/** Load measurements without values: other suites delay this process, which would look like an overloaded machine. */
export const UNMEASURED = { waitShare: null, waited: null, othersShare: null };

/** Starts the ids of each suite at a random number, so that an id of one suite does not exist in another. */
async function spreadIds(uri: string): Promise<void> {
  const connection = await connectMongo(uri);
  const last = randomInt(1, 100_000) * 10_000;
  const rows = ['file', 'run', 'user', 'dataSource', 'webhook'].map((_id) => ({ _id, last }));
  await connection.collection<{ _id: string; last: number }>('sequences').insertMany(rows);
  await connection.close();
}

/**
 * Drops the suite's database. Its collections and indexes keep about 150 files open in the shared MongoDB, which may
 * open at most 20,000.
 */
async function dropDatabase(uri: string): Promise<void> {
  const connection = await connectMongo(uri);
  await connection.dropDatabase();
  await connection.close();
}

/** Parts of a service that a suite can choose. */
export interface ServiceParts {
  /** Default: true. */
  readonly worker?: boolean;
  /** Receives the log lines. Default: standard output. */
  readonly logTo?: { write(line: string): void };
  /**
   * Whether the service searches for stalled runs. False for suites that store stalls: it would clear them. Default:
   * true.
   */
  readonly searchesStalls?: boolean;
}

/**
 * Starts a service on the run's shared engines, with its own database, collections, task queue and folder. API and
 * worker run in this process, compiled, as in production; tests that kill them start processes with `env` instead.
 */
export async function startService(
  settings: Record<string, string> = {},
  { worker: withWorker = true, logTo, searchesStalls = true }: ServiceParts = {},
): Promise<TestService> {
  const engines = testEngines();
  const name = `t${randomUUID().slice(0, 8)}`;
  const dataDir = await mkdtemp(path.join(tmpdir(), `allotrope-${name}-`));
  const mongodbUri = new URL(engines.mongodbUri);
  mongodbUri.pathname = `/${name}`;
  const env: NodeJS.ProcessEnv = {
    PATH: process.env['PATH'],
    HOME: process.env['HOME'],
    // Other suites keep the cores busy: processes of lower priority would hardly run.
    COMPUTE_NICENESS: '0',
    PORT: '0',
    DATA_DIR: dataDir,
    LOG_LEVEL: process.env['TEST_LOG_LEVEL'] ?? 'error',
    API_KEY: `test-key-${name}-${randomBytes(8).toString('hex')}`,
    SECRET_KEY: `k1:${randomBytes(32).toString('base64')}`,
    TEMPORAL_ADDRESS: engines.temporalAddress,
    MONGODB_URI: mongodbUri.href,
    QDRANT_URL: engines.qdrantUrl,
    QDRANT_COLLECTION_PREFIX: `${name}-`,
    EMBEDDING_MODEL_PATH: engines.modelPath,
    EMBEDDING_TOKENIZER_PATH: engines.tokenizerPath,
    EMBEDDING_THREADS: '1',
    RETRY_DELAYS_S: '0.2,0.4,0.8',
    SCHEMA_CHECK_INTERVAL_S: '1',
    // Other suites keep the cores busy, so a healthy store can answer late.
    STORE_TIMEOUT_S: '60',
    ...settings,
  };
  const { activityFields, createApi, createLog, createWorker, loadConfig } = await loadProduct();
  const config = loadConfig(env);
  const log = createLog({ level: config.logLevel, name: 'test', fields: activityFields }, logTo);
  await spreadIds(mongodbUri.href);
  const localModel = await sharedLocalModel(engines);
  const api = await createApi(config, { log, localModel, searchesStalls });
  const { store, names } = api;
  const apiKey = config.apiKey ?? '';
  const url = `http://127.0.0.1:${api.port}`;
  const recordAnswers = watchAnswers(api.port);

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

  let stopWorker: (() => Promise<void>) | null = null;
  const service: TestService = {
    url,
    store,
    apiKey,
    env,
    names,
    user: (customerId, key = apiKey) => testUser(url, key, customerId, 0, hasStatus),
    async startWorker(wrap) {
      await quietTemporal();
      const worker = await createWorker(config, {
        ...{ log, localModel, store, measureLoad: () => UNMEASURED },
        ...(wrap && { wrap }),
      });
      const ended = worker.run();
      stopWorker = async () => {
        stopWorker = null;
        worker.stop();
        await ended;
      };
    },
    stopWorker: async () => stopWorker?.(),
    async close() {
      await stopWorker?.();
      const wrong = await findWrongCounts(mongodbUri.href);
      await api.stop(0);
      recordAnswers();
      await rm(dataDir, { recursive: true, force: true });
      await dropDatabase(mongodbUri.href);
      throwOnWrongCounts(wrong);
    },
  };
  if (withWorker) await service.startWorker();
  return service;
}
