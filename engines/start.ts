/** The engines that a service or a test run needs, started together and written down in DATA_DIR/engines.json. */
import { randomUUID } from 'node:crypto';
import { mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';

import type { Engine, EngineName } from './engine.js';
import { EngineError } from './errors.js';
import { createKeeper, startWithSpace } from './keepRunning.js';
import { tryLock } from './lock.js';
import { startMongodb, type MongodbEngine } from './mongodb.js';
import type { WantedPort } from './ports.js';
import { refuseHalfRestored } from './restoring.js';
import { startQdrant, type QdrantEngine } from './qdrant.js';
import { startTemporal, type TemporalEngine } from './temporal.js';
import { DEFAULT_ENGINES_DIR, ensureVenv, type Venv } from './venv.js';

export interface EnginesOptions {
  /** Where the engines keep their data. One process at a time may have engines on it. */
  readonly dataDir: string;
  /** Where programs and models lie; by default `.engines` of this checkout. */
  readonly enginesDir?: string;
  readonly need: Readonly<Record<EngineName, boolean>>;
  /** 'free' takes any free ports, for tests; by default each engine's own, or the next free one. */
  readonly ports?: 'default' | 'free';
  readonly onProgress?: (line: string) => void;
  /** How far Temporal steps back for the others on this machine, as nice(1) counts; 0 when left out. */
  readonly temporalNiceness?: number;
  /** Looks at MongoDB's records before any other engine starts. What it throws ends the start. */
  readonly checkMongodb?: (uri: string) => Promise<void>;
  /** What else other processes on this DATA_DIR need to know, written into engines.json beside the addresses. */
  readonly tell?: Readonly<Record<string, string>>;
  /** Called when an engine ends on its own, even while others still start; its `restart()` brings it back. */
  readonly onCrash?: (name: EngineName, how: string, engine: Engine) => void;
  /** Instead of `onCrash`: restarts engines that end on their own until they run, and receives a line for each attempt. */
  readonly keepRunning?: (line: string) => void;
}

export interface RunningEngines {
  readonly venv: Venv;
  /** Undefined for an engine that was not needed; so are the addresses below. */
  readonly temporal: TemporalEngine | undefined;
  readonly mongodb: MongodbEngine | undefined;
  readonly qdrant: QdrantEngine | undefined;
  readonly temporalAddress: string | undefined;
  readonly temporalUiUrl: string | undefined;
  readonly mongodbUri: string | undefined;
  readonly qdrantUrl: string | undefined;
  /** Stops all of them and frees the data directory. */
  stop(): Promise<void>;
}

/** Starts the engines that are needed, at the same time. If one cannot be started, none is left running. */
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
  refuseHalfRestored(dataDir);
  const notes = join(dataDir, 'engines.json');
  const lock = await tryLock(notes);
  if (!lock) throw new EngineError(`Another process has its engines on ${dataDir}; stop it, or set another DATA_DIR.`);

  const started: Engine[] = [];
  let addresses = {};
  let writing: Promise<void> = Promise.resolve();
  const write = () => {
    const engines = () =>
      started.map(({ name, ports: taken, pid }) => {
        const down = keeper?.down.get(name);
        return { name, ports: taken, pid, ...(down && { down }) };
      });
    const writeNow = () => writeWhole(notes, { ...options.tell, ...addresses, owner: process.pid, engines: engines() });
    // One after the other: the last one holds the present state.
    writing = writing.then(writeNow, writeNow);
    return writing;
  };
  // On a full disk the file keeps its addresses, which are still right; the next write brings the rest.
  const writeDown = () => write().catch(() => {});
  const keeper = keepRunning && createKeeper({ dataDir, say: keepRunning, onChange: () => void writeDown() });
  const stop = async () => {
    keeper?.stop();
    await Promise.all(started.map((engine) => engine.stop()));
    await writing.catch(() => {});
    await rm(notes, { force: true });
    await lock.release();
  };
  try {
    const venv = await ensureVenv({ enginesDir, onProgress });
    const free: WantedPort | undefined = ports === 'free' ? 'free' : undefined;
    const onCrash = keeper?.onCrash ?? options.onCrash;
    const common = { dataDir, venv, onRestart: writeDown, ...(onCrash && { onCrash }), ...(free && { port: free }) };
    const failed = new AbortController();
    const start = async <E extends Engine>(name: EngineName, starting: () => Promise<E>): Promise<E | undefined> => {
      if (!need[name]) return undefined;
      const engine = await (
        keepRunning ? startWithSpace({ dataDir, name, say: keepRunning, signal: failed.signal }, starting) : starting()
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
    // All of them, so that a failure of one finds the others started and can stop them.
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

/** Readers of the file see the old content or the new, never half of it. */
async function writeWhole(path: string, content: unknown): Promise<void> {
  const draft = `${path}.${randomUUID()}`;
  try {
    await writeFile(draft, `${JSON.stringify(content, null, 2)}\n`);
    await rename(draft, path);
  } catch (error) {
    await rm(draft, { force: true });
    throw error;
  }
}
