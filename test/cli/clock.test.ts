import { expect, test } from '@jest/globals';

import { clockCheck } from '../../cli/doctor/clock.js';
import { everyRow } from '../support/everyRow.js';

const ASKED = 1_000_000;
const ANSWERED = 1_002_000;

/** MongoDB's time, and the expected result. */
const ROWS: [mongodb: number, state: string, seconds: number][] = [
  [ASKED, 'ok', 0],
  [ASKED + 1_000, 'ok', 0],
  [ANSWERED, 'ok', 0],
  [ASKED - 5_000, 'ok', 5],
  [ANSWERED + 5_000, 'ok', 5],
  [ASKED - 5_001, 'bad', 5],
  [ANSWERED + 5_001, 'bad', 5],
  [ASKED - 60_000, 'bad', 60],
  [ANSWERED + 60_000, 'bad', 60],
];

test('reports a clock that is more than 5 s ahead of or behind that of MongoDB', () =>
  everyRow(
    ROWS,
    ([mongodb]) => String(mongodb),
    ([mongodb, state, seconds]) =>
      expect(clockCheck(new Date(mongodb), ASKED, ANSWERED)).toMatchObject({
        state,
        found: `differs from MongoDB's by ${seconds} s`,
      }),
  ));
