import { expect, test } from '@jest/globals';

import { called, testWorkflows, type TrialFault } from '../support/workflows/trials.js';
import { SCENARIOS } from '../support/workflows/scenarios.js';

const FAULTS: readonly TrialFault[] = [
  { does: 'fail', when: 'after' },
  { does: 'cancel', when: 'before' },
  { does: 'fail', when: 'before' },
  { does: 'cancel', when: 'after' },
];

/** A fault at every step of every scenario. test/system/outages/everyWorkflow.test.ts injects some of them. */
testWorkflows(() => FAULTS);

test('SCENARIOS lists exactly the steps that the workflows call', () => {
  const listedSteps = Object.values(SCENARIOS).flatMap(({ workflow, steps, testedElsewhere: alike = [] }) =>
    [...steps, ...alike].map((step) => `${workflow}: ${step}`),
  );
  expect([...called].toSorted()).toEqual([...new Set(listedSteps)].toSorted());
});
