/** Settings of the services that suites start. */
import { randomBytes, randomUUID } from 'node:crypto';
import { mkdtemp } from 'node:fs/promises';
import path from 'node:path';

import { testEngines } from './engines.js';

/**
 * Returns the settings of a new service on the run's shared engines, with its own database, collections and folder. The
 * service names its task queue after the deployment id in its database, so the queue is its own too.
 * @param folder contains the new folder
 */
export async function newServiceSettings(settings: Record<string, string>, folder: string): Promise<NodeJS.ProcessEnv> {
  const engines = testEngines();
  const name = `t${randomUUID().slice(0, 8)}`;
  const mongodbUri = new URL(engines.mongodbUri);
  mongodbUri.pathname = `/${name}`;
  return {
    PATH: process.env['PATH'],
    HOME: process.env['HOME'],
    // Other suites keep the cores busy: processes of lower priority would hardly run.
    COMPUTE_NICENESS: '0',
    PORT: '0',
    DATA_DIR: await mkdtemp(path.join(folder, `allotrope-${name}-`)),
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
}
