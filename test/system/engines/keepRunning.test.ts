/** Engines that end on their own are restarted until they run. */
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
let said: string[];

beforeEach(async () => {
  dataDir = await mkdtemp(path.join(tmpdir(), 'allotrope-keeper-'));
  for (const name of ['mongodb', 'qdrant', 'temporal']) await mkdir(path.join(dataDir, name));
  [nowMs, pauses, said] = [0, [], []];
});
afterEach(() => rm(dataDir, { recursive: true, force: true }));

const keeper = () =>
  createRestarter({
    dataDir,
    say: (line) => said.push(line),
    now: () => nowMs,
    pause: (ms, signal) => {
      if (signal.aborted) return Promise.reject(signal.reason as Error);
      pauses.push(ms / 1000);
      nowMs += ms;
      return Promise.resolve();
    },
  });

/** An engine whose first starts fail. */
function failing(times: number): Pick<Engine, 'restart'> & { starts: number } {
  const engine = {
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

test('an engine that does not start is tried again with growing pauses, each try with its cause, until it runs', async () => {
  const { onCrash, down } = keeper();
  const engine = failing(7);
  onCrash('mongodb', 'ended by SIGABRT', engine as unknown as Engine);
  await waitFor(
    () => said.at(-1),
    (line) => line === 'mongodb runs again',
  );
  expect(pauses).toEqual([1, 2, 4, 8, 16, 30, 30, 30]);
  expect(said[0]).toBe('mongodb ended by SIGABRT. Next start in 1 s');
  expect(said[1]).toBe('mongodb did not start: ended by SIGABRT. Next start in 2 s');
  expect(said).toHaveLength(9);
  expect(down.size).toBe(0);
});

test('an engine that ends soon after its start waits longer each time, and one that has run a minute does not', async () => {
  const { onCrash } = keeper();
  const engine = failing(0);
  for (const ranMs of [0, 5_000, 5_000, 60_000]) {
    nowMs += ranMs;
    const before = engine.starts;
    onCrash('qdrant', 'ended by SIGSEGV', engine as unknown as Engine);
    await waitFor(
      () => [engine.starts, said.at(-1)] as const,
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
  // After the line of its fault, mongod writes one for each frame of its stack.
  [
    'mongodb',
    '{"s":"F","msg":"Fatal assertion"}\n{"s":"I","msg":"Frame"}\n',
    /^mongodb ended: .+Fatal assertion"}\. Next/,
  ],
] as const)("the end of %s's log names the cause", async (name, log, line) => {
  await mkdir(path.join(dataDir, 'logs'));
  await writeFile(path.join(dataDir, 'logs', `${name}.log`), log);
  keeper().onCrash(name, 'ended', failing(0) as unknown as Engine);
  await waitFor(
    () => said,
    (lines) => lines.length === 2,
  );
  expect(said[0]).toMatch(line);
});

test('nothing is started after stop', async () => {
  const { onCrash, down, stop } = keeper();
  const engine = failing(0);
  stop();
  onCrash('qdrant', 'ended with code 1', engine as unknown as Engine);
  await new Promise((resolve) => setTimeout(resolve, 50));
  expect([engine.starts, said, down.size]).toEqual([0, [], 0]);
});

test('a real engine whose port is taken comes back when the port is free; stop ends a backoff', async () => {
  const engines = await startEngines({
    dataDir,
    need: { temporal: false, mongodb: false, qdrant: true },
    ports: 'free',
    keepRunning: (line) => said.push(line),
  });
  try {
    const { qdrant } = engines;
    const port = qdrant!.ports[0]!;
    const takePort = async () => {
      const server = createServer((socket) => socket.destroy());
      process.kill(qdrant!.pid, 'SIGKILL');
      // The port is free once the engine is gone, and then for a second at least.
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
      () => said.filter((line) => line.startsWith('qdrant did not start')).length,
      (failures) => failures >= 2,
    );
    const notes = JSON.parse(await readFile(path.join(dataDir, 'engines.json'), 'utf8')) as { engines: unknown[] };
    expect(notes.engines).toMatchObject([{ name: 'qdrant', down: { attempts: expect.any(Number) } }]);
    server.close();
    await once(server, 'close');
    await waitFor(
      () => said.at(-1),
      (line) => line === 'qdrant runs again',
    );
    expect((await fetch(`${engines.qdrantUrl}/readyz`)).ok).toBe(true);

    const again = await takePort();
    await waitFor(
      () => said.at(-1) ?? '',
      (line) => line.startsWith('qdrant did not start'),
    );
    const lines = said.length;
    await engines.stop();
    again.close();
    await once(again, 'close');
    expect(said).toHaveLength(lines);
  } finally {
    await engines.stop();
  }
});
