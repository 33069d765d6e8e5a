/** What a start refuses, and the setting that its sentence names. */
import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, expect, test } from '@jest/globals';

import { cannotListen, checkFolder, checkPort } from '../../config/process/startChecks.js';
import { StartError } from '../../contract/startError.js';
import { closeAll, serve } from '../egress/loopback.js';
import { everyRow } from '../support/everyRow.js';

afterAll(closeAll);

test('a port that is taken is refused, and one that is free stays free', async () => {
  const { port } = await serve(() => undefined);
  await expect(checkPort('127.0.0.1', port)).rejects.toThrow(StartError);
  await expect(checkPort('127.0.0.1', port)).rejects.toThrow(`Port ${port} of 127.0.0.1 is in use`);
  await closeAll();
  await checkPort('127.0.0.1', port);
  await checkPort('127.0.0.1', port);
  await checkPort('127.0.0.1', 0);
});

test('each reason why a port cannot be had says what to set', () =>
  everyRow(
    [
      ['EADDRINUSE', 'set PORT to a free port'],
      ['EACCES', 'Set PORT to a port above 1023'],
      ['EADDRNOTAVAIL', 'not there. Correct HOST and PORT'],
    ] as const,
    ([code]) => code,
    ([code, said]) => {
      expect(cannotListen(Object.assign(new Error('not there'), { code }), 'h', 80).message).toContain(said);
    },
  ));

test('a folder is made with those above it, and one that cannot be is refused by its setting', async () => {
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
