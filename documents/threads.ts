import { Piscina } from 'piscina';
import type { PoolAnswer, PoolDocument } from './answerTask.js';
import type { ThreadTask } from './poolThread.js';
import {
  inTypeScript,
  limitExceeded,
  ReaderCrashed,
  type Readers,
  START_TIMEOUT_MS,
  taskOf,
  tsxArguments,
  watchReader,
} from './readers.js';
import type { DocumentLimits, ParseInput } from './types.js';

export interface ThreadSettings {
  readonly threads: number;
  /** Time limit of one document in milliseconds, from the moment a thread begins it. */
  readonly timeoutMs: number;
  /** Heap limit of one thread in megabytes. */
  readonly memoryMb: number;
  readonly limits: DocumentLimits;
}

/** Interval between checks of a thread's time. */
const WATCH_MS = 100;
/** V8's default is twice as much, which ordinary pages do not need. */
const YOUNG_GENERATION_MB = 24;

/**
 * Creates threads that parse and chunk; they start with the first documents. The caller must not have more calls of
 * `run` in progress than there are threads. Further tasks would wait in Piscina's own queue, and Piscina does not start
 * them if an abort ends the thread that they wait for.
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
  // Emitted for a thread that dies without a task; the next task starts another one.
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
  // The thread writes the time when it begins, so that its own start does not count.
  const begun = new Float64Array(new SharedArrayBuffer(Float64Array.BYTES_PER_ELEMENT));
  const check = (elapsedMs: number, hasBegun: boolean): void => {
    if (elapsedMs <= (hasBegun ? timeoutMs : START_TIMEOUT_MS)) return;
    if (hasBegun) end(limitExceeded(`${timeoutMs / 1000} s`, 'PARSE_TIMEOUT_MS'));
    else end(new Error(`A thread for documents did not start within ${START_TIMEOUT_MS / 1000} s.`));
  };
  const stopWatch = watchReader({ hasBegun: () => begun[0] !== 0, check }, WATCH_MS);
  const stop = (): void => end(signal.reason);
  signal.addEventListener('abort', stop, { once: true });
  const [only] = documents;
  try {
    return await pool.run(
      { documents: documents.map(taskOf), limits, begun },
      // Transfer the bytes only of a single document: the documents of a larger group may be retried.
      { signal: ending.signal, transferList: only && documents.length === 1 ? ownBuffer(only.input) : [] },
    );
  } catch (error) {
    if (ending.signal.aborted) throw ending.signal.reason;
    if (codeOf(error) === 'ERR_WORKER_OUT_OF_MEMORY')
      throw limitExceeded(`${memoryMb} MB of memory`, 'PARSE_MEMORY_MB');
    if (error instanceof Error && error.message.startsWith('worker exited')) {
      const exitCode = Number(/code: (\d+)/.exec(error.message)?.[1] ?? Number.NaN);
      throw new ReaderCrashed({
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

/**
 * Returns the buffer of the bytes if it may be transferred to the thread without a copy. This requires that the caller
 * permits it (`transferBytes`), and that the buffer contains only these bytes.
 */
function ownBuffer({ bytes, transferBytes }: ParseInput): ArrayBuffer[] {
  const { buffer } = bytes;
  return transferBytes === true &&
    buffer instanceof ArrayBuffer &&
    bytes.byteLength > 0 &&
    buffer.byteLength === bytes.byteLength
    ? [buffer]
    : [];
}

function codeOf(error: unknown): unknown {
  return typeof error === 'object' && error !== null && 'code' in error ? error.code : null;
}
