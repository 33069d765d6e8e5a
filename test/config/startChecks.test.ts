/** Tests of the checks before a start, and of the setting that each error message names. */
import { chmod, mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, expect, test } from '@jest/globals';

import { cannotListen, checkFolder, checkPort } from '../../config/process/startChecks.js';
import { StartError } from '../../contract/startError.js';
import { closeAll, serve } from '../egress/loopback.js';
import { everyRow } from '../support/everyRow.js';
import { allowsMounts, mountReadOnly, unmountSmallDisk } from '../support/smallDisk.js';

afterAll(closeAll);

test('rejects a port in use, and leaves a free port free', async () => {
  const { port } = await serve(() => undefined);
  await expect(checkPort('127.0.0.1', port)).rejects.toThrow(StartError);
  await expect(checkPort('127.0.0.1', port)).rejects.toThrow(`Port ${port} of 127.0.0.1 is in use`);
  await closeAll();
  await checkPort('127.0.0.1', port);
  await checkPort('127.0.0.1', port);
  await checkPort('127.0.0.1', 0);
});

test('names the setting to change for each reason why a port is unavailable', () =>
  everyRow(
    [
      ['EADDRINUSE', 'set PORT to a free port'],
      ['EACCES', 'Set PORT to a port above 1023'],
      ['EADDRNOTAVAIL', 'not there. Correct HOST and PORT'],
    ] as const,
    ([code]) => code,
    ([code, advice]) => {
      expect(cannotListen(Object.assign(new Error('not there'), { code }), 'h', 80).message).toContain(advice);
    },
  ));

test('creates a folder with its parents, and names the setting if it cannot create one', async () => {
  const root = await mkdtemp(path.join(tmpdir(), 'allotrope-checks-'));
  try {
    const folder = path.join(root, 'a', 'b');
    await checkFolder(folder, 'DATA_DIR');
    expect((await stat(folder)).isDirectory()).toBe(true);
    await checkFolder(folder, 'DATA_DIR');
    await writeFile(path.join(root, 'file'), '');
    const refused = checkFolder(path.join(root, 'file', 'd'), 'FILES_DIR');
    await expect(refused).rejects.toThrow(StartError);
    await expect(refused).rejects.toThrow(/^FILES_DIR cannot be written: ENOTDIR.*set FILES_DIR to another one\.$/);
  } finally {
    await rm(root, { recursive: true });
  }
});

// Root may write to folders of every mode, so for root the whole file system is read-only.
const isRoot = process.getuid?.() === 0;

(isRoot && !allowsMounts('startChecks') ? test.skip : test)('rejects a folder that can only be read', async () => {
  const folder = await mkdtemp(path.join(tmpdir(), 'allotrope-checks-'));
  try {
    if (isRoot) expect(mountReadOnly(folder)).toBeNull();
    else await chmod(folder, 0o555);
    await expect(checkFolder(folder, 'FILES_DIR')).rejects.toThrow(/^FILES_DIR cannot be written: (EROFS|EACCES)/);
  } finally {
    if (isRoot) unmountSmallDisk(folder);
    await rm(folder, { recursive: true });
  }
});
