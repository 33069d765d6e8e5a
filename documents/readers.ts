import { Fault } from '../contract/failures.js';
import type { PoolAnswer, PoolDocument } from './answerTask.js';

/** Threads or processes that parse and chunk. */
export interface Readers {
  /**
   * Reads documents one after another; their answers come in the same order.
   * @throws LimitPassed when time or memory ran out or the reader died; the signal's reason on abort
   */
  run(documents: readonly PoolDocument[], signal: AbortSignal): Promise<readonly PoolAnswer[]>;
  close(): Promise<void>;
}

/** A reader was ended over what it was given; the Fault is right where that was one document. */
export class LimitPassed extends Error {
  readonly fault: Fault;

  constructor(fault: Fault) {
    super(fault.message);
    this.fault = fault;
  }
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

export function died(cause: unknown): LimitPassed {
  return new LimitPassed(
    new Fault(
      'parse_limit',
      'The document could not be read: the thread or process reading it died. Leave the document out, or split it.',
      { cause },
    ),
  );
}
