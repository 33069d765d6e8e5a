/** Tests of the check of free disk space before a start. test/system/engines/fullDisk.test.ts tests full disks. */
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';

import type { EngineName } from '../../engines/engine.js';
import { checkSpace } from '../../engines/startSpace.js';
import { everyRow } from '../support/everyRow.js';

const ENGINES: readonly EngineName[] = ['mongodb', 'qdrant', 'temporal'];
/** A file system in memory, which is separate from the disk on Linux. */
const MEMORY = '/dev/shm';
const SUBSETS = Array.from({ length: 2 ** ENGINES.length }, (_, bits) =>
  ENGINES.filter((_engine, at) => bits & (1 << at)),
);
const needing = (engines: readonly EngineName[]) => ({
  mongodb: engines.includes('mongodb'),
  qdrant: engines.includes('qdrant'),
  temporal: engines.includes('temporal'),
});

let dataDir: string;
let otherDisk: string | null;
beforeEach(async () => {
  dataDir = await mkdtemp(path.join(tmpdir(), 'allotrope-space-'));
  const isOther = existsSync(MEMORY) && (await stat(MEMORY)).dev !== (await stat(dataDir)).dev;
  otherDisk = isOther ? await mkdtemp(path.join(MEMORY, 'allotrope-space-')) : null;
});
afterEach(async () => {
  await rm(dataDir, { recursive: true });
  if (otherDisk) await rm(otherDisk, { recursive: true });
});

/** Returns the megabytes that the engines need on a full disk, according to the error; 0 if there is no error. */
async function neededOn(disk: 'DATA_DIR' | 'other', engines: readonly EngineName[]): Promise<number> {
  const isHere = async (folder: string): Promise<boolean> => (await stat(folder)).dev === (await stat(dataDir)).dev;
  const spaceOf = async (folder: string) => ({
    bavail: (await isHere(folder)) === (disk === 'DATA_DIR') ? 0 : Number.MAX_SAFE_INTEGER,
    bsize: 1,
  });
  const refusal = await checkSpace(dataDir, needing(engines), spaceOf).then(
    () => '',
    (error: Error) => error.message,
  );
  return Number(/need (\d+) MB/.exec(refusal)?.[1] ?? 0);
}

/** Checks that the engines of each disk together need the sum of what each needs alone. */
async function expectSum(engines: readonly EngineName[], onOther: readonly EngineName[]): Promise<void> {
  const expected = { here: 0, other: 0 };
  for (const engine of engines) {
    const disk = onOther.includes(engine) ? 'other' : 'DATA_DIR';
    const alone = await neededOn(disk, [engine]);
    expect(alone).toBeGreaterThan(0);
    expected[disk === 'other' ? 'other' : 'here'] += alone;
  }
  expect({ here: await neededOn('DATA_DIR', engines), other: await neededOn('other', engines) }).toEqual(expected);
}

test('requires the sum of the space of all engines on a disk, at the first and at later starts', async () => {
  await everyRow(
    SUBSETS,
    (engines) => engines.join(),
    (engines) => expectSum(engines, []),
  );
  const first = await neededOn('DATA_DIR', ENGINES);
  await mkdir(path.join(dataDir, 'mongodb'));
  await writeFile(path.join(dataDir, 'mongodb', 'WiredTiger'), '');
  await everyRow(
    SUBSETS,
    (engines) => engines.join(),
    (engines) => expectSum(engines, []),
  );
  // With data, the journal of MongoDB exists already.
  expect(await neededOn('DATA_DIR', ENGINES)).toBeLessThan(first);
});

test('counts engines on another disk for that disk, and not for the disk of DATA_DIR', async () => {
  if (otherDisk === null) return console.warn(`${MEMORY} is not a separate file system here: nothing was tested`);
  for (const other of SUBSETS) {
    for (const engine of ENGINES) await rm(path.join(dataDir, engine), { force: true });
    for (const engine of other) await symlink(otherDisk, path.join(dataDir, engine));
    await everyRow(
      SUBSETS,
      (engines) => `${engines.join()} with ${other.join()} elsewhere`,
      (engines) => expectSum(engines, other),
    );
  }
});
