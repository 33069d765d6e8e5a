import { readdir, stat } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';

import type { FileRecord } from '../../contract/records.js';
import { readAtRest } from '../support/atRest.js';
import { type BombRound, bombsOf, type BombService, startBombService } from '../support/bombRound.js';

const MB = 1_000_000;
/** The form of test/long/uploadBombs.test.ts with lower limits, so that they are met sooner. */
const MEMORY_MB = 400;
const SETTINGS = {
  PARSE_FILE_MEMORY_MB: String(MEMORY_MB),
  PARSE_FILE_TIMEOUT_MS: '40000',
  MAX_UPLOAD_BYTES: String(250 * MB),
};
const LINE_BYTES = 195 * MB;
const BOMBS = bombsOf({ unpackedBytes: 600 * MB, sentBytes: 2000 * MB, lineBytes: LINE_BYTES });
const GOOD = 50;
const PATIENCE_MS = 150_000;

let service: BombService;
let round: BombRound;

beforeAll(async () => {
  service = await startBombService(SETTINGS);
  round = await service.play(BOMBS, GOOD, PATIENCE_MS);
});
afterAll(() => service.close());

describe('bombs uploaded beside good files', () => {
  test.each(BOMBS.map(({ what, status, says }) => [what, status, says] as const))(
    '%s ends as %s, in words that say why',
    (what, status, says) => {
      expect(round.bombs.find((bomb) => bomb.what === what)).toEqual({
        what,
        status,
        says: expect.stringMatching(says),
      });
    },
  );

  test('a billion laughs of a feed end it in a sentence', () => {
    expect(round.feed).toMatchObject({ status: 'SYNC_ERROR', says: expect.stringMatching(/\w \w.*\.$/) });
  });

  test(`all ${GOOD} good files are read`, () => {
    expect(round.good).toHaveLength(GOOD);
    for (const { words, ...file } of round.good)
      expect(file).toMatchObject({ status: 'READY', says: expect.stringContaining(words) });
  });

  test('the memory of API, worker and readers stays within what the settings promise', () => {
    const { before, most } = round;
    process.stdout.write(
      `bombs: ${(round.tookMs / 1000).toFixed(0)} s; most memory in MB: API ${Math.round(most.api / MB)} (before ${Math.round(before.api / MB)}), worker ${Math.round(most.worker / MB)} (before ${Math.round(before.worker / MB)}), reader ${Math.round(most.reader / MB)}\n`,
    );
    // What is sent is gigabytes: neither holds more of it than parts under way.
    expect(most.api - before.api).toBeLessThan(150 * MB);
    expect(most.worker - before.worker).toBeLessThan(200 * MB);
    expect(most.reader).toBeGreaterThan(50 * MB);
    // A reader is looked at every 50 ms; in that time it may fill a few hundred megabytes more.
    expect(most.reader).toBeLessThan((MEMORY_MB + 400) * 1024 * 1024);
  });

  test('nothing is kept of what was refused, and nothing is left over', async () => {
    const folder = path.join(service.service.env['DATA_DIR'] ?? '', 'files', '1', 'originals');
    const names = await readdir(folder);
    const sizes = await Promise.all(names.map(async (name) => (await stat(path.join(folder, name))).size));
    // The line of a table is the longest that was taken.
    expect(Math.max(...sizes)).toBe(LINE_BYTES);
    const { body } = await service.user.post<{ results: FileRecord[] }>('/user_files_v2', {
      pagination: { limit: 250 },
    });
    const known = body.results.map(({ name }) => name);
    expect(known).toContain('line.csv');
    expect(known).not.toContain('sparse.pcm');
    expect(known).not.toContain('nested.zip');
    expect((await readAtRest(service.service.env)).amiss()).toEqual([]);
  });
});
