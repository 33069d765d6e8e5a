import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from '@jest/globals';

import { createLiveness } from '../../store/users/liveness.js';

const USER = { organizationId: 1, userId: 2 };

/** Returns a fake user record, and how often it was read. */
function record() {
  const state = { exists: true, reads: 0 };
  const read = (): Promise<boolean> => {
    state.reads += 1;
    return Promise.resolve(state.exists);
  };
  return { state, read };
}

test('caches that a user exists until the entry expires', async () => {
  const { state, read } = record();
  const { isLive } = createLiveness(200);
  expect([await isLive(USER, read), await isLive(USER, read), state.reads]).toEqual([true, true, 1]);
  // The same id in another organization is another user.
  expect([await isLive({ ...USER, organizationId: 3 }, read), state.reads]).toEqual([true, 2]);
  state.exists = false;
  await sleep(250);
  expect([await isLive(USER, read), await isLive(USER, read), state.reads]).toEqual([false, false, 4]);
});

test('a deletion in this process takes effect immediately, and nothing is cached during its commit', async () => {
  const { state, read } = record();
  const { isLive, invalidate: forget } = createLiveness(60_000);
  await isLive(USER, read);
  forget([USER]);
  expect([await isLive(USER, read), await isLive(USER, read), state.reads]).toEqual([true, true, 3]);
  state.exists = false;
  expect(await isLive(USER, read)).toBe(false);
});

test('a read that was in progress when the deletion began is not cached', async () => {
  const { isLive, invalidate: forget } = createLiveness(60_000);
  let answer = (_lives: boolean): void => undefined;
  const pending = isLive(USER, () => new Promise((resolve) => (answer = resolve)));
  forget([USER]);
  answer(true);
  await pending;
  expect(await isLive(USER, () => Promise.resolve(false))).toBe(false);
});
