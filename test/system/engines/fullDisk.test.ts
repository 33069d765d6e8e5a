/** What happens when the service starts on a full disk. The small disks are tmpfs mounts, so the tests need root. */
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';

import { startEngines } from '../../../engines/start.js';
import { checkSpace } from '../../../engines/startSpace.js';
import { explanationOf } from '../../../config/process/startFailure.js';
import { npmRun } from '../../support/npm.js';
import { allowsMounts, mountSmallDisk, resizeSmallDisk, unmountSmallDisk } from '../../support/smallDisk.js';
import { waitFor } from '../../support/waitFor.js';

const onDisk = allowsMounts('test/system/engines/fullDisk.test.ts') ? describe : describe.skip;
const ALL = { mongodb: true, qdrant: true, temporal: true };
const NONE = { mongodb: false, qdrant: false, temporal: false };

let dataDir: string;
let mounted: string[];

beforeEach(() => {
  dataDir = mkdtempSync(path.join(tmpdir(), 'allotrope-full-'));
  mounted = [];
});
afterEach(() => {
  for (const folder of mounted.toReversed()) unmountSmallDisk(folder);
  rmSync(dataDir, { recursive: true });
});
const mountAt = (folder: string, megabytes: number): void => {
  expect(mountSmallDisk(folder, megabytes)).toBeNull();
  mounted.push(folder);
};

onDisk('the space that a start needs', () => {
  test('is checked on the disk of DATA_DIR for embedded engines only', async () => {
    mountAt(dataDir, 4);
    await expect(checkSpace(dataDir, ALL)).rejects.toThrow(
      `DATA_DIR (${dataDir}) has 4 MB of free disk space, and the engines need 400 MB to start. Free some space there`,
    );
    await expect(checkSpace(dataDir, { ...NONE, temporal: true })).rejects.toThrow('need 20 MB');
    await checkSpace(dataDir, NONE);
  });

  test('is checked on the disk of an engine that has its own', async () => {
    const folder = path.join(dataDir, 'mongodb');
    mountAt(folder, 300);
    await expect(checkSpace(dataDir, ALL)).rejects.toThrow(`DATA_DIR/mongodb (${folder}) has 314 MB`);
    await checkSpace(dataDir, { ...ALL, mongodb: false });
  });

  test('is smaller once MongoDB has its journal', async () => {
    mountAt(dataDir, 300);
    await expect(checkSpace(dataDir, ALL)).rejects.toThrow('need 400 MB');
    mkdirSync(path.join(dataDir, 'mongodb'));
    writeFileSync(path.join(dataDir, 'mongodb', 'WiredTiger'), '');
    await checkSpace(dataDir, ALL);
  });
});

onDisk('a full disk', () => {
  test('ends npm start with one sentence before it writes anything', async () => {
    mountAt(dataDir, 1);
    const start = npmRun('start', { DATA_DIR: dataDir, PORT: '0' });
    expect(await start.ended).toBe(1);
    expect(start.output().trim().split('\n').slice(-1)).toEqual([
      expect.stringMatching(
        /^DATA_DIR \(\S+\) has 1 MB of free disk space, and the engines need 400 MB to start\. Free/,
      ),
    ]);
    expect(start.output()).not.toMatch(/starting the engines|\bat /);
    expect(existsSync(path.join(dataDir, 'secret-key'))).toBe(false);
  });

  test('is reported in one sentence when any write during a start fails', async () => {
    mountAt(dataDir, 1);
    const write = writeFile(path.join(dataDir, 'filler'), Buffer.alloc(2_000_000));
    const { message, code } = (await write.catch((e: unknown) => e)) as NodeJS.ErrnoException;
    // explanationOf() checks for the Error class of Jest's realm, to which Node's own errors do not belong.
    const error = Object.assign(new Error(message), { code });
    expect(explanationOf(error)).toMatch(/^The disk is full \(ENOSPC: .*\)\. Free some space, then start again/);
  });

  test('prevents the first start of an engine until there is space', async () => {
    const folder = path.join(dataDir, 'temporal');
    mountAt(folder, 1);
    const logLines: string[] = [];
    const starting = startEngines({
      dataDir,
      need: { ...NONE, temporal: true },
      ports: 'free',
      keepRunning: (line) => logLines.push(line),
    });
    starting.catch(() => {});
    await waitFor(
      () => logLines.length,
      (lines) => lines >= 2,
    );
    expect(logLines[0]).toMatch(
      /^temporal did not start: .*No space left on device \(now 0 MB free in \S+\): free some space\. Next start in 1 s$/,
    );
    expect(logLines[1]).toMatch(/Next start in 2 s$/);
    expect(resizeSmallDisk(folder, 200)).toBeNull();
    const engines = await starting;
    expect(engines.temporal).toBeDefined();
    await engines.stop();
  });
});
