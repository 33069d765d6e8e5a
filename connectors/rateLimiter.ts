import { setTimeout as sleep } from 'node:timers/promises';

import { Fault } from '../contract/failures.js';
import type { HostRateLimits } from '../contract/sources/hostRateLimits.js';
import { createSharedHostLimiter, type SharedHostLimiter } from './sharedHostLimiter.js';

/**
 * Limits the requests of one account, and of all accounts that share a limit with it, across all processes. It limits
 * the number of concurrent requests, and sends none while the source requests a pause.
 */
export interface RateLimiter {
  /**
   * Runs `request` when a slot is free. Throws a Fault rate_limited if a slot would be free only after `deadline`, and
   * the signal's reason on abort.
   */
  pass<T>(signal: AbortSignal, deadline: number, request: () => Promise<T>): Promise<T>;
  /**
   * Delays all requests for this time; a longer earlier pause is kept. @param scope whether it applies to this account,
   * or to all accounts that share its limit
   */
  pause(forMs: number, scope?: 'account' | 'shared'): void;
  /**
   * Returns the remaining pauses in all processes, in milliseconds; the shared one is null if the account shares no
   * limit.
   */
  paused(): Promise<{ readonly accountMs: number; readonly sharedMs: number | null }>;
}

/** Request slots of one host limiter key. */
interface Slots {
  readonly key: string;
  readonly limiter: SharedHostLimiter;
  /** The accounts that the limit applies to, as named in error texts. */
  readonly scope: string;
}

/**
 * Creates the limiter of an account. @param shared slots of all accounts that share its limit; null: the account shares
 * no limit
 */
function createRateLimiter(
  name: string,
  account: Slots,
  shared: Slots | null,
  known: Pick<HostRateLimits, 'pausedMs'>,
): RateLimiter {
  /** Waits until a pause has ended. */
  const waitForPause = async ({ limiter, key, scope }: Slots, signal: AbortSignal, deadline: number): Promise<void> => {
    // Another request may have extended the pause in the meantime.
    for (let waitMs = limiter.pausedMs(key); waitMs > 0; waitMs = limiter.pausedMs(key)) {
      if (Date.now() + waitMs > deadline)
        throw new Fault(
          'rate_limited',
          `${name} accepts no more requests of this ${scope} for now. Try again after ${Math.ceil(waitMs / 1000)} s.`,
          { retryAfterMs: waitMs },
        );
      await sleep(waitMs, undefined, { signal });
    }
  };
  const inSlot = async <T>(slots: Slots, signal: AbortSignal, work: () => Promise<T>): Promise<T> => {
    const release = await slots.limiter.enter(slots.key, 0, signal);
    try {
      return await work();
    } finally {
      release();
    }
  };
  return {
    async paused() {
      const pauseOf = async (slots: Slots): Promise<number> =>
        Math.max(slots.limiter.pausedMs(slots.key), await known.pausedMs(slots.key));
      const [accountMs, sharedMs] = await Promise.all([pauseOf(account), shared && pauseOf(shared)]);
      return { accountMs, sharedMs };
    },
    pause(forMs, scope = 'account') {
      const { limiter, key } = (scope === 'shared' ? shared : null) ?? account;
      limiter.pause(key, forMs);
    },
    pass: (signal, deadline, request) =>
      inSlot(account, signal, async () => {
        // Wait before taking a shared slot, so that a paused account does not block the others.
        await waitForPause(account, signal, deadline);
        signal.throwIfAborted();
        if (shared === null) return request();
        return inSlot(shared, signal, async () => {
          await waitForPause(shared, signal, deadline);
          await waitForPause(account, signal, deadline);
          signal.throwIfAborted();
          return request();
        });
      }),
  };
}

/** Creates slots that are limited within this process only. */
function localRateLimits(): HostRateLimits {
  const paused = new Map<string, number>();
  return {
    acquire: ({ host, cap }) => {
      const pausedMs = Math.max(0, (paused.get(host) ?? 0) - Date.now());
      return Promise.resolve({ slots: cap, fair: cap, leaseMs: 60_000, pausedMs });
    },
    pausedMs: (host) => Promise.resolve(Math.max(0, (paused.get(host) ?? 0) - Date.now())),
    release: () => Promise.resolve(),
    reserveRequest: () => Promise.resolve(0),
    pause: (host, forMs) => {
      paused.set(host, Math.max(paused.get(host) ?? 0, Date.now() + forMs));
      return Promise.resolve();
    },
  };
}

/**
 * Creates the rate limiters of a source's accounts.
 * @param hostRateLimits slots shared by all processes of a deployment; unset: limited within this process only
 * @param sharedAtOnce maximum number of concurrent requests of accounts that share a limit; unset: there is no such
 * limit
 */
export function createRateLimiters(
  name: string,
  atOnce: number,
  hostRateLimits: HostRateLimits = localRateLimits(),
  sharedAtOnce = 0,
) {
  const limiter = createSharedHostLimiter({ perHost: atOnce, hostRateLimits });
  const shared = sharedAtOnce > 0 ? createSharedHostLimiter({ perHost: sharedAtOnce, hostRateLimits }) : null;
  return (account: string, group: string | null = null): RateLimiter =>
    createRateLimiter(
      name,
      { limiter, key: account, scope: 'account' },
      shared && group !== null ? { limiter: shared, key: group, scope: 'service' } : null,
      hostRateLimits,
    );
}
