import { afterAll, beforeAll, expect, test } from '@jest/globals';

import { type CommitTrials, COMMITS, startCommitTrials } from '../../support/commitTrials.js';
import type { Stop } from '../../support/faultProxy.js';
import { seededRandom } from '../../support/seed.js';
import { isThorough } from '../../support/thorough.js';

/**
 * The short form of test/long/commit.test.ts: one kill after a generation is published and, in test:long, another one
 * before the publication.
 */
const PLACES: Readonly<Record<string, Omit<Stop, 'nth'>>> = {
  'after the new generation is published and before the older points are deleted': {
    step: 'cleanPoints',
    when: 'before',
  },
  ...(isThorough() && {
    'after the event is written and before the new generation is published': { step: 'publish', when: 'before' },
  }),
};
const chance = seededRandom('kills inside commits');
let trials: CommitTrials[];

beforeAll(async () => {
  // Each kill has a service of its own, so that the waits for lost heartbeats run in parallel.
  trials = await Promise.all(Object.keys(PLACES).map(() => startCommitTrials()));
});
afterAll(async () => {
  await Promise.all(trials.map((trial) => trial.close()));
});

test(`a re-sync whose worker is killed ${Object.keys(PLACES).join(', ')} stores what an uninterrupted re-sync stores`, async () => {
  const stops = Object.values(PLACES).map((place) => ({ ...place, nth: 1 + chance.below(COMMITS) }));
  const results = await Promise.allSettled(trials.map((trial, index) => trial.run(stops[index]!)));
  expect(results.filter((one) => one.status === 'rejected').map((one) => one.reason as unknown)).toEqual([]);
});
