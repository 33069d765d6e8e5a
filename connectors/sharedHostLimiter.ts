import { randomUUID } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';

import type { HostRateLimits } from '../contract/sources/hostRateLimits.js';
import { orAborted } from '../egress/deadline.js';
import { inLine, sleepUntilAborted, type HostLimiter, type Sleep } from './hostLimiter.js';

/** A share is renewed so often: that is how soon others get theirs. */
const RENEW_MS = 1000;
/** Renewal interval while other workers wait for shares of this one, or the reverse. */
const SOON_MS = 150;
/** Shares of an unused host are given back after this time. */
const IDLE_MS = 2000;
/** A stop does not wait longer for the database: shares end by themselves. */
const CLOSE_MS = 2000;

interface Host {
  readonly holder: string;
  active: number;
  readonly waiting: (() => void)[];
  /** What may be active until `until`; nothing after. */
  limit: number;
  until: number;
  usedAt: number;
  /** No request begins before. */
  pausedUntil: number;
  /** Claims of starts, one after the other. */
  claims: Promise<void>;
  /** Ends the pause before the next renewal. */
  hurry: () => void;
}

/** Turns with pauses that all workers keep. */
export interface SharedHostLimiter extends HostLimiter {
  /** No request of any worker to the host begins for so long: others hear of it within a second. An earlier, longer pause stays. */
  pause(host: string, forMs: number): void;
  /** For how long no request to the host may begin. Known of a host whose turn one has. */
  pausedMs(host: string): number;
  close(): Promise<void>;
}

export interface SharedLimiterOptions {
  /** Requests to one host at once, over all workers. */
  readonly perHost: number;
  readonly turns: HostRateLimits;
  readonly now?: () => number;
  readonly sleep?: Sleep;
}

/**
 * Request slots of hosts for all workers of a deployment. Each worker leases a share of a host's slots and assigns
 * them itself: alone at a host it has all of them, and a page costs it nothing but a counter. Without the
 * database a worker uses its last share until that expires, then new requests wait; open ones continue.
 */
export function createSharedHostLimiter({
  perHost,
  turns,
  now = () => performance.now(),
  sleep = sleepUntilAborted,
}: SharedLimiterOptions): SharedHostLimiter {
  const hosts = new Map<string, Host>();
  const keeping = new Set<Promise<void>>();
  let isClosing = false;

  const isFree = (host: Host): boolean => host.active < host.limit && now() < host.until;
  const handOut = (host: Host): void => {
    while (host.waiting.length > 0 && isFree(host)) {
      host.active += 1;
      host.waiting.shift()?.();
    }
  };
  const leave = (host: Host): void => {
    host.active -= 1;
    host.usedAt = now();
    // Other workers wait for slots that were used beyond the share.
    if (host.active === host.limit) host.hurry();
    handOut(host);
  };

  /** Asks for the share once. Answers how long it is good for without asking again. */
  async function renew(name: string, host: Host): Promise<number> {
    const askedAt = now();
    const isValid = askedAt < host.until;
    const atMost = Math.max(host.active, isValid ? host.limit : 0);
    try {
      const { slots, fair, leaseMs, pausedMs } = await turns.share({
        host: name,
        holder: host.holder,
        cap: perHost,
        atMost,
      });
      host.limit = Math.min(slots, fair);
      host.until = askedAt + leaseMs;
      if (pausedMs > 0) host.pausedUntil = Math.max(host.pausedUntil, askedAt + pausedMs);
      handOut(host);
      return slots > fair || host.limit === 0 ? SOON_MS : RENEW_MS;
    } catch {
      // The database is away: the share stands until it expires.
      return RENEW_MS;
    }
  }

  /** Keeps the share of a host while it is called, then gives it back. */
  async function keep(name: string, host: Host): Promise<void> {
    do {
      const pauseMs = await renew(name, host);
      if (!isClosing) await pause(host, pauseMs);
    } while (!isClosing && (host.active > 0 || host.waiting.length > 0 || now() - host.usedAt < IDLE_MS));
    // From here on a new caller opens the host again, as another holder.
    if (hosts.get(name) === host) hosts.delete(name);
    if (host.active === 0) await turns.giveBack(name, host.holder).catch(() => undefined);
  }

  const pause = (host: Host, ms: number): Promise<void> =>
    new Promise((resolve) => {
      const timer = setTimeout(resolve, ms);
      timer.unref();
      host.hurry = () => {
        clearTimeout(timer);
        resolve();
      };
    });

  function open(name: string): Host {
    const host: Host = {
      holder: randomUUID(),
      active: 0,
      waiting: [],
      limit: 0,
      until: 0,
      usedAt: now(),
      pausedUntil: 0,
      claims: Promise.resolve(),
      hurry: () => undefined,
    };
    hosts.set(name, host);
    const kept = keep(name, host).finally(() => keeping.delete(kept));
    keeping.add(kept);
    return host;
  }

  async function claim(name: string, intervalMs: number, signal: AbortSignal): Promise<void> {
    for (;;) {
      signal.throwIfAborted();
      const waitMs = await turns.claimStart(name, intervalMs).catch(() => RENEW_MS);
      if (waitMs <= 0) return;
      await sleep(waitMs, signal);
    }
  }

  return {
    async enter(name, minIntervalMs, signal) {
      signal.throwIfAborted();
      const host = hosts.get(name) ?? open(name);
      host.usedAt = now();
      if (host.waiting.length === 0 && isFree(host)) host.active += 1;
      else await inLine(host.waiting, signal);
      try {
        signal.throwIfAborted();
        if (minIntervalMs > 0) {
          const start = host.claims.then(() => claim(name, minIntervalMs, signal));
          host.claims = start.catch(() => undefined);
          await orAborted(start, signal);
        }
      } catch (error) {
        leave(host);
        throw error;
      }
      let left = false;
      return () => {
        if (!left) leave(host);
        left = true;
      };
    },
    pause(name, forMs) {
      const host = hosts.get(name) ?? open(name);
      host.pausedUntil = Math.max(host.pausedUntil, now() + forMs);
      // Where the database is away, this process alone keeps the pause.
      void turns.pause(name, forMs).catch(() => undefined);
    },
    pausedMs: (name) => Math.max(0, (hosts.get(name)?.pausedUntil ?? 0) - now()),
    async close() {
      isClosing = true;
      for (const host of hosts.values()) host.hurry();
      const given = new AbortController();
      await Promise.race([
        Promise.all(keeping),
        wait(CLOSE_MS, undefined, { signal: given.signal }).catch(() => undefined),
      ]);
      given.abort();
    },
  };
}
