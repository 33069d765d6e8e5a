import { expect, test } from '@jest/globals';

import { createPace } from '../../../providers/embeddings/remote/pace.js';
import { retryAfterMs } from '../../../egress/retryAfter.js';
import { everyRow } from '../../support/everyRow.js';

const BOUNDS = { minConcurrency: 1, maxConcurrency: 8 };

/** Returns a pace with a clock that only the test advances. */
function paced(bounds = BOUNDS) {
  const clock = { now: 1_000 };
  return {
    clock,
    pace: createPace(
      bounds,
      () => clock.now,
      () => 1,
    ),
  };
}

test('raises the limit by one after as many answers as the limit, up to the maximum', () => {
  const { pace } = paced();
  const limits = [pace.limit];
  for (let answers = 0; answers < 40; answers++) {
    pace.succeeded(pace.begin());
    if (pace.limit !== limits.at(-1)) limits.push(pace.limit);
  }
  expect(limits).toEqual([4, 5, 6, 7, 8]);
});

test('halves the limit at a rejection, once for concurrent requests, down to the minimum', () => {
  const { pace, clock } = paced();
  const together = [pace.begin(), pace.begin(), pace.begin()];
  for (const ticket of together) pace.refused(ticket, 100);
  expect(pace.limit).toBe(2);
  clock.now += 100;
  pace.refused(pace.begin(), 100);
  expect(pace.limit).toBe(1);
  clock.now += 100;
  pace.refused(pace.begin(), 100);
  expect(pace.limit).toBe(1);
});

test('does not raise the limit for answers to requests that were sent before a rejection was known', () => {
  const { pace, clock } = paced();
  const early = Array.from({ length: 4 }, () => pace.begin());
  pace.refused(early[0]!, 100);
  clock.now += 100;
  for (const ticket of early.slice(1)) pace.succeeded(ticket);
  expect(pace.limit).toBe(2);
  pace.succeeded(pace.begin());
  expect(pace.limit).toBe(2);
  pace.succeeded(pace.begin());
  expect(pace.limit).toBe(3);
});

test('stays closed for the delay that the provider names', () => {
  const { pace, clock } = paced();
  expect(pace.refused(pace.begin(), 2_000)).toBe(2_000);
  expect(pace.isOpen()).toBe(false);
  clock.now += 1_999;
  expect(pace.isOpen()).toBe(false);
  clock.now += 1;
  expect(pace.isOpen()).toBe(true);
});

/** Two rejections of concurrent requests, each with the delay that it names, and the resulting delay. */
const OVERLAPPING: [first: number | null, second: number | null, rest: number][] = [
  [60_000, null, 60_000],
  [null, 60_000, 60_000],
  [60_000, 100, 60_000],
  [100, 60_000, 60_000],
  [100, null, 500],
  [null, null, 500],
];

test('applies the longer delay of two rejections in any order', () =>
  everyRow(OVERLAPPING, JSON.stringify, ([first, second, rest]) => {
    const { pace, clock } = paced();
    const tickets = [pace.begin(), pace.begin()];
    pace.refused(tickets[0]!, first);
    expect(pace.refused(tickets[1]!, second)).toBe(rest);
    expect(pace.restsUntil).toBe(clock.now + rest);
  }));

test('releases the slot of a request that ends without an answer or a rejection, without changing the limit', () => {
  const { pace } = paced({ minConcurrency: 1, maxConcurrency: 1 });
  pace.begin();
  pace.ended();
  expect([pace.isOpen(), pace.limit, pace.restsUntil]).toEqual([true, 1, 0]);
});

test('doubles unnamed delays, and resets them after an answer', () => {
  const { pace, clock } = paced();
  const rest = (): number => {
    const ms = pace.refused(pace.begin(), null);
    clock.now += ms;
    return ms;
  };
  expect([rest(), rest(), rest()]).toEqual([500, 1_000, 2_000]);
  pace.succeeded(pace.begin());
  expect(rest()).toBe(500);
});

test('allows no more concurrent requests than the limit', () => {
  const { pace } = paced({ minConcurrency: 2, maxConcurrency: 2 });
  const ticket = pace.begin();
  expect(pace.isOpen()).toBe(true);
  pace.begin();
  expect(pace.isOpen()).toBe(false);
  pace.succeeded(ticket);
  expect(pace.isOpen()).toBe(true);
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
