import { expect, test } from '@jest/globals';

import { checkSyncCount, nextSyncCount, startSyncCount } from '../../connectors/fullResync.js';
import type { Fault } from '../../contract/failures.js';

const DAY_MS = 86_400_000;

/** Returns the kind of the fault; null if no complete listing is due. */
function dueAfter(passes: number, ageMs: number): string | null {
  try {
    checkSyncCount({ passes, begun: Date.now() - ageMs }, 'Dropbox');
    return null;
  } catch (error) {
    return (error as Fault).kind;
  }
}

test('a complete listing is due 50 syncs, or more than 14 days, after the last complete listing', () => {
  expect([dueAfter(49, 0), dueAfter(50, 0)]).toEqual([null, 'stale_cursor']);
  expect([dueAfter(0, 14 * DAY_MS - 60_000), dueAfter(0, 14 * DAY_MS + 1)]).toEqual([null, 'stale_cursor']);
});

test('counts the syncs since a complete listing, and keeps the time of that listing', () => {
  const { passes, begun } = startSyncCount();
  expect(passes).toBe(0);
  expect(Date.now() - begun).toBeLessThan(60_000);
  expect(nextSyncCount(nextSyncCount({ passes, begun }))).toEqual({ passes: 2, begun });
});
