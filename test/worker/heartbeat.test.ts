import { expect, test } from '@jest/globals';

import { createSdkLogger } from '../../worker/sdkLogger.js';
import { sendHeartbeats } from '../../worker/heartbeat.js';
import { everyRow } from '../support/everyRow.js';
import { recorder } from '../support/recorder.js';
import { waitFor } from '../support/waitFor.js';

const self = { id: 'self', host: 'here', pid: process.pid, startedAt: new Date() } as never;
const LOAD = { waitShare: 0.5, waited: 0.25, othersShare: null };
/** No process has this number: https://man7.org/linux/man-pages/man5/proc_sys_kernel.5.html (pid_max) */
const NO_PROCESS = 2 ** 30;

test('a worker takes over from those of its host whose process is gone, beats at once, and leaves when it stops', async () => {
  const { stores, of, names } = recorder({
    'workers.on': [
      { id: 'earlier life with this number', pid: process.pid },
      { id: 'dead', pid: NO_PROCESS },
      { id: 'alive', pid: process.ppid },
    ],
  });
  const stop = new AbortController();
  const log = { warn: () => undefined } as never;
  const kept = sendHeartbeats((stores as { workers: never }).workers, self, () => LOAD, log, stop.signal);
  await waitFor(
    () => Promise.resolve(of('workers.beat')),
    ({ length }) => length > 0,
  );
  expect(of('workers.on')).toEqual([['here']]);
  expect(of('workers.ended')).toEqual([['earlier life with this number'], ['dead']]);
  const [whose, load] = of('workers.beat')[0]!;
  expect(whose).toBe(self);
  expect(load).toEqual({ lagMs: expect.any(Number), ...LOAD });
  stop.abort();
  await kept;
  expect(of('workers.ended').at(-1)).toEqual(['self']);
  expect(names().at(-1)).toBe('workers.ended');
});

test('a heartbeat that can not be written is told, and does not end the worker', async () => {
  const away = () => Promise.reject(new Error('MongoDB is away'));
  const { stores, of } = recorder({ 'workers.on': away, 'workers.beat': away, 'workers.ended': away });
  const told: string[] = [];
  const log = { warn: (_fields: unknown, text: string) => void told.push(text) } as never;
  const stop = new AbortController();
  const kept = sendHeartbeats((stores as { workers: never }).workers, self, () => LOAD, log, stop.signal);
  await waitFor(
    () => Promise.resolve(of('workers.beat')),
    ({ length }) => length > 0,
  );
  stop.abort();
  await kept;
  expect(new Set(told)).toEqual(new Set(['the heartbeat could not be written; trying again']));
  expect(told).toHaveLength(3);
});

test("the SDK's lines come to our log: errors and warnings as such, the rest for who looks closely", async () => {
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
