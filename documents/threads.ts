import { Piscina } from 'piscina';
import type { PoolAnswer, PoolDocument } from './answerTask.js';
import type { ThreadTask } from './poolThread.js';
import {
  inTypeScript,
  passed,
  ReaderDied,
  type Readers,
  START_TIMEOUT_MS,
  taskOf,
  tsxArguments,
  watchReader,
} from './readers.js';
import type { DocumentLimits, ParseInput } from './types.js';

export interface ThreadSettings {
  readonly threads: number;
  /** Time for one document, from the moment a thread begins it. */
  readonly timeoutMs: number;
  /** Heap of one thread. */
  readonly memoryMb: number;
  readonly limits: DocumentLimits;
}

/** Interval between checks of a thread's time. */
const WATCH_MS = 100;
/** V8's own choice is twice as much, which pages of ordinary size do not need. */
const YOUNG_GENERATION_MB = 24;

/**
 * Threads that parse and chunk; they start with the first documents. Never given more groups than there are threads:
 * what Piscina keeps in its own queue waits forever when the thread that would take it is ended by an abort.
 */
export function createThreads(settings: ThreadSettings): Readers {
  let pool: Piscina<ThreadTask, readonly PoolAnswer[]> | null = null;
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

function startPool({ threads, memoryMb }: ThreadSettings): Piscina<ThreadTask, readonly PoolAnswer[]> {
  const pool = new Piscina<ThreadTask, readonly PoolAnswer[]>({
    filename: new URL(`./poolThread.${inTypeScript ? 'ts' : 'js'}`, import.meta.url).href,
    name: 'work',
    minThreads: threads,
    maxThreads: threads,
    execArgv: tsxArguments(),
    resourceLimits: { maxOldGenerationSizeMb: memoryMb, maxYoungGenerationSizeMb: YOUNG_GENERATION_MB },
  });
  // Of a thread that dies without a task; the next task starts another one.
  pool.on('error', () => undefined);
  return pool;
}

async function runTask(
  pool: Piscina<ThreadTask, readonly PoolAnswer[]>,
  documents: readonly PoolDocument[],
  { limits, timeoutMs, memoryMb }: ThreadSettings,
  signal: AbortSignal,
): Promise<readonly PoolAnswer[]> {
  const ending = new AbortController();
  const end = (reason: unknown): void => ending.abort(reason);
  // Written by the thread when it begins: its own start does not count as the documents' time.
  const begun = new Float64Array(new SharedArrayBuffer(Float64Array.BYTES_PER_ELEMENT));
  const check = (elapsedMs: number, hasBegun: boolean): void => {
    if (elapsedMs <= (hasBegun ? timeoutMs : START_TIMEOUT_MS)) return;
    if (hasBegun) end(passed(`${timeoutMs / 1000} s`, 'PARSE_TIMEOUT_MS'));
    else end(new Error(`A thread for documents did not start within ${START_TIMEOUT_MS / 1000} s.`));
  };
  const stopWatch = watchReader({ hasBegun: () => begun[0] !== 0, check }, WATCH_MS);
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
      const exitCode = Number(/code: (\d+)/.exec(error.message)?.[1] ?? Number.NaN);
      throw new ReaderDied({
        ...({ reader: 'thread', pid: null, signal: null, memoryMb: null, limitMb: memoryMb } as const),
        exitCode: Number.isNaN(exitCode) ? null : exitCode,
        detail: error.message,
        documents: documents.length,
      });
    }
    throw error;
  } finally {
    stopWatch();
    signal.removeEventListener('abort', stop);
  }
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

function codeOf(error: unknown): unknown {
  return typeof error === 'object' && error !== null && 'code' in error ? error.code : null;
}
