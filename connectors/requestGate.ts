import { setTimeout as sleep } from 'node:timers/promises';
import pLimit from 'p-limit';

import { Fault } from '../contract/failures.js';

/** The requests of one account, from one process: so many at once, and none while its source asks us to wait. */
export interface RequestGate {
  /** Runs `request` in its turn. Throws a Fault rate_limited where the turn would come after `deadline`; the signal's reason when it aborts. */
  pass<T>(signal: AbortSignal, deadline: number, request: () => Promise<T>): Promise<T>;
  /** No request begins before; an earlier, longer pause stays. */
  pauseUntil(time: number): void;
}

export function createRequestGate(name: string, atOnce: number): RequestGate {
  const limit = pLimit(atOnce);
  let until = 0;
  return {
    pauseUntil(time) {
      until = Math.max(until, time);
    },
    pass: (signal, deadline, request) =>
      limit(async () => {
        // Another request may have met a further pause while this one waited.
        for (let now = Date.now(); now < until; now = Date.now()) {
          const retryAfterMs = until - now;
          if (until > deadline)
            throw new Fault(
              'rate_limited',
              `${name} takes no more requests of this account for now. Try again after ${Math.ceil(retryAfterMs / 1000)} s.`,
              { retryAfterMs },
            );
          await sleep(retryAfterMs, undefined, { signal });
        }
        signal.throwIfAborted();
        return request();
      }),
  };
}
