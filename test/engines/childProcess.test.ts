import { getEventListeners } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { getPriority, tmpdir } from 'node:os';
import path from 'node:path';

import { afterEach, beforeEach, expect, jest, test } from '@jest/globals';

import { findPort } from '../../engines/ports.js';
import { startChild } from '../../engines/process.js';
import { findPython } from '../../engines/python.js';
import { run } from '../../engines/run.js';

let dataDir: string;
beforeEach(() => void (dataDir = mkdtempSync(path.join(tmpdir(), 'allotrope-child-'))));
afterEach(() => rmSync(dataDir, { recursive: true }));

test('an abort ends the start of an engine that never responds, and the process of the engine', async () => {
  const port = await findPort('free');
  const stopping = new AbortController();
  const start = startChild({
    ...{ name: 'qdrant', dataDir, port, signal: stopping.signal, python: await findPython() },
    program: process.execPath,
    args: ['-e', `require('node:net').createServer().listen(${port}, '127.0.0.1')`],
    isReady: () => {
      setImmediate(() => stopping.abort());
      return new Promise(() => undefined);
    },
  });
  await expect(start).rejects.toThrow('qdrant did not start: it was stopped');
  const pid = Number.parseInt(readFileSync(path.join(dataDir, 'pids', 'qdrant'), 'utf8'), 10);
  expect(() => process.kill(pid, 0)).toThrow('ESRCH');
});

test('starts an engine whose first checks fail, with its priority, and kills it if it ignores SIGTERM for 10 s', async () => {
  const port = await findPort('free');
  const { signal } = new AbortController();
  let checks = 0;
  const engine = await startChild({
    ...{ name: 'qdrant', dataDir, port, signal, python: await findPython(), niceness: 17 },
    program: process.execPath,
    args: [
      '-e',
      `process.on('SIGTERM', () => console.log('asked')); require('node:net').createServer().listen(${port}, '127.0.0.1')`,
    ],
    isReady: () => {
      checks += 1;
      return checks === 1 ? Promise.reject(new Error('refused')) : Promise.resolve(checks === 3);
    },
  });
  expect([checks, getPriority(engine.pid), getEventListeners(signal, 'abort').length]).toEqual([3, 17, 0]);
  jest.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate', 'queueMicrotask', 'Date', 'performance'] });
  try {
    const stopped = engine.stop();
    jest.advanceTimersByTime(9_999);
    expect(process.kill(engine.pid, 0)).toBe(true);
    jest.advanceTimersByTime(1);
    await stopped;
    expect([await engine.ended, jest.getTimerCount()]).toEqual(['ended by SIGKILL', 0]);
  } finally {
    jest.useRealTimers();
  }
});

test('reports the end of an engine during its start, though another process responds at its port', async () => {
  const port = await findPort('free');
  const other = createServer();
  await new Promise<void>((resolve) => other.listen(port, '127.0.0.1', resolve));
  process.env['SECRET_KEY'] = 'k1:secret';
  let checks = 0;
  const start = startChild({
    ...{ name: 'qdrant', dataDir, port, signal: new AbortController().signal, python: await findPython() },
    program: process.execPath,
    args: ['-e', 'console.log(`key ${process.env.SECRET_KEY}`); setTimeout(() => process.exit(3), 300)'],
    isReady: () => Promise.resolve((checks += 1) > 0),
  });
  try {
    await expect(start).rejects.toThrow(/^qdrant did not start: ended with code 3 \(.*\nkey undefined$/s);
  } finally {
    delete process.env['SECRET_KEY'];
    await new Promise((resolve) => other.close(resolve));
  }
  expect(checks).toBe(0);
});

test('returns the output of a program, or rejects with its last lines and its exit code', async () => {
  const script =
    'for (let n = 1; n < 20; n += 1) console.log(n); console.error("e"); process.exitCode = +process.argv[1]';
  const seen: string[] = [];
  const output = await run(process.execPath, ['-e', script, '0'], { onLine: (line) => void seen.push(line) });
  expect(output.split('\n').toSorted()).toEqual(seen.toSorted());
  expect(seen).toHaveLength(20);
  expect(seen).toEqual(expect.arrayContaining(['1', '19', 'e']));
  const failed = run(process.execPath, ['-e', script, '7']).catch((error: Error) => error.message);
  const [first, ...tail] = (await failed).split('\n');
  expect(first).toMatch(/ended with code 7:$/);
  expect([tail.length, tail.includes('19'), tail.includes('1')]).toEqual([15, true, false]);
  await expect(run('/does/not/exist', [])).rejects.toThrow('ENOENT');
});

test('names the time limit of a program that was stopped because of it', async () => {
  const endless = run(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { timeoutMs: 100 });
  await expect(endless).rejects.toThrow('did not end within 0.1 s');
});
