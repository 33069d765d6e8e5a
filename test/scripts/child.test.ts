/** Tests of the supervisor of a process: it restarts the process after each exit, kills a frozen one, and stops it. */
import { getEventListeners } from 'node:events';

import { afterEach, expect, jest, test } from '@jest/globals';

import { type ChildOptions, type SupervisedChild, superviseChild } from '../../scripts/child.js';
import { waitFor } from '../support/waitFor.js';

const started: SupervisedChild[] = [];
afterEach(async () => {
  for (const child of started.splice(0)) await child.stop();
});
async function supervise(behaviour: string, options: Partial<ChildOptions> = {}): Promise<SupervisedChild> {
  const module = '../test/scripts/children/supervised';
  const child = await superviseChild({
    module,
    env: { ...process.env, BEHAVIOUR: behaviour },
    compile: false,
    ...options,
  });
  started.push(child);
  return child;
}
const isAlive = (pid: number | undefined): boolean => {
  try {
    return pid !== undefined && process.kill(pid, 0);
  } catch {
    return false;
  }
};

test('restarts a process after each exit until it is stopped', async () => {
  const ends: string[] = [];
  const child = await supervise('waits', { onExit: (how) => void ends.push(how) });
  expect(child.ready).toEqual({ ready: true, port: 7 });
  for (let exit = 1; exit <= 3; exit += 1) {
    const pidBefore = child.pid();
    process.kill(pidBefore ?? 0, 'SIGKILL');
    await waitFor(child.pid, (pid) => pid !== pidBefore && isAlive(pid));
    expect(ends).toEqual(Array(exit).fill('by SIGKILL'));
  }
  const lastPid = child.pid();
  await child.stop();
  expect([isAlive(lastPid), ends.length]).toEqual([false, 3]);
});

test('does not restart a process stopped right after its exit, and leaves no timer and no listener', async () => {
  const { signal } = new AbortController();
  let ended: () => void = () => undefined;
  const exit = new Promise<void>((resolve) => (ended = resolve));
  const child = await supervise('waits', { startSignal: signal, onExit: () => ended() });
  expect(getEventListeners(signal, 'abort')).toEqual([]);
  jest.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate', 'queueMicrotask', 'Date', 'performance'] });
  try {
    const pid = child.pid();
    process.kill(pid ?? 0, 'SIGKILL');
    await exit;
    await child.stop();
    jest.advanceTimersByTime(1_000);
    expect([child.pid(), jest.getTimerCount()]).toEqual([pid, 0]);
  } finally {
    jest.useRealTimers();
  }
});

test('does not restart a process with restart: false, and rejects with the exit code of a failed start', async () => {
  const ends: string[] = [];
  const child = await supervise('waits', { restart: false, onExit: (how) => void ends.push(how) });
  const pid = child.pid();
  await child.kill();
  await waitFor(
    () => ends,
    ({ length }) => length === 1,
  );
  expect([child.pid(), isAlive(pid)]).toEqual([pid, false]);
  await expect(supervise('fails')).rejects.toThrow('ended at start with code 4');
});

test('an abort of the start signal kills a process that is not ready yet, and prevents a later start', async () => {
  const failed = new AbortController();
  let pid: number | undefined;
  const onLogLine = (line: string): void => {
    pid = Number(line);
    failed.abort(new Error('the other process failed'));
  };
  await expect(supervise('hangs', { startSignal: failed.signal, onLogLine })).rejects.toThrow('other process failed');
  expect(pid).toBeGreaterThan(0);
  await waitFor(
    () => isAlive(pid),
    (alive) => !alive,
  );
  await expect(supervise('waits', { startSignal: failed.signal })).rejects.toThrow('other process failed');
});

test('kills and restarts a process whose heartbeats stop, but not one that never sent any', async () => {
  const frozen: (number | undefined)[] = [];
  const options = { frozenAfterMs: 1_000, onFrozen: (pid: number | undefined) => void frozen.push(pid) };
  const lines: string[] = [];
  const [freezes, silent] = await Promise.all([
    supervise('freezes', options),
    supervise('logs', { ...options, onLogLine: (line) => void lines.push(line) }),
  ]);
  const [first, same] = [freezes.pid(), silent.pid()];
  await waitFor(freezes.pid, (pid) => pid !== first && isAlive(pid));
  expect(frozen[0]).toBe(first);
  expect(frozen).not.toContain(same);
  expect([silent.pid(), isAlive(same), lines]).toEqual([same, true, ['a line', 'another']]);
});
