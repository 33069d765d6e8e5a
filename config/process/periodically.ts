import { setTimeout as sleep } from 'node:timers/promises';

/** Longest delay of a timer, 24.8 days. Node replaces a longer one by 1 ms. */
const MAX_TIMER_MS = 2 ** 31 - 1;

export interface Periodic {
  readonly intervalMs: number;
  /** Ends the loop: after the iteration in progress, or immediately during a wait. */
  readonly signal: AbortSignal;
  /** Handles the failure of an iteration. The next iteration runs after `intervalMs`. */
  readonly onError: (error: unknown) => void;
  /** Waits before the first iteration as well. */
  readonly waitsFirst?: boolean;
}

/**
 * Runs `task` repeatedly until the signal aborts, with pauses of `intervalMs` between the end of one call and the next
 * call; a longer pause than 24.8 days is shortened to that. Rejects only if `onError` throws.
 * @param task may return the milliseconds to wait before the next iteration; Infinity ends the loop
 */
export async function periodically(
  task: () => Promise<number | void>,
  { intervalMs, signal, onError, waitsFirst = false }: Periodic,
): Promise<void> {
  let waitMs = waitsFirst ? intervalMs : 0;
  while (!signal.aborted && waitMs !== Infinity) {
    // An abort ends the wait early.
    if (waitMs > 0) await sleep(Math.min(waitMs, MAX_TIMER_MS), undefined, { signal }).catch(() => undefined);
    if (signal.aborted) return;
    try {
      waitMs = (await task()) ?? intervalMs;
    } catch (error) {
      onError(error);
      waitMs = intervalMs;
    }
  }
}
