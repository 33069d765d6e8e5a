import { afterAll, beforeAll, expect, test } from '@jest/globals';

import { type CommitRounds, COMMITS, startCommitRounds } from '../../support/commitRounds.js';
import type { Stop } from '../../support/faultProxy.js';
import { seededChance } from '../../support/seed.js';
import { isThorough } from '../../support/thorough.js';

/** The short form of test/long/commit.test.ts: a death after the flip, and in test:long one before it. */
const PLACES: Readonly<Record<string, Omit<Stop, 'nth'>>> = {
  'after the flip and before the older points are deleted': { step: 'cleanPoints', when: 'before' },
  ...(isThorough() && { 'after the event is written and before the flip': { step: 'flip', when: 'before' } }),
};
const chance = seededChance('kills inside commits');
let rounds: CommitRounds[];

beforeAll(async () => {
  // A service each, so that they wait for the lost heartbeats at the same time.
  rounds = await Promise.all(Object.keys(PLACES).map(() => startCommitRounds()));
});
afterAll(async () => {
  await Promise.all(rounds.map((one) => one.close()));
});

test(`a worker killed ${Object.keys(PLACES).join(', ')} leaves what an undisturbed one leaves`, async () => {
  const stops = Object.values(PLACES).map((place) => ({ ...place, nth: 1 + chance.below(COMMITS) }));
  const played = await Promise.allSettled(rounds.map((one, index) => one.play(stops[index]!)));
  expect(played.filter((one) => one.status === 'rejected').map((one) => one.reason as unknown)).toEqual([]);
});
