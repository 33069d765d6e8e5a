/** Starts a service of which a test can kill each process: API, worker and engines, which no other suite uses. */
import { randomBytes } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';

import { TASK_QUEUE } from '../../contract/runs/workflowIds.js';
import { temporalNames, type TemporalNames } from '../../contract/runs/temporalNames.js';
import type { Engine, EngineName } from '../../engines/engine.js';
import { findPort } from '../../engines/ports.js';
import { startEngines } from '../../engines/start.js';
import { inspectMongodb } from '../../store/overview/inspection.js';
import { testUser, type TestUser } from './client.js';
import { testEngines } from './engines.js';
import { throwOnWrongCounts, findWrongCountsOfEndedRuns } from './ledger.js';
import { startProcess } from './processes.js';
import { newEngineFolder } from './scratch.js';

export const KILL_TARGETS = ['worker', 'api', 'temporal', 'mongodb', 'qdrant'] as const;
export type KillTarget = (typeof KILL_TARGETS)[number];

/** How long users repeat a failing call, in milliseconds. */
const TIME_LIMIT_MS = 60_000;

export interface OwnService {
  readonly url: string;
  readonly names: TemporalNames;
  /** The settings of the service, sufficient to read its stores. */
  readonly env: NodeJS.ProcessEnv;
  readonly apiKey: string;
  /** Its own engines, which the test can stop, kill and start. */
  readonly engines: Readonly<Record<EngineName, Engine>>;
  /** Returns an end user who repeats failing calls. */
  user(customerId: string): Promise<TestUser>;
  /**
   * Kills a process with SIGKILL. Restarts an engine and resolves when it has started. For API and worker, resolves at
   * once; their supervisor restarts them.
   * @param downMs downtime of an engine in milliseconds
   */
  kill(target: KillTarget, downMs?: number): Promise<void>;
  /** Waits until no run is active, then stops everything. @throws when the counts of the runs do not add up */
  close(): Promise<void>;
}

/**
 * Starts a service with its own engines.
 * @param keepRunning if set, engines that exit are restarted, as `npm start` does; receives a line for each attempt
 */
export async function startOwnService(
  settings: Record<string, string>,
  keepRunning?: (line: string) => void,
): Promise<OwnService> {
  const dataDir = await newEngineFolder('killed');
  const engines = await startEngines({
    dataDir,
    need: { temporal: true, mongodb: true, qdrant: true },
    ports: 'free',
    ...(keepRunning && { keepRunning }),
  });
  const { temporal, mongodb, qdrant } = engines;
  if (!temporal || !mongodb || !qdrant) throw new Error('an engine is missing');
  const { modelPath, tokenizerPath } = testEngines();
  // The port stays the same after each restart, like a service's address.
  const port = await findPort('free');
  const apiKey = `test-key-${randomBytes(12).toString('hex')}`;
  const mongodbUri = new URL(mongodb.uri);
  mongodbUri.pathname = '/killed';
  const env: NodeJS.ProcessEnv = {
    PATH: process.env['PATH'],
    HOME: process.env['HOME'],
    // Other suites keep the cores busy: processes of lower priority would hardly run.
    COMPUTE_NICENESS: '0',
    PORT: String(port),
    DATA_DIR: dataDir,
    LOG_LEVEL: process.env['TEST_LOG_LEVEL'] ?? 'silent',
    API_KEY: apiKey,
    SECRET_KEY: `k1:${randomBytes(32).toString('base64')}`,
    TEMPORAL_ADDRESS: temporal.address,
    MONGODB_URI: mongodbUri.href,
    QDRANT_URL: qdrant.url,
    QDRANT_COLLECTION_PREFIX: 'killed-',
    EMBEDDING_MODEL_PATH: modelPath,
    EMBEDDING_TOKENIZER_PATH: tokenizerPath,
    EMBEDDING_THREADS: '1',
    RETRY_DELAYS_S: '0.2,0.4,0.8',
    ...settings,
  };
  // Started in sequence: the first process creates the indexes.
  const api = await startProcess('api/server', env, true);
  const worker = await startProcess('worker/main', env, true);
  const url = `http://127.0.0.1:${port}`;
  const inspection = await inspectMongodb(mongodbUri.href);
  const { deploymentId } = await inspection.server();
  await inspection.close();
  const killAndRestart =
    (engine: { kill(): Promise<void>; restart(): Promise<void> }) =>
    async (downMs = 0): Promise<void> => {
      await engine.kill();
      await sleep(downMs);
      await engine.restart();
    };
  const kills: Readonly<Record<KillTarget, (downMs?: number) => Promise<void>>> = {
    worker: () => worker.kill(),
    api: () => api.kill(),
    temporal: killAndRestart(temporal),
    mongodb: killAndRestart(mongodb),
    qdrant: killAndRestart(qdrant),
  };
  return {
    url,
    names: temporalNames(deploymentId ?? '', TASK_QUEUE),
    env,
    apiKey,
    engines: { temporal, mongodb, qdrant },
    user: (customerId) => testUser(url, apiKey, customerId, TIME_LIMIT_MS),
    kill: (target, downMs) => kills[target](downMs),
    async close() {
      try {
        throwOnWrongCounts(await findWrongCountsOfEndedRuns(mongodbUri.href));
      } finally {
        await Promise.all([api.stop(), worker.stop()]);
        await engines.stop();
        await rm(dataDir, { recursive: true, force: true });
      }
    },
  };
}
