/** The compiled service, as production runs it. Node loads it once for all suites of a process (environment.cjs). */
import type * as activity from '@temporalio/activity';
import type * as sdk from '@temporalio/worker';
import type mongoose from 'mongoose';

import type { activityFields } from '../../activities/logFields.js';
import type { createApi } from '../../api/createApi.js';
import type { loadConfig } from '../../config/config.js';
import type { splitText } from '../../documents/chunking/splitText.js';
import type { createDocumentPool } from '../../documents/pool.js';
import type { createLocalProvider, startLocalProcess } from '../../providers/embeddings/providers/local.js';
import type { EmbeddingProvider } from '../../providers/embeddings/types.js';
import type { createLog, Log } from '../../observability/log.js';
import type { createWorker } from '../../worker/createWorker.js';
import type { isExpected } from '../../worker/sdkLogger.js';

export type Api = Awaited<ReturnType<typeof createApi>>;

export interface KeptApi {
  readonly api: Api;
  readonly env: NodeJS.ProcessEnv;
}

export interface Product {
  readonly createApi: typeof createApi;
  readonly createWorker: typeof createWorker;
  readonly loadConfig: typeof loadConfig;
  readonly createLog: typeof createLog;
  readonly activityFields: typeof activityFields;
  readonly createLocalProvider: typeof createLocalProvider;
  /** Starts the process of the embedded model from compiled code: from source it would load a compiler first. */
  readonly startLocalProcess: typeof startLocalProcess;
  readonly isExpected: typeof isExpected;
  /** Shared, because its native part can be loaded only once in a process. */
  readonly sdk: typeof sdk;
  /** Provides the context of the activity that its caller runs in. */
  readonly activity: typeof activity;
  readonly mongoose: typeof mongoose;
  /** Values that suites keep for later suites of the same process, by name. */
  readonly sharedValues: Map<string, unknown>;
  /** Creates the log of a service. @param logTo receives the lines; absent: standard output */
  createTestLog(level: string, logTo?: { write(line: string): void }): Log;
  /** Returns the model with a `close` that has no effect. */
  keepOpen(model: EmbeddingProvider): EmbeddingProvider;
  /** Keeps an API for later suites of this process. It is closed after several suites that do not use it. */
  keepApi(name: string, api: Api, env: NodeJS.ProcessEnv): void;
  /** Returns an API that an earlier suite has kept, with its settings. */
  useApi(name: string): KeptApi | undefined;
}

/** A separate module, for suites that need no service. */
interface DocumentPools {
  readonly createDocumentPool: typeof createDocumentPool;
}

declare global {
  /** Set by environment.cjs. */
  var loadProduct: () => Promise<Product>;
  var loadDocumentPool: () => Promise<DocumentPools>;
  var loadSplitText: () => Promise<{ readonly splitText: typeof splitText }>;
  /** Node's own global object, which the product uses. Jest gives each suite a different one. */
  var globalOfNode: typeof globalThis;
}

export const loadProduct = (): Promise<Product> => globalThis.loadProduct();

/**
 * Loads the pool of document readers as production runs it. From source, each of its processes and threads would load a
 * compiler, which takes two seconds and 200 MB of the memory that the limit of a reader allows.
 */
export const loadDocumentPool = (): Promise<DocumentPools> => globalThis.loadDocumentPool();

/** Loads the chunker as production runs it: in a suite's own context, it takes eight times as long. */
export const loadSplitText = (): ReturnType<typeof globalThis.loadSplitText> => globalThis.loadSplitText();
