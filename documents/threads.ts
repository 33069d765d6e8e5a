import { Piscina } from 'piscina';
import { Fault } from '../contract/failures.js';
import type { PoolAnswer, PoolDocument, PoolTask } from './poolThread.js';
import type { DocumentLimits, ParseInput } from './types.js';

export interface PoolSettings {
  readonly threads: number;
  /** Time for one document, from the moment a thread begins it. */
  readonly timeoutMs: number;
  /** Heap of one thread. */
  readonly memoryMb: number;
  readonly limits: DocumentLimits;
}

/** A thread was ended over what it was given; the Fault is right where that was one document. */
export class LimitPassed extends Error {
  readonly fault: Fault;

  constructor(fault: Fault) {
    super(fault.message);
    this.fault = fault;
  }
}

export interface Threads {
  /**
   * Has a thread read documents one after another; their answers come in the same order. Never called for more groups
   * than there are threads: what Piscina keeps in its own queue waits forever when the thread that would take it is
   * ended by an abort.
   * @throws LimitPassed when time or memory ran out or the thread died; the signal's reason on abort
   */
  run(documents: readonly PoolDocument[], signal: AbortSignal): Promise<readonly PoolAnswer[]>;
  close(): Promise<void>;
}

/** For a thread to load its modules on a busy machine; past it something is wrong with the installation. */
const START_TIMEOUT_MS = 60_000;

/** V8's own choice is twice as much, which pages of ordinary size do not need. */
const YOUNG_GENERATION_MB = 24;

const inTypeScript = import.meta.url.endsWith('.ts');

/** Threads that parse and chunk; they start with the first documents. */
export function createThreads(settings: PoolSettings): Threads {
  let pool: Piscina<PoolTask, readonly PoolAnswer[]> | null = null;
  return {
    async run(documents, signal) {
      pool ??= startPool(settings);
      return runTask(pool, documents, settings, signal);
    },
    async close() {
      await pool?.destroy();
    },
  };
}

function startPool({ threads, memoryMb }: PoolSettings): Piscina<PoolTask, readonly PoolAnswer[]> {
  const pool = new Piscina<PoolTask, readonly PoolAnswer[]>({
    filename: new URL(`./poolThread.${inTypeScript ? 'ts' : 'js'}`, import.meta.url).href,
    name: 'work',
    minThreads: threads,
    maxThreads: threads,
    execArgv: inTypeScript ? withTsx() : [],
    resourceLimits: { maxOldGenerationSizeMb: memoryMb, maxYoungGenerationSizeMb: YOUNG_GENERATION_MB },
  });
  // Of a thread that dies without a task; the next task starts another one.
  pool.on('error', () => undefined);
  return pool;
}

/** On Node 20 a worker thread does not always take tsx by its name: it is registered from a module of one line. */
function withTsx(): string[] {
  const api = import.meta.resolve('tsx/esm/api');
  return ['--import', `data:text/javascript,import { register } from '${api}'; register();`];
}

async function runTask(
  pool: Piscina<PoolTask, readonly PoolAnswer[]>,
  documents: readonly PoolDocument[],
  { limits, timeoutMs, memoryMb }: PoolSettings,
  signal: AbortSignal,
): Promise<readonly PoolAnswer[]> {
  const ending = new AbortController();
  const end = (reason: unknown): void => ending.abort(reason);
  // Written by the thread when it begins: its own start does not count as the documents' time.
  const begun = new Float64Array(new SharedArrayBuffer(Float64Array.BYTES_PER_ELEMENT));
  const asked = Date.now();
  const watch = (): void => {
    const start = begun[0] ?? 0;
    const left = start === 0 ? asked + START_TIMEOUT_MS - Date.now() : start + timeoutMs - Date.now();
    if (left > 0) timer = setTimeout(watch, Math.min(left, timeoutMs));
    else if (start === 0) end(new Error(`A thread for documents did not start within ${START_TIMEOUT_MS / 1000} s.`));
    else end(passed(`${timeoutMs / 1000} s`, 'PARSE_TIMEOUT_MS'));
  };
  let timer = setTimeout(watch, timeoutMs);
  const stop = (): void => end(signal.reason);
  signal.addEventListener('abort', stop, { once: true });
  const [only] = documents;
  try {
    return await pool.run(
      { documents: documents.map(taskOf), limits, begun },
      // What is read by itself is not read a second time.
      { signal: ending.signal, transferList: only && documents.length === 1 ? ownBuffer(only.input) : [] },
    );
  } catch (error) {
    if (ending.signal.aborted) throw ending.signal.reason;
    if (codeOf(error) === 'ERR_WORKER_OUT_OF_MEMORY') throw passed(`${memoryMb} MB of memory`, 'PARSE_MEMORY_MB');
    if (error instanceof Error && error.message.startsWith('worker exited')) {
      throw new LimitPassed(
        new Fault(
          'parse_limit',
          'The document could not be read: the thread reading it died. Leave the document out, or split it.',
          { cause: error },
        ),
      );
    }
    throw error;
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', stop);
  }
}

/** Without what else the caller keeps with it. */
function taskOf({ input, chunking, links }: PoolDocument): PoolDocument {
  return links ? { input, links } : { input, chunking };
}

/** The bytes' memory, where it is given away, theirs alone, and can go to the thread without a copy. */
function ownBuffer({ bytes, giveBytes }: ParseInput): ArrayBuffer[] {
  const { buffer } = bytes;
  return giveBytes === true &&
    buffer instanceof ArrayBuffer &&
    bytes.byteLength > 0 &&
    buffer.byteLength === bytes.byteLength
    ? [buffer]
    : [];
}

function passed(limit: string, setting: string): LimitPassed {
  return new LimitPassed(
    new Fault(
      'parse_limit',
      `The document could not be read within ${limit} (setting ${setting}). Split it, leave it out, or raise the setting.`,
    ),
  );
}

function codeOf(error: unknown): unknown {
  return typeof error === 'object' && error !== null && 'code' in error ? error.code : null;
}
