import { expect, test } from '@jest/globals';

import { isThorough } from '../../support/thorough.js';
import { called, isFirstWayWith, testWorkflows, type Trouble } from '../../support/workflows/trials.js';
import { WAYS } from '../../support/workflows/ways.js';

/** A failure after a step's work and a cancel before it are the harder cases; test:long has all four. */
const SHORT: readonly Trouble[] = [
  { does: 'fail', when: 'after' },
  { does: 'cancel', when: 'before' },
];
const ALL: readonly Trouble[] = [...SHORT, { does: 'fail', when: 'before' }, { does: 'cancel', when: 'after' }];

/** A step that an earlier scenario of the table has too is tested with the failure alone. */
testWorkflows((name, step) => {
  if (isThorough()) return ALL;
  return isFirstWayWith(step, name) ? SHORT : SHORT.slice(0, 1);
});

test('the table has every step that a workflow calls', () => {
  const known = Object.values(WAYS).flatMap(({ workflow, steps, alike = [] }) =>
    [...steps, ...alike].map((step) => `${workflow}: ${step}`),
  );
  expect([...called].toSorted()).toEqual([...new Set(known)].toSorted());
});
