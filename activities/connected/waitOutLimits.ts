import { setTimeout as sleep } from 'node:timers/promises';

import type { Clock } from '../../connectors/clock.js';
import { Fault } from '../../contract/failures.js';

/** Minimum wait between two attempts, even if a source requests less. */
const MIN_WAIT_MS = 200;

const systemClock: Clock = { now: Date.now, sleep: (ms, signal) => sleep(ms, undefined, { signal }) };

/**
 * Runs a step of a listing. If the source's rate limit is exceeded, waits as long as the source requests and repeats
 * the step. A rate limit does not count as a failed attempt.
 * @param until time of the clock at which waiting ends, in milliseconds since 1970
 * @returns null if the rate limit has not ended at `until`
 */
export async function waitOutLimits<T>(
  step: () => Promise<T>,
  until: number,
  signal: AbortSignal,
  clock: Clock = systemClock,
): Promise<T | null> {
  for (;;) {
    try {
      return await step();
    } catch (error) {
      if (!(error instanceof Fault) || error.kind !== 'rate_limited') throw error;
      const remainingMs = until - clock.now();
      if (remainingMs <= 0) return null;
      const requestedMs = Math.max(error.retryAfterMs ?? MIN_WAIT_MS, MIN_WAIT_MS);
      await clock.sleep(Math.min(requestedMs, remainingMs), signal).catch((aborted: unknown) => {
        signal.throwIfAborted();
        throw aborted;
      });
    }
  }
}
