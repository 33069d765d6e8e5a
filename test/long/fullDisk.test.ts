/**
 * Fills the disk of one engine during uploads. The engine's folder is on a small tmpfs, whose mount needs root.
 * Acknowledged uploads end READY without intervention once space is free again.
 */
import { randomBytes } from 'node:crypto';
import { appendFile, rm } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, expect, test } from '@jest/globals';

import type { EngineName } from '../../engines/engine.js';
import { findPort } from '../../engines/ports.js';
import { startEngines } from '../../engines/start.js';
import { cli } from '../support/cli.js';
import { testUser } from '../support/client.js';
import { testEngines } from '../support/engines.js';
import { startProcess } from '../support/processes.js';
import { newEngineFolder } from '../support/scratch.js';
import { allowsMounts, mountSmallDisk, unmountSmallDisk } from '../support/smallDisk.js';
import { waitFor } from '../support/waitFor.js';

/** Size of the tmpfs: enough for what each engine writes in this test, and quickly filled. */
const SIZES_MB: Readonly<Record<EngineName, number>> = { mongodb: 600, qdrant: 400, temporal: 100 };
/** How long the disk stays full (ms): MongoDB aborts at its next checkpoint, at most 60 s later. */
const FULL_MS = 100_000;
const RECOVERY_MS = 280_000;

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of cleanups.splice(0).toReversed()) await end();
});

const testWithMounts = allowsMounts('test/long/fullDisk.test.ts') ? test : test.skip;

/** Writes until the disk is full. Returns a function that frees the space. */
async function fill(folder: string): Promise<() => Promise<void>> {
  const file = path.join(folder, 'filler');
  const part = Buffer.alloc(1_000_000);
  for (const size of [part.length, 4_096, 1])
    for (;;) {
      const isFull = await appendFile(file, part.subarray(0, size)).then(
        () => false,
        () => true,
      );
      if (isFull) break;
    }
  return () => rm(file);
}

testWithMounts.each(['mongodb', 'qdrant', 'temporal'] as const)(
  'acknowledged uploads end READY after the disk of %s was full',
  async (name) => {
    const dataDir = await newEngineFolder('full');
    cleanups.push(() => rm(dataDir, { recursive: true, force: true }));
    expect(mountSmallDisk(path.join(dataDir, name), SIZES_MB[name])).toBeNull();
    cleanups.push(() => unmountSmallDisk(path.join(dataDir, name)));
    const logLines: string[] = [];
    const engines = await startEngines({
      dataDir,
      need: { temporal: true, mongodb: true, qdrant: true },
      ports: 'free',
      keepRunning: (line) => logLines.push(line),
    });
    cleanups.push(() => engines.stop());
    const { modelPath, tokenizerPath } = testEngines();
    const port = await findPort('free');
    const apiKey = `test-key-${randomBytes(12).toString('hex')}`;
    const env: NodeJS.ProcessEnv = {
      ...{ PATH: process.env['PATH'], HOME: process.env['HOME'], WORKER_NICENESS: '0' },
      ...{ LOG_LEVEL: process.env['TEST_LOG_LEVEL'] ?? 'silent', PORT: String(port), DATA_DIR: dataDir },
      ...{ API_KEY: apiKey, SECRET_KEY: `k1:${randomBytes(32).toString('base64')}` },
      ...{ EMBEDDING_MODEL_PATH: modelPath, EMBEDDING_TOKENIZER_PATH: tokenizerPath, EMBEDDING_THREADS: '1' },
    };
    for (const module of ['api/server', 'worker/main'] as const) {
      const child = await startProcess(module, env, true);
      cleanups.push(() => child.stop());
    }
    const user = await testUser(`http://127.0.0.1:${port}`, apiKey, 'ben', 60_000);
    const impatient = await testUser(`http://127.0.0.1:${port}`, apiKey, 'ben');
    const accepted: number[] = [];
    const answers = new Map<string, number>();
    const upload = async (): Promise<boolean> => {
      const content = `${accepted.length} ${randomBytes(6_000).toString('hex')} `.repeat(2);
      const status = await impatient.upload({ name: `${accepted.length}.txt`, content }).then(
        (answer) => {
          if (answer.status === 200) accepted.push(answer.body.id);
          return String(answer.status);
        },
        () => 'no answer',
      );
      answers.set(status, (answers.get(status) ?? 0) + 1);
      return status === '200';
    };
    for (let n = 0; n < 20; n += 1) expect(await upload()).toBe(true);
    const free = await fill(path.join(dataDir, name));
    const until = Date.now() + FULL_MS;
    while (Date.now() < until) {
      await upload();
      await sleep(500);
    }
    const whileFull = Object.fromEntries(answers);
    await free();
    const freedAt = Date.now();
    await waitFor(upload, (isAccepted) => isAccepted, RECOVERY_MS);
    const acceptedAgainMs = Date.now() - freedAt;
    const unsettled = new Set(accepted);
    const counts: Record<string, number> = {};
    await waitFor(
      async () => {
        for (const id of unsettled) {
          const { sync_status: status } = await user.file(id);
          if (!['READY', 'SYNC_ERROR', 'SYNC_ABORTED'].includes(status)) break;
          unsettled.delete(id);
          counts[status] = (counts[status] ?? 0) + 1;
        }
        return unsettled.size;
      },
      (remaining) => remaining === 0,
      RECOVERY_MS,
    );
    const settledMs = Date.now() - freedAt;
    process.stderr.write(
      `${name}: ${JSON.stringify({ whileFull, acceptedAgainMs, settledMs, ended: counts, log: logLines })}\n`,
    );
    expect(counts).toEqual({ READY: accepted.length });
    // Compares the chunks, points and contents of each file.
    expect(await cli(env, 'reconcile')).toMatchObject({ code: 0 });
  },
  900_000,
);
