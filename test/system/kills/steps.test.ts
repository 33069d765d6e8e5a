import { expect, test } from '@jest/globals';

import { isThorough } from '../../support/thorough.js';
import { called, isFirstScenarioWith, testWorkflows, type TrialFault } from '../../support/workflows/trials.js';
import { SCENARIOS } from '../../support/workflows/scenarios.js';

/** A failure after a step's work and a cancel before it are the harder cases; test:long has all four. */
const SHORT: readonly TrialFault[] = [
  { does: 'fail', when: 'after' },
  { does: 'cancel', when: 'before' },
];
const ALL: readonly TrialFault[] = [...SHORT, { does: 'fail', when: 'before' }, { does: 'cancel', when: 'after' }];

/** Each step is tested in the first scenario that includes it; test:long tests it in all of them. */
testWorkflows((name, step) => {
  if (isThorough()) return ALL;
  return isFirstScenarioWith(step, name) ? SHORT : [];
});

test('the table has every step that a workflow calls', () => {
  const listedSteps = Object.values(SCENARIOS).flatMap(({ workflow, steps, testedElsewhere: alike = [] }) =>
    [...steps, ...alike].map((step) => `${workflow}: ${step}`),
  );
  expect([...called].toSorted()).toEqual([...new Set(listedSteps)].toSorted());
});
