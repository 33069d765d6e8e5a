/** How a process of the service is supervised: started again after each death, killed when frozen, ended by a stop. */
import { afterEach, expect, test } from '@jest/globals';

import { type ChildOptions, type SupervisedChild, superviseChild } from '../../scripts/child.js';
import { soon } from '../support/soon.js';

const started: SupervisedChild[] = [];
afterEach(async () => {
  for (const child of started.splice(0)) await child.stop();
});
async function supervise(does: string, options: Partial<ChildOptions> = {}): Promise<SupervisedChild> {
  const module = '../test/scripts/children/supervised';
  const child = await superviseChild({ module, env: { ...process.env, DOES: does }, compile: false, ...options });
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

test('a process is started again after each of its deaths, until it is stopped', async () => {
  const ends: string[] = [];
  const child = await supervise('waits', { onExit: (how) => void ends.push(how) });
  expect(child.ready).toEqual({ ready: true, port: 7 });
  for (let death = 1; death <= 3; death += 1) {
    const before = child.pid();
    process.kill(before ?? 0, 'SIGKILL');
    await soon(child.pid, (pid) => pid !== before && isAlive(pid));
    expect(ends).toEqual(Array(death).fill('by SIGKILL'));
  }
  const last = child.pid();
  await child.stop();
  expect([isAlive(last), ends.length]).toEqual([false, 3]);
});

test('a process without restart stays away, and one that fails at its start says how', async () => {
  const ends: string[] = [];
  const child = await supervise('waits', { restart: false, onExit: (how) => void ends.push(how) });
  const pid = child.pid();
  await child.kill();
  await soon(
    () => ends,
    ({ length }) => length === 1,
  );
  expect([child.pid(), isAlive(pid)]).toEqual([pid, false]);
  await expect(supervise('fails')).rejects.toThrow('ended at start with code 4');
});

test('a process without signs of life is killed and started again; one that never sent any is left alone', async () => {
  const frozen: (number | undefined)[] = [];
  const options = { frozenAfterMs: 1_000, onFrozen: (pid: number | undefined) => void frozen.push(pid) };
  const lines: string[] = [];
  const [freezes, quiet] = await Promise.all([
    supervise('freezes', options),
    supervise('logs', { ...options, onLogLine: (line) => void lines.push(line) }),
  ]);
  const [first, same] = [freezes.pid(), quiet.pid()];
  await soon(freezes.pid, (pid) => pid !== first && isAlive(pid));
  expect(frozen[0]).toBe(first);
  expect(frozen).not.toContain(same);
  expect([quiet.pid(), isAlive(same), lines]).toEqual([same, true, ['a line', 'another']]);
});
