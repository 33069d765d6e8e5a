import { afterAll, beforeAll, expect, test } from '@jest/globals';

import { loadConfig } from '../../config.js';
import { readAtRest } from '../support/atRest.js';
import { type BombRound, bombsOf, type BombService, startBombService } from '../support/bombRound.js';

const MB = 1_000_000;
/** test/acceptance/uploadBombs.test.ts under the settings as they are by default, with bombs that reach them. */
const BOMBS = bombsOf({ unpackedBytes: 1_900 * MB, sentBytes: 2_000 * MB, lineBytes: 205 * MB });
const GOOD = 50;
const PATIENCE_MS = 600_000;

let service: BombService;
let round: BombRound;

beforeAll(async () => {
  service = await startBombService({});
  round = await service.play(BOMBS, GOOD, PATIENCE_MS);
}, 1_200_000);
afterAll(() => service.close());

test('with every setting at its default each bomb ends in words, and all good files are read', () => {
  expect(round.bombs).toEqual(
    BOMBS.map(({ what, status, says }) => ({ what, status, says: expect.stringMatching(says) })),
  );
  expect(round.feed.status).toBe('SYNC_ERROR');
  expect(round.good.filter(({ status, says, words }) => status === 'READY' && says.includes(words))).toHaveLength(GOOD);
});

test('the memory of API, worker and readers stays within what the settings promise', async () => {
  const { before, most, tookMs } = round;
  process.stdout.write(`bombs, by default: ${(tookMs / 1000).toFixed(0)} s, ${JSON.stringify({ before, most })}\n`);
  expect(most.api - before.api).toBeLessThan(150 * MB);
  expect(most.worker - before.worker).toBeLessThan(200 * MB);
  const { memoryMb } = loadConfig(service.service.env).documents.files;
  expect(most.reader).toBeLessThan((memoryMb + 400) * 1024 * 1024);
  expect((await readAtRest(service.service.env)).amiss()).toEqual([]);
});
