import { Fault } from '../contract/failures.js';
import type { HostRateLimits } from '../contract/sources/hostRateLimits.js';
import { type Clock, systemClock } from './clock.js';
import { createSharedHostLimiter, type SharedHostLimiter } from './sharedHostLimiter.js';

/**
 * Limits the requests of one account, and of all accounts that share a limit with it, across all processes. It limits
 * the number of concurrent requests, and sends none while the source requests a pause.
 */
export interface RateLimiter {
  /**
   * Runs `request` when a slot is free and no pause is in effect. Throws a Fault rate_limited if a pause ends after
   * `deadline`, a time of the limiter's clock, and the signal's reason on abort. The wait for a slot has no deadline.
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
  /** Returns the current minimum milliseconds between two requests. Unset: 0. */
  intervalMs?(): number;
  /** Called for each pause. */
  onPause?(): void;
}

/**
 * Creates the limiter of an account. @param shared slots of all accounts that share its limit; null: the account shares
 * no limit
 */
function createRateLimiter(
  name: string,
  account: Slots,
  shared: Slots | null,
  pauses: Pick<HostRateLimits, 'pausedMs'>,
  clock: Clock,
): RateLimiter {
  /** Waits until a pause has ended. */
  const waitForPause = async ({ limiter, key, scope }: Slots, signal: AbortSignal, deadline: number): Promise<void> => {
    // Another request may have extended the pause in the meantime.
    for (let waitMs = limiter.pausedMs(key); waitMs > 0; waitMs = limiter.pausedMs(key)) {
      if (clock.now() + waitMs > deadline)
        throw new Fault(
          'rate_limited',
          `${name} accepts no more requests of this ${scope} for now. Try again after ${Math.ceil(waitMs / 1000)} s.`,
          { retryAfterMs: waitMs },
        );
      await clock.sleep(waitMs, signal);
    }
  };
  const inSlot = async <T>(slots: Slots, signal: AbortSignal, work: () => Promise<T>): Promise<T> => {
    const release = await slots.limiter.enter(slots.key, slots.intervalMs?.() ?? 0, signal);
    try {
      return await work();
    } finally {
      release();
    }
  };
  return {
    async paused() {
      const pauseOf = async (slots: Slots): Promise<number> =>
        Math.max(slots.limiter.pausedMs(slots.key), await pauses.pausedMs(slots.key));
      const [accountMs, sharedMs] = await Promise.all([pauseOf(account), shared && pauseOf(shared)]);
      return { accountMs, sharedMs };
    },
    pause(forMs, scope = 'account') {
      const { limiter, key, onPause } = (scope === 'shared' ? shared : null) ?? account;
      onPause?.();
      limiter.pause(key, forMs);
    },
    async pass(signal, deadline, request) {
      // Wait before taking the slot: the interval between two requests begins when the slot is taken.
      await waitForPause(account, signal, deadline);
      return inSlot(account, signal, async () => {
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
      });
    },
  };
}

/** Creates slots that are limited within this process only. */
function localRateLimits(clock: Clock): HostRateLimits {
  const paused = new Map<string, number>();
  const starts = new Map<string, number>();
  const pausedMs = (host: string): number => Math.max(0, (paused.get(host) ?? 0) - clock.now());
  return {
    acquire: ({ host, cap }) => Promise.resolve({ slots: cap, fair: cap, leaseMs: 60_000, pausedMs: pausedMs(host) }),
    pausedMs: (host) => Promise.resolve(pausedMs(host)),
    release: () => Promise.resolve(),
    reserveRequest(host, intervalMs) {
      const waitMs = (starts.get(host) ?? 0) - clock.now();
      if (waitMs > 0) return Promise.resolve(waitMs);
      starts.set(host, clock.now() + intervalMs);
      return Promise.resolve(0);
    },
    pause: (host, forMs) => {
      paused.set(host, Math.max(paused.get(host) ?? 0, clock.now() + forMs));
      return Promise.resolve();
    },
  };
}

/** How long after a pause the requests of an account are at least `intervalMs` apart. */
const SPREAD_MS = 600_000;

interface RateLimiterOptions {
  /** Slots shared by all processes of a deployment. Unset: limited within this process only. */
  readonly hostRateLimits?: HostRateLimits | undefined;
  /** Maximum number of concurrent requests of accounts that share a limit. Unset: there is no such limit. */
  readonly sharedAtOnce?: number | undefined;
  /** Minimum milliseconds between two requests of an account, for SPREAD_MS after each pause. Unset: none. */
  readonly intervalMs?: number | undefined;
  /** Clock of the pauses. Unset: the system's. */
  readonly clock?: Clock | undefined;
}

/**
 * Creates the rate limiters of a source's accounts.
 * @param atOnce maximum number of concurrent requests of an account
 */
export function createRateLimiters(
  name: string,
  atOnce: number,
  { hostRateLimits: hostLimits, sharedAtOnce = 0, intervalMs = 0, clock = systemClock }: RateLimiterOptions = {},
) {
  const hostRateLimits = hostLimits ?? localRateLimits(clock);
  const limits = { hostRateLimits, clock, sleep: clock.sleep.bind(clock) };
  const limiter = createSharedHostLimiter({ perHost: atOnce, ...limits });
  const shared = sharedAtOnce > 0 ? createSharedHostLimiter({ perHost: sharedAtOnce, ...limits }) : null;
  /** Ends of the times in which requests are spread, by account. */
  const spread = new Map<string, number>();
  return (account: string, group: string | null = null): RateLimiter =>
    createRateLimiter(
      name,
      {
        ...{ limiter, key: account, scope: 'account' },
        intervalMs: () => ((spread.get(account) ?? 0) > clock.now() ? intervalMs : 0),
        onPause: () => void (intervalMs > 0 && spread.set(account, clock.now() + SPREAD_MS)),
      },
      shared && group !== null ? { limiter: shared, key: group, scope: 'service' } : null,
      hostRateLimits,
      clock,
    );
}
