import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';

import { KILL_TARGETS } from '../support/ownService.js';
import { type ReembedTrials, randomKill, startReembedTrials } from '../support/reembedTrial.js';
import { seededRandom } from '../support/seed.js';

/** More files than fit into two batches. */
const FILES = 110;
const KILLS = Number(process.env['TEST_KILLS'] ?? 10);
/** Maximum number of kills, including those after the end of the work, which do not count. */
const MAX_KILLS = 2 * KILLS + 5;

describe('re-embedding', () => {
  let trials: ReembedTrials;

  beforeAll(async () => {
    trials = await startReembedTrials(FILES);
  }, 300_000);
  afterAll(() => trials.close());

  test.each(KILL_TARGETS)(
    `with the %s killed at random moments stores what an uninterrupted run stores, ${KILLS} times`,
    async (target) => {
      const chance = seededRandom(`kills of the ${target} during re-embedding`);
      let hits = 0;
      for (let number = 0; hits < KILLS && number < MAX_KILLS; number += 1)
        hits += await trials.runTrial([randomKill(chance, target, trials.uninterruptedMs())]);
      expect(hits).toBe(KILLS);
    },
    MAX_KILLS * 120_000,
  );
});
