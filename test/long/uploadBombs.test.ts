import { readdir, stat } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';

import { loadConfig } from '../../config/config.js';
import type { FileRecord } from '../../contract/files/records.js';
import { readStoredState } from '../support/storedState.js';
import {
  type Bomb,
  type BombTrial,
  bombsOf,
  type BombService,
  sparseDocument,
  startBombService,
} from '../support/bombTrial.js';

const MB = 1_000_000;
const LINE_BYTES = 205 * MB;
const SPARSE_BYTES = 2_000 * MB;
/**
 * Bombs with sizes above default limits such as MAX_UPLOAD_BYTES. test/system/contents/bombs.test.ts tests the readers
 * alone, with smaller bombs.
 */
const BOMBS = bombsOf({ unpackedBytes: 1_900 * MB, sentBytes: SPARSE_BYTES, lineBytes: LINE_BYTES });
const GOOD = 50;
const TIME_LIMIT_MS = 600_000;
const TRIAL_MS = 1_200_000;

interface Trial {
  readonly what: string;
  readonly settings: Record<string, string>;
  readonly bombs: readonly Bomb[];
  /** Size in bytes of the largest accepted file. */
  readonly maxStoredBytes: number;
}

const TRIALS: readonly Trial[] = [
  { what: 'every bomb, default settings', settings: {}, bombs: BOMBS, maxStoredBytes: LINE_BYTES },
  {
    what: 'two gigabytes if MAX_UPLOAD_BYTES allows them',
    settings: { MAX_UPLOAD_BYTES: String(SPARSE_BYTES) },
    bombs: [sparseDocument(SPARSE_BYTES)],
    maxStoredBytes: SPARSE_BYTES,
  },
];

describe.each(TRIALS)('$what', ({ what, settings, bombs, maxStoredBytes }) => {
  let service: BombService;
  let trial: BombTrial;

  beforeAll(async () => {
    service = await startBombService(settings);
    trial = await service.run(bombs, GOOD, TIME_LIMIT_MS);
  }, TRIAL_MS);
  afterAll(() => service.close());

  test.each(bombs.map((bomb) => [bomb.what, bomb.status, bomb.message] as const))(
    '%s ends with the status %s and the reason',
    (bomb, status, message) => {
      const result = trial.bombs.find((one) => one.what === bomb);
      expect(result).toEqual({ what: bomb, status, message: expect.stringMatching(message) });
    },
  );

  test('ends a feed that is an XML bomb (billion laughs) with an error', () => {
    expect(trial.feed).toMatchObject({ status: 'SYNC_ERROR', message: expect.stringMatching(/\w \w.*\.$/) });
  });

  test(`reads all ${GOOD} good files uploaded with the bombs`, () => {
    expect(trial.good).toHaveLength(GOOD);
    for (const { words, ...file } of trial.good)
      expect(file).toMatchObject({ status: 'READY', message: expect.stringContaining(words) });
  });

  test('keeps API, worker and readers within their memory limits', () => {
    const { before, peak: most, tookMs } = trial;
    const figures = [
      ['API', most.api, before.api],
      ['worker', most.worker, before.worker],
      ['reader', most.reader, 0],
    ] as const;
    // To stderr, like Jest's own lines.
    process.stderr.write(
      `${what}: ${(tookMs / 1000).toFixed(0)} s; most memory in MB: ${figures.map(([who, bytes, first]) => `${who} ${Math.round(bytes / MB)} (before ${Math.round(first / MB)})`).join(', ')}\n`,
    );
    // Gigabytes are sent, so each process may hold only parts in transit.
    expect(most.api - before.api).toBeLessThan(150 * MB);
    expect(most.worker - before.worker).toBeLessThan(200 * MB);
    expect(most.reader).toBeGreaterThan(50 * MB);
    // The worker checks the memory of a reader every 50 ms. Between two checks it may grow by some hundred megabytes.
    const { memoryMb } = loadConfig(service.service.env).documents.files;
    expect(most.reader).toBeLessThan((memoryMb + 400) * 1024 * 1024);
  });

  test('stores no refused file, stores all others completely, and leaves the stores consistent', async () => {
    const refused = new Set(bombs.filter(({ status }) => typeof status === 'number').map(({ name }) => name));
    const { body } = await service.user.post<{ results: FileRecord[] }>('/user_files_v2', {
      pagination: { limit: 250 },
    });
    const fileNames = body.results.map(({ name }) => name ?? '');
    for (const { name } of bombs) expect([name, fileNames.includes(name)]).toEqual([name, !refused.has(name)]);
    const folder = path.join(service.service.env['DATA_DIR'] ?? '', 'files', '1', 'originals');
    const sizes = await Promise.all(
      (await readdir(folder)).map(async (name) => (await stat(path.join(folder, name))).size),
    );
    expect(Math.max(...sizes)).toBe(maxStoredBytes);
    expect((await readStoredState(service.service.env)).findInconsistencies()).toEqual([]);
  });
});
