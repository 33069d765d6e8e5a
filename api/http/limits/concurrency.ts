import { HttpError } from '../errors.js';

/** Limits the number of concurrent requests per caller and API process. */
export interface ConcurrencyLimiter {
  /**
   * Takes a slot of a caller.
   * @returns a function that frees the slot; call it exactly once when the work ends
   * @throws HttpError 429 with Retry-After while all slots of the caller are taken
   */
  enter(caller: string): () => void;
}

/**
 * Creates a limiter.
 * @param max slots per caller; 0 means unlimited
 * @param what name of the requests in the error message, in the plural
 * @param retryAfterSeconds time in which a slot is usually freed
 */
export function createConcurrencyLimiter(max: number, what: string, retryAfterSeconds = 1): ConcurrencyLimiter {
  const running = new Map<string, number>();
  return {
    enter(caller) {
      const count = running.get(caller) ?? 0;
      if (max > 0 && count >= max)
        throw new HttpError(
          429,
          `This user has ${max} ${what} running, which is the maximum. Wait for one to end, then try again.`,
          retryAfterSeconds,
        );
      running.set(caller, count + 1);
      return () => {
        const remaining = (running.get(caller) ?? 1) - 1;
        if (remaining > 0) running.set(caller, remaining);
        else running.delete(caller);
      };
    },
  };
}
