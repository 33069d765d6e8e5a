import { randomBytes } from 'node:crypto';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';

import { readCall, type Terminal } from '../../cli/command.js';
import { backup } from '../../cli/commands/backup.js';
import { restore } from '../../cli/commands/restore.js';
import { everyRow } from '../support/everyRow.js';

let root: string;
beforeAll(async () => {
  root = await mkdtemp(path.join(tmpdir(), 'allotrope-keys-'));
});
afterAll(() => rm(root, { recursive: true, force: true }));

const SECRET_KEY = `k1:${randomBytes(32).toString('base64')}`;
const FILES = ['mongodb/WiredTiger', 'files/1.raw', 'secret-key', 'api-key'] as const;

async function fill(dataDir: string, contents: Readonly<Record<string, string>>): Promise<void> {
  for (const [name, text] of Object.entries(contents)) {
    await mkdir(path.dirname(path.join(dataDir, name)), { recursive: true });
    await writeFile(path.join(dataDir, name), text);
  }
}
const read = (dataDir: string) =>
  Promise.all(FILES.map((name) => readFile(path.join(dataDir, name), 'utf8').catch(() => null)));

interface Row {
  readonly what: string;
  /** Options of the backup. */
  readonly backup: readonly string[];
  /** Contents of DATA_DIR at the restore. */
  readonly existing: Readonly<Record<string, string>>;
  readonly env?: NodeJS.ProcessEnv;
  /** The secret key and the API key afterwards. */
  readonly keys: readonly (string | null)[];
}

const ROWS: readonly Row[] = [
  {
    what: 'a backup without keys keeps both keys of DATA_DIR',
    ...{ backup: ['--without-keys'], existing: { 'secret-key': SECRET_KEY, 'api-key': 'alk_here' } },
    keys: [SECRET_KEY, 'alk_here'],
  },
  {
    what: 'a backup without keys keeps the API key if SECRET_KEY is set',
    ...{ backup: ['--without-keys'], existing: { 'api-key': 'alk_here' }, env: { SECRET_KEY } },
    keys: [null, 'alk_here'],
  },
  {
    what: 'a backup with keys restores both into an empty DATA_DIR',
    ...{ backup: [], existing: {} },
    keys: [SECRET_KEY, 'alk_backup'],
  },
  {
    what: 'a backup with keys replaces the API key of DATA_DIR',
    ...{ backup: [], existing: { 'secret-key': SECRET_KEY, 'api-key': 'alk_here' } },
    keys: [SECRET_KEY, 'alk_backup'],
  },
];

test('replaces the data on a restore, and only the keys that the backup contains', async () => {
  await everyRow(
    ROWS.map((row, index) => ({ ...row, index })),
    ({ what }) => what,
    async ({ index, backup: options, existing, env = {}, keys }) => {
      const dataDir = path.join(root, String(index), 'data');
      const folder = path.join(root, String(index), 'backup');
      const terminal: Terminal = {
        ...{ env: { DATA_DIR: dataDir, ...env }, isInteractive: false, stopped: new AbortController().signal },
        ...{ out: () => undefined, err: () => undefined },
      };
      const old = { 'mongodb/WiredTiger': 'backup', 'files/1.raw': 'backup' };
      await fill(dataDir, { ...old, 'secret-key': SECRET_KEY, 'api-key': 'alk_backup' });
      await backup.run(readCall(backup, [folder, ...options], terminal));
      await rm(dataDir, { recursive: true });
      await fill(dataDir, { 'mongodb/WiredTiger': 'newer', 'files/1.raw': 'newer', ...existing });
      await restore.run(readCall(restore, [folder, '--force'], terminal));
      expect(await read(dataDir)).toEqual(['backup', 'backup', ...keys]);
    },
  );
});
