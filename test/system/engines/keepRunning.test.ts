/** Restarts of engines that end unexpectedly. */
import { once } from 'node:events';
import { mkdtemp, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';

import type { Engine } from '../../../engines/engine.js';
import { createRestarter } from '../../../engines/keepRunning.js';
import { startEngines } from '../../../engines/start.js';
import { waitFor } from '../../support/waitFor.js';

let dataDir: string;
let nowMs: number;
let pauses: number[];
let logLines: string[];

beforeEach(async () => {
  dataDir = await mkdtemp(path.join(tmpdir(), 'allotrope-keeper-'));
  for (const name of ['mongodb', 'qdrant', 'temporal']) await mkdir(path.join(dataDir, name));
  [nowMs, pauses, logLines] = [0, [], []];
});
afterEach(() => rm(dataDir, { recursive: true, force: true }));

const startRestarter = () =>
  createRestarter({
    dataDir,
    printLine: (line) => logLines.push(line),
    now: () => nowMs,
    pause: (ms, signal) => {
      if (signal.aborted) return Promise.reject(signal.reason as Error);
      pauses.push(ms / 1000);
      nowMs += ms;
      return Promise.resolve();
    },
  });

/** Returns an engine whose first starts fail. */
function failing(times: number): Pick<Engine, 'restart' | 'logOffset'> & { starts: number } {
  const engine = {
    logOffset: 0,
    starts: 0,
    restart() {
      engine.starts += 1;
      return engine.starts > times
        ? Promise.resolve()
        : Promise.reject(new Error('mongodb did not start: ended by SIGABRT\nlast line of the log'));
    },
  };
  return engine;
}

test('restarts a failing engine with growing pauses until it runs, and reports the cause of each failure', async () => {
  const { onCrash, down } = startRestarter();
  const engine = failing(7);
  onCrash('mongodb', 'ended by SIGABRT', engine as unknown as Engine);
  await waitFor(
    () => logLines.at(-1),
    (line) => line === 'mongodb runs again',
  );
  expect(pauses).toEqual([1, 2, 4, 8, 16, 30, 30, 30]);
  expect(logLines[0]).toBe('mongodb ended by SIGABRT. Next start in 1 s');
  expect(logLines[1]).toBe('mongodb did not start: ended by SIGABRT. Next start in 2 s');
  expect(logLines).toHaveLength(9);
  expect(down.size).toBe(0);
});

test('doubles the pause if an engine ends within a minute of its start; otherwise the pause is 1 s again', async () => {
  const { onCrash } = startRestarter();
  const engine = failing(0);
  for (const ranMs of [0, 5_000, 5_000, 60_000]) {
    nowMs += ranMs;
    const before = engine.starts;
    onCrash('qdrant', 'ended by SIGSEGV', engine as unknown as Engine);
    await waitFor(
      () => [engine.starts, logLines.at(-1)] as const,
      ([starts, line]) => starts > before && line === 'qdrant runs again',
    );
  }
  expect(pauses).toEqual([1, 2, 4, 1]);
});

test.each([
  [
    'temporal',
    'starting\ndatabase or disk is full\n\n',
    /^temporal ended: No space left on device \(now \d+ MB free in /,
  ],
  ['qdrant', 'Traceback\nOSError: Address already in use\n', /^qdrant ended: OSError: Address already in use\. Next/],
  // After the line of its fault, mongod logs one line for each frame of its stack.
  ['mongodb', '{"s":"F","msg":"Fatal assertion"}\n{"s":"I","msg":"Frame"}\n', /^mongodb ended: Fatal assertion\. Next/],
] as const)('reports the cause from the end of the log of %s', async (name, log, line) => {
  await mkdir(path.join(dataDir, 'logs'));
  await writeFile(path.join(dataDir, 'logs', `${name}.log`), log);
  startRestarter().onCrash(name, 'ended', failing(0) as unknown as Engine);
  await waitFor(
    () => logLines,
    (lines) => lines.length === 2,
  );
  expect(logLines[0]).toMatch(line);
});

test('starts nothing after stop', async () => {
  const { onCrash, down, stop } = startRestarter();
  const engine = failing(0);
  stop();
  onCrash('qdrant', 'ended with code 1', engine as unknown as Engine);
  await new Promise((resolve) => setTimeout(resolve, 50));
  expect([engine.starts, logLines, down.size]).toEqual([0, [], 0]);
});

test('restarts a real engine when its occupied port is free again; stop ends a backoff', async () => {
  const engines = await startEngines({
    dataDir,
    need: { temporal: false, mongodb: false, qdrant: true },
    ports: 'free',
    keepRunning: (line) => logLines.push(line),
  });
  try {
    const { qdrant } = engines;
    const port = qdrant!.ports[0]!;
    const takePort = async () => {
      const server = createServer((socket) => socket.destroy());
      process.kill(qdrant!.pid, 'SIGKILL');
      // The killed engine frees the port. Take it before the restart, which follows at least a second later.
      await waitFor(
        () =>
          new Promise<boolean>((resolve) => {
            server.once('error', () => resolve(false));
            server.listen(port, '127.0.0.1', () => resolve(true));
          }),
        (isTaken) => isTaken,
      );
      return server;
    };
    const server = await takePort();
    await waitFor(
      () => logLines.filter((line) => line.startsWith('qdrant did not start')).length,
      (failures) => failures >= 2,
    );
    const state = JSON.parse(await readFile(path.join(dataDir, 'engines.json'), 'utf8')) as { engines: unknown[] };
    expect(state.engines).toMatchObject([{ name: 'qdrant', down: { attempts: expect.any(Number) } }]);
    server.close();
    await once(server, 'close');
    await waitFor(
      () => logLines.at(-1),
      (line) => line === 'qdrant runs again',
    );
    expect((await fetch(`${engines.qdrantUrl}/readyz`)).ok).toBe(true);

    const again = await takePort();
    await waitFor(
      () => logLines.at(-1) ?? '',
      (line) => line.startsWith('qdrant did not start'),
    );
    const lines = logLines.length;
    await engines.stop();
    again.close();
    await once(again, 'close');
    expect(logLines).toHaveLength(lines);
  } finally {
    await engines.stop();
  }
});
