import { expect, test } from '@jest/globals';

import { type Check, exitCodeOf } from '../../cli/doctor/check.js';
import { clockCheck } from '../../cli/doctor/clock.js';
import { everyRow } from '../support/everyRow.js';

const REQUESTED_AT = 1_000_000;
const ANSWERED_AT = 1_002_000;

/** MongoDB's time in milliseconds, and the expected result. */
const ROWS: [mongodb: number, state: string, seconds: number][] = [
  [REQUESTED_AT, 'ok', 0],
  [REQUESTED_AT + 1_000, 'ok', 0],
  [ANSWERED_AT, 'ok', 0],
  [REQUESTED_AT - 5_000, 'ok', 5],
  [ANSWERED_AT + 5_000, 'ok', 5],
  [REQUESTED_AT - 5_001, 'bad', 5],
  [ANSWERED_AT + 5_001, 'bad', 5],
  [REQUESTED_AT - 60_000, 'bad', 60],
  [ANSWERED_AT + 60_000, 'bad', 60],
];

test('reports a clock that is more than 5 s ahead of or behind that of MongoDB', () =>
  everyRow(
    ROWS,
    ([mongodb]) => String(mongodb),
    ([mongodb, state, seconds]) =>
      expect(clockCheck(new Date(mongodb), REQUESTED_AT, ANSWERED_AT)).toMatchObject({
        state,
        found: `differs from MongoDB's by ${seconds} s`,
      }),
  ));

test('exits with 1 only if a check is bad', () => {
  const codeOf = (...states: Check['state'][]): number => exitCodeOf(states.map((state) => ({ state })));
  expect([codeOf('ok'), codeOf('ok', 'warn', 'skipped'), codeOf('ok', 'bad', 'warn')]).toEqual([0, 0, 1]);
});
