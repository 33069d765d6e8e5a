/** How many requests a key has under way at once, learned from what its provider says. */
export interface Pace {
  /** Requests at once, as of now. */
  readonly limit: number;
  /** Time (as `now` tells it) before which nothing is sent. */
  readonly restsUntil: number;
  /** Whether another request may be sent. */
  isOpen(): boolean;
  /** Counts a request as sent; answers what its end is told with. */
  begin(): number;
  /** A request got its answer. */
  succeeded(ticket: number): void;
  /** A request was refused with 429. @param waitMs as the provider said; null when it said nothing. @returns how long the key rests from now */
  refused(ticket: number, waitMs: number | null): number;
  /** A request ended in another way. */
  ended(): void;
}

const FIRST_LIMIT = 4;
const FIRST_REST_MS = 500;
const LONGEST_REST_MS = 30_000;

/**
 * Additive increase, multiplicative decrease: one more after as many answers as there are requests at once, half as many at a
 * refusal. Requests that were sent before a refusal was known, and are refused as well, say nothing new.
 * @param chance between 0 and 1, so that workers that were refused together don't come back together
 */
export function createPace(
  { minConcurrency: min, maxConcurrency: max }: { readonly minConcurrency: number; readonly maxConcurrency: number },
  now: () => number = Date.now,
  chance: () => number = Math.random,
): Pace {
  let limit = Math.min(max, Math.max(min, FIRST_LIMIT));
  let running = 0;
  let answers = 0;
  let restsUntil = 0;
  /** Refusals in a row, each known before the next request was sent. */
  let refusals = 0;
  let epoch = 0;
  return {
    get limit() {
      return limit;
    },
    get restsUntil() {
      return restsUntil;
    },
    isOpen: () => running < limit && now() >= restsUntil,
    begin() {
      running += 1;
      return epoch;
    },
    succeeded(ticket) {
      running -= 1;
      if (ticket !== epoch) return;
      refusals = 0;
      answers += 1;
      if (answers < limit) return;
      answers = 0;
      limit = Math.min(max, limit + 1);
    },
    refused(ticket, waitMs) {
      running -= 1;
      if (ticket === epoch) {
        epoch += 1;
        answers = 0;
        limit = Math.max(min, Math.floor(limit / 2));
        refusals += 1;
      }
      const longest = Math.min(LONGEST_REST_MS, FIRST_REST_MS * 2 ** Math.max(0, refusals - 1));
      restsUntil = Math.max(restsUntil, now() + (waitMs ?? longest * (0.5 + chance() / 2)));
      return restsUntil - now();
    },
    ended() {
      running -= 1;
    },
  };
}
