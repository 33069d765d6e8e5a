import { existsSync } from 'node:fs';
import path from 'node:path';

import { loadConfig } from '../config/config.js';
import { httpUrl } from '../config/httpUrl.js';
import { ensureEmbeddingModel } from '../engines/embeddingModel.js';
import { startEngines } from '../engines/start.js';
import { checkSpace } from '../engines/startSpace.js';
import { DEFAULT_ENGINES_DIR, ensureVenv } from '../engines/venv.js';
import { setPrivateUmask, makeDataDirPrivate, makePrivate } from '../config/process/privateFiles.js';
import { checkFolder, checkPort } from '../config/process/startChecks.js';
import { onStopSignal } from '../config/process/stopSignals.js';
import { refuseNewerSchema } from '../store/migrations/run.js';
import { superviseChild } from './child.js';
import { ensureKeys } from './keys.js';

/**
 * A worker is killed as frozen if it sends no heartbeat for this multiple of STALL_AFTER_S. Its runs are recorded as
 * stalled after STALL_AFTER_S.
 */
const FROZEN_STALLS = 2;

export interface Service {
  readonly url: string;
  readonly apiKey: string;
  /** File with the API key, if this start created the key: only then is the key printed. Otherwise null. */
  readonly newApiKeyFile: string | null;
  readonly temporalUiUrl: string | null;
  stop(): Promise<void>;
}

export interface ServiceOptions {
  readonly env: NodeJS.ProcessEnv;
  /** Receives progress, one line at a time. */
  readonly printLine: (line: string) => void;
  /** Receives the log lines of API and worker; by default they go to this process's output. */
  readonly onLogLine?: (line: string) => void;
}

/**
 * Starts all parts on one machine: the embedded engines for which no URL is set, then API and worker as child
 * processes.
 */
export async function startService({ env, printLine, onLogLine }: ServiceOptions): Promise<Service> {
  setPrivateUmask();
  const dataDir = path.resolve(env['DATA_DIR'] || '.data');
  await checkFolder(dataDir, 'DATA_DIR');
  if (!(await makeDataDirPrivate(dataDir)))
    printLine(
      `other users of this machine can list ${dataDir}, which belongs to another user: its permissions are unchanged`,
    );
  const embedded = (name: string): boolean => !env[name];
  const need = {
    temporal: embedded('TEMPORAL_ADDRESS'),
    mongodb: embedded('MONGODB_URI'),
    qdrant: embedded('QDRANT_URL'),
  };
  await checkSpace(dataDir, need);
  const newKey = await ensureKeys(env, dataDir);
  const settings = loadConfig({ ...env, DATA_DIR: dataDir });
  await checkPort(settings.host, settings.port);
  if (env['MONGODB_URI']) await refuseNewerSchema(env['MONGODB_URI']);
  const venv = await ensureVenv({ enginesDir: DEFAULT_ENGINES_DIR, onProgress: printLine });
  const model = await ensureEmbeddingModel(venv);
  printLine('starting the engines');
  const engines = await startEngines({
    dataDir,
    enginesDir: DEFAULT_ENGINES_DIR,
    // The same priority as the worker, so that requests take precedence on shared cores.
    temporalNiceness: settings.workerNiceness,
    need,
    checkMongodb: refuseNewerSchema,
    onProgress: printLine,
    facts: { modelPath: model.modelPath, tokenizerPath: model.tokenizerPath },
    keepRunning: printLine,
  });
  const stops: (() => Promise<void>)[] = [() => engines.stop()];
  const stop = async (): Promise<void> => {
    for (const stopPart of stops.splice(0).toReversed()) await stopPart();
  };
  try {
    const childEnv: NodeJS.ProcessEnv = {
      EMBEDDING_MODEL_PATH: model.modelPath,
      EMBEDDING_TOKENIZER_PATH: model.tokenizerPath,
      ...(engines.temporalAddress ? { TEMPORAL_ADDRESS: engines.temporalAddress } : {}),
      ...(engines.temporalUiUrl ? { TEMPORAL_UI_URL: engines.temporalUiUrl } : {}),
      ...(engines.mongodbUri ? { MONGODB_URI: engines.mongodbUri } : {}),
      ...(engines.qdrantUrl ? { QDRANT_URL: engines.qdrantUrl } : {}),
      ...env,
      DATA_DIR: dataDir,
    };
    const config = loadConfig(childEnv);
    if (config.files.s3 === null && existsSync(config.files.dir)) await makePrivate(config.files.dir);
    printLine('starting API and worker');
    const failed = new AbortController();
    const starting = ['api/server', 'worker/main'].map(async (module) => {
      const child = await superviseChild({
        module,
        env: childEnv,
        ...(module === 'worker/main' && { frozenAfterMs: FROZEN_STALLS * config.stallAfterMs }),
        onFrozen: (pid) => printLine(`${module} (process ${String(pid)}) is frozen; killing it`),
        ...(onLogLine && { onLogLine }),
        onExit: (how) => printLine(`${module} ended ${how}; restarting it`),
        startSignal: failed.signal,
      }).catch((error: unknown) => {
        failed.abort(error);
        throw error;
      });
      stops.push(() => child.stop());
      return child;
    });
    // Wait for both: if one failed, the other can be stopped only once it has started.
    await Promise.allSettled(starting);
    failed.signal.throwIfAborted();
    const started = await Promise.all(starting);
    const port = Number(started[0]?.ready['port'] ?? config.port);
    return {
      url: config.publicUrl ?? httpUrl(config.host, port),
      apiKey: config.apiKey ?? '',
      newApiKeyFile: newKey === null ? null : path.relative('', path.join(dataDir, 'api-key')),
      temporalUiUrl: config.temporal.uiUrl,
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

/**
 * Calls `stop` at the first SIGINT or SIGTERM, then ends the process. A second signal more than a second later ends it
 * at once.
 */
export function stopOnSignal(stop: () => Promise<void>, printLine: (line: string) => void): void {
  onStopSignal(() => {
    printLine('stopping');
    stop().then(
      // Keeps the exit code, if an error set it.
      () => process.exit(),
      (error: unknown) => {
        console.error(error);
        process.exit(1);
      },
    );
  });
}
