import { Fault } from '../contract/failures.js';
import type { PoolAnswer, PoolDocument } from './answerTask.js';

/** Threads or processes that parse and chunk. */
export interface Readers {
  /**
   * Reads documents one after another; their answers come in the same order.
   * @throws LimitPassed when time or memory ran out, ReaderDied when the reader died; the signal's reason on abort
   */
  run(documents: readonly PoolDocument[], signal: AbortSignal): Promise<readonly PoolAnswer[]>;
  close(): Promise<void>;
}

/** A reader was ended over what it was given; the Fault is right where that was one document. */
export class LimitPassed extends Error {
  readonly fault: Fault;

  constructor(fault: Fault) {
    super(fault.message, { cause: fault.cause });
    this.fault = fault;
  }
}

/** How a reader died that this process did not end. */
export interface ReaderDeath {
  readonly reader: 'thread' | 'process';
  /** Process id; null for a thread. */
  readonly pid: number | null;
  readonly exitCode: number | null;
  readonly signal: NodeJS.Signals | null;
  /** Memory in MB when it was last measured, and its limit; null where it is not measured. */
  readonly memoryMb: number | null;
  readonly limitMb: number;
  /** The end of its standard error, or the error of sending to it. */
  readonly detail: string;
  /** Number of documents in its task. */
  readonly documents: number;
}

/** A reader died without passing a limit: the document is read once more by itself before it fails. */
export class ReaderDied extends LimitPassed {
  readonly death: ReaderDeath;

  constructor(death: ReaderDeath) {
    super(
      new Fault(
        'parse_limit',
        `The document could not be read: the ${death.reader} that read it died (${describeDeath(death)}). Leave it out, or split it.`,
        { cause: new Error(death.detail || describeDeath(death)) },
      ),
    );
    this.death = death;
  }
}

function describeDeath({ exitCode, signal, memoryMb, limitMb }: ReaderDeath): string {
  const how = signal ?? (exitCode === null ? 'its channel closed' : `exit code ${exitCode}`);
  return memoryMb === null ? how : `${how}, ${memoryMb} MB of ${limitMb} MB of memory in use`;
}

/** For a reader to load its modules on a busy machine; past it something is wrong with the installation. */
export const START_TIMEOUT_MS = 60_000;

export const inTypeScript = import.meta.url.endsWith('.ts');

/** On Node 20 a worker thread does not always take tsx by its name: it is registered from a module of one line. */
export function tsxArguments(): string[] {
  if (!inTypeScript) return [];
  const api = import.meta.resolve('tsx/esm/api');
  return ['--import', `data:text/javascript,import { register } from '${api}'; register();`];
}

/** Without what else the caller keeps with it. */
export function taskOf({ input, chunking, links, recognition }: PoolDocument): PoolDocument {
  if (links) return { input, links };
  return chunking ? { input, chunking } : { input, recognition };
}

export function passed(limit: string, setting: string): LimitPassed {
  return new LimitPassed(
    new Fault(
      'parse_limit',
      `The document could not be read within ${limit} (setting ${setting}). Split it, leave it out, or raise the setting.`,
    ),
  );
}

/** Longest time between two checks that counts as time of the reader. */
const LONGEST_GAP_MS = 1_000;

export interface WatchedReader {
  /** Whether the reader has begun its task. */
  hasBegun(): boolean;
  /** Called at each check, with the milliseconds since the reader was asked or, once it has begun, since then. */
  check(elapsedMs: number, hasBegun: boolean): void;
}

/**
 * Checks a reader every `everyMs`. Time in which this process did not run (stopped, starved, machine asleep) does not
 * count: its timers fire before the answers that arrived meanwhile, and would end a reader that has already answered.
 * @returns stops the checks
 */
export function watchReader({ hasBegun, check }: WatchedReader, everyMs: number): () => void {
  let last = performance.now();
  let elapsed = 0;
  let began = false;
  const timer = setInterval(() => {
    const now = performance.now();
    elapsed += Math.min(now - last, LONGEST_GAP_MS);
    last = now;
    if (!began && hasBegun()) {
      began = true;
      elapsed = 0;
    }
    check(elapsed, began);
  }, everyMs);
  return () => clearInterval(timer);
}
