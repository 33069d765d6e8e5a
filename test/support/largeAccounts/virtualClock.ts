/**
 * A clock whose waits take no real time: whenever no real work is in progress, it jumps to the time at which the next
 * wait ends.
 */
import type { Clock } from '../../../connectors/clock.js';
import type { Egress } from '../../../egress/types.js';
import { TIME_HEADER } from '../../emulators/large/quota.js';

interface Sleeper {
  readonly until: number;
  readonly wake: () => void;
}

export class VirtualClock implements Clock {
  #now: number;
  #sleepers: Sleeper[] = [];
  #isScheduled = false;
  /** Number of real operations in progress. While there are any, the clock does not advance. */
  #working = 0;
  /** Number of requests in progress, including their simulated duration. */
  #requests = 0;
  #idleMs = 0;

  constructor(now: number) {
    this.#now = now;
  }

  now(): number {
    return this.#now;
  }

  /** Virtual milliseconds in which no request was in progress: each user of the clock waited, as for a rate limit. */
  get idleMs(): number {
    return this.#idleMs;
  }

  sleep(ms: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      signal.throwIfAborted();
      const stop = (): void => {
        this.#sleepers = this.#sleepers.filter((other) => other !== sleeper);
        reject(signal.reason as Error);
      };
      const sleeper: Sleeper = {
        until: this.#now + Math.max(0, ms),
        wake: () => {
          signal.removeEventListener('abort', stop);
          resolve();
        },
      };
      signal.addEventListener('abort', stop, { once: true });
      this.#sleepers.push(sleeper);
      this.#schedule();
    });
  }

  /** Runs `work` as a request that takes `ms` of virtual time. */
  async request<T>(ms: number, signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    this.#requests += 1;
    try {
      await this.sleep(ms, signal);
      this.#working += 1;
      try {
        return await work();
      } finally {
        this.#working -= 1;
        this.#schedule();
      }
    } finally {
      this.#requests -= 1;
    }
  }

  #schedule(): void {
    if (this.#isScheduled || this.#working > 0) return;
    this.#isScheduled = true;
    // Advance only after the callbacks of all settled promises have run.
    setImmediate(() => {
      this.#isScheduled = false;
      this.#advance();
    });
  }

  #advance(): void {
    if (this.#working > 0 || this.#sleepers.length === 0) return;
    const next = this.#sleepers.reduce((earliest, other) => (other.until < earliest.until ? other : earliest));
    if (this.#requests === 0) this.#idleMs += next.until - this.#now;
    this.#now = next.until;
    this.#sleepers = this.#sleepers.filter((other) => other !== next);
    next.wake();
    this.#schedule();
  }
}

const NEVER = new AbortController().signal;

/**
 * Returns an egress whose requests take `durationMs` of virtual time. Each request has the virtual time in a header, so
 * that emulators can enforce quotas.
 */
export const virtualEgress = (
  egress: Pick<Egress, 'request'>,
  clock: VirtualClock,
  durationMs: number,
): Pick<Egress, 'request'> => ({
  request: ({ signal = NEVER, ...request }) =>
    clock.request(durationMs, signal, async () => {
      const headers = { ...request.headers, [TIME_HEADER]: String(clock.now()) };
      const answer = await egress.request({ ...request, headers, signal });
      const bytes = await answer.bytes();
      return { ...answer, bytes: () => Promise.resolve(bytes) };
    }),
});
