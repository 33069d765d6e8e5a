import { afterAll, beforeAll, expect, test } from '@jest/globals';

import type { AtRest } from '../support/atRest.js';
import {
  CONTENT_ROW_BYTES,
  expectUndisturbed,
  type KillSite,
  playRound,
  type Round,
  someMoment,
  startKillSite,
} from '../support/killRound.js';
import { type OwnService, startOwnService, type Victim } from '../support/ownService.js';
import { seededChance } from '../support/seed.js';

/** The short form of test/long/kill.test.ts. */
const PAGES = 32;
const chance = seededChance('kills');
let site: KillSite;
let service: OwnService;
let calm: AtRest;

beforeAll(async () => {
  site = await startKillSite(PAGES, 2);
  service = await startOwnService({ ALLOWED_PRIVATE_HOSTS: '127.0.0.1', CONTENT_ROW_BYTES });
  ({ rest: calm } = await playRound({ service, site, customerId: 'calm', kills: [] }));
}, 120_000);
afterAll(async () => {
  await service.close();
  await site.close();
});

// No page can be under way at more than two deaths of one ingest, so none is asked for more than three times.
const GROUPS: readonly (readonly Victim[])[] = [
  ['worker', 'qdrant'],
  ['temporal', 'mongodb', 'api'],
];
test.each(GROUPS.map((victims) => [victims.join(' and of '), victims] as const))(
  'after kill -9 of %s during an ingest, all is as if nothing had been',
  async (_title, victims) => {
    const kills = chance
      .shuffle(victims)
      .map((victim, index) => someMoment(chance, victim, (PAGES / 4) * index, (PAGES / 4) * (index + 1)));
    const round: Round = { service, site, customerId: victims.join(), kills };
    const { rest, hits } = await playRound(round);
    expect(hits).toBe(victims.length);
    expect(calm.amiss()).toEqual([]);
    expect(calm.content('calm').points.length).toBeGreaterThan(PAGES);
    expectUndisturbed(round, rest, calm, 'calm');
  },
  150_000,
);
