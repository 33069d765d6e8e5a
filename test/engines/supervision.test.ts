/** Tests of the control of engines with simulated processes: failed restarts, stops, first starts on a full disk. */
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';

import { afterEach, beforeEach, expect, test } from '@jest/globals';

import { type Launched, startEngine } from '../../engines/engine.js';
import { startWithSpace } from '../../engines/keepRunning.js';
import { findPort } from '../../engines/ports.js';
import { startEngines } from '../../engines/start.js';

let dataDir: string;
const servers: Server[] = [];
beforeEach(() => void (dataDir = mkdtempSync(path.join(tmpdir(), 'allotrope-supervision-'))));
afterEach(async () => {
  for (const server of servers.splice(0)) await new Promise((resolve) => server.close(resolve));
  rmSync(dataDir, { recursive: true });
});

/** Returns a simulated process that ends when it is stopped. */
function launched(pid = 2 ** 30): Launched {
  let end: (how: string) => void = () => undefined;
  const ended = new Promise<string>((resolve) => (end = resolve));
  return { pid, logOffset: 0, ended, stop: () => Promise.resolve(end('asked')) };
}

async function occupy(port: number): Promise<void> {
  const server = createServer();
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
}

test('starts an engine again after a restart that failed', async () => {
  let starts = 0;
  const engine = await startEngine({
    ...{ name: 'qdrant', ports: ['free'] },
    launch: () => {
      starts += 1;
      return starts === 2 ? Promise.reject(new Error('not ready')) : Promise.resolve(launched(2 ** 30 + starts));
    },
  });
  await expect(engine.restart()).rejects.toThrow('not ready');
  await engine.restart();
  expect([starts, engine.pid]).toEqual([3, 2 ** 30 + 3]);
});

test('rejects a restart whose result could not be recorded, and can restart again', async () => {
  let starts = 0;
  const engine = await startEngine({
    ...{ name: 'qdrant', ports: ['free'], launch: async () => launched(2 ** 30 + (starts += 1)) },
    onRestart: () => Promise.reject(new Error('the disk is full')),
  });
  await expect(engine.restart()).rejects.toThrow('the disk is full');
  await expect(engine.restart()).rejects.toThrow('the disk is full');
  expect(starts).toBe(3);
});

test('abandons a start in progress on a stop, and starts again on a later restart', async () => {
  let starts = 0;
  const engine = await startEngine({
    ...{ name: 'qdrant', ports: ['free'] },
    launch: (_ports, signal) => {
      starts += 1;
      if (starts !== 2) return Promise.resolve(launched(2 ** 30 + starts));
      return new Promise((_resolve, reject) => {
        signal.addEventListener('abort', () => reject(new Error('abandoned')));
      });
    },
  });
  const restart = engine.restart();
  const outcome = expect(restart).rejects.toThrow(/abandoned|was stopped/);
  await new Promise((resolve) => setImmediate(resolve));
  await engine.stop();
  await outcome;
  // A restart whose engine was stopped before it could launch does not launch.
  const early = expect(engine.restart()).rejects.toThrow('qdrant was stopped.');
  await engine.stop();
  await early;
  await engine.restart();
  expect([starts, engine.pid]).toEqual([3, 2 ** 30 + 3]);
});

test('gives up after five attempts whose ports other processes took', async () => {
  const used: number[] = [];
  const start = startEngine({
    ...{ name: 'qdrant', ports: ['free'] },
    launch: async ([port = 0]) => {
      used.push(port);
      await occupy(port);
      throw new Error('taken');
    },
  });
  const message = await start.catch((error: Error) => error.message);
  expect(message).toContain(`The ports ${used.at(-1)} were taken by other processes at each attempt`);
  expect(used).toHaveLength(5);
});

test('findPort returns no reserved port, and names the range in which no port is free', async () => {
  const first = await findPort('free');
  const reserved = Array.from({ length: 100 }, (_, nth) => first + nth);
  await expect(findPort(first, reserved)).rejects.toThrow(`No free port between ${first} and ${first + 99}.`);
});

/** Simulates the first start. Each failed start writes `line` to the log; `results`: whether each start succeeds. */
async function firstStart(line: string, results: readonly boolean[], signal = new AbortController().signal) {
  const log = path.join(dataDir, 'logs', 'mongodb.log');
  for (const folder of ['logs', 'mongodb']) mkdirSync(path.join(dataDir, folder), { recursive: true });
  writeFileSync(log, 'No space left on device, in an earlier start\n');
  const [lines, pauses]: [string[], number[]] = [[], []];
  let starts = 0;
  const options = {
    ...({ dataDir, name: 'mongodb', signal, printLine: (text: string) => void lines.push(text) } as const),
    pause: (ms: number, stopped: AbortSignal) => {
      stopped.throwIfAborted();
      return Promise.resolve(pauses.push(ms));
    },
  };
  const outcome = await startWithSpace(options, async () => {
    starts += 1;
    if (results[starts - 1] === true) return 'started';
    writeFileSync(log, `${line}\n`, { flag: 'a' });
    throw new Error('mongodb did not start.\nmore');
  }).catch((error: Error) => error.message);
  return { outcome, starts, pauses, lines };
}

test('repeats the first start of an engine while its disk is full, with growing pauses', async () => {
  const { outcome, pauses, lines } = await firstStart('No space left on device', [false, false, true]);
  expect([outcome, pauses]).toEqual(['started', [1_000, 2_000]]);
  expect(lines[1]).toMatch(/^mongodb did not start: No space left on device .*Next start in 2 s$/);
});

test('does not repeat a first start that failed for another reason, or whose signal is aborted', async () => {
  expect(await firstStart('bad config', [false, true])).toMatchObject({
    ...{ outcome: 'mongodb did not start.\nmore', starts: 1, lines: [] },
  });
  const stopped = await firstStart('No space left on device', [false, true], AbortSignal.abort());
  expect(stopped).toMatchObject({ outcome: 'mongodb did not start.\nmore', starts: 1 });
});

test('runs the engines of a data folder in one process at a time, and records them while they run', async () => {
  const need = { temporal: false, mongodb: false, qdrant: false };
  const file = path.join(dataDir, 'engines.json');
  const first = await startEngines({ dataDir, need, facts: { modelPath: '/model' } });
  expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual({ modelPath: '/model', owner: process.pid, engines: [] });
  await expect(startEngines({ dataDir, need })).rejects.toThrow('Another process runs its engines');
  await first.stop();
  expect(existsSync(file)).toBe(false);
  writeFileSync(path.join(dataDir, 'restoring'), '/backup');
  await expect(startEngines({ dataDir, need })).rejects.toThrow('was interrupted');
  rmSync(path.join(dataDir, 'restoring'));
  await (await startEngines({ dataDir, need })).stop();
});
