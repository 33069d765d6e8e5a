import { readdir, stat } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';

import { loadConfig } from '../../config.js';
import type { FileRecord } from '../../contract/records.js';
import { readAtRest } from '../support/atRest.js';
import { type BombRound, bombsOf, type BombService, startBombService } from '../support/bombRound.js';

const MB = 1_000_000;
const LINE_BYTES = 205 * MB;
/** Large enough to reach every setting as it is by default. test/documents/bombs.test.ts has the readers alone, in each run. */
const BOMBS = bombsOf({ unpackedBytes: 1_900 * MB, sentBytes: 2_000 * MB, lineBytes: LINE_BYTES });
const GOOD = 50;
const PATIENCE_MS = 600_000;

let service: BombService;
let round: BombRound;

beforeAll(async () => {
  service = await startBombService({});
  round = await service.play(BOMBS, GOOD, PATIENCE_MS);
}, 1_200_000);
afterAll(() => service.close());

test.each(BOMBS.map(({ what, status, says }) => [what, status, says] as const))(
  '%s ends as %s, in words that say why',
  (what, status, says) => {
    expect(round.bombs.find((bomb) => bomb.what === what)).toEqual({ what, status, says: expect.stringMatching(says) });
  },
);

test('a billion laughs of a feed end it in a sentence', () => {
  expect(round.feed).toMatchObject({ status: 'SYNC_ERROR', says: expect.stringMatching(/\w \w.*\.$/) });
});

test(`all ${GOOD} good files beside them are read`, () => {
  expect(round.good).toHaveLength(GOOD);
  for (const { words, ...file } of round.good)
    expect(file).toMatchObject({ status: 'READY', says: expect.stringContaining(words) });
});

test('the memory of API, worker and readers stays within what the settings promise', () => {
  const { before, most, tookMs } = round;
  const figures = [
    ['API', most.api, before.api],
    ['worker', most.worker, before.worker],
    ['reader', most.reader, 0],
  ] as const;
  // To where Jest's own lines go: the other way is closed by scripts/test.ts.
  process.stderr.write(
    `bombs: ${(tookMs / 1000).toFixed(0)} s; most memory in MB: ${figures.map(([who, bytes, first]) => `${who} ${Math.round(bytes / MB)} (before ${Math.round(first / MB)})`).join(', ')}\n`,
  );
  // What is sent is gigabytes: neither holds more of it than parts under way.
  expect(most.api - before.api).toBeLessThan(150 * MB);
  expect(most.worker - before.worker).toBeLessThan(200 * MB);
  expect(most.reader).toBeGreaterThan(50 * MB);
  // A reader is looked at every 50 ms; in that time it may fill a few hundred megabytes more.
  const { memoryMb } = loadConfig(service.service.env).documents.files;
  expect(most.reader).toBeLessThan((memoryMb + 400) * 1024 * 1024);
});

test('nothing is kept of what was refused, and nothing is left over', async () => {
  const folder = path.join(service.service.env['DATA_DIR'] ?? '', 'files', '1', 'originals');
  const names = await readdir(folder);
  const sizes = await Promise.all(names.map(async (name) => (await stat(path.join(folder, name))).size));
  // The line of a table is the longest that was taken.
  expect(Math.max(...sizes)).toBe(LINE_BYTES);
  const { body } = await service.user.post<{ results: FileRecord[] }>('/user_files_v2', { pagination: { limit: 250 } });
  const known = body.results.map(({ name }) => name);
  expect(known).toContain('line.csv');
  expect(known).not.toContain('sparse.pcm');
  expect(known).not.toContain('nested.zip');
  expect((await readAtRest(service.service.env)).amiss()).toEqual([]);
});
