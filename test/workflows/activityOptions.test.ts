import type { ActivityOptions } from '@temporalio/workflow';
import { expect, test } from '@jest/globals';

import * as exported from '../../workflows/activityOptions.js';
import { everyRow } from '../support/everyRow.js';

const { UNTIL_STORES_ANSWER, ...options } = exported;

test('every activity has a maximum number of attempts, or the retry policy UNTIL_STORES_ANSWER', () =>
  everyRow(
    Object.entries<ActivityOptions>(options),
    ([name]) => name,
    ([, { retry }]) => expect(retry === UNTIL_STORES_ANSWER || (retry?.maximumAttempts ?? 0) > 0).toBe(true),
  ));
