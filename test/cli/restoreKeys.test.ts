import { randomBytes } from 'node:crypto';
import { appendFile, lstat, mkdir, mkdtemp, readFile, readdir, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';

import { checkFreeSpace } from '../../cli/backup/freeSpace.js';
import { readManifest, readSums, SUMS } from '../../cli/backup/manifest.js';
import { readCall, type Terminal } from '../../cli/command.js';
import { backup } from '../../cli/commands/backup.js';
import { restore } from '../../cli/commands/restore.js';
import { runCli } from '../../cli/run.js';
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
  /** Whether the command continues an interrupted restore, without --force. */
  readonly continues?: true;
  /** The secret key and the API key afterwards. */
  readonly keys: readonly (string | null)[];
}

const KEY_2 = `k2:${randomBytes(32).toString('base64')}`;
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
  {
    what: 'a backup with keys keeps a key file that contains its key and a newer one',
    ...{ backup: [], existing: { 'secret-key': `${KEY_2},${SECRET_KEY}`, 'api-key': 'alk_here' } },
    keys: [`${KEY_2},${SECRET_KEY}`, 'alk_backup'],
  },
  {
    what: 'an interrupted restore of a backup with keys keeps a key file that contains its key and a newer one',
    ...{ backup: [], existing: { 'secret-key': `${KEY_2},${SECRET_KEY}` }, continues: true },
    keys: [`${KEY_2},${SECRET_KEY}`, 'alk_backup'],
  },
  {
    what: 'an interrupted restore of a backup without keys continues with the key of DATA_DIR',
    ...{ backup: ['--without-keys'], existing: { 'secret-key': SECRET_KEY }, continues: true },
    keys: [SECRET_KEY, null],
  },
  {
    what: 'an interrupted restore of a backup with keys replaces a key that was created meanwhile',
    ...{ backup: [], existing: { 'secret-key': `k1:${randomBytes(32).toString('base64')}` }, continues: true },
    keys: [SECRET_KEY, 'alk_backup'],
  },
];

test('replaces the data on a restore, and only the keys that the backup contains', async () => {
  await everyRow(
    ROWS.map((row, index) => ({ ...row, index })),
    ({ what }) => what,
    async ({ index, backup: options, existing, env = {}, continues = false, keys }) => {
      const dataDir = path.join(root, String(index), 'data');
      const folder = path.join(root, String(index), 'backup');
      const terminal: Terminal = {
        ...{ env: { DATA_DIR: dataDir, ...env }, isInteractive: false, stopped: new AbortController().signal },
        ...{ out: () => undefined, err: () => undefined, waitForEnter: () => Promise.resolve() },
      };
      const old = { 'mongodb/WiredTiger': 'backup', 'files/1.raw': 'backup' };
      await fill(dataDir, { ...old, 'secret-key': SECRET_KEY, 'api-key': 'alk_backup' });
      await backup.run(readCall(backup, [folder, ...options], terminal));
      await rm(dataDir, { recursive: true });
      await fill(dataDir, { 'mongodb/WiredTiger': 'newer', 'files/1.raw': 'newer', ...existing });
      if (continues) await fill(dataDir, { restoring: folder });
      await restore.run(readCall(restore, continues ? [folder] : [folder, '--force'], terminal));
      expect(await read(dataDir)).toEqual(['backup', 'backup', ...keys]);
    },
  );
});

const dropLine = async (file: string): Promise<void> => {
  const lines = (await readFile(file, 'utf8')).trimEnd().split('\n');
  await writeFile(file, `${lines.slice(1).join('\n')}\n`);
};
/**
 * What happens to a backup of a deployment with two secret keys, SECRET_KEY at the restore, and the expected error
 * (null: none).
 */
const DAMAGES: readonly (readonly [
  what: string,
  damage: (folder: string) => Promise<unknown>,
  secretKey: string,
  error: RegExp | null,
])[] = [
  ['whole', () => Promise.resolve(), `${KEY_2},${SECRET_KEY}`, null],
  ['with a key that is not set', () => Promise.resolve(), SECRET_KEY, /another SECRET_KEY \(k2\)/],
  [
    'without one of its checksums',
    (folder) => dropLine(path.join(folder, SUMS)),
    `${KEY_2},${SECRET_KEY}`,
    /SHA256SUMS was modified/,
  ],
  [
    'with a modified file',
    (folder) => writeFile(path.join(folder, 'data/files/1.raw'), 'Backup'),
    `${KEY_2},${SECRET_KEY}`,
    /1\.raw was modified/,
  ],
  [
    'without one of its files',
    (folder) => rm(path.join(folder, 'data/files/1.raw')),
    `${KEY_2},${SECRET_KEY}`,
    /1\.raw is missing/,
  ],
  [
    'with a path that leads out of it',
    async (folder) => appendFile(path.join(folder, SUMS), `${'0'.repeat(64)}  data/files/../../../x\n`),
    `${KEY_2},${SECRET_KEY}`,
    /invalid line/,
  ],
  [
    'of a newer version',
    async (folder) => {
      const manifest = path.join(folder, 'manifest.json');
      await writeFile(manifest, (await readFile(manifest, 'utf8')).replace('"format": 1', '"format": 2'));
    },
    `${KEY_2},${SECRET_KEY}`,
    /newer version/,
  ],
];

test('refuses a backup that is damaged or whose secret key is not set, and keeps the data', () =>
  everyRow(
    DAMAGES,
    ([what]) => what,
    async ([, damage, secretKey, error], index) => {
      const dataDir = path.join(root, `damaged ${index}`, 'data');
      const folder = path.join(root, `damaged ${index}`, 'backup');
      const at = (keys: string): Terminal => ({
        ...{ env: { DATA_DIR: dataDir, SECRET_KEY: keys }, isInteractive: false },
        ...{ stopped: new AbortController().signal, out: () => undefined, err: () => undefined },
        waitForEnter: () => Promise.resolve(),
      });
      await fill(dataDir, { 'mongodb/WiredTiger': 'backup', 'files/1.raw': 'backup' });
      await backup.run(readCall(backup, [folder, '--without-keys'], at(`${SECRET_KEY},${KEY_2}`)));
      await damage(folder);
      await fill(dataDir, { 'mongodb/WiredTiger': 'newer', 'files/1.raw': 'newer' });
      const restored = Promise.resolve(restore.run(readCall(restore, [folder, '--force'], at(secretKey))));
      if (error === null) await restored;
      else await expect(restored).rejects.toThrow(error);
      const state = error === null ? 'backup' : 'newer';
      expect((await read(dataDir)).slice(0, 2)).toEqual([state, state]);
    },
  ));

test('keeps a folder of DATA_DIR that is a link, for example to a volume, and replaces its contents', async () => {
  const [dataDir, disk, folder] = ['data', 'disk', 'backup'].map((name) => path.join(root, 'linked', name)) as [
    string,
    string,
    string,
  ];
  const terminal: Terminal = {
    ...{ env: { DATA_DIR: dataDir }, isInteractive: false, stopped: new AbortController().signal },
    ...{ out: () => undefined, err: () => undefined, waitForEnter: () => Promise.resolve() },
  };
  await fill(disk, { WiredTiger: 'backup' });
  await fill(dataDir, { 'files/1.raw': 'backup', 'secret-key': SECRET_KEY });
  await symlink(disk, path.join(dataDir, 'mongodb'));
  await backup.run(readCall(backup, [folder], terminal));
  await fill(disk, { WiredTiger: 'newer', 'journal/1': 'newer', 'lost+found/#1': 'x' });
  await restore.run(readCall(restore, [folder, '--force'], terminal));
  expect((await lstat(path.join(dataDir, 'mongodb'))).isSymbolicLink()).toBe(true);
  expect([await readdir(disk), await readFile(path.join(disk, 'WiredTiger'), 'utf8')]).toEqual([
    ['WiredTiger', 'lost+found'],
    'backup',
  ]);
});

/** Files in folders of DATA_DIR that the backup does not contain: its only folder of data is `mongodb`. */
const LEFTOVERS = ['qdrant/a', 'temporal/temporal.db', 'files/1/2.raw'] as const;

test('treats data as existing that the backup does not contain, and deletes it with --force', async () => {
  const [dataDir, folder] = ['data', 'backup'].map((name) => path.join(root, 'partial', name)) as [string, string];
  const terminal: Terminal = {
    ...{ env: { DATA_DIR: dataDir }, isInteractive: false, stopped: new AbortController().signal },
    ...{ out: () => undefined, err: () => undefined, waitForEnter: () => Promise.resolve() },
  };
  await fill(dataDir, { 'mongodb/WiredTiger': 'backup', 'secret-key': SECRET_KEY });
  await backup.run(readCall(backup, [folder], terminal));
  await rm(path.join(dataDir, 'mongodb'), { recursive: true });
  await everyRow(LEFTOVERS, String, async (file) => {
    await fill(dataDir, { [file]: 'old' });
    const refused = Promise.resolve(restore.run(readCall(restore, [folder], terminal)));
    await expect(refused).rejects.toThrow(`Data already exists: ${path.join(dataDir, file.split('/')[0]!)}. `);
    await restore.run(readCall(restore, [folder, '--force'], terminal));
    expect(await readdir(path.join(dataDir, file.split('/')[0]!))).toEqual([]);
    expect(await readFile(path.join(dataDir, 'mongodb/WiredTiger'), 'utf8')).toBe('backup');
    await rm(path.join(dataDir, 'mongodb'), { recursive: true });
  });
  await restore.run(readCall(restore, [folder], terminal));
});

test('needs free space only for the bytes by which the backup exceeds the data that it replaces', async () => {
  const [dataDir, folder] = ['data', 'backup'].map((name) => path.join(root, 'space', name)) as [string, string];
  await fill(folder, { 'data/mongodb/WiredTiger': 'x'.repeat(150), 'data/files/1.raw': 'x'.repeat(30) });
  await fill(dataDir, { 'mongodb/WiredTiger': 'x'.repeat(100) });
  const parts = ['mongodb', 'files', 'secret-key'].map((name) => ({
    ...{ name, path: path.join(dataDir, name), isKey: false },
  }));
  await checkFreeSpace(folder, parts, async () => 80);
  await expect(checkFreeSpace(folder, parts, async () => 79)).rejects.toThrow(/has 79 bytes free.* needs 80 more/);
});

test('reports a manifest as missing or as unreadable, and a missing list of checksums as damage', async () => {
  const folder = path.join(root, 'unreadable');
  await expect(readManifest(folder)).rejects.toThrow(/contains no manifest.json/);
  // EISDIR stands for EACCES, which root does not get.
  await mkdir(path.join(folder, 'manifest.json'), { recursive: true });
  await expect(readManifest(folder)).rejects.toThrow(/manifest.json cannot be read \(EISDIR.*Check its permissions/);
  const readAll = async () => {
    for await (const _ of readSums(folder, { sums: '', parts: [] } as never));
  };
  await expect(readAll()).rejects.toThrow(/SHA256SUMS is missing, so the backup is damaged/);
});

test('says what to do after Ctrl-C during a backup or a restore', async () => {
  const [dataDir, folder] = ['data', 'backup'].map((name) => path.join(root, 'stopped', name)) as [string, string];
  await fill(dataDir, { 'mongodb/WiredTiger': 'backup', 'secret-key': SECRET_KEY });
  const run = async (stopped: AbortSignal, ...args: string[]) => {
    const errors: string[] = [];
    const terminal: Terminal = {
      ...{ env: { DATA_DIR: dataDir }, isInteractive: false, stopped, err: (text) => void errors.push(text) },
      ...{ out: () => undefined, waitForEnter: () => Promise.resolve() },
    };
    return [await runCli(args, terminal), errors.at(-1)];
  };
  const aborted = AbortSignal.abort();
  expect(await run(aborted, 'backup', `${folder}-half`)).toEqual([
    1,
    'Interrupted. The backup is incomplete. Delete its folder, and run the command again.\n',
  ]);
  expect((await run(new AbortController().signal, 'backup', folder))[0]).toBe(0);
  expect(await run(aborted, 'restore', folder, '--force')).toEqual([
    1,
    'Interrupted. To continue the restore, run the same command again.\n',
  ]);
});
