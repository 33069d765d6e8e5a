import type { Fault } from '../contract/failures.js';
import { onAbort } from './onAbort.js';

/** Ends an exchange early: by the caller's signal or by a timeout. */
export interface Deadline {
  /** Aborted by the caller or by the timeout. */
  readonly signal: AbortSignal;
  /** Clears the timer and removes the listener from the caller's signal. */
  end(): void;
}

/**
 * Starts the timeout of one exchange. The signal's reason is the caller's own or, after the timeout, the result of
 * `timedOut`; most exchanges never need that error, and creating it is slow.
 * AbortSignal.any is not used: on Node 20 a long-lived signal keeps every signal that was derived from it.
 */
export function startDeadline(timeoutMs: number, timedOut: () => Fault, caller?: AbortSignal): Deadline {
  const controller = new AbortController();
  const timer = setTimeout(() => {
    controller.abort(timedOut());
  }, timeoutMs);
  timer.unref();
  const removeListener = caller && onAbort(caller, () => controller.abort(caller.reason));
  return {
    signal: controller.signal,
    end() {
      clearTimeout(timer);
      removeListener?.();
    },
  };
}

/**
 * Waits for work, but at most until the signal aborts. The work itself continues: a DNS lookup, for example, cannot be
 * stopped.
 */
export async function orAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  let removeListener: (() => void) | undefined;
  const aborted = new Promise<never>((_resolve, reject) => {
    removeListener = onAbort(signal, () => {
      reject(signal.reason as Error);
    });
  });
  try {
    return await Promise.race([work, aborted]);
  } finally {
    removeListener?.();
    work.catch(() => undefined);
  }
}

/** Formats milliseconds as seconds: `1.5 s`. */
export function seconds(ms: number): string {
  return `${String(ms / 1000)} s`;
}
