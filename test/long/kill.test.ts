import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';

import { type AtRest } from '../support/atRest.js';
import {
  CONTENT_ROW_BYTES,
  expectUndisturbed,
  type KillSite,
  playRound,
  someMoment,
  startKillSite,
} from '../support/killRound.js';
import { type OwnService, startOwnService, VICTIMS } from '../support/ownService.js';
import { seededChance } from '../support/seed.js';

const PAGES = 40;
const KILLS = Number(process.env['TEST_KILLS'] ?? 10);
/** A kill that came when all was over is not counted; so many more are tried at most. */
const MISSES = 5;

describe.each(VICTIMS)('%s killed at random moments of ingests', (victim) => {
  const chance = seededChance(`kills of ${victim}`);
  let site: KillSite;
  let service: OwnService;
  let calm: AtRest;

  beforeAll(async () => {
    // Several scrapes at once, so that a killed API leaves some requests unanswered.
    site = await startKillSite(PAGES, 4);
    service = await startOwnService({ ALLOWED_PRIVATE_HOSTS: '127.0.0.1', CONTENT_ROW_BYTES });
    ({ rest: calm } = await playRound({ service, site, customerId: 'calm', kills: [] }));
    expect(calm.content('calm').points.length).toBeGreaterThan(PAGES);
    expect(calm.findInconsistencies()).toEqual([]);
  }, 180_000);
  afterAll(async () => {
    await service.close();
    await site.close();
  });

  test(
    `the same chunks and points as undisturbed, ${KILLS} times`,
    async () => {
      let hits = 0;
      for (let number = 0; hits < KILLS && number < KILLS + MISSES; number += 1) {
        const kill = someMoment(chance, victim, 0, PAGES);
        const round = { service, site, customerId: `killed-${number}`, kills: [kill] };
        const played = await playRound(round);
        expectUndisturbed(round, played.rest, calm, 'calm');
        hits += played.hits;
        process.stdout.write(`${JSON.stringify(kill)}: ${played.hits} hit, ${played.tookMs} ms\n`);
      }
      expect(hits).toBe(KILLS);
    },
    KILLS * 90_000,
  );
});
