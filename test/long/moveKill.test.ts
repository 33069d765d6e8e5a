import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';

import { MOVE_SETTINGS, type MovedFiles, randomDelay, uploadMovedFiles } from '../support/moveTrial.js';
import { type OwnService, startOwnService, KILL_TARGETS } from '../support/ownService.js';
import { seededRandom } from '../support/seed.js';

const FILES = 40;
const KILLS = Number(process.env['TEST_KILLS'] ?? 10);

describe.each(KILL_TARGETS)('moves between hot and cold storage with %s killed at random moments', (target) => {
  const chance = seededRandom(`kills of ${target} during moves`);
  let service: OwnService;
  let files: MovedFiles;

  beforeAll(async () => {
    service = await startOwnService(MOVE_SETTINGS);
    files = await uploadMovedFiles(service, 'moved', FILES);
  }, 300_000);
  afterAll(async () => {
    await service.close();
  });

  test(
    `leave records, points and stored files as uninterrupted moves do, ${KILLS} times in both directions`,
    async () => {
      let hits = 0;
      for (let number = 0; number < KILLS; number += 1)
        for (const direction of ['cold', 'hot'] as const) {
          const begun = Date.now();
          const delayMs = randomDelay(chance);
          const hit = await files.move(direction, { target, delayMs });
          hits += hit ? 1 : 0;
          process.stdout.write(
            `${target} ${direction} after ${delayMs} ms: ${hit ? 'hit' : 'missed'}, ${Date.now() - begun} ms\n`,
          );
        }
      // Kills after the end of the move do not count.
      expect(hits).toBeGreaterThanOrEqual(KILLS);
    },
    KILLS * 300_000,
  );
});
