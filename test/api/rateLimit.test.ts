import { expect, test } from '@jest/globals';

import { HttpError } from '../../api/http/errors.js';
import { createRateLimiter, type RateLimits } from '../../api/http/limits/rateLimit.js';

const user = (userId: number, organizationId = 1) => ({ organizationId, userId, customerId: `c${userId}` });

function limiter(limits: RateLimits) {
  let now = 0;
  const admit = createRateLimiter(limits, () => now);
  /** Requests admission. Returns the seconds to wait; 0 if admitted. */
  const ask = (caller: Parameters<typeof admit>[0]): number => {
    try {
      admit(caller);
      return 0;
    } catch (error) {
      if (error instanceof HttpError && error.status === 429) return error.retryAfterSeconds ?? -1;
      throw error;
    }
  };
  return { ask, advance: (ms: number) => (now += ms) };
}
const times = (count: number, act: () => number): number[] => Array.from({ length: count }, act);

test('admits every call without limits', () => {
  const { ask } = limiter({ perUser: 0, perOrganization: 0 });
  expect(times(5_000, () => ask(user(1))).some((wait) => wait > 0)).toBe(false);
});

test('a user may use the budget of a minute in one burst, then as it refills; a refusal has the time to wait', () => {
  const { ask, advance } = limiter({ perUser: 6, perOrganization: 0 });
  expect(times(7, () => ask(user(1)))).toEqual([0, 0, 0, 0, 0, 0, 10]);
  advance(4_000);
  expect(ask(user(1))).toBe(6);
  advance(6_000);
  expect(times(2, () => ask(user(1)))).toEqual([0, 10]);
  advance(3_600_000);
  expect(times(7, () => ask(user(1)))).toEqual([0, 0, 0, 0, 0, 0, 10]);
});

test('counts calls per user, and all calls of users and of the API key per organization', () => {
  const { ask } = limiter({ perUser: 2, perOrganization: 4 });
  expect(times(3, () => ask(user(1)))).toEqual([0, 0, 30]);
  expect(ask(user(2))).toBe(0);
  expect(ask({ organizationId: 1 })).toBe(0);
  expect(ask({ organizationId: 1 })).toBe(15);
  expect(ask(user(3))).toBe(15);
  expect(ask(user(4, 2))).toBe(0);
});

test('a refused request uses no budget', () => {
  const { ask, advance } = limiter({ perUser: 1, perOrganization: 2 });
  expect(times(50, () => ask(user(1))).filter((wait) => wait === 0)).toHaveLength(1);
  expect(ask(user(2))).toBe(0);
  advance(60_000);
  expect(ask(user(1))).toBe(0);
});

test('does not count unauthenticated requests', () => {
  const { ask } = limiter({ perUser: 1, perOrganization: 1 });
  expect(times(5, () => ask(null))).toEqual([0, 0, 0, 0, 0]);
});
