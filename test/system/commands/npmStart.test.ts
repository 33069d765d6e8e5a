/** `npm start` with a separate data folder, as an operator runs it: file permissions, and the end of all processes. */
import { chmod, lstat, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { existsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';

import { findPort } from '../../../engines/ports.js';
import { testUser } from '../../support/client.js';
import { npmRun, type NpmRun } from '../../support/npm.js';
import { thoroughly } from '../../support/thorough.js';
import { waitFor } from '../../support/waitFor.js';

let root: string;
let dataDir: string;
let env: NodeJS.ProcessEnv;
let service: NpmRun;

/** Returns the paths below a folder that give permissions to group or others, with these permissions. */
async function openToOthers(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true });
  const found = await Promise.all(
    ['.', ...entries].map(async (name) => {
      // The engines may delete their files between readdir and lstat.
      const mode = await lstat(path.join(folder, name)).then(
        (info) => info.mode & 0o077,
        () => 0,
      );
      return mode === 0 ? [] : [`${name} ${mode.toString(8)}`];
    }),
  );
  return found.flat();
}

/** Returns the process ids of the supervisor and its engines, or none once they have ended. */
async function pids(): Promise<number[]> {
  const record = await readFile(path.join(dataDir, 'engines.json'), 'utf8').catch(() => '{"engines":[]}');
  const { owner, engines } = JSON.parse(record) as {
    owner?: number;
    engines: { pid: number }[];
  };
  return [...(owner === undefined ? [] : [owner]), ...engines.map(({ pid }) => pid)];
}

beforeAll(async () => {
  root = await mkdtemp(path.join(tmpdir(), 'allotrope-npm-'));
  dataDir = path.join(root, 'data');
  const port = await findPort('free');
  env = { DATA_DIR: dataDir, PORT: String(port), LOG_LEVEL: 'warn', CONTENT_ROW_BYTES: '0', WORKER_NICENESS: '0' };
  // A data folder with the permissions of earlier versions, and a file of another program.
  await mkdir(path.join(dataDir, 'logs'), { recursive: true });
  await writeFile(path.join(dataDir, 'logs', 'qdrant.log.1'), 'old');
  await writeFile(path.join(dataDir, 'notes.txt'), 'not ours');
  for (const [name, mode] of [
    ['.', 0o755],
    ['logs', 0o755],
    ['logs/qdrant.log.1', 0o644],
    ['notes.txt', 0o644],
  ] as const)
    await chmod(path.join(dataDir, name), mode);
  service = npmRun('start', env);
  await service.printed(/serves at/);
});
afterAll(async () => {
  for (const pid of await pids()) if (existsSync(`/proc/${pid}`)) process.kill(pid, 'SIGKILL');
  await rm(root, { recursive: true, force: true });
});

test('keeps all files of the data folder private after an ingest, and leaves those of other programs unchanged', async () => {
  const apiKey = (await readFile(path.join(dataDir, 'api-key'), 'utf8')).trim();
  const user = await testUser(`http://127.0.0.1:${env['PORT']}`, apiKey, 'ben', 30_000);
  const { id } = await user.send({ name: 'own.txt', content: 'kept with the account '.repeat(500) });
  expect(await user.settled(id)).toMatchObject({ sync_status: 'READY' });
  const names = await readdir(dataDir);
  expect(names).toEqual(expect.arrayContaining(['files', 'logs', 'mongodb', 'qdrant', 'temporal']));
  expect(await openToOthers(dataDir)).toEqual(['notes.txt 44']);
});

test('ends the service and its engines at SIGTERM to npm', async () => {
  const running = await pids();
  expect(running).toHaveLength(4);
  service.child.kill('SIGTERM');
  await waitFor(
    () => running.filter((pid) => existsSync(`/proc/${pid}`)),
    (living) => living.length === 0,
  );
  await service.ended;
  expect(service.output()).toContain('stopping');
});

thoroughly('creates private backups and restored files, whatever the umask of the shell', async () => {
  const [backup, restored] = [path.join(root, 'backup'), path.join(root, 'restored')];
  expect(await npmRun('cli', env, 'backup', backup).ended).toBe(0);
  expect(await npmRun('cli', { ...env, DATA_DIR: restored }, 'restore', backup).ended).toBe(0);
  expect(await readdir(restored)).toEqual(expect.arrayContaining(['files', 'mongodb', 'secret-key']));
  expect([await openToOthers(backup), await openToOthers(restored)]).toEqual([[], []]);
});
