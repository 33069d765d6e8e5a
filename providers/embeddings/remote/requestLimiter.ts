/** Limits the number of parallel requests with one key, based on the provider's responses. */
export interface RequestLimiter {
  /** Current limit of parallel requests. */
  readonly limit: number;
  /** Time, in the unit of `now`, before which nothing is sent. */
  readonly pausedUntil: number;
  /** Whether another request may be sent. */
  isOpen(): boolean;
  /** Counts a request as sent; returns the ticket with which its end is reported. */
  begin(): number;
  /** Reports that a request was answered. */
  succeeded(ticket: number): void;
  /**
   * Reports that a request was rejected with 429.
   * @param waitMs the provider's Retry-After; null without one
   * @returns milliseconds that the key pauses
   */
  refused(ticket: number, waitMs: number | null): number;
  /** Reports that a request ended in any other way. */
  ended(): void;
}

const FIRST_LIMIT = 4;
const FIRST_PAUSE_MS = 500;
const MAX_PAUSE_MS = 30_000;

/**
 * Creates a limiter with additive increase and multiplicative decrease: one more parallel request after as many
 * successes as the current limit, half as many after a rejection. Requests that are in progress at that time do not
 * lower the limit again if they are rejected too, but may extend the pause.
 * @param random returns a number from 0 to 1; it spreads the retries of workers that were rejected at the same time
 */
export function createRequestLimiter(
  { minConcurrency: min, maxConcurrency: max }: { readonly minConcurrency: number; readonly maxConcurrency: number },
  now: () => number = Date.now,
  random: () => number = Math.random,
): RequestLimiter {
  let limit = Math.min(max, Math.max(min, FIRST_LIMIT));
  let running = 0;
  let successes = 0;
  let pausedUntil = 0;
  /** Consecutive rejections, without those of requests that were sent before the previous rejection was known. */
  let rejections = 0;
  let epoch = 0;
  return {
    get limit() {
      return limit;
    },
    get pausedUntil() {
      return pausedUntil;
    },
    isOpen: () => running < limit && now() >= pausedUntil,
    begin() {
      running += 1;
      return epoch;
    },
    succeeded(ticket) {
      running -= 1;
      if (ticket !== epoch) return;
      rejections = 0;
      successes += 1;
      if (successes < limit) return;
      successes = 0;
      limit = Math.min(max, limit + 1);
    },
    refused(ticket, waitMs) {
      running -= 1;
      if (ticket === epoch) {
        epoch += 1;
        successes = 0;
        limit = Math.max(min, Math.floor(limit / 2));
        rejections += 1;
      }
      const longest = Math.min(MAX_PAUSE_MS, FIRST_PAUSE_MS * 2 ** Math.max(0, rejections - 1));
      pausedUntil = Math.max(pausedUntil, now() + (waitMs ?? longest * (0.5 + random() / 2)));
      return pausedUntil - now();
    },
    ended() {
      running -= 1;
    },
  };
}
