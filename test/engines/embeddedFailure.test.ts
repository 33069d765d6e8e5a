/** Tests of the diagnosis of an embedded engine that does not answer. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';

import { findEmbeddedFailure } from '../../engines/embeddedFailure.js';
import { waitFor } from '../support/waitFor.js';

let dataDir: string;
let child: ChildProcess;

beforeEach(async () => {
  dataDir = await mkdtemp(path.join(tmpdir(), 'allotrope-failure-'));
  child = spawn('sleep', ['600']);
  await once(child, 'spawn');
});
afterEach(async () => {
  child.kill('SIGKILL');
  await rm(dataDir, { recursive: true });
});
const record = (engine: object): Promise<void> =>
  writeFile(path.join(dataDir, 'engines.json'), JSON.stringify({ engines: [engine] }));

test('reports an engine that a signal has suspended, with its process id and the command to resume it', async () => {
  await record({ name: 'qdrant', pid: child.pid });
  child.kill('SIGSTOP');
  const found = await waitFor(
    () => findEmbeddedFailure(dataDir, 'qdrant'),
    (failure) => failure?.found.includes('stopped') ?? false,
  );
  expect(found).toEqual({
    found: `The embedded Qdrant (process ${child.pid}) was stopped by a signal and does not answer`,
    fix: expect.stringContaining(`kill -CONT ${child.pid}`),
    detail: null,
  });
});

test('reports an engine that runs but does not answer, and none that has ended or is not in engines.json', async () => {
  expect(await findEmbeddedFailure(dataDir, 'qdrant')).toBeNull();
  await record({ name: 'qdrant', pid: child.pid });
  expect((await findEmbeddedFailure(dataDir, 'qdrant'))?.found).toBe(
    `The embedded Qdrant (process ${child.pid}) runs but does not answer`,
  );
  expect(await findEmbeddedFailure(dataDir, 'temporal')).toBeNull();
  child.kill('SIGKILL');
  await once(child, 'exit');
  expect(await findEmbeddedFailure(dataDir, 'qdrant')).toBeNull();
});

test('reports since when and why an engine is down, with log lines only in the detail', async () => {
  const since = '2026-11-23T15:00:00.000Z';
  const down = { since, cause: 'OSError: /srv/data/x', how: 'ended with code 1', isDiskFull: false, attempts: 1 };
  await record({ name: 'temporal', pid: child.pid, down });
  expect(await findEmbeddedFailure(dataDir, 'temporal')).toEqual({
    found: `The embedded Temporal has been down since 2026-11-23 15:00:00 UTC: it ended with code 1, 1 failed start since`,
    fix: 'npm start tries again after at most 30 s. See DATA_DIR/logs/temporal.log',
    detail: 'OSError: /srv/data/x',
  });
  await record({ name: 'temporal', pid: child.pid, down: { ...down, isDiskFull: true, attempts: 4 } });
  expect(await findEmbeddedFailure(dataDir, 'temporal')).toMatchObject({
    found: `The embedded Temporal has been down since 2026-11-23 15:00:00 UTC: its disk is full, 4 failed starts since`,
    fix: expect.stringMatching(/^Free some space/),
  });
});
