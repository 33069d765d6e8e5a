import { setTimeout as sleep } from 'node:timers/promises';

import { Fault } from '../contract/failures.js';
import type { HostTurns } from '../contract/hostTurns.js';
import { createSharedHostLimiter, type SharedHostLimiter } from './sharedHostLimiter.js';

/** The requests of one account, from all processes: so many at once, and none while its source asks us to wait. */
export interface RequestGate {
  /** Runs `request` in its turn. Throws a Fault rate_limited where the turn would come after `deadline`; the signal's reason when it aborts. */
  pass<T>(signal: AbortSignal, deadline: number, request: () => Promise<T>): Promise<T>;
  /** No request begins for so long; an earlier, longer pause stays. */
  pause(forMs: number): void;
}

/** @param limiter of the source, whose accounts each have turns of their own @param account as the limiter calls it */
export function createRequestGate(name: string, account: string, limiter: SharedHostLimiter): RequestGate {
  /** Waits for the end of a pause. */
  const rest = async (signal: AbortSignal, deadline: number): Promise<void> => {
    // Another request may have met a further pause while this one waited.
    for (let waitMs = limiter.pausedMs(account); waitMs > 0; waitMs = limiter.pausedMs(account)) {
      if (Date.now() + waitMs > deadline)
        throw new Fault(
          'rate_limited',
          `${name} takes no more requests of this account for now. Try again after ${Math.ceil(waitMs / 1000)} s.`,
          { retryAfterMs: waitMs },
        );
      await sleep(waitMs, undefined, { signal });
    }
  };
  return {
    pause: (forMs) => limiter.pause(account, forMs),
    async pass(signal, deadline, request) {
      const leave = await limiter.enter(account, 0, signal);
      try {
        await rest(signal, deadline);
        signal.throwIfAborted();
        return await request();
      } finally {
        leave();
      }
    },
  };
}

/** Turns of a process that shares them with no other. */
function turnsAlone(): HostTurns {
  const paused = new Map<string, number>();
  return {
    share: ({ host, cap }) => {
      const pausedMs = Math.max(0, (paused.get(host) ?? 0) - Date.now());
      return Promise.resolve({ slots: cap, fair: cap, leaseMs: 60_000, pausedMs });
    },
    giveBack: () => Promise.resolve(),
    claimStart: () => Promise.resolve(0),
    pause: (host, forMs) => {
      paused.set(host, Math.max(paused.get(host) ?? 0, Date.now() + forMs));
      return Promise.resolve();
    },
  };
}

/** The gates of a source's accounts. @param turns what all processes of a deployment share; without, this one is alone */
export function createRequestGates(name: string, atOnce: number, turns: HostTurns = turnsAlone()) {
  const limiter = createSharedHostLimiter({ perHost: atOnce, turns });
  return (account: string): RequestGate => createRequestGate(name, account, limiter);
}
