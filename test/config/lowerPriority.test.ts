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

function sleeper(detached: boolean): number {
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
  const pid = sleeper(true);
  const shared = sessionNiceness(pid);
  lowerPriority(pid, 7);
  expect(getPriority(pid)).toBe(7);
  expect(sessionNiceness(pid)).toBe(shared === null ? null : 7);
});

test('lowers only the priority of the process in the session of another process', () => {
  const pid = sleeper(false);
  const shared = sessionNiceness(pid);
  lowerPriority(pid, 7);
  expect(getPriority(pid)).toBe(7);
  expect(sessionNiceness(pid)).toBe(shared);
});

/** Returns the niceness of each thread of a process. */
const threads = (pid: number): number[] =>
  readdirSync(`/proc/${pid}/task`).map((thread) => getPriority(Number(thread)));

test('lowers the priority of threads that exist already', async () => {
  const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'ignore' });
  children.push(child);
  const pid = child.pid ?? 0;
  await waitFor(
    () => Promise.resolve(threads(pid)),
    ({ length }) => length > 4,
  );
  lowerPriority(pid, 7);
  expect(new Set(threads(pid))).toEqual(new Set([7]));
});
