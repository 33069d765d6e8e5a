import { expect, test } from '@jest/globals';

import { together } from '../../store/together.js';

/** Work that notes what it was given, and waits until it is let go. */
function heldWork() {
  const given: number[][] = [];
  const holds: (() => void)[] = [];
  const work = async (items: readonly number[]): Promise<number[]> => {
    given.push([...items]);
    await new Promise<void>((go) => holds.push(go));
    if (items.includes(13)) throw new Error('unlucky');
    return items.map((item) => item * 2);
  };
  const letGo = async (): Promise<void> => {
    holds.shift()?.();
    await new Promise((next) => setImmediate(next));
  };
  return { given, work, letGo };
}

test('a single call goes at once; those that come meanwhile go together, so many at most', async () => {
  const { given, work, letGo } = heldWork();
  const call = together(work, 3);
  const all = [1, 2, 3, 4, 5].map((item) => call(item));
  expect(given).toEqual([[1]]);
  await letGo();
  expect(given).toEqual([[1], [2, 3, 4]]);
  await letGo();
  expect(given).toEqual([[1], [2, 3, 4], [5]]);
  await letGo();
  expect(await Promise.all(all)).toEqual([2, 4, 6, 8, 10]);
});

test('what fails reaches those of one call, and the next go on', async () => {
  const { given, work, letGo } = heldWork();
  const call = together(work, 10);
  const all = Promise.allSettled([1, 13, 3].map((item) => call(item)));
  await letGo();
  const late = call(4);
  await letGo();
  await letGo();
  expect((await all).map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'rejected']);
  expect(await late).toBe(8);
  expect(given).toEqual([[1], [13, 3], [4]]);
});
