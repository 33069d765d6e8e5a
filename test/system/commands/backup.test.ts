import { randomBytes } from 'node:crypto';
import { spawnSync } from 'node:child_process';
import { cp, mkdir, mkdtemp, readFile, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';

import { tryLock } from '../../../engines/lock.js';
import { startEngines } from '../../../engines/start.js';
import { cli } from '../../support/cli.js';

/** test/long/backup.test.ts tests backups with real engines; here their files have arbitrary content. */
const FILES: Readonly<Record<string, string>> = {
  'mongodb/WiredTiger': 'w',
  'mongodb/journal/log.1': 'j',
  'qdrant/a/config.json': '{}',
  'temporal/temporal.db': 't',
  'files/1/7/1.raw': 'raw',
};
let root: string;
let dataDir: string;
let folder: string;

beforeEach(async () => {
  root = await mkdtemp(path.join(tmpdir(), 'allotrope-backup-'));
  dataDir = path.join(root, 'data');
  folder = path.join(root, 'backup');
  for (const [name, text] of Object.entries({
    ...FILES,
    'logs/mongodb.log': 'noise',
    'pids/mongodb': '',
    'secret-key': key(),
    'api-key': 'alk_x',
  })) {
    await mkdir(path.dirname(path.join(dataDir, name)), { recursive: true });
    await writeFile(path.join(dataDir, name), text);
  }
});
afterEach(() => rm(root, { recursive: true, force: true }));

const key = (): string => `k1:${randomBytes(32).toString('base64')}`;
const call = (...args: string[]) => cli({ DATA_DIR: dataDir }, ...args);
const wipe = (): Promise<void> => rm(dataDir, { recursive: true, force: true });

async function contents(): Promise<Record<string, string>> {
  const entries = await readdir(dataDir, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map(({ parentPath, name }) => path.join(parentPath, name));
  return Object.fromEntries(
    await Promise.all(files.map(async (file) => [path.relative(dataDir, file), await readFile(file, 'utf8')])),
  );
}

test('restores the copied files after a wipe; sha256sum verifies the copy', async () => {
  const { logs: _logs, ...before } = (await contents()) as Record<string, string>;
  const backupRun = await call('backup', folder);
  expect([backupRun.code, backupRun.stderr]).toEqual([0, '']);
  expect(backupRun.lines.join('\n')).toContain('contains SECRET_KEY');
  expect(spawnSync('sha256sum', ['--check', '--quiet', 'SHA256SUMS'], { cwd: folder }).status).toBe(0);
  await wipe();
  expect(await call('restore', folder)).toMatchObject({ code: 0, stderr: '' });
  const { 'logs/mongodb.log': _log, 'pids/mongodb': _pid, ...data } = before;
  expect(await contents()).toEqual(data);
});

test('replaces existing data only by force', async () => {
  await call('backup', folder);
  await writeFile(path.join(dataDir, 'mongodb/newer'), 'x');
  const refused = await call('restore', folder);
  expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining('--force')]);
  expect(await contents()).toHaveProperty(['mongodb/newer']);
  expect((await call('restore', folder, '--force')).code).toBe(0);
  expect(await contents()).not.toHaveProperty(['mongodb/newer']);
  expect(await contents()).toMatchObject(FILES);
});

test('refuses a backup that needs another SECRET_KEY than the environment or the data folder contains', async () => {
  await call('backup', folder, '--without-keys');
  await wipe();
  const none = await call('restore', folder);
  expect([none.code, none.stderr]).toEqual([1, expect.stringContaining('Set SECRET_KEY')]);
  const other = await cli({ DATA_DIR: dataDir, SECRET_KEY: key() }, 'restore', folder);
  expect([other.code, other.stderr]).toEqual([1, expect.stringContaining('another SECRET_KEY (k1)')]);
  await mkdir(dataDir);
  await writeFile(path.join(dataDir, 'secret-key'), key());
  const withStoredKey = await call('restore', folder, '--force');
  expect([withStoredKey.code, withStoredKey.stderr]).toEqual([1, expect.stringContaining('another SECRET_KEY (k1)')]);
  expect(Object.keys(await contents())).toEqual(['secret-key']);
});

test.each([
  ['a changed file', async () => writeFile(path.join(folder, 'data/files/1/7/1.raw'), 'rax')],
  ['a missing file', async () => rm(path.join(folder, 'data/qdrant/a/config.json'))],
  ['no checksum list', async () => rm(path.join(folder, 'SHA256SUMS'))],
  ['a changed checksum list', async () => writeFile(path.join(folder, 'SHA256SUMS'), '')],
  [
    'a checksum list with a path outside of the backup',
    async () => writeFile(path.join(folder, 'SHA256SUMS'), `${'0'.repeat(64)}  data/files/../../x\n`),
  ],
  ['no manifest', async () => rm(path.join(folder, 'manifest.json'))],
])('refuses a backup with %s before anything is changed', async (_title, damage) => {
  await call('backup', folder);
  await damage();
  const before = await contents();
  const { code, stderr } = await call('restore', folder, '--force');
  expect([code, stderr]).toEqual([1, expect.stringMatching(/backup|SHA256SUMS/)]);
  expect(await contents()).toEqual(before);
});

test('copies nothing while a service runs, into a non-empty folder, or into the data folder', async () => {
  const lock = await tryLock(path.join(dataDir, 'engines.json'));
  const running = await call('backup', folder);
  expect([running.code, running.stderr]).toEqual([1, expect.stringContaining('Stop npm start first')]);
  await lock?.release();
  await cp(dataDir, folder, { recursive: true });
  expect((await call('backup', folder)).stderr).toContain('is not empty');
  expect((await call('backup', path.join(dataDir, 'files/x'))).stderr).toContain('inside');
});

test('prevents the engines from starting after an interrupted restore, until a restore finishes', async () => {
  await call('backup', folder);
  await wipe();
  await mkdir(path.join(dataDir, 'mongodb'), { recursive: true });
  await writeFile(path.join(dataDir, 'mongodb/half'), 'x');
  await writeFile(path.join(dataDir, 'restoring'), folder);
  // `npm start` creates this file before it checks for an interrupted restore.
  await writeFile(path.join(dataDir, 'secret-key'), key());
  const start = startEngines({ dataDir, need: { temporal: true, mongodb: true, qdrant: true }, ports: 'free' });
  await expect(start).rejects.toThrow('was interrupted');
  expect(await call('restore', folder)).toMatchObject({ code: 0 });
  expect(await contents()).toMatchObject(FILES);
  expect(await contents()).not.toHaveProperty(['restoring']);
});
