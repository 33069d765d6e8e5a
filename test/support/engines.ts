/**
 * Passes the addresses of the test run's engines from Jest's global setup to the suites, in environment variables:
 * setup and suites can share no other state.
 */
import type { EmbeddingModel } from '../../engines/embeddingModel.js';
import type { RunningEngines } from '../../engines/start.js';

export interface TestEngines {
  readonly temporalAddress: string;
  readonly temporalUiUrl: string;
  readonly mongodbUri: string;
  readonly qdrantUrl: string;
  readonly modelPath: string;
  readonly tokenizerPath: string;
  /** Folder that is deleted after the run. */
  readonly runFolder: string;
}

const VARIABLES: Readonly<Record<keyof TestEngines, string>> = {
  temporalAddress: 'TEST_TEMPORAL_ADDRESS',
  temporalUiUrl: 'TEST_TEMPORAL_UI_URL',
  mongodbUri: 'TEST_MONGODB_URI',
  qdrantUrl: 'TEST_QDRANT_URL',
  modelPath: 'TEST_MODEL_PATH',
  tokenizerPath: 'TEST_TOKENIZER_PATH',
  runFolder: 'TEST_RUN_FOLDER',
};
const KEYS = Object.keys(VARIABLES) as (keyof TestEngines)[];

/** Stores the addresses for testEngines(). Called by the global setup. */
export function publishEngines(engines: RunningEngines, model: EmbeddingModel, runFolder: string): void {
  const values = { ...engines, ...model, runFolder };
  for (const key of KEYS) process.env[VARIABLES[key]] = values[key];
}

/**
 * Returns the addresses of the engines that the global setup started. All suites share them, so each must use its own
 * databases, collections, task queues and ids. @throws outside Jest
 */
export function testEngines(): TestEngines {
  return Object.fromEntries(
    KEYS.map((key) => {
      const value = process.env[VARIABLES[key]];
      if (!value)
        throw new Error(
          `${VARIABLES[key]} is not set: run the tests with Jest, whose global setup starts the engines.`,
        );
      return [key, value];
    }),
  ) as unknown as TestEngines;
}
