import type { ApplicationFailure } from '@temporalio/activity';
import { expect, test } from '@jest/globals';

import { toFailure } from '../../activities/failures.js';
import { Fault } from '../../contract/failures.js';

test.each([
  ['at once', 0, 1_000],
  ['in a moment', 20, 1_000],
  ['in a minute', 60_000, 60_000],
])('a source that asks to be asked again %s is not asked before a second is over', (_when, retryAfterMs, delay) => {
  const failure = toFailure(new Fault('rate_limited', 'Not now.', { retryAfterMs }));
  expect(failure).toMatchObject({ nonRetryable: false, nextRetryDelay: delay });
});

test('what says nothing of when leaves that to the retry policy, and what is final is not tried again', () => {
  const said = toFailure(new Fault('server_error', 'It failed.')) as ApplicationFailure;
  expect(said.nextRetryDelay ?? null).toBeNull();
  expect(toFailure(new Fault('access_revoked', 'No more.'))).toMatchObject({ nonRetryable: true });
});
