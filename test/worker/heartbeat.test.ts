import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, test } from '@jest/globals';

import { createSdkLogger } from '../../worker/sdkLogger.js';
import { reportAlive, sendHeartbeats } from '../../worker/heartbeat.js';
import { everyRow } from '../support/everyRow.js';
import { recorder } from '../support/recorder.js';
import { waitFor } from '../support/waitFor.js';

const self = { id: 'self', host: 'here', pid: process.pid, startedAt: new Date() } as never;
const LOAD = { waitShare: 0.5, waited: 0.25, othersShare: null };
/** A pid above pid_max, which no process has: https://man7.org/linux/man-pages/man5/proc_sys_kernel.5.html */
const NO_PROCESS = 2 ** 30;

test('a worker removes the records of dead workers on its host, sends a first heartbeat, and removes its record at its end', async () => {
  const { stores, of, names } = recorder({
    'workers.listOnHost': [
      { id: 'earlier process with this pid', pid: process.pid },
      { id: 'dead', pid: NO_PROCESS },
      { id: 'alive', pid: process.ppid },
    ],
  });
  const stop = new AbortController();
  const log = { warn: () => undefined } as never;
  const ended = sendHeartbeats((stores as { workers: never }).workers, self, () => LOAD, log, stop.signal);
  await waitFor(
    () => Promise.resolve(of('workers.recordHeartbeat')),
    ({ length }) => length > 0,
  );
  expect(of('workers.listOnHost')).toEqual([['here']]);
  expect(of('workers.remove')).toEqual([['earlier process with this pid'], ['dead']]);
  const [worker, load] = of('workers.recordHeartbeat')[0]!;
  expect(worker).toBe(self);
  expect(load).toEqual({ lagMs: expect.any(Number), ...LOAD });
  stop.abort();
  await ended;
  expect(of('workers.remove').at(-1)).toEqual(['self']);
  expect(names().at(-1)).toBe('workers.remove');
});

test('logs a failed heartbeat, and keeps the worker running', async () => {
  const fail = () => Promise.reject(new Error('MongoDB is unreachable'));
  const { stores, of } = recorder({
    'workers.listOnHost': fail,
    'workers.recordHeartbeat': fail,
    'workers.remove': fail,
  });
  const warnings: string[] = [];
  const log = { warn: (_fields: unknown, text: string) => void warnings.push(text) } as never;
  const stop = new AbortController();
  const ended = sendHeartbeats((stores as { workers: never }).workers, self, () => LOAD, log, stop.signal);
  await waitFor(
    () => Promise.resolve(of('workers.recordHeartbeat')),
    ({ length }) => length > 0,
  );
  stop.abort();
  await ended;
  expect(new Set(warnings)).toEqual(new Set(['updating the heartbeat records failed; this does not stop the worker']));
  expect(warnings).toHaveLength(3);
});

test('reports to the supervisor that it is responsive; a closed channel causes no error', async () => {
  const code = "process.once('message', (message) => process.send(message, () => process.disconnect()))";
  const supervisor = spawn(process.execPath, ['-e', code], { stdio: ['ignore', 'ignore', 'ignore', 'ipc'] });
  const errors: unknown[] = [];
  supervisor.on('error', (error) => void errors.push(error));
  const closed = once(supervisor, 'disconnect');
  const received = once(supervisor, 'message');
  reportAlive(supervisor);
  expect(await received).toEqual([{ alive: true }, undefined]);
  await closed;
  reportAlive(supervisor);
  await nextTurn();
  expect(errors).toEqual([]);
});

test("writes the SDK's errors and warnings to our log at their level, and everything else at debug level", async () => {
  const rows: [level: string, message: string, as: string][] = [
    ['ERROR', 'x', 'error'],
    ['WARN', 'x', 'warn'],
    ['WARN', 'No workflows registered, so none run', 'debug'],
    ['INFO', 'x', 'debug'],
  ];
  await everyRow(rows, String, ([level, message, as]) => {
    const lines: unknown[] = [];
    const write = (name: string) => (fields: object, text: string) => void lines.push([name, fields, text]);
    const log = { error: write('error'), warn: write('warn'), info: write('info'), debug: write('debug') } as never;
    createSdkLogger(log).log(level as never, message, { a: 1 });
    expect(lines).toEqual([[as, { a: 1 }, message]]);
  });
});
