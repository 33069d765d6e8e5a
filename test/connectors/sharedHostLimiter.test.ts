import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import mongoose, { type Connection } from 'mongoose';

import { createSharedHostLimiter } from '../../connectors/sharedHostLimiter.js';
import type { HostRateLimits } from '../../contract/hostRateLimits.js';
import { createHostRateLimits } from '../../store/hostRateLimits.js';
import { testEngines } from '../support/engines.js';
import { thoroughly } from '../support/thorough.js';

/** What the database holds is real; workers are limiters with connections of their own. */
const uri = new URL(testEngines().mongodbUri);
uri.pathname = `/hostRateLimits${String(Date.now())}`;
const connections: Connection[] = [];
const limiters: { close(): Promise<void> }[] = [];
let hosts = 0;
/** A host that no other test knows. */
const newHost = () => `host${String((hosts += 1))}.example`;

async function table(leaseMs?: number): Promise<HostRateLimits> {
  const connection = await mongoose.createConnection(uri.href).asPromise();
  connections.push(connection);
  return createHostRateLimits(connection, leaseMs);
}
function limiterOver(turns: HostRateLimits, perHost: number) {
  const made = createSharedHostLimiter({ perHost, turns });
  limiters.push(made);
  return made;
}
const worker = async (perHost: number, leaseMs?: number) => limiterOver(await table(leaseMs), perHost);
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
const isOpen = async (promise: Promise<unknown>, ms = 100) =>
  Promise.race([promise.then(() => true), wait(ms).then(() => false)]);

/** Turns under way over all workers, and the most that ever were. */
function counter() {
  const seen = { now: 0, most: 0, turns: new Map<Limiter, number>() };
  return {
    seen,
    /** Takes turns, `atOnce` side by side, until the signal aborts. */
    async load(of: Limiter, host: string, atOnce: number, stop: AbortSignal) {
      const one = async () => {
        while (!stop.aborted) {
          const leave = await of.enter(host, 0, stop).catch(() => null);
          if (leave === null) return;
          seen.now += 1;
          seen.most = Math.max(seen.most, seen.now);
          await wait(5);
          seen.now -= 1;
          seen.turns.set(of, (seen.turns.get(of) ?? 0) + 1);
          leave();
        }
      };
      await Promise.all(Array.from({ length: atOnce }, one));
    },
  };
}
/** Looks until it is so; the test's own time is the limit. */
async function until(isSo: () => boolean): Promise<void> {
  for (let looks = 0; !isSo() && looks < 5000; looks += 1) await wait(20);
  expect(isSo()).toBe(true);
}

describe('a pause that a host asks for', () => {
  test('is kept by every worker that has turns there, and by whoever comes later; a shorter one does not end it', async () => {
    const host = newHost();
    const [asked, other, later] = [await worker(2), await worker(2), await worker(2)];
    const leave = await other.enter(host, 0, never);
    expect(other.pausedMs(host)).toBe(0);
    asked.pause(host, 60_000);
    expect(asked.pausedMs(host)).toBeGreaterThan(59_000);
    await until(() => other.pausedMs(host) > 50_000);
    asked.pause(host, 10);
    leave();
    (await later.enter(host, 0, never))();
    expect(later.pausedMs(host)).toBeGreaterThan(50_000);
    expect(asked.pausedMs(host)).toBeGreaterThan(50_000);
    expect(asked.pausedMs(newHost())).toBe(0);
  });
});

describe('turns at a host', () => {
  test('a worker that is alone has all of them at once, and no page of it asks the database', async () => {
    const turns = await table();
    let asked = 0;
    const counted: HostRateLimits = { ...turns, share: (request) => ((asked += 1), turns.share(request)) };
    const limiter = limiterOver(counted, 8);
    const host = newHost();
    const held = await Promise.all(Array.from({ length: 8 }, () => limiter.enter(host, 0, never)));
    // Once, and once a second while it is used.
    expect(asked).toBeLessThan(8);
    expect(await isOpen(limiter.enter(host, 0, never))).toBe(false);
    const renewals = asked;
    held.forEach((leave) => leave());
    for (let page = 0; page < 2000; page += 1) (await limiter.enter(host, 0, never))();
    expect(asked - renewals).toBeLessThan(200);
  });

  test('never more than allowed over two workers, who both come to their turns', async () => {
    const [one, two] = [await worker(4), await worker(4)];
    const host = newHost();
    const stop = new AbortController();
    const { seen, load } = counter();
    const first = load(one, host, 10, stop.signal);
    await until(() => (seen.turns.get(one) ?? 0) > 50);
    const second = load(two, host, 10, stop.signal);
    await until(() => (seen.turns.get(two) ?? 0) > 50);
    // Both at once from here on, each with its half.
    const before = seen.turns.get(one) ?? 0;
    await until(() => (seen.turns.get(one) ?? 0) > before + 50);
    stop.abort();
    await Promise.all([first, second]);
    expect(seen.most).toBe(4);
  });

  test('what is under way at one worker is not given to another, however long it takes', async () => {
    const [one, two, host] = [await worker(3), await worker(3), newHost()];
    const [first, ...rest] = await Promise.all([1, 2, 3].map(() => one.enter(host, 0, never)));
    const waiting = two.enter(host, 0, never);
    // More than two renewals.
    expect(await isOpen(waiting, 2500)).toBe(false);
    first?.();
    (await waiting)();
    rest.forEach((leave) => leave());
  });

  thoroughly('with fewer of them than workers, each worker comes to its turn', async () => {
    const workers = [await worker(1), await worker(1), await worker(1)];
    const host = newHost();
    const stop = new AbortController();
    const { seen, load } = counter();
    const loads = workers.map((one) => load(one, host, 2, stop.signal));
    await until(() => workers.every((one) => (seen.turns.get(one) ?? 0) > 0));
    const before = new Map(seen.turns);
    await until(() => workers.every((one) => (seen.turns.get(one) ?? 0) > (before.get(one) ?? 0)));
    stop.abort();
    await Promise.all(loads);
    expect(seen.most).toBe(1);
  });

  test('those of a worker that died come back when its lease ends', async () => {
    const turns = await table(1500);
    const host = newHost();
    const died = performance.now();
    expect((await turns.share({ host, holder: 'dead', cap: 2, atMost: 0 })).slots).toBe(2);
    const limiter = limiterOver(turns, 2);
    await Promise.all([limiter.enter(host, 0, never), limiter.enter(host, 0, never)]);
    expect(performance.now() - died).toBeGreaterThan(1495);
  });

  test('those of a worker that ends are free at once', async () => {
    const [turns, host] = [await table(), newHost()];
    const limiter = limiterOver(turns, 4);
    (await limiter.enter(host, 0, never))();
    expect((await turns.share({ host, holder: 'other', cap: 4, atMost: 0 })).slots).toBe(0);
    await limiter.close();
    expect((await turns.share({ host, holder: 'other', cap: 4, atMost: 0 })).slots).toBe(4);
  });

  thoroughly('a share never falls below what its worker may still use, whatever is fair', async () => {
    const [turns, host] = [await table(), newHost()];
    const ask = (holder: string, atMost: number) => turns.share({ host, holder, cap: 5, atMost });
    expect(await ask('a', 0)).toMatchObject({ slots: 5, fair: 5 });
    expect(await ask('b', 0)).toMatchObject({ slots: 0, fair: 2 });
    expect(await ask('a', 5)).toMatchObject({ slots: 5, fair: 3 });
    expect(await ask('b', 0)).toMatchObject({ slots: 0, fair: 2 });
    expect(await ask('a', 4)).toMatchObject({ slots: 4, fair: 3 });
    expect(await ask('b', 0)).toMatchObject({ slots: 1, fair: 2 });
    expect(await ask('a', 3)).toMatchObject({ slots: 3, fair: 3 });
    expect(await ask('b', 1)).toMatchObject({ slots: 2, fair: 2 });
  });

  test('without the database the last share stands until it ends; then pages wait, and go on when it is back', async () => {
    const turns = await table(4000);
    let isAway = false;
    const away: HostRateLimits = {
      ...turns,
      share: (request) => (isAway ? Promise.reject(new Error('away')) : turns.share(request)),
    };
    const [limiter, host] = [limiterOver(away, 2), newHost()];
    const leave = await limiter.enter(host, 0, never);
    isAway = true;
    const other = await limiter.enter(host, 0, never);
    other();
    await wait(4100);
    const waiting = limiter.enter(host, 0, never);
    expect(await isOpen(waiting, 300)).toBe(false);
    isAway = false;
    (await waiting)();
    leave();
  });

  test('a worker that stops while the database is away does not wait for it', async () => {
    const turns = await table();
    const limiter = limiterOver({ ...turns, giveBack: () => new Promise(() => undefined) }, 2);
    (await limiter.enter(newHost(), 0, never))();
    expect(await isOpen(limiter.close(), 30_000)).toBe(true);
  });

  test('an abort in line rejects with its reason and takes nobody else with it', async () => {
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

describe('starts at a host with a Crawl-delay', () => {
  test('are apart over all workers', async () => {
    const workers = [await worker(8), await worker(8)];
    const host = newHost();
    const began = performance.now();
    const turns = workers.flatMap((one) => Array.from({ length: 3 }, () => one.enter(host, 300, never)));
    for (const leave of await Promise.all(turns)) leave();
    // Six starts have five intervals between them.
    expect(performance.now() - began).toBeGreaterThan(1495);
  });

  thoroughly('of a worker that died while it waited are not lost to the others', async () => {
    const [turns, host] = [await table(), newHost()];
    expect(await turns.claimStart(host, 2000)).toBe(0);
    const waitMs = await turns.claimStart(host, 2000);
    expect(waitMs).toBeGreaterThan(0);
    expect(waitMs).toBeLessThanOrEqual(2000);
    await wait(waitMs + 5);
    // Whoever asks next has it, not whoever asked first.
    expect(await turns.claimStart(host, 2000)).toBe(0);
  });

  test('an abort while waiting for the time rejects at once and gives the turn back', async () => {
    const [limiter, host] = [await worker(2), newHost()];
    (await limiter.enter(host, 60_000, never))();
    const stop = new AbortController();
    const waiting = [limiter.enter(host, 60_000, stop.signal), limiter.enter(host, 60_000, stop.signal)];
    setTimeout(() => stop.abort(new RangeError('enough')), 50);
    for (const one of waiting) await expect(one).rejects.toThrow('enough');
    const leaves = await Promise.all([limiter.enter(host, 0, never), limiter.enter(host, 0, never)]);
    expect(leaves).toHaveLength(2);
  });
});
