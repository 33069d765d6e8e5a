import { setTimeout as wait } from 'node:timers/promises';

import { onAbort } from '../egress/onAbort.js';

/**
 * Limits concurrent requests per host: createHostLimiter those of one process, createSharedHostLimiter those of all
 * workers.
 */
export interface HostLimiter {
  /**
   * Waits for a slot at the host, and until minIntervalMs after the previous start. Rejects with the signal's reason.
   * The returned function releases the slot.
   */
  enter(host: string, minIntervalMs: number, signal: AbortSignal): Promise<() => void>;
  /** Releases slots that are stored outside this process. */
  close?(): Promise<void>;
}

export type Sleep = (ms: number, signal: AbortSignal) => Promise<void>;

interface Host {
  active: number;
  readonly waiting: (() => void)[];
  /** Earliest start of the next request, as a timestamp. */
  nextStart: number;
}

/** Creates a limiter for this process. @param perHost maximum number of concurrent slots per host */
export function createHostLimiter(perHost: number, now: () => number, sleep: Sleep): HostLimiter {
  const hosts = new Map<string, Host>();

  const removeIfIdle = (name: string, host: Host): void => {
    if (host.active === 0 && host.waiting.length === 0 && host.nextStart <= now()) hosts.delete(name);
  };

  const release = (name: string, host: Host): void => {
    const next = host.waiting.shift();
    // Hand the slot to the next waiting caller.
    if (next) next();
    else host.active -= 1;
    removeIfIdle(name, host);
  };

  return {
    async enter(name, minIntervalMs, signal) {
      signal.throwIfAborted();
      const host = hosts.get(name) ?? { active: 0, waiting: [], nextStart: 0 };
      hosts.set(name, host);
      if (host.active < perHost) host.active += 1;
      else await waitInQueue(host.waiting, signal);

      const start = Math.max(now(), host.nextStart);
      host.nextStart = start + minIntervalMs;
      try {
        if (start > now()) await sleep(start - now(), signal);
        signal.throwIfAborted();
      } catch (error) {
        release(name, host);
        throw error;
      }
      let isReleased = false;
      return () => {
        if (!isReleased) release(name, host);
        isReleased = true;
      };
    },
  };
}

/** Adds a function to the queue and waits until it is called. Leaves the queue when the signal aborts. */
export function waitInQueue(waiting: (() => void)[], signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const start = (): void => {
      stopListening();
      resolve();
    };
    waiting.push(start);
    const stopListening = onAbort(signal, () => {
      waiting.splice(waiting.indexOf(start), 1);
      reject(signal.reason as Error);
    });
  });
}

/** Sleeps. On abort, it rejects with the signal's own reason instead of the timer's AbortError. */
export async function sleepUntilAborted(ms: number, signal: AbortSignal): Promise<void> {
  await wait(ms, undefined, { signal }).catch((error: unknown) => {
    signal.throwIfAborted();
    throw error;
  });
}
