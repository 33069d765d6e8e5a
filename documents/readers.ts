import { Fault } from '../contract/failures.js';
import type { PoolAnswer, PoolDocument } from './answerTask.js';

/** Threads or processes that parse and chunk. */
export interface Readers {
  /**
   * Reads documents one after another; the replies have the same order.
   * @throws LimitExceeded when a limit of time or memory was exceeded, ReaderCrashed when the reader crashed; the
   * signal's reason on abort
   */
  run(documents: readonly PoolDocument[], signal: AbortSignal): Promise<readonly PoolAnswer[]>;
  close(): Promise<void>;
}

/**
 * A reader was ended because it exceeded a limit. `fault` is the result of the document if the task had only one. The
 * documents of a larger task are retried alone instead, because any of them may be the cause.
 */
export class LimitExceeded extends Error {
  readonly fault: Fault;

  constructor(fault: Fault) {
    super(fault.message, { cause: fault.cause });
    this.fault = fault;
  }
}

/** Details of the death of a reader that this process did not end. */
export interface ReaderCrash {
  readonly reader: 'thread' | 'process';
  /** Process id; null for a thread. */
  readonly pid: number | null;
  readonly exitCode: number | null;
  readonly signal: NodeJS.Signals | null;
  /** Last measured memory in MB, and its limit; null if it is not measured. */
  readonly memoryMb: number | null;
  readonly limitMb: number;
  /** The end of its standard error, or the error of sending to it. */
  readonly detail: string;
  /** Number of documents in its task. */
  readonly documents: number;
}

/**
 * A reader crashed without exceeding a limit. The reader queue retries each document of its task once, in a task of its
 * own. It does not retry a document that was alone in its task if this was the retry, or if its bytes were transferred
 * to the thread and are lost.
 */
export class ReaderCrashed extends LimitExceeded {
  readonly crash: ReaderCrash;

  constructor(crash: ReaderCrash) {
    super(
      new Fault(
        'parse_limit',
        `The document could not be read: the ${crash.reader} that read it died (${describeCrash(crash)}). Remove it, or split it.`,
        { cause: new Error(crash.detail || describeCrash(crash)) },
      ),
    );
    this.crash = crash;
  }
}

function describeCrash({ exitCode, signal, memoryMb, limitMb }: ReaderCrash): string {
  const how = signal ?? (exitCode === null ? 'its channel closed' : `exit code ${exitCode}`);
  return memoryMb === null ? how : `${how}, ${memoryMb} MB of ${limitMb} MB of memory in use`;
}

/**
 * Time limit in milliseconds for a reader to load its modules on a busy machine; a longer start means a broken
 * installation.
 */
export const START_TIMEOUT_MS = 60_000;

export const inTypeScript = import.meta.url.endsWith('.ts');

/**
 * Returns the arguments that load tsx. On Node 20 a worker thread does not always accept tsx by name, so a module of
 * one line registers it.
 */
export function tsxArguments(): string[] {
  if (!inTypeScript) return [];
  const api = import.meta.resolve('tsx/esm/api');
  return ['--import', `data:text/javascript,import { register } from '${api}'; register();`];
}

/** Returns only the task's fields of a document. */
export function taskOf({ input, chunking, links, recognition }: PoolDocument): PoolDocument {
  if (links) return { input, links };
  return chunking ? { input, chunking } : { input, recognition };
}

/** Returns the error for a reader that exceeded a limit; it names the setting. */
export function limitExceeded(limit: string, setting: string): LimitExceeded {
  return new LimitExceeded(
    new Fault(
      'parse_limit',
      `The document could not be read within ${limit} (setting ${setting}). Split it, remove it, or raise the setting.`,
    ),
  );
}

/** Maximum time between two checks that counts as the reader's time. */
const MAX_GAP_MS = 1_000;

export interface WatchedReader {
  /** Whether the reader has begun its task. */
  hasBegun(): boolean;
  /** Called at each check with the milliseconds since the request or, once the reader has begun, since then. */
  check(elapsedMs: number, hasBegun: boolean): void;
}

/**
 * Checks a reader every `everyMs`. If this process does not run for a time (stopped, without processor time, machine
 * asleep), at most MAX_GAP_MS of this time counts. After such a pause, timers fire before replies that arrived during
 * it are received. If the whole pause counted, the check would end a reader that has already replied.
 * @returns a function that stops the checks
 */
export function watchReader({ hasBegun, check }: WatchedReader, everyMs: number): () => void {
  let last = performance.now();
  let elapsed = 0;
  let began = false;
  const timer = setInterval(() => {
    const now = performance.now();
    elapsed += Math.min(now - last, MAX_GAP_MS);
    last = now;
    if (!began && hasBegun()) {
      began = true;
      elapsed = 0;
    }
    check(elapsed, began);
  }, everyMs);
  return () => clearInterval(timer);
}
