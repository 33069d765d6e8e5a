/** Tests of the command `backup` on a folder without engines. */
import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';

import { isThere, lockData, partsOf } from '../../cli/backup/parts.js';
import { tryLock } from '../../engines/lock.js';
import { writePidFile } from '../../engines/pidFile.js';
import { refuseIncompleteRestore } from '../../engines/restoring.js';
import { cli } from '../support/cli.js';

const SECRET_KEY = `k1:${Buffer.alloc(32, 7).toString('base64')}`;
let root: string;
let dataDir: string;
let env: NodeJS.ProcessEnv;
beforeEach(async () => {
  root = await mkdtemp(path.join(tmpdir(), 'allotrope-backup-'));
  dataDir = path.join(root, 'data');
  env = { DATA_DIR: dataDir };
  await write({
    ...{ 'mongodb/WiredTiger': 'engine', 'qdrant/a/b': 'points', 'temporal/db': 'histories', 'files/1.raw': 'upload' },
    ...{ 'secret-key': SECRET_KEY, 'api-key': 'alk_1', 'logs/mongodb.log': 'not included', 'mongodb/empty': '' },
  });
  await mkdir(path.join(dataDir, 'other'));
});
afterEach(() => rm(root, { recursive: true, force: true }));

async function write(contents: Readonly<Record<string, string>>): Promise<void> {
  for (const [name, text] of Object.entries(contents)) {
    await mkdir(path.dirname(path.join(dataDir, name)), { recursive: true });
    await writeFile(path.join(dataDir, name), text);
  }
}
const at = (name: string): string => path.join(root, name);
const filesIn = async (folder: string): Promise<string[]> =>
  (await readdir(folder, { recursive: true, withFileTypes: true }))
    .filter((entry) => entry.isFile())
    .map((entry) => path.relative(folder, path.join(entry.parentPath, entry.name)))
    .toSorted();
interface Made {
  readonly files: number;
  readonly bytes: number;
  readonly parts: readonly string[];
  readonly outside: readonly string[];
}

test('copies every file of the engines, the file storage and the keys, readable by the owner only', async () => {
  const made = (await cli(env, 'backup', at('b'), '--json')).json<Made>();
  const copied = await filesIn(at('b/data'));
  expect(copied).toEqual([
    ...['api-key', 'files/1.raw', 'mongodb/WiredTiger', 'mongodb/empty', 'qdrant/a/b', 'secret-key', 'temporal/db'],
  ]);
  expect(await readFile(at('b/data/temporal/db'), 'utf8')).toBe('histories');
  const bytes = (await Promise.all(copied.map((name) => stat(at(`b/data/${name}`))))).map(({ size }) => size);
  expect(made).toMatchObject({ files: 7, bytes: bytes.reduce((a, b) => a + b), outside: [] });
  expect(made.parts).toEqual(['mongodb', 'qdrant', 'temporal', 'files', 'secret-key', 'api-key']);
  for (const name of ['b', 'b/data', 'b/data/qdrant/a', 'b/data/secret-key', 'b/data/qdrant/a/b'])
    expect([name, (await stat(at(name))).mode & 0o077]).toEqual([name, 0]);
});

test('copies stored files from FILE_STORAGE_DIR if it is set, and restores them there', async () => {
  const stored = at('stored');
  const given = { ...env, FILE_STORAGE_DIR: stored };
  await mkdir(stored);
  await writeFile(path.join(stored, '2.raw'), 'elsewhere');
  expect((await cli(given, 'backup', at('b'))).code).toBe(0);
  expect(await readFile(at('b/data/files/2.raw'), 'utf8')).toBe('elsewhere');
  await writeFile(path.join(stored, '2.raw'), 'newer');
  expect((await cli(given, 'restore', at('b'), '--force')).code).toBe(0);
  expect(await readFile(path.join(stored, '2.raw'), 'utf8')).toBe('elsewhere');
  expect(await filesIn(path.join(dataDir, 'files'))).toEqual(['1.raw']);
});

test('omits keys with --without-keys, and names the servers that need a backup of their own', async () => {
  const external = { MONGODB_URI: 'mongodb://h/d', TEMPORAL_ADDRESS: 'h:7233', SECRET_KEY };
  const made = await cli({ ...env, ...external }, 'backup', at('b'), '--without-keys');
  expect(await filesIn(at('b/data'))).toEqual(['files/1.raw', 'qdrant/a/b']);
  expect(made.lines).toEqual([
    '2 files, 1 MB: qdrant, files',
    'Not included, back up separately: MONGODB_URI, TEMPORAL_ADDRESS',
    expect.stringContaining('Restore it with'),
  ]);
  const bucket = partsOf({ dataDir, files: { dir: at('f'), s3: {} } } as never, { QDRANT_URL: 'http://q' });
  expect(bucket.included.map(({ name }) => name)).toEqual(['mongodb', 'temporal', 'secret-key', 'api-key']);
  expect(bucket.excludedSettings).toEqual(['QDRANT_URL', 'S3_BUCKET']);
});

test('refuses a target that is not empty or inside the data, a file name with a line break, and a DATA_DIR without data', async () => {
  const errorOf = async (given: NodeJS.ProcessEnv, folder: string) => {
    const { code, stderr } = await cli(given, 'backup', folder);
    expect(code).toBe(1);
    // A failed backup releases its lock on DATA_DIR.
    await (await lockData(dataDir)).release();
    return stderr;
  };
  await mkdir(at('full'));
  await writeFile(at('full/a'), '');
  expect(await errorOf(env, at('full'))).toContain('is not empty');
  expect(await errorOf(env, path.join(dataDir, 'mongodb/b'))).toContain('is inside the data to copy');
  expect(await errorOf(env, path.join(dataDir, 'files'))).toContain('is inside the data to copy');
  await writeFile(path.join(dataDir, 'qdrant', 'a\nb'), '');
  expect(await errorOf(env, at('line'))).toContain('contains a line break');
  for (const name of ['mongodb', 'qdrant', 'temporal', 'files'])
    await rm(path.join(dataDir, name), { recursive: true });
  await mkdir(path.join(dataDir, 'mongodb', 'lost+found'), { recursive: true });
  expect(await isThere({ name: 'mongodb', path: path.join(dataDir, 'mongodb'), isKey: false })).toBe(false);
  expect(await errorOf(env, at('none'))).toContain('contains no data of embedded engines');
});

test('does not copy data that a service or one of its engines still writes', async () => {
  const lock = await tryLock(path.join(dataDir, 'engines.json'));
  const busy = await cli(env, 'backup', at('b'));
  await lock?.release();
  expect([busy.code, busy.stderr]).toEqual([1, expect.stringContaining('A service or another backup uses')]);
  await writePidFile(dataDir, 'qdrant', process.pid);
  for (const _attempt of [1, 2]) expect((await cli(env, 'backup', at('b'))).stderr).toContain('qdrant of');
  expect(await readdir(root)).toEqual(['data']);
});

test('marks the data as incomplete when a restore fails, until a repeated restore completes', async () => {
  await cli(env, 'backup', at('b'));
  const restore = (...options: string[]) =>
    cli({ ...env, API_KEY: 'a-key-of-the-deployment' }, 'restore', at('b'), ...options);
  // A file cannot replace a folder.
  await rm(path.join(dataDir, 'api-key'));
  await mkdir(path.join(dataDir, 'api-key'));
  expect((await restore()).stderr).toContain('Data already exists');
  refuseIncompleteRestore(dataDir);
  expect((await restore('--force')).code).toBe(1);
  expect(await readFile(path.join(dataDir, 'restoring'), 'utf8')).toBe(`${at('b')}\n`);
  expect(() => refuseIncompleteRestore(dataDir)).toThrow('was interrupted. Run it again');
  await (await lockData(dataDir)).release();
  await rm(path.join(dataDir, 'api-key'), { recursive: true });
  expect((await restore()).code).toBe(0);
  refuseIncompleteRestore(dataDir);
  expect(await readFile(path.join(dataDir, 'api-key'), 'utf8')).toBe('alk_1');
});
