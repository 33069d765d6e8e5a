import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';

import { watchAnswers } from './answeredOperations.js';
import { testEngines } from './engines.js';
import { throwOnWrongCounts, findWrongCounts } from './ledger.js';
import { connectMongo } from './mongo.js';
import { serviceOf, startApi, type TestService } from './serviceParts.js';
import { newServiceSettings } from './serviceSettings.js';
import { sharedLocalModel } from './sharedLocalModel.js';

export type { TestService } from './serviceParts.js';

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
 * Starts a service for one suite on the run's shared engines. API and worker run in this process; tests that kill them
 * start processes with `env` instead. Suites that need neither settings nor a service of their own use sharedService().
 */
export async function startService(
  settings: Record<string, string> = {},
  { worker: withWorker = true, logTo, searchesStalls = true }: ServiceParts = {},
): Promise<TestService> {
  const env = await newServiceSettings(settings, tmpdir());
  const mongodbUri = env['MONGODB_URI'] ?? '';
  const localModel = await sharedLocalModel(testEngines());
  const api = await startApi(env, { localModel, logTo, searchesStalls });
  const recordAnswers = watchAnswers(api.port);
  const service = serviceOf(api, { env, apiKey: env['API_KEY'] ?? '', localModel, logTo });
  if (withWorker) await service.startWorker();
  return {
    ...service,
    async close() {
      await service.stopWorker();
      const wrong = await findWrongCounts(mongodbUri);
      await api.stop(0);
      recordAnswers();
      await rm(env['DATA_DIR'] ?? '', { recursive: true, force: true });
      await dropDatabase(mongodbUri);
      throwOnWrongCounts(wrong);
    },
  };
}
