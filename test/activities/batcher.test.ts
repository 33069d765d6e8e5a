import { expect, test } from '@jest/globals';

import { createBatcher } from '../../activities/batcher.js';

test('calls that come together are worked off together, each with its own answer', async () => {
  const batches: number[][] = [];
  const batcher = createBatcher<number, number>(
    (items) => {
      batches.push(items);
      return Promise.resolve(items.map((item) => item * 10));
    },
    3,
    5,
  );
  expect(await Promise.all([1, 2, 3, 4].map((item) => batcher.add(item)))).toEqual([10, 20, 30, 40]);
  expect(batches).toEqual([[1, 2, 3], [4]]);
});

test('a failure reaches every caller of its batch, and only those', async () => {
  let calls = 0;
  const batcher = createBatcher<number, number>(
    (items) => {
      calls += 1;
      return calls === 1 ? Promise.reject(new Error('down')) : Promise.resolve(items);
    },
    2,
    5,
  );
  const results = await Promise.allSettled([batcher.add(1), batcher.add(2), batcher.add(3)]);
  expect(results.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'fulfilled']);
});

test('where work may run twice, the fault of one reaches no other', async () => {
  const batcher = createBatcher<number, number>(
    (items) => (items.includes(2) ? Promise.reject(new Error('not 2')) : Promise.resolve(items)),
    3,
    5,
    { retryAlone: true },
  );
  const results = await Promise.allSettled([1, 2, 3].map((item) => batcher.add(item)));
  expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
});
