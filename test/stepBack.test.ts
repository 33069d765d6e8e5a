import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { getPriority } from 'node:os';

import { afterEach, expect, test } from '@jest/globals';

import { stepBack } from '../stepBack.js';

const children: ChildProcess[] = [];
afterEach(() => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
});

function sleeper(detached: boolean): number {
  const child = spawn('sleep', ['60'], { detached, stdio: 'ignore' });
  children.push(child);
  return child.pid ?? 0;
}

/** How far the session of a process has stepped back; null where Linux does not share by session. */
function sessionNiceness(pid: number): number | null {
  const file = `/proc/${pid}/autogroup`;
  return existsSync(file) ? Number(/nice (-?\d+)/.exec(readFileSync(file, 'utf8'))?.[1]) : null;
}

test('a process that leads its session steps back with it', () => {
  const pid = sleeper(true);
  const shared = sessionNiceness(pid);
  stepBack(pid, 7);
  expect(getPriority(pid)).toBe(7);
  expect(sessionNiceness(pid)).toBe(shared === null ? null : 7);
});

test('a process in the session of others steps back alone', () => {
  const pid = sleeper(false);
  const shared = sessionNiceness(pid);
  stepBack(pid, 7);
  expect(getPriority(pid)).toBe(7);
  expect(sessionNiceness(pid)).toBe(shared);
});
