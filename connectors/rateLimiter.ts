import { setTimeout as sleep } from 'node:timers/promises';

import { Fault } from '../contract/failures.js';
import type { HostRateLimits } from '../contract/sources/hostRateLimits.js';
import { createSharedHostLimiter, type SharedHostLimiter } from './sharedHostLimiter.js';

/**
 * Limits the requests of one account, and of all accounts that share a limit with it, in all processes: the number of
 * concurrent ones, and none while the source requests a pause.
 */
export interface RateLimiter {
  /** Runs `request` in its turn. Throws a Fault rate_limited where the turn would come after `deadline`; the signal's reason when it aborts. */
  pass<T>(signal: AbortSignal, deadline: number, request: () => Promise<T>): Promise<T>;
  /** No request begins for so long; an earlier, longer pause stays. @param whose of the account alone, or of all that share a limit with it */
  pause(forMs: number, whose?: 'account' | 'shared'): void;
  /** For how long no request begins, as all processes know it; of the shared limit null where there is none. */
  paused(): Promise<{ readonly accountMs: number; readonly sharedMs: number | null }>;
}

/** Turns under one name of a limiter's. */
interface Turns {
  readonly key: string;
  readonly limiter: SharedHostLimiter;
  /** Whose they are, as sentences say it. */
  readonly whose: string;
}

/** @param shared with the accounts that share a limit; null for one that shares none */
function createRateLimiter(
  name: string,
  account: Turns,
  shared: Turns | null,
  known: Pick<HostRateLimits, 'pausedMs'>,
): RateLimiter {
  /** Waits for the end of a pause. */
  const rest = async ({ limiter, key, whose }: Turns, signal: AbortSignal, deadline: number): Promise<void> => {
    // Another request may have met a further pause while this one waited.
    for (let waitMs = limiter.pausedMs(key); waitMs > 0; waitMs = limiter.pausedMs(key)) {
      if (Date.now() + waitMs > deadline)
        throw new Fault(
          'rate_limited',
          `${name} takes no more requests of this ${whose} for now. Try again after ${Math.ceil(waitMs / 1000)} s.`,
          { retryAfterMs: waitMs },
        );
      await sleep(waitMs, undefined, { signal });
    }
  };
  const inTurn = async <T>(turns: Turns, signal: AbortSignal, work: () => Promise<T>): Promise<T> => {
    const leave = await turns.limiter.enter(turns.key, 0, signal);
    try {
      return await work();
    } finally {
      leave();
    }
  };
  return {
    async paused() {
      const of = async (turns: Turns): Promise<number> =>
        Math.max(turns.limiter.pausedMs(turns.key), await known.pausedMs(turns.key));
      const [accountMs, sharedMs] = await Promise.all([of(account), shared && of(shared)]);
      return { accountMs, sharedMs };
    },
    pause(forMs, whose = 'account') {
      const { limiter, key } = (whose === 'shared' ? shared : null) ?? account;
      limiter.pause(key, forMs);
    },
    pass: (signal, deadline, request) =>
      inTurn(account, signal, async () => {
        // Before a shared slot is taken: waiting for one account must not block the others.
        await rest(account, signal, deadline);
        signal.throwIfAborted();
        if (shared === null) return request();
        return inTurn(shared, signal, async () => {
          await rest(shared, signal, deadline);
          await rest(account, signal, deadline);
          signal.throwIfAborted();
          return request();
        });
      }),
  };
}

/** Turns of a process that shares them with no other. */
function turnsAlone(): HostRateLimits {
  const paused = new Map<string, number>();
  return {
    share: ({ host, cap }) => {
      const pausedMs = Math.max(0, (paused.get(host) ?? 0) - Date.now());
      return Promise.resolve({ slots: cap, fair: cap, leaseMs: 60_000, pausedMs });
    },
    pausedMs: (host) => Promise.resolve(Math.max(0, (paused.get(host) ?? 0) - Date.now())),
    giveBack: () => Promise.resolve(),
    claimStart: () => Promise.resolve(0),
    pause: (host, forMs) => {
      paused.set(host, Math.max(paused.get(host) ?? 0, Date.now() + forMs));
      return Promise.resolve();
    },
  };
}

/**
 * The gates of a source's accounts.
 * @param turns what all processes of a deployment share; without, this one is alone
 * @param sharedAtOnce requests at once of accounts that share a limit; unset: there is no such limit
 */
export function createRateLimiters(
  name: string,
  atOnce: number,
  turns: HostRateLimits = turnsAlone(),
  sharedAtOnce = 0,
) {
  const limiter = createSharedHostLimiter({ perHost: atOnce, turns });
  const shared = sharedAtOnce > 0 ? createSharedHostLimiter({ perHost: sharedAtOnce, turns }) : null;
  return (account: string, group: string | null = null): RateLimiter =>
    createRateLimiter(
      name,
      { limiter, key: account, whose: 'account' },
      shared && group !== null ? { limiter: shared, key: group, whose: 'service' } : null,
      turns,
    );
}
