import { expect, test } from '@jest/globals';

import { isThorough } from '../../support/thorough.js';
import { called, isFirstWayWith, testWorkflows, type Trouble } from '../../support/workflows/trials.js';
import { WAYS } from '../../support/workflows/ways.js';

/** A failure before a step's work, and a cancel after it, ask less of the step than the other two: test:long has all four. */
const SHORT: readonly Trouble[] = [
  { does: 'fail', when: 'after' },
  { does: 'cancel', when: 'before' },
];
const ALL: readonly Trouble[] = [...SHORT, { does: 'fail', when: 'before' }, { does: 'cancel', when: 'after' }];

/** A step that an earlier way has as well meets the failure alone. */
testWorkflows((name, step) => {
  if (isThorough()) return ALL;
  return isFirstWayWith(step, name) ? SHORT : SHORT.slice(0, 1);
});

test('every step that a workflow calls is in the table', () => {
  const known = Object.values(WAYS).flatMap(({ workflow, steps, alike = [] }) =>
    [...steps, ...alike].map((step) => `${workflow}: ${step}`),
  );
  expect([...called].toSorted()).toEqual([...new Set(known)].toSorted());
});
