/** Tests of a worker's requests for its share of the concurrent requests to a host. Store and time are fakes. */
import { afterEach, beforeEach, expect, jest, test } from '@jest/globals';

import { createSharedHostLimiter } from '../../connectors/sharedHostLimiter.js';
import type { HostRateLimits, HostShare, ShareRequest } from '../../contract/sources/hostRateLimits.js';
import { NEVER } from './account.js';

const HOST = 'host.example';
/** Limiters of the test in progress. They are closed after it, so that no wait continues. */
const limiters: { close(): Promise<void> }[] = [];

beforeEach(() => void jest.useFakeTimers());
afterEach(async () => {
  const closed = Promise.all(limiters.splice(0).map((limiter) => limiter.close()));
  await jest.advanceTimersByTimeAsync(5_000);
  await closed;
  jest.useRealTimers();
});
const pass = (ms: number) => jest.advanceTimersByTimeAsync(ms);

/** Returns a limiter over fake limits, which records the requests for shares and the released holders. */
function limiterWith(share: Partial<HostShare> = {}, fakes: Partial<HostRateLimits> = {}, perHost = 3) {
  const granted: HostShare = { slots: perHost, fair: perHost, leaseMs: 10_000, pausedMs: 0, ...share };
  const requests: ShareRequest[] = [];
  const released: string[] = [];
  const answer = { share: granted };
  const hostRateLimits: HostRateLimits = {
    acquire: async () => answer.share,
    release: async (_host, holder) => void released.push(holder),
    reserveRequest: async () => 0,
    pause: async () => undefined,
    pausedMs: async () => 0,
    ...fakes,
  };
  const acquire = (request: ShareRequest) => {
    requests.push(request);
    return hostRateLimits.acquire(request);
  };
  const limiter = createSharedHostLimiter({
    ...{ perHost, hostRateLimits: { ...hostRateLimits, acquire }, now: Date.now },
    sleep: (ms) => new Promise((resolve) => void setTimeout(resolve, ms)),
  });
  limiters.push(limiter);
  /** Requests a slot. `leave` is null until it is granted. */
  const enter = (intervalMs = 0) => {
    const entry: { leave: (() => void) | null } = { leave: null };
    void limiter.enter(HOST, intervalMs, NEVER).then((leave) => (entry.leave = leave));
    return entry;
  };
  const minSlots = () => requests.map((request) => request.minSlots);
  return { limiter, enter, requests, released, answer, minSlots };
}

test('asks to keep all slots of a valid share, or only those in use if its fair share is below that number', async () => {
  const { enter, answer, minSlots } = limiterWith();
  const [first] = [enter(), enter()];
  await pass(0);
  expect(minSlots()).toEqual([0]);
  answer.share = { ...answer.share, fair: 1 };
  await pass(1_000);
  // Another worker waits, so the share is renewed soon.
  await pass(150);
  expect(minSlots()).toEqual([0, 3, 2]);
  const waiting = enter();
  await pass(150);
  expect([waiting.leave, minSlots()]).toEqual([null, [0, 3, 2, 2]]);
  // When a slot beyond the share is released, the worker requests its share again at once.
  answer.share = { ...answer.share, slots: 1 };
  first!.leave!();
  await pass(0);
  expect([waiting.leave, minSlots()]).toEqual([null, [0, 3, 2, 2, 1]]);
});

test('after its lease ended, requests only the slots in use, and grants no slot until a new lease', async () => {
  let isAway = false;
  const share = { slots: 3, fair: 3, leaseMs: 2_500, pausedMs: 0 };
  const { enter, minSlots } = limiterWith(
    {},
    { acquire: () => (isAway ? Promise.reject(new Error('away')) : Promise.resolve(share)) },
  );
  enter();
  await pass(0);
  isAway = true;
  await pass(2_600);
  const waiting = enter();
  await pass(300);
  expect(waiting.leave).toBeNull();
  isAway = false;
  await pass(200);
  expect(waiting.leave).not.toBeNull();
  expect(minSlots().slice(0, 4)).toEqual([0, 3, 3, 1]);
});

test('measures a lease from its request, not from the answer', async () => {
  let delayMs = 0;
  const { enter } = limiterWith(
    {},
    {
      async acquire() {
        const waitMs = delayMs;
        delayMs = 5_000;
        await new Promise((resolve) => void setTimeout(resolve, waitMs + 800));
        return { slots: 3, fair: 3, leaseMs: 1_000, pausedMs: 0 };
      },
    },
  );
  const first = enter();
  await pass(800);
  expect(first.leave).not.toBeNull();
  await pass(300);
  const late = enter();
  await pass(0);
  expect(late.leave).toBeNull();
});

test('releases its share after two seconds without use, and requests the next one under another holder id', async () => {
  const { enter, requests, released } = limiterWith();
  const entry = enter();
  await pass(10_000);
  expect(released).toEqual([]);
  entry.leave!();
  await pass(1_900);
  expect(released).toEqual([]);
  await pass(1_200);
  const holder = requests[0]!.holder;
  expect(released).toEqual([holder]);
  const before = requests.length;
  await pass(5_000);
  expect(requests).toHaveLength(before);
  enter();
  await pass(0);
  expect(requests.at(-1)!.holder).not.toBe(holder);
});

test('counts a slot that is released twice once, and grants slots in the order of arrival', async () => {
  const { enter } = limiterWith({}, {}, 1);
  const entries = [enter(), enter(), enter()];
  await pass(0);
  expect(entries.map(({ leave }) => leave !== null)).toEqual([true, false, false]);
  entries[0]!.leave!();
  entries[0]!.leave!();
  await pass(0);
  expect(entries.map(({ leave }) => leave !== null)).toEqual([true, true, false]);
});

test('retries the reservation of a start after a failure, and reserves one start after the other', async () => {
  const waits = [new Error('away'), 500, 0, 0];
  const times: number[] = [];
  const began = Date.now();
  const { enter } = limiterWith(
    {},
    {
      async reserveRequest(_host, intervalMs) {
        expect(intervalMs).toBe(200);
        times.push(Date.now() - began);
        const next = waits.shift() ?? 0;
        if (next instanceof Error) throw next;
        return next;
      },
    },
  );
  const entries = [enter(200), enter(200)];
  await pass(999);
  expect([times, entries.map(({ leave }) => leave)]).toEqual([[0], [null, null]]);
  await pass(501);
  expect(times).toEqual([0, 1_000, 1_500, 1_500]);
  expect(entries.every(({ leave }) => leave !== null)).toBe(true);
});

test('an aborted reservation releases its slot and does not block the next one', async () => {
  const waits = [60_000, 0];
  const { limiter, enter } = limiterWith({}, { reserveRequest: async () => waits.shift() ?? 0 }, 1);
  const stop = new AbortController();
  const aborted = limiter.enter(HOST, 200, stop.signal).catch((error: Error) => error.message);
  await pass(10);
  stop.abort(new RangeError('enough'));
  expect(await aborted).toBe('enough');
  const next = enter();
  await pass(0);
  expect(next.leave).not.toBeNull();
  next.leave!();
  const claimed = enter(200);
  await pass(60_000);
  expect(claimed.leave).not.toBeNull();
});

test('another worker can extend a pause, not shorten it; a pause applies here even if it cannot be stored', async () => {
  const { limiter, enter, answer } = limiterWith({}, { pause: () => Promise.reject(new Error('away')) });
  enter();
  await pass(0);
  limiter.pause(HOST, 30_000);
  answer.share = { ...answer.share, pausedMs: 5_000 };
  await pass(1_000);
  expect(limiter.pausedMs(HOST)).toBe(29_000);
  answer.share = { ...answer.share, pausedMs: 90_000 };
  await pass(1_000);
  expect(limiter.pausedMs(HOST)).toBe(90_000);
  expect(limiter.pausedMs('other.example')).toBe(0);
});

test('a worker that closes releases unused shares, but not one with a request in progress', async () => {
  const { limiter, enter, released } = limiterWith();
  enter();
  (await limiter.enter('idle.example', 0, NEVER))();
  await pass(0);
  const closed = limiter.close();
  await pass(0);
  await closed;
  expect(released).toHaveLength(1);
});
