import { expect, test } from '@jest/globals';

import { createConcurrencyLimiter } from '../../api/http/limits/concurrency.js';

test('refuses a caller above the limit with 429 and Retry-After, and admits others', () => {
  const limiter = createConcurrencyLimiter(2, 'searches');
  const leave = limiter.enter('a');
  limiter.enter('a');
  expect(() => limiter.enter('a')).toThrow(expect.objectContaining({ status: 429, retryAfterSeconds: 1 }));
  limiter.enter('b');
  leave();
  limiter.enter('a');
  expect(() => limiter.enter('a')).toThrow(expect.objectContaining({ status: 429 }));
});

test('does not limit calls when set to 0', () => {
  const limiter = createConcurrencyLimiter(0, 'searches');
  for (let call = 0; call < 100; call += 1) limiter.enter('a');
});
