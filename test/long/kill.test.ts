import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';

import { type StoredState } from '../support/storedState.js';
import {
  CONTENT_ROW_BYTES,
  expectSameAsBaseline,
  type KillSite,
  runKillTrial,
  randomKill,
  startKillSite,
} from '../support/killTrial.js';
import { type OwnService, startOwnService, KILL_TARGETS } from '../support/ownService.js';
import { seededRandom } from '../support/seed.js';

const PAGES = 40;
const KILLS = Number(process.env['TEST_KILLS'] ?? 10);
/** Maximum number of repeated kills: a kill after the end of the work does not count and is repeated. */
const MAX_MISSES = 5;

describe.each(KILL_TARGETS)('ingests with %s killed at random moments', (target) => {
  const chance = seededRandom(`kills of ${target}`);
  let site: KillSite;
  let service: OwnService;
  let uninterrupted: StoredState;

  beforeAll(async () => {
    // Several concurrent scrapes, so that a killed API leaves some requests unanswered.
    site = await startKillSite(PAGES, 4);
    service = await startOwnService({ ALLOWED_PRIVATE_HOSTS: '127.0.0.1', CONTENT_ROW_BYTES });
    ({ storedState: uninterrupted } = await runKillTrial({ service, site, customerId: 'uninterrupted', kills: [] }));
    expect(uninterrupted.content('uninterrupted').points.length).toBeGreaterThan(PAGES);
    expect(uninterrupted.findInconsistencies()).toEqual([]);
  }, 180_000);
  afterAll(async () => {
    await service.close();
    await site.close();
  });

  test(
    `stores the same chunks and points as an uninterrupted ingest, ${KILLS} times`,
    async () => {
      let hits = 0;
      for (let number = 0; hits < KILLS && number < KILLS + MAX_MISSES; number += 1) {
        const kill = randomKill(chance, target, 0, PAGES);
        const trial = { service, site, customerId: `killed-${number}`, kills: [kill] };
        const result = await runKillTrial(trial);
        expectSameAsBaseline(trial, result.storedState, uninterrupted, 'uninterrupted');
        hits += result.hits;
        process.stdout.write(`${JSON.stringify(kill)}: ${result.hits} hit, ${result.tookMs} ms\n`);
      }
      expect(hits).toBe(KILLS);
    },
    KILLS * 90_000,
  );
});
