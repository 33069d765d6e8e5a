/** Tests of the checks of `doctor` for file storage, embedding model, Chromium, PUBLIC_URL, Qdrant and Temporal. */
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';

import type { Check } from '../../cli/doctor/check.js';
import { qdrantChecks, temporalChecks } from '../../cli/doctor/engines.js';
import { machineChecks } from '../../cli/doctor/machine.js';
import type { Config } from '../../config/types.js';
import { findPort } from '../../engines/ports.js';
import { testEngines } from '../support/engines.js';
import { everyRow } from '../support/everyRow.js';

let root: string;
beforeAll(async () => void (root = await mkdtemp(path.join(tmpdir(), 'allotrope-doctor-'))));
afterAll(() => rm(root, { recursive: true }));

/** Returns the checks that have this name. `settings` replaces groups of valid settings. */
async function checksOf(name: string, settings: object): Promise<Check[]> {
  const config = {
    ...{ disks: { folders: [], minFreeBytes: 0 }, files: { dir: path.join(root, 'files'), s3: null, rowBytes: 1 } },
    ...{ web: { chromiumPath: null, installChromium: true }, embedding: { modelPath: null, tokenizerPath: null } },
    ...{ publicUrl: 'http://localhost:1', host: '127.0.0.1', connectors: { clients: {} } },
    ...settings,
  };
  return (await machineChecks(config as unknown as Config)).filter((check) => check.name === name);
}
const statesOf = (checks: readonly Check[]): string[] => checks.map(({ state }) => state);

/** PUBLIC_URL, HOST, names of OAUTH_CLIENTS, and the state of the check. */
const URLS: [url: string | null, host: string, clients: object, state: Check['state']][] = [
  [null, '127.0.0.1', {}, 'warn'],
  ['http://localhost:8000', '127.0.0.1', {}, 'ok'],
  ['http://[::1]:8000', '::1', {}, 'ok'],
  ['http://localhost:8000', '0.0.0.0', {}, 'warn'],
  ['http://127.0.0.1:8000', '127.0.0.1', { BOX: {} }, 'warn'],
  ['http://0.0.0.0:8000', '0.0.0.0', {}, 'bad'],
  ['http://[::]:8000', '::', {}, 'bad'],
  ['http://a.example', '0.0.0.0', {}, 'warn'],
  ['https://a.example', '0.0.0.0', { BOX: {} }, 'ok'],
  ['https://a.example/prefix', '0.0.0.0', {}, 'ok'],
];

test('reports a PUBLIC_URL that clients or the redirects of providers cannot reach, or that is not encrypted', () =>
  everyRow(
    URLS,
    ([url, host, clients]) => `${url} at ${host}, ${Object.keys(clients).join(', ')}`,
    async ([publicUrl, host, clients, state]) => {
      const checks = await checksOf('PUBLIC_URL', { publicUrl, host, connectors: { clients } });
      expect(statesOf(checks)).toEqual([state]);
      if (publicUrl?.endsWith('/prefix')) expect(checks[0]?.found).toContain('must strip /prefix');
    },
  ));

test('writes to the file storage and deletes what it wrote, and reports a folder that cannot be written', async () => {
  expect(statesOf(await checksOf('file storage', {}))).toEqual(['ok']);
  const entries = await readdir(path.join(root, 'files'), { recursive: true, withFileTypes: true });
  expect(entries.filter((entry) => entry.isFile())).toEqual([]);
  await writeFile(path.join(root, 'a-file'), '');
  const files = { dir: path.join(root, 'a-file', 'below'), s3: null, rowBytes: 1 };
  const [check] = await checksOf('file storage', { files });
  expect(check).toMatchObject({ state: 'bad', fix: expect.stringContaining('FILE_STORAGE_DIR') });
});

test('reports a missing file of the embedding model, and skips the check while its path is unknown', async () => {
  const [modelPath, tokenizerPath] = [path.join(root, 'model'), path.join(root, 'tokenizer')];
  const check = (embedding: object) => checksOf('embedding model', { embedding });
  expect(statesOf(await check({ modelPath, tokenizerPath: null }))).toEqual(['skipped']);
  await writeFile(modelPath, 'x');
  expect(statesOf(await check({ modelPath, tokenizerPath }))).toEqual(['bad']);
  await writeFile(tokenizerPath, 'x');
  expect(statesOf(await check({ modelPath, tokenizerPath }))).toEqual(['ok']);
});

test('reports a CHROMIUM_PATH that does not exist', async () => {
  const web = { chromiumPath: path.join(root, 'no-browser'), installChromium: true };
  expect(await checksOf('Chromium', { web })).toMatchObject([{ state: 'bad', fix: expect.stringContaining('unset') }]);
});

test("counts only this deployment's collections, and reports a Qdrant that is not set or does not answer", async () => {
  const check = (url: string | null) =>
    qdrantChecks({
      dataDir: root,
      qdrant: { url, apiKey: null, prefix: `doctor${process.pid}-` },
    } as unknown as Config);
  expect(await check(testEngines().qdrantUrl)).toMatchObject([
    { name: 'Qdrant', state: 'ok', found: expect.stringMatching(/, 0 collections$/) },
  ]);
  expect(await check(null)).toMatchObject([{ state: 'bad', fix: expect.stringContaining('set QDRANT_URL') }]);
  const closed = `http://127.0.0.1:${await findPort('free')}`;
  expect(await check(closed)).toMatchObject([
    {
      state: 'bad',
      found: expect.stringContaining(`${closed} does not answer`),
      fix: expect.stringContaining('QDRANT_'),
    },
  ]);
});

test('inspects Temporal only if it answers and the deployment is known', async () => {
  const check = async (address: string | null, deploymentId: string | null) => {
    const temporal = { address, namespace: 'default', taskQueue: 'doctor', uiUrl: null };
    const { checks, inspection } = await temporalChecks({ dataDir: root, temporal } as unknown as Config, deploymentId);
    await inspection?.close();
    return [...statesOf(checks), inspection !== null];
  };
  const { temporalAddress } = testEngines();
  expect(await check(temporalAddress, 'd')).toEqual(['ok', true]);
  expect(await check(temporalAddress, null)).toEqual(['ok', false]);
  expect(await check(null, 'd')).toEqual(['bad', false]);
});
