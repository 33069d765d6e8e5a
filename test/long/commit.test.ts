import { afterAll, beforeAll, expect, test } from '@jest/globals';

import { type CommitTrials, COMMITS, startCommitTrials } from '../support/commitTrials.js';
import { COMMIT_STEPS, type Stop } from '../support/faultProxy.js';
import { seededRandom } from '../support/seed.js';

const POINTS = Number(process.env['TEST_KILLS'] ?? 20);
const chance = seededRandom('kills inside commits');
const PLACES = COMMIT_STEPS.flatMap((step) => (['before', 'after'] as const).map((when) => ({ step, when })));
let trials: CommitTrials;

beforeAll(async () => {
  trials = await startCommitTrials();
}, 120_000);
afterAll(() => trials.close());

/** Where the worker is killed: first each place once, in random order; then random places. */
const stops: Stop[] = [...chance.shuffle(PLACES), ...Array.from({ length: POINTS }, () => chance.pick(PLACES))]
  .slice(0, POINTS)
  .map((place) => ({ ...place, nth: 1 + chance.below(COMMITS) }));

test.each(stops.map((stop) => [`${stop.when} ${stop.step} of commit ${stop.nth}`, stop] as const))(
  'a re-sync whose worker is killed %s stores what an uninterrupted re-sync stores',
  async (_title, stop) => {
    await trials.run(stop);
    expect.hasAssertions();
  },
  150_000,
);
