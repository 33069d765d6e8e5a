import { HttpError } from './errors.js';

/** Limits how many requests of one caller run at the same time. Each API process counts for itself. */
export interface ConcurrencyLimiter {
  /**
   * Takes a slot of a caller.
   * @returns frees the slot; call it exactly once, when the work has ended
   * @throws HttpError 429 with Retry-After while all slots of the caller are taken
   */
  enter(caller: string): () => void;
}

/** Slots are freed within a fraction of a second: a search seldom takes longer. */
const RETRY_AFTER_S = 1;

/**
 * Makes a limiter.
 * @param most slots of one caller; 0 is no limit
 * @param what the requests, as the refusal calls them
 */
export function createConcurrencyLimiter(most: number, what: string): ConcurrencyLimiter {
  const running = new Map<string, number>();
  return {
    enter(caller) {
      const count = running.get(caller) ?? 0;
      if (most > 0 && count >= most)
        throw new HttpError(
          429,
          `This user has ${most} ${what} running, which is the maximum. Wait for one to end, then try again.`,
          RETRY_AFTER_S,
        );
      running.set(caller, count + 1);
      return () => {
        const left = (running.get(caller) ?? 1) - 1;
        if (left > 0) running.set(caller, left);
        else running.delete(caller);
      };
    },
  };
}
