/**
 * Tests npm commands: `npm ci` prints no warnings, the build needs few open files, the API and the worker end at
 * SIGTERM, and each command explains a failed start.
 */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import mongoose from 'mongoose';

import { npmRun } from '../../support/npm.js';
import { startService, type TestService } from '../../support/service.js';
import { thoroughly, thoroughRows } from '../../support/thorough.js';

/** Arguments of node for commands of package.json. The test run compiles dist/ at its start. */
const MODULES = {
  start: ['--import', 'tsx', 'scripts/start.ts'],
  api: ['dist/api/server.js'],
  worker: ['dist/worker/main.js'],
  cli: ['dist/cli/main.js', 'key', 'list'],
};

let service: TestService;
let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'allotrope-commands-'));
  service = await startService({}, { worker: false });
});
afterAll(async () => {
  await service.close();
  await rm(folder, { recursive: true, force: true });
});

test('npm warns neither of settings nor of engines nor of install scripts', () => {
  const { PATH, HOME } = process.env;
  const call = ['ci', '--dry-run', '--offline', '--no-update-notifier', '--userconfig', '/dev/null'];
  const { status, stderr } = spawnSync('npm', call, { env: { PATH, HOME }, encoding: 'utf8' });
  expect([status, stderr]).toEqual([0, '']);
});

test('the build needs few open files', () => {
  const build = spawnSync('sh', ['-c', 'ulimit -n 128 && exec npm run --silent build'], { encoding: 'utf8' });
  expect([build.status, build.stderr]).toEqual([0, expect.not.stringContaining('EMFILE')]);
});

test.each([
  ['worker', 'worker polling'],
  // The API ends in the same way as part of `npm start` (npmStart.test.ts).
  ...thoroughRows([['api', 'API listening']]),
])('SIGTERM to npm ends npm run %s', async (script, line) => {
  const run = npmRun(script, { ...service.env, LOG_LEVEL: 'info' });
  await run.printed(new RegExp(line));
  run.child.kill('SIGTERM');
  // Resolves once no process that npm started holds its output open.
  await run.ended;
});

describe('the sentence that explains a failed start', () => {
  /** Returns the output of a command that ends with exit code 1. */
  async function refusal(module: keyof typeof MODULES, settings: NodeJS.ProcessEnv): Promise<string> {
    const child = spawn(process.execPath, MODULES[module], { env: { ...service.env, ...settings } });
    let output = '';
    for (const channel of [child.stdout, child.stderr])
      channel.on('data', (part: Buffer) => (output += part.toString()));
    expect(await once(child, 'close')).toEqual([1, null]);
    return output;
  }
  const refusals = (modules: readonly (keyof typeof MODULES)[], settings: NodeJS.ProcessEnv): Promise<string[]> =>
    Promise.all(modules.map((module) => refusal(module, settings)));

  test('names a port in use, before npm start starts anything', async () => {
    const occupied = createServer().listen(0, '127.0.0.1');
    await once(occupied, 'listening');
    const port = String((occupied.address() as AddressInfo).port);
    const sentence = `Port ${port} of 127.0.0.1 is in use by another program. Stop that program, or set PORT to a free port.\n`;
    expect(await refusals(['start', 'api'], { PORT: port })).toEqual([sentence, sentence]);
    occupied.close();
  });

  test('names a data folder or file storage that is not writable', async () => {
    const file = path.join(folder, 'a-file');
    await writeFile(file, '');
    const sentence = (setting: string) =>
      new RegExp(`^${setting} cannot be written: .+ set ${setting} to another one\\.\n$`);
    expect(await refusal('start', { DATA_DIR: file })).toMatch(sentence('DATA_DIR'));
    for (const message of await refusals(['api', 'worker'], { FILE_STORAGE_DIR: file }))
      expect(message).toMatch(sentence('FILE_STORAGE_DIR'));
  });

  // cli.test.ts tests the same of the API.
  thoroughly('names a missing setting', async () => {
    expect(await refusal('worker', { SECRET_KEY: '' })).toMatch(/^These settings can't be used:\n- SECRET_KEY .+\n$/);
  });

  test('names records from a newer version', async () => {
    const uri = new URL(service.env['MONGODB_URI']!);
    uri.pathname += '-newer';
    const connection = await mongoose.createConnection(uri.href).asPromise();
    await connection.collection<{ _id: string; version: number }>('meta').insertOne({ _id: 'schema', version: 9_999 });
    const newer = { MONGODB_URI: uri.href };
    const sentence = /^The data is from a newer version of Allotrope \(records 9999, .+ restore a backup\.\n$/;
    try {
      for (const message of await refusals(['start', ...thoroughRows(['api', 'worker', 'cli'] as const)], newer))
        expect(message).toMatch(sentence);
    } finally {
      await connection.dropDatabase();
      await connection.close();
    }
  });

  test('names a store that does not answer', async () => {
    const { port } = new URL(service.env['MONGODB_URI']!);
    expect(await refusal('worker', { TEMPORAL_ADDRESS: `127.0.0.1:${port}` })).toMatch(
      /^Temporal does not answer \(.+\n$/,
    );
  });
});
