import type { Fault } from '../contract/failures.js';
import { onAbort } from './onAbort.js';

/** What ends an exchange early: the caller's signal, or its time. */
export interface Deadline {
  /** For whatever does the work; aborts by either. */
  readonly signal: AbortSignal;
  /** Lets go of the timer and of the caller's signal. */
  end(): void;
}

/**
 * Starts the time of one exchange; the signal's reason is the caller's own or, when time is up, the given Fault.
 * Not AbortSignal.any: on Node 20 a long-lived signal keeps all that were ever made from it.
 */
export function startDeadline(timeoutMs: number, timedOut: Fault, caller?: AbortSignal): Deadline {
  const controller = new AbortController();
  const timer = setTimeout(() => {
    controller.abort(timedOut);
  }, timeoutMs);
  timer.unref();
  const letGo = caller && onAbort(caller, () => controller.abort(caller.reason));
  return {
    signal: controller.signal,
    end() {
      clearTimeout(timer);
      letGo?.();
    },
  };
}

/** A wait that a signal can cut short although the work itself can't be stopped (a lookup in the C library). */
export async function orAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  let letGo: (() => void) | undefined;
  const aborted = new Promise<never>((_resolve, reject) => {
    letGo = onAbort(signal, () => {
      reject(signal.reason as Error);
    });
  });
  try {
    return await Promise.race([work, aborted]);
  } finally {
    letGo?.();
    work.catch(() => undefined);
  }
}

/** Milliseconds as people say them. */
export function seconds(ms: number): string {
  return `${String(ms / 1000)} s`;
}
