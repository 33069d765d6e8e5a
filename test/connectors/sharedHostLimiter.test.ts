import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import mongoose, { type Connection } from 'mongoose';

import { createSharedHostLimiter } from '../../connectors/sharedHostLimiter.js';
import type { HostRateLimits } from '../../contract/sources/hostRateLimits.js';
import { createHostRateLimits } from '../../store/hostRateLimits.js';
import { testEngines } from '../support/engines.js';
import { thoroughly } from '../support/thorough.js';

/** The database is real. Each worker is a limiter with its own connection. */
const uri = new URL(testEngines().mongodbUri);
uri.pathname = `/hostRateLimits${String(Date.now())}`;
const connections: Connection[] = [];
const limiters: { close(): Promise<void> }[] = [];
let hosts = 0;
/** Returns the name of a host that no other test uses. */
const newHost = () => `host${String((hosts += 1))}.example`;

/** Returns the host limits stored in the database, over a new connection. */
async function storedLimits(leaseMs?: number): Promise<HostRateLimits> {
  const connection = await mongoose.createConnection(uri.href).asPromise();
  connections.push(connection);
  return createHostRateLimits(connection, leaseMs);
}
function limiterOver(limits: HostRateLimits, perHost: number) {
  const limiter = createSharedHostLimiter({ perHost, hostRateLimits: limits });
  limiters.push(limiter);
  return limiter;
}
const worker = async (perHost: number, leaseMs?: number) => limiterOver(await storedLimits(leaseMs), perHost);
type Limiter = Awaited<ReturnType<typeof worker>>;

beforeAll(async () => {
  const connection = await mongoose.createConnection(uri.href).asPromise();
  connections.push(connection);
  await createHostRateLimits(connection).createIndexes();
});
afterEach(async () => {
  await Promise.all(limiters.splice(0).map((one) => one.close()));
});
afterAll(async () => {
  await connections[0]?.dropDatabase();
  await Promise.all(connections.map((one) => one.close()));
});

const never = new AbortController().signal;
/** Returns whether the promise is fulfilled within the time. */
const isFulfilledWithin = async (promise: Promise<unknown>, ms = 100) =>
  Promise.race([promise.then(() => true), wait(ms).then(() => false)]);

/** Counts the slots in use across all workers, their maximum, and the slots that each worker has taken so far. */
function counter() {
  const seen = { now: 0, max: 0, slots: new Map<Limiter, number>() };
  return {
    seen,
    /** Takes slots in `atOnce` parallel loops until the signal aborts. */
    async load(limiter: Limiter, host: string, atOnce: number, stop: AbortSignal) {
      const loop = async () => {
        while (!stop.aborted) {
          const leave = await limiter.enter(host, 0, stop).catch(() => null);
          if (leave === null) return;
          seen.now += 1;
          seen.max = Math.max(seen.max, seen.now);
          await wait(5);
          seen.now -= 1;
          seen.slots.set(limiter, (seen.slots.get(limiter) ?? 0) + 1);
          leave();
        }
      };
      await Promise.all(Array.from({ length: atOnce }, loop));
    },
  };
}
/** Polls until the condition holds, within the time limit of the test. */
async function until(condition: () => boolean): Promise<void> {
  for (let polls = 0; !condition() && polls < 5000; polls += 1) await wait(20);
  expect(condition()).toBe(true);
}

describe('a pause that a host requests', () => {
  test('applies to all workers, also to those that use the host later, and is not ended by a shorter pause', async () => {
    const host = newHost();
    const [pausing, other, later] = [await worker(2), await worker(2), await worker(2)];
    const leave = await other.enter(host, 0, never);
    expect(other.pausedMs(host)).toBe(0);
    pausing.pause(host, 60_000);
    expect(pausing.pausedMs(host)).toBeGreaterThan(59_000);
    await until(() => other.pausedMs(host) > 50_000);
    pausing.pause(host, 10);
    leave();
    (await later.enter(host, 0, never))();
    expect(later.pausedMs(host)).toBeGreaterThan(50_000);
    expect(pausing.pausedMs(host)).toBeGreaterThan(50_000);
    expect(pausing.pausedMs(newHost())).toBe(0);
  });
});

describe('slots at a host', () => {
  test('are all granted to a worker that is alone, which needs no database request per HTTP request', async () => {
    const limits = await storedLimits();
    let requests = 0;
    const counted: HostRateLimits = { ...limits, acquire: (request) => ((requests += 1), limits.acquire(request)) };
    const limiter = limiterOver(counted, 8);
    const host = newHost();
    const releases = await Promise.all(Array.from({ length: 8 }, () => limiter.enter(host, 0, never)));
    // One request at first, then one per second while the share is in use.
    expect(requests).toBeLessThan(8);
    expect(await isFulfilledWithin(limiter.enter(host, 0, never))).toBe(false);
    const renewals = requests;
    releases.forEach((leave) => leave());
    for (let page = 0; page < 2000; page += 1) (await limiter.enter(host, 0, never))();
    expect(requests - renewals).toBeLessThan(200);
  });

  test('in use by two workers never exceed the limit, and both workers get slots', async () => {
    const [one, two] = [await worker(4), await worker(4)];
    const host = newHost();
    const stop = new AbortController();
    const { seen, load } = counter();
    const first = load(one, host, 10, stop.signal);
    await until(() => (seen.slots.get(one) ?? 0) > 50);
    const second = load(two, host, 10, stop.signal);
    await until(() => (seen.slots.get(two) ?? 0) > 50);
    // From here on, each of the two workers has half of the slots.
    const before = seen.slots.get(one) ?? 0;
    await until(() => (seen.slots.get(one) ?? 0) > before + 50);
    stop.abort();
    await Promise.all([first, second]);
    expect(seen.max).toBe(4);
  });

  test('in use by one worker are not granted to another, however long its requests take', async () => {
    const [one, two, host] = [await worker(3), await worker(3), newHost()];
    const [first, ...rest] = await Promise.all([1, 2, 3].map(() => one.enter(host, 0, never)));
    const waiting = two.enter(host, 0, never);
    // Longer than two renewal intervals.
    expect(await isFulfilledWithin(waiting, 2500)).toBe(false);
    first?.();
    (await waiting)();
    rest.forEach((leave) => leave());
  });

  thoroughly('are granted to every worker in turn, even if there are fewer slots than workers', async () => {
    const workers = [await worker(1), await worker(1), await worker(1)];
    const host = newHost();
    const stop = new AbortController();
    const { seen, load } = counter();
    const loads = workers.map((one) => load(one, host, 2, stop.signal));
    await until(() => workers.every((one) => (seen.slots.get(one) ?? 0) > 0));
    const before = new Map(seen.slots);
    await until(() => workers.every((one) => (seen.slots.get(one) ?? 0) > (before.get(one) ?? 0)));
    stop.abort();
    await Promise.all(loads);
    expect(seen.max).toBe(1);
  });

  test('of a dead worker are released when its lease ends', async () => {
    const limits = await storedLimits(1500);
    const host = newHost();
    const died = performance.now();
    expect((await limits.acquire({ host, holder: 'dead', cap: 2, minSlots: 0 })).slots).toBe(2);
    const limiter = limiterOver(limits, 2);
    await Promise.all([limiter.enter(host, 0, never), limiter.enter(host, 0, never)]);
    expect(performance.now() - died).toBeGreaterThan(1495);
  });

  test('of a worker that shuts down are released at once', async () => {
    const [limits, host] = [await storedLimits(), newHost()];
    const limiter = limiterOver(limits, 4);
    (await limiter.enter(host, 0, never))();
    expect((await limits.acquire({ host, holder: 'other', cap: 4, minSlots: 0 })).slots).toBe(0);
    await limiter.close();
    expect((await limits.acquire({ host, holder: 'other', cap: 4, minSlots: 0 })).slots).toBe(4);
  });

  thoroughly('of a worker never fall below the number that it still uses, whatever its fair share is', async () => {
    const [limits, host] = [await storedLimits(), newHost()];
    const acquire = (holder: string, minSlots: number) => limits.acquire({ host, holder, cap: 5, minSlots });
    expect(await acquire('a', 0)).toMatchObject({ slots: 5, fair: 5 });
    expect(await acquire('b', 0)).toMatchObject({ slots: 0, fair: 2 });
    expect(await acquire('a', 5)).toMatchObject({ slots: 5, fair: 3 });
    expect(await acquire('b', 0)).toMatchObject({ slots: 0, fair: 2 });
    expect(await acquire('a', 4)).toMatchObject({ slots: 4, fair: 3 });
    expect(await acquire('b', 0)).toMatchObject({ slots: 1, fair: 2 });
    expect(await acquire('a', 3)).toMatchObject({ slots: 3, fair: 3 });
    expect(await acquire('b', 1)).toMatchObject({ slots: 2, fair: 2 });
  });

  test('stay usable while the database is unavailable, until their lease expires; are granted again when it is available', async () => {
    const limits = await storedLimits(4000);
    let isUnavailable = false;
    const unreliable: HostRateLimits = {
      ...limits,
      acquire: (request) => (isUnavailable ? Promise.reject(new Error('unavailable')) : limits.acquire(request)),
    };
    const [limiter, host] = [limiterOver(unreliable, 2), newHost()];
    const leave = await limiter.enter(host, 0, never);
    isUnavailable = true;
    const other = await limiter.enter(host, 0, never);
    other();
    await wait(4100);
    const waiting = limiter.enter(host, 0, never);
    expect(await isFulfilledWithin(waiting, 300)).toBe(false);
    isUnavailable = false;
    (await waiting)();
    leave();
  });

  test('do not delay the shutdown of a worker while the database is unavailable', async () => {
    const limits = await storedLimits();
    const limiter = limiterOver({ ...limits, release: () => new Promise(() => undefined) }, 2);
    (await limiter.enter(newHost(), 0, never))();
    expect(await isFulfilledWithin(limiter.close(), 30_000)).toBe(true);
  });

  test('are no longer awaited after an abort: the caller gets its reason, and other callers keep waiting', async () => {
    const [limiter, host] = [await worker(1), newHost()];
    const leave = await limiter.enter(host, 0, never);
    const stop = new AbortController();
    const aborted = limiter.enter(host, 0, stop.signal);
    const next = limiter.enter(host, 0, never);
    stop.abort(new RangeError('enough'));
    await expect(aborted).rejects.toThrow('enough');
    leave();
    (await next)();
  });
});

describe('requests to a host with a Crawl-delay', () => {
  test('of all workers start at least this delay apart', async () => {
    const workers = [await worker(8), await worker(8)];
    const host = newHost();
    const began = performance.now();
    const entered = workers.flatMap((one) => Array.from({ length: 3 }, () => one.enter(host, 300, never)));
    for (const leave of await Promise.all(entered)) leave();
    // Six starts have five intervals.
    expect(performance.now() - began).toBeGreaterThan(1495);
  });

  thoroughly('take over the start time of a worker that died while it waited', async () => {
    const [limits, host] = [await storedLimits(), newHost()];
    expect(await limits.reserveRequest(host, 2000)).toBe(0);
    const waitMs = await limits.reserveRequest(host, 2000);
    expect(waitMs).toBeGreaterThan(0);
    expect(waitMs).toBeLessThanOrEqual(2000);
    await wait(waitMs + 5);
    // The worker that waited does not claim its start time again, so another claim gets it.
    expect(await limits.reserveRequest(host, 2000)).toBe(0);
  });

  test('that wait are rejected at once on an abort, and release their slots', async () => {
    const [limiter, host] = [await worker(2), newHost()];
    (await limiter.enter(host, 60_000, never))();
    const stop = new AbortController();
    const waiting = [limiter.enter(host, 60_000, stop.signal), limiter.enter(host, 60_000, stop.signal)];
    setTimeout(() => stop.abort(new RangeError('enough')), 50);
    for (const request of waiting) await expect(request).rejects.toThrow('enough');
    const leaves = await Promise.all([limiter.enter(host, 0, never), limiter.enter(host, 0, never)]);
    expect(leaves).toHaveLength(2);
  });
});
