import { expect, test } from '@jest/globals';

import * as workflows from '../../workflows/index.js';
import { testWorkflows } from '../support/workflows/trials.js';
import { TESTED_ELSEWHERE, WAYS } from '../support/workflows/ways.js';

/** Every workflow once undisturbed, and with its first step failing once; test/system/kills/steps.test.ts has every step. */
testWorkflows((name, step) => (WAYS[name]?.steps[0] === step ? [{ does: 'fail', when: 'after' }] : []));

test('every workflow is in the table', () => {
  const known = [...Object.values(WAYS).map(({ workflow }) => workflow), ...TESTED_ELSEWHERE];
  expect(new Set(known)).toEqual(new Set(Object.keys(workflows)));
});
