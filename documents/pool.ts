import { MessageChannel } from 'node:worker_threads';
import { Piscina } from 'piscina';
import { Fault } from '../contract/failures.js';
import type { PoolAnswer, PoolTask } from './poolThread.js';
import { Slots } from './slots.js';
import type { DocumentLimits, DocumentPool, ParseInput } from './types.js';

export interface PoolSettings {
  readonly threads: number;
  /** Time for one document, from the moment a thread begins it. */
  readonly timeoutMs: number;
  /** Heap of one thread. */
  readonly memoryMb: number;
  readonly limits: DocumentLimits;
}

/** For a thread to load its modules on a busy machine; past it something is wrong with the installation. */
const START_TIMEOUT_MS = 60_000;

const inTypeScript = import.meta.url.endsWith('.ts');

/** Starts the pool; threads come with the first document. */
export function createDocumentPool(settings: PoolSettings): DocumentPool {
  // Piscina never gets more tasks than threads: those it keeps in its own queue wait forever when the thread that
  // would take them is ended by an abort, and one cannot tell when they begin.
  const slots = new Slots(settings.threads);
  let threads: Piscina<PoolTask, PoolAnswer> | null = null;
  let closed = false;
  const requireOpen = (): void => {
    if (closed) throw new Error('The document pool is closed.');
  };
  return {
    async process(input, chunking, signal) {
      requireOpen();
      signal?.throwIfAborted();
      await slots.take(signal);
      try {
        requireOpen();
        threads ??= startThreads(settings);
        const answer = await runTask(threads, { input, chunking, limits: settings.limits }, settings, signal);
        if ('document' in answer) return answer.document;
        throw new Fault(
          answer.fault.kind,
          answer.fault.message,
          answer.fault.cause === null ? {} : { cause: answer.fault.cause },
        );
      } finally {
        slots.free();
      }
    },
    async close() {
      closed = true;
      await threads?.destroy();
    },
  };
}

function startThreads({ threads, memoryMb }: PoolSettings): Piscina<PoolTask, PoolAnswer> {
  const pool = new Piscina<PoolTask, PoolAnswer>({
    filename: new URL(`./poolThread.${inTypeScript ? 'ts' : 'js'}`, import.meta.url).href,
    name: 'work',
    minThreads: threads,
    maxThreads: threads,
    execArgv: inTypeScript ? withTsx() : [],
    resourceLimits: { maxOldGenerationSizeMb: memoryMb },
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
  pool: Piscina<PoolTask, PoolAnswer>,
  work: Omit<PoolTask, 'started'>,
  { timeoutMs, memoryMb }: PoolSettings,
  signal: AbortSignal | undefined,
): Promise<PoolAnswer> {
  const ending = new AbortController();
  const { port1, port2 } = new MessageChannel();
  const notStarted = new Error(`A thread for documents did not start within ${START_TIMEOUT_MS / 1000} s.`);
  let timer = setTimeout(() => ending.abort(notStarted), START_TIMEOUT_MS);
  port1.once('message', () => {
    clearTimeout(timer);
    timer = setTimeout(() => ending.abort(passed(`${timeoutMs / 1000} s`, 'PARSE_TIMEOUT_MS')), timeoutMs);
  });
  const stop = (): void => ending.abort(signal?.reason);
  signal?.addEventListener('abort', stop, { once: true });
  try {
    const task = { ...work, started: port2 };
    return await pool.run(task, { signal: ending.signal, transferList: [port2, ...ownBuffer(work.input)] });
  } catch (error) {
    if (ending.signal.aborted) throw ending.signal.reason;
    if (codeOf(error) === 'ERR_WORKER_OUT_OF_MEMORY') throw passed(`${memoryMb} MB of memory`, 'PARSE_MEMORY_MB');
    if (error instanceof Error && error.message.startsWith('worker exited')) {
      throw new Fault(
        'parse_limit',
        'The document could not be read: the thread reading it died. Leave the document out, or split it.',
        {
          cause: error,
        },
      );
    }
    throw error;
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', stop);
    port1.close();
  }
}

/** The bytes' memory, where it is theirs alone and can go to the thread without a copy. */
function ownBuffer({ bytes }: ParseInput): ArrayBuffer[] {
  const { buffer } = bytes;
  return buffer instanceof ArrayBuffer && bytes.byteLength > 0 && buffer.byteLength === bytes.byteLength
    ? [buffer]
    : [];
}

function passed(limit: string, setting: string): Fault {
  return new Fault(
    'parse_limit',
    `The document could not be read within ${limit} (setting ${setting}). Split it, leave it out, or raise the setting.`,
  );
}

function codeOf(error: unknown): unknown {
  return typeof error === 'object' && error !== null && 'code' in error ? error.code : null;
}
