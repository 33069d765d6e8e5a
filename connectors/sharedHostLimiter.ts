import { randomUUID } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';

import type { HostRateLimits } from '../contract/sources/hostRateLimits.js';
import { orAborted } from '../egress/deadline.js';
import type { Clock } from './clock.js';
import { waitInQueue, sleepUntilAborted, type HostLimiter, type Sleep } from './hostLimiter.js';

/** Renewal interval of a lease; other workers get their share after at most this time. */
const RENEW_MS = 1000;
/** Renewal interval while another worker waits for slots that this one uses, or this one has no slot. */
const CONTENDED_RENEW_MS = 150;
/** Shares of an unused host are released after this time. */
const IDLE_MS = 2000;
/** Maximum wait for the database on shutdown: unreleased shares expire anyway. */
const CLOSE_MS = 2000;

interface Host {
  readonly holder: string;
  active: number;
  readonly waiting: (() => void)[];
  /** Maximum number of active requests until `until`; afterwards 0. */
  limit: number;
  until: number;
  usedAt: number;
  /** End of the pause, by the pauses' clock. enter() does not wait for it: callers check pausedMs(). */
  pausedUntil: number;
  /** Serialises the claims of start times. */
  claims: Promise<void>;
  /** Wakes the renewal loop before its next interval. */
  renewNow: () => void;
}

/** A host limiter whose pauses apply to all workers. */
export interface SharedHostLimiter extends HostLimiter {
  /**
   * Pauses a host for all workers; the other workers receive the pause within a second. Callers observe the pause with
   * pausedMs(), because enter() does not wait for it. A longer earlier pause is kept.
   */
  pause(host: string, forMs: number): void;
  /**
   * Returns the remaining pause of a host in milliseconds. A worker stores the pause only while it uses slots of the
   * host, and for IDLE_MS after that; otherwise the result is 0.
   */
  pausedMs(host: string): number;
  close(): Promise<void>;
}

export interface SharedLimiterOptions {
  /** Maximum number of concurrent requests to one host, across all workers. */
  readonly perHost: number;
  readonly hostRateLimits: HostRateLimits;
  readonly now?: () => number;
  readonly sleep?: Sleep;
  /** Clock of the pauses. Unset: `now`. Leases always use `now`, because the database measures them in real time. */
  readonly clock?: Pick<Clock, 'now'>;
}

/**
 * Creates a limiter of requests per host for all workers of a deployment. Each worker leases a share of a host's
 * slots and assigns them itself. A worker that is alone at a host has all its slots, so a request costs no database
 * call, unless the host has a minimum interval between requests. Without the database a worker uses its last share
 * until that expires; then new requests wait, and active ones continue.
 */
export function createSharedHostLimiter({
  perHost,
  hostRateLimits,
  now = () => performance.now(),
  sleep = sleepUntilAborted,
  clock = { now },
}: SharedLimiterOptions): SharedHostLimiter {
  const hosts = new Map<string, Host>();
  const renewals = new Set<Promise<void>>();
  let isClosing = false;

  const isFree = (host: Host): boolean => host.active < host.limit && now() < host.until;
  const startWaiting = (host: Host): void => {
    while (host.waiting.length > 0 && isFree(host)) {
      host.active += 1;
      host.waiting.shift()?.();
    }
  };
  const leave = (host: Host): void => {
    host.active -= 1;
    host.usedAt = now();
    // The share shrank while its slots were in use, and the last slot beyond the share is free now. Renew at once, so
    // that a waiting worker gets the slot.
    if (host.active === host.limit) host.renewNow();
    startWaiting(host);
  };

  /** Renews the share once. Returns the time until the next renewal, in milliseconds. */
  async function renew(name: string, host: Host): Promise<number> {
    const requestedAt = now();
    const pauseFrom = clock.now();
    const isValid = requestedAt < host.until;
    const minSlots = Math.max(host.active, isValid ? host.limit : 0);
    try {
      const { slots, fair, leaseMs, pausedMs } = await hostRateLimits.acquire({
        host: name,
        holder: host.holder,
        cap: perHost,
        minSlots,
      });
      host.limit = Math.min(slots, fair);
      host.until = requestedAt + leaseMs;
      if (pausedMs > 0) host.pausedUntil = Math.max(host.pausedUntil, pauseFrom + pausedMs);
      startWaiting(host);
      return slots > fair || host.limit === 0 ? CONTENDED_RENEW_MS : RENEW_MS;
    } catch {
      // The database is unavailable: the current share is valid until it expires.
      return RENEW_MS;
    }
  }

  /** Renews the share of a host while it is in use, then releases it. */
  async function renewWhileUsed(name: string, host: Host): Promise<void> {
    do {
      const pauseMs = await renew(name, host);
      if (!isClosing) await pause(host, pauseMs);
    } while (!isClosing && (host.active > 0 || host.waiting.length > 0 || now() - host.usedAt < IDLE_MS));
    // A later caller opens the host again, under a new holder id.
    if (hosts.get(name) === host) hosts.delete(name);
    if (host.active === 0) await hostRateLimits.release(name, host.holder).catch(() => undefined);
  }

  const pause = (host: Host, ms: number): Promise<void> =>
    new Promise((resolve) => {
      const timer = setTimeout(resolve, ms);
      timer.unref();
      host.renewNow = () => {
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
      renewNow: () => undefined,
    };
    hosts.set(name, host);
    const renewal = renewWhileUsed(name, host).finally(() => renewals.delete(renewal));
    renewals.add(renewal);
    return host;
  }

  async function claim(name: string, intervalMs: number, signal: AbortSignal): Promise<void> {
    for (;;) {
      signal.throwIfAborted();
      const waitMs = await hostRateLimits.reserveRequest(name, intervalMs).catch(() => RENEW_MS);
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
      else await waitInQueue(host.waiting, signal);
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
      let hasLeft = false;
      return () => {
        if (!hasLeft) leave(host);
        hasLeft = true;
      };
    },
    pause(name, forMs) {
      const host = hosts.get(name) ?? open(name);
      host.pausedUntil = Math.max(host.pausedUntil, clock.now() + forMs);
      // If the database is unavailable, only this process observes the pause.
      void hostRateLimits.pause(name, forMs).catch(() => undefined);
    },
    pausedMs: (name) => Math.max(0, (hosts.get(name)?.pausedUntil ?? 0) - clock.now()),
    async close() {
      isClosing = true;
      for (const host of hosts.values()) host.renewNow();
      const timeout = new AbortController();
      await Promise.race([
        Promise.all(renewals),
        wait(CLOSE_MS, undefined, { signal: timeout.signal }).catch(() => undefined),
      ]);
      timeout.abort();
    },
  };
}
