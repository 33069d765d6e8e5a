/** Starts the engines that a service or a test run needs, and records them in DATA_DIR/engines.json. */
import { randomUUID } from 'node:crypto';
import { mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';

import type { Engine, EngineName } from './engine.js';
import { EngineError } from './errors.js';
import { createRestarter, startWithSpace } from './keepRunning.js';
import { tryLock } from './lock.js';
import { startMongodb, type MongodbEngine } from './mongodb.js';
import type { WantedPort } from './ports.js';
import { refuseIncompleteRestore } from './restoring.js';
import { startQdrant, type QdrantEngine } from './qdrant.js';
import { startTemporal, type TemporalEngine } from './temporal.js';
import { DEFAULT_ENGINES_DIR, ensureVenv, type Venv } from './venv.js';

export interface EnginesOptions {
  /** Folder of the engines' data. Only one process at a time may run engines on it. */
  readonly dataDir: string;
  /** Folder of programs and models. Default: `.engines` of this checkout. */
  readonly enginesDir?: string;
  readonly need: Readonly<Record<EngineName, boolean>>;
  /** 'free' uses any free ports, for tests. Default: each engine's own port, or the next free one. */
  readonly ports?: 'default' | 'free';
  readonly onProgress?: (line: string) => void;
  /** Temporal's priority as in nice(1): higher numbers yield to other processes on this machine. Default 0. */
  readonly temporalNiceness?: number;
  /** Checks MongoDB's records before any other engine starts. An error ends the start. */
  readonly checkMongodb?: (uri: string) => Promise<void>;
  /** Additional values for other processes that use this DATA_DIR, written to engines.json with the addresses. */
  readonly facts?: Readonly<Record<string, string>>;
  /** Called when an engine ends unexpectedly, even while others still start; its `restart()` restores it. */
  readonly onCrash?: (name: EngineName, how: string, engine: Engine) => void;
  /**
   * If set, crashed engines are restarted until they run, and `onCrash` is not called. Receives a line for each
   * attempt.
   */
  readonly keepRunning?: (line: string) => void;
}

export interface RunningEngines {
  readonly venv: Venv;
  /** Undefined for an engine that was not requested, as are the addresses below. */
  readonly temporal: TemporalEngine | undefined;
  readonly mongodb: MongodbEngine | undefined;
  readonly qdrant: QdrantEngine | undefined;
  readonly temporalAddress: string | undefined;
  readonly temporalUiUrl: string | undefined;
  readonly mongodbUri: string | undefined;
  readonly qdrantUrl: string | undefined;
  /** Stops all engines and releases the data directory. */
  stop(): Promise<void>;
}

/**
 * Starts the requested engines in parallel; with `checkMongodb`, MongoDB starts before the others. If one cannot be
 * started, all are stopped.
 */
export async function startEngines(options: EnginesOptions): Promise<RunningEngines> {
  const {
    enginesDir = DEFAULT_ENGINES_DIR,
    need,
    ports = 'default',
    onProgress = () => {},
    checkMongodb,
    keepRunning,
  } = options;
  const dataDir = resolve(options.dataDir);
  await mkdir(dataDir, { recursive: true });
  refuseIncompleteRestore(dataDir);
  const stateFile = join(dataDir, 'engines.json');
  const lock = await tryLock(stateFile);
  if (!lock) throw new EngineError(`Another process runs its engines on ${dataDir}. Stop it, or set another DATA_DIR.`);

  const started: Engine[] = [];
  let addresses = {};
  let writing: Promise<void> = Promise.resolve();
  const write = () => {
    const engines = () =>
      started.map(({ name, ports: taken, pid }) => {
        const down = restarter?.down.get(name);
        return { name, ports: taken, pid, ...(down && { down }) };
      });
    const writeNow = () =>
      writeAtomically(stateFile, { ...options.facts, ...addresses, owner: process.pid, engines: engines() });
    // Writes run one after the other, so that the last one contains the current state.
    writing = writing.then(writeNow, writeNow);
    return writing;
  };
  // If the disk is full, the file keeps its old content. Its addresses are still correct, and the next write updates
  // the other values.
  const writeIgnoringErrors = () => write().catch(() => {});
  const restarter =
    keepRunning && createRestarter({ dataDir, printLine: keepRunning, onChange: () => void writeIgnoringErrors() });
  const stop = async () => {
    restarter?.stop();
    await Promise.all(started.map((engine) => engine.stop()));
    await writing.catch(() => {});
    await rm(stateFile, { force: true });
    await lock.release();
  };
  try {
    const venv = await ensureVenv({ enginesDir, onProgress });
    const free: WantedPort | undefined = ports === 'free' ? 'free' : undefined;
    const onCrash = restarter?.onCrash ?? options.onCrash;
    const common = {
      dataDir,
      venv,
      onRestart: writeIgnoringErrors,
      ...(onCrash && { onCrash }),
      ...(free && { port: free }),
    };
    const failed = new AbortController();
    const start = async <E extends Engine>(name: EngineName, starting: () => Promise<E>): Promise<E | undefined> => {
      if (!need[name]) return undefined;
      const engine = await (
        keepRunning
          ? startWithSpace({ dataDir, name, printLine: keepRunning, signal: failed.signal }, starting)
          : starting()
      ).catch((error: unknown) => {
        failed.abort(error);
        throw error;
      });
      started.push(engine);
      onProgress(`${engine.name} is ready on port ${engine.ports.join(' and ')}`);
      return engine;
    };
    const mongodbFirst = start('mongodb', () => startMongodb(common));
    if (checkMongodb && need.mongodb) await mongodbFirst.then((engine) => engine && checkMongodb(engine.uri));
    const starting = [
      start('temporal', () =>
        startTemporal({ ...common, niceness: options.temporalNiceness ?? 0, ...(free && { uiPort: free }) }),
      ),
      mongodbFirst,
      start('qdrant', () => startQdrant(common)),
    ] as const;
    // Wait for all: if one failed, the others can be stopped only once they have started.
    await Promise.allSettled(starting);
    failed.signal.throwIfAborted();
    const [temporal, mongodb, qdrant] = await Promise.all(starting);

    const known = {
      temporalAddress: temporal?.address,
      temporalUiUrl: temporal?.uiUrl,
      mongodbUri: mongodb?.uri,
      qdrantUrl: qdrant?.url,
    };
    addresses = known;
    await write();
    return { venv, temporal, mongodb, qdrant, ...known, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Writes a file by renaming a complete draft, so that readers never see a partial file. */
async function writeAtomically(path: string, content: unknown): Promise<void> {
  const draft = `${path}.${randomUUID()}`;
  try {
    await writeFile(draft, `${JSON.stringify(content, null, 2)}\n`);
    await rename(draft, path);
  } catch (error) {
    await rm(draft, { force: true });
    throw error;
  }
}
