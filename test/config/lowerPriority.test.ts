import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { getPriority } from 'node:os';

import { afterEach, expect, test } from '@jest/globals';

import { lowerPriority } from '../../config/process/lowerPriority.js';
import { waitFor } from '../support/waitFor.js';

const children: ChildProcess[] = [];
afterEach(() => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
});

/** Starts a process that sleeps. Returns its id. @param detached whether it leads a session of its own */
function startSleep(detached: boolean): number {
  const child = spawn('sleep', ['60'], { detached, stdio: 'ignore' });
  children.push(child);
  return child.pid ?? 0;
}

/** Returns the niceness of the session of a process, or null if Linux does not schedule by session. */
function sessionNiceness(pid: number): number | null {
  const file = `/proc/${pid}/autogroup`;
  return existsSync(file) ? Number(/nice (-?\d+)/.exec(readFileSync(file, 'utf8'))?.[1]) : null;
}

test('lowers the priority of the session if the process leads it', () => {
  const pid = startSleep(true);
  const nicenessBefore = sessionNiceness(pid);
  lowerPriority(pid, 7);
  expect(getPriority(pid)).toBe(7);
  expect(sessionNiceness(pid)).toBe(nicenessBefore === null ? null : 7);
});

test('lowers only the priority of the process if another process leads its session', () => {
  const pid = startSleep(false);
  const nicenessBefore = sessionNiceness(pid);
  lowerPriority(pid, 7);
  expect(getPriority(pid)).toBe(7);
  expect(sessionNiceness(pid)).toBe(nicenessBefore);
});

/** Returns the niceness of each thread of a process. */
const nicenessOfThreads = (pid: number): number[] =>
  readdirSync(`/proc/${pid}/task`).map((thread) => getPriority(Number(thread)));

test('also lowers the priority of the existing threads of the process', async () => {
  const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'ignore' });
  children.push(child);
  const pid = child.pid ?? 0;
  await waitFor(
    () => Promise.resolve(nicenessOfThreads(pid)),
    ({ length }) => length > 4,
  );
  lowerPriority(pid, 7);
  expect(new Set(nicenessOfThreads(pid))).toEqual(new Set([7]));
});
