import { expect, test } from '@jest/globals';

import { createRequestLimiter, type RequestLimiter } from '../../../providers/embeddings/remote/requestLimiter.js';
import { retryAfterMs } from '../../../egress/retryAfter.js';
import { everyRow } from '../../support/everyRow.js';

const BOUNDS = { minConcurrency: 1, maxConcurrency: 8 };

/** Returns a limiter of concurrent requests, and its clock, which only the test advances. */
function limiterWithClock(bounds = BOUNDS) {
  const clock = { now: 1_000 };
  return {
    clock,
    limiter: createRequestLimiter(
      bounds,
      () => clock.now,
      () => 1,
    ),
  };
}

test('raises the limit by one after as many answers as the limit, up to the maximum', () => {
  const { limiter } = limiterWithClock();
  const limits = [limiter.limit];
  for (let answers = 0; answers < 40; answers++) {
    limiter.succeeded(limiter.begin());
    if (limiter.limit !== limits.at(-1)) limits.push(limiter.limit);
  }
  expect(limits).toEqual([4, 5, 6, 7, 8]);
});

test('halves the limit at a rejection, once for concurrent requests, down to the minimum', () => {
  const { limiter, clock } = limiterWithClock();
  const together = [limiter.begin(), limiter.begin(), limiter.begin()];
  for (const ticket of together) limiter.refused(ticket, 100);
  expect(limiter.limit).toBe(2);
  clock.now += 100;
  limiter.refused(limiter.begin(), 100);
  expect(limiter.limit).toBe(1);
  clock.now += 100;
  limiter.refused(limiter.begin(), 100);
  expect(limiter.limit).toBe(1);
});

test('does not raise the limit for answers to requests that were sent before a rejection was known', () => {
  const { limiter, clock } = limiterWithClock();
  const early = Array.from({ length: 4 }, () => limiter.begin());
  limiter.refused(early[0]!, 100);
  clock.now += 100;
  for (const ticket of early.slice(1)) limiter.succeeded(ticket);
  expect(limiter.limit).toBe(2);
  limiter.succeeded(limiter.begin());
  expect(limiter.limit).toBe(2);
  limiter.succeeded(limiter.begin());
  expect(limiter.limit).toBe(3);
});

test('frees the slot of a request however it ends, also if it was sent before a rejection was known', () =>
  everyRow(
    [
      ['an answer', (limiter: RequestLimiter, ticket: number): void => limiter.succeeded(ticket)],
      ['a rejection', (limiter: RequestLimiter, ticket: number): void => void limiter.refused(ticket, 100)],
      ['another end', (limiter: RequestLimiter): void => limiter.ended()],
    ] as const,
    ([what]) => what,
    ([, end]) => {
      const { limiter, clock } = limiterWithClock();
      const early = Array.from({ length: 4 }, () => limiter.begin());
      limiter.refused(early[0]!, 100);
      for (const ticket of early.slice(1)) end(limiter, ticket);
      clock.now += 60_000;
      for (let sent = 0; sent < limiter.limit; sent++) {
        expect(limiter.isOpen()).toBe(true);
        limiter.begin();
      }
      expect(limiter.isOpen()).toBe(false);
    },
  ));

test('allows no request for the delay that the provider requests', () => {
  const { limiter, clock } = limiterWithClock();
  expect(limiter.refused(limiter.begin(), 2_000)).toBe(2_000);
  expect(limiter.isOpen()).toBe(false);
  clock.now += 1_999;
  expect(limiter.isOpen()).toBe(false);
  clock.now += 1;
  expect(limiter.isOpen()).toBe(true);
});

/** The delays in milliseconds that two rejections of concurrent requests name, if any, and the resulting delay. */
const OVERLAPPING: [first: number | null, second: number | null, pause: number][] = [
  [60_000, null, 60_000],
  [null, 60_000, 60_000],
  [60_000, 100, 60_000],
  [100, 60_000, 60_000],
  [100, null, 500],
  [null, null, 500],
];

test('applies the longer delay of two rejections in any order', () =>
  everyRow(OVERLAPPING, JSON.stringify, ([first, second, pause]) => {
    const { limiter, clock } = limiterWithClock();
    const tickets = [limiter.begin(), limiter.begin()];
    limiter.refused(tickets[0]!, first);
    expect(limiter.refused(tickets[1]!, second)).toBe(pause);
    expect(limiter.pausedUntil).toBe(clock.now + pause);
  }));

test('releases the slot of a request that ends without an answer or a rejection, without changing the limit', () => {
  const { limiter } = limiterWithClock({ minConcurrency: 1, maxConcurrency: 1 });
  limiter.begin();
  limiter.ended();
  expect([limiter.isOpen(), limiter.limit, limiter.pausedUntil]).toEqual([true, 1, 0]);
});

test('doubles its own delay at each rejection that names none, and resets it after an answer', () => {
  const { limiter, clock } = limiterWithClock();
  const pause = (): number => {
    const ms = limiter.refused(limiter.begin(), null);
    clock.now += ms;
    return ms;
  };
  expect([pause(), pause(), pause()]).toEqual([500, 1_000, 2_000]);
  limiter.succeeded(limiter.begin());
  expect(pause()).toBe(500);
});

test('allows no more concurrent requests than the limit', () => {
  const { limiter } = limiterWithClock({ minConcurrency: 2, maxConcurrency: 2 });
  const ticket = limiter.begin();
  expect(limiter.isOpen()).toBe(true);
  limiter.begin();
  expect(limiter.isOpen()).toBe(false);
  limiter.succeeded(ticket);
  expect(limiter.isOpen()).toBe(true);
});

test.each([
  [{ 'retry-after': '2' }, 2_000],
  [{ 'retry-after': '0.5' }, 500],
  [{ 'retry-after': '7', 'retry-after-ms': '6543' }, 6_543],
  [{ 'retry-after': new Date(5_000).toUTCString() }, 4_000],
  [{ 'retry-after': 'soon' }, null],
  [{ 'retry-after': '-1' }, null],
  [{ 'retry-after': '0' }, 0],
  [{ 'retry-after': 'Infinity' }, null],
  [{ 'retry-after-ms': 'Infinity' }, null],
  [{ 'retry-after-ms': '-1', 'retry-after': '2' }, 2_000],
  [{ 'retry-after': '3600' }, 3_600_000],
  [{ 'retry-after': '3601' }, 3_600_000],
  [{ 'retry-after-ms': '0.2' }, 1],
  [{}, null],
  [{ 'x-ratelimit-remaining-requests': '0', 'x-ratelimit-reset-requests': '1m2.5s' }, 62_500],
  [{ 'x-ratelimit-remaining-tokens': '0', 'x-ratelimit-reset-tokens': '20ms' }, 20],
  [{ 'x-ratelimit-remaining-tokens': '0', 'x-ratelimit-reset-tokens': '2' }, 2_000],
  [{ 'x-ratelimit-remaining-tokens': '0', 'x-ratelimit-reset-tokens': '1h' }, 3_600_000],
  [
    {
      'x-ratelimit-remaining-tokens': '0',
      'x-ratelimit-reset-tokens': '20ms',
      'x-ratelimit-remaining-requests': '0',
      'x-ratelimit-reset-requests': '3s',
    },
    3_000,
  ],
  [{ 'x-ratelimit-remaining-tokens': '10', 'x-ratelimit-reset-tokens': '20ms' }, null],
  [{ 'x-ratelimit-remaining-requests': '0', 'x-ratelimit-reset-requests': 'later' }, null],
])('reads %j as a delay of %s ms', (headers, ms) => {
  expect(retryAfterMs(headers as Record<string, string>, 1_000)).toBe(ms);
});
