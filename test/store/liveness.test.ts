import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from '@jest/globals';

import { createLiveness } from '../../store/users/liveness.js';

const USER = { organizationId: 1, userId: 2 };

/** The record of a user, and how often it was looked at. */
function record() {
  const state = { lives: true, looks: 0 };
  const look = (): Promise<boolean> => {
    state.looks += 1;
    return Promise.resolve(state.lives);
  };
  return { state, look };
}

test('who was found alive is not looked for again for a moment, and then is', async () => {
  const { state, look } = record();
  const { isLive } = createLiveness(200);
  expect([await isLive(USER, look), await isLive(USER, look), state.looks]).toEqual([true, true, 1]);
  // The same number in another organization is another user.
  expect([await isLive({ ...USER, organizationId: 3 }, look), state.looks]).toEqual([true, 2]);
  state.lives = false;
  await sleep(250);
  expect([await isLive(USER, look), await isLive(USER, look), state.looks]).toEqual([false, false, 4]);
});

test('a deletion in this process is known at once, and while it is being committed nobody is taken for alive', async () => {
  const { state, look } = record();
  const { isLive, forget } = createLiveness(60_000);
  await isLive(USER, look);
  forget([USER]);
  expect([await isLive(USER, look), await isLive(USER, look), state.looks]).toEqual([true, true, 3]);
  state.lives = false;
  expect(await isLive(USER, look)).toBe(false);
});

test('a look that was under way when the deletion began is not kept', async () => {
  const { isLive, forget } = createLiveness(60_000);
  let seen = (_lives: boolean): void => undefined;
  const early = isLive(USER, () => new Promise((resolve) => (seen = resolve)));
  forget([USER]);
  seen(true);
  await early;
  expect(await isLive(USER, () => Promise.resolve(false))).toBe(false);
});
