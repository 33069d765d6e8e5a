import { AsyncLocalStorage } from 'node:async_hooks';

import { expect, jest, test } from '@jest/globals';

import { coalesce } from '../../contract/coalesce.js';

test('batches concurrent calls, and returns each its own result', async () => {
  const batches: number[][] = [];
  const call = coalesce<number, number>(
    (items) => {
      batches.push([...items]);
      return Promise.resolve(items.map((item) => item * 10));
    },
    { maxItems: 3, maxWaitMs: 5 },
  );
  expect(await Promise.all([1, 2, 3, 4].map((item) => call(item)))).toEqual([10, 20, 30, 40]);
  expect(batches).toEqual([[1, 2, 3], [4]]);
});

test('rejects every caller of a failed batch, and no others', async () => {
  let calls = 0;
  const call = coalesce<number, number>(
    (items) => {
      calls += 1;
      return calls === 1 ? Promise.reject(new Error('down')) : Promise.resolve(items);
    },
    { maxItems: 2, maxWaitMs: 5 },
  );
  const results = await Promise.allSettled([call(1), call(2), call(3)]);
  expect(results.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'fulfilled']);
});

test('retries each item of a failed batch alone with retryAlone', async () => {
  const call = coalesce<number, number>(
    (items) => (items.includes(2) ? Promise.reject(new Error('not 2')) : Promise.resolve(items)),
    { maxItems: 3, maxWaitMs: 5, retryAlone: true },
  );
  const results = await Promise.allSettled([1, 2, 3].map((item) => call(item)));
  expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
});

/** Returns work that records its items and waits until it is released. */
function heldWork() {
  const batches: number[][] = [];
  const holds: (() => void)[] = [];
  const work = async (items: readonly number[]): Promise<number[]> => {
    batches.push([...items]);
    await new Promise<void>((resolve) => holds.push(resolve));
    if (items.includes(13)) throw new Error('unlucky');
    return items.map((item) => item * 2);
  };
  const release = async (): Promise<void> => {
    holds.shift()?.();
    await new Promise((next) => setImmediate(next));
  };
  return { batches, work, release };
}

test('runs a single call at once, and batches the calls that arrive meanwhile, up to the limit', async () => {
  const { batches, work, release } = heldWork();
  const call = coalesce(work, { maxItems: 3 });
  const results = [1, 2, 3, 4, 5].map((item) => call(item));
  expect(batches).toEqual([[1]]);
  await release();
  expect(batches).toEqual([[1], [2, 3, 4]]);
  await release();
  expect(batches).toEqual([[1], [2, 3, 4], [5]]);
  await release();
  expect(await Promise.all(results)).toEqual([2, 4, 6, 8, 10]);
});

test('rejects only the calls of a failed batch, and runs the next batch', async () => {
  const { batches, work, release } = heldWork();
  const call = coalesce(work, { maxItems: 10 });
  const settled = Promise.allSettled([1, 13, 3].map((item) => call(item)));
  await release();
  const late = call(4);
  await release();
  await release();
  expect((await settled).map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'rejected']);
  expect(await late).toBe(8);
  expect(batches).toEqual([[1], [13, 3], [4]]);
});

test.each([[undefined], [5]])(
  'runs work in the async context of its first caller (maxWaitMs %p)',
  async (maxWaitMs) => {
    const request = new AsyncLocalStorage<string>();
    const seen: [string | undefined, readonly number[]][] = [];
    const call = coalesce<number, number>(
      async (items) => {
        seen.push([request.getStore(), items]);
        await new Promise((next) => setImmediate(next));
        return items;
      },
      { maxItems: 2, ...(maxWaitMs !== undefined && { maxWaitMs }) },
    );
    await Promise.all(['a', 'b', 'c', 'd'].map((name, index) => request.run(name, () => call(index))));
    expect(seen).toEqual(
      maxWaitMs === undefined
        ? [
            ['a', [0]],
            ['b', [1, 2]],
            ['d', [3]],
          ]
        : [
            ['a', [0, 1]],
            ['c', [2, 3]],
          ],
    );
  },
);

test('starts an incomplete batch maxWaitMs after its first item, and opens another one for later items', async () => {
  jest.useFakeTimers();
  try {
    const batches: (readonly number[])[] = [];
    const call = coalesce<number, number>(async (items) => (batches.push(items), items), {
      maxItems: 3,
      maxWaitMs: 50,
    });
    const first = call(1);
    await jest.advanceTimersByTimeAsync(30);
    const second = call(2);
    await jest.advanceTimersByTimeAsync(19);
    expect(batches).toEqual([]);
    await jest.advanceTimersByTimeAsync(1);
    expect(batches).toEqual([[1, 2]]);
    const late = call(3);
    await jest.advanceTimersByTimeAsync(50);
    expect([batches, await Promise.all([first, second, late])]).toEqual([
      [[1, 2], [3]],
      [1, 2, 3],
    ]);
    // A full batch starts at once, and its timer does not start the next one early.
    const full = [4, 5, 6].map((item) => call(item));
    expect(jest.getTimerCount()).toBe(0);
    await jest.advanceTimersByTimeAsync(40);
    const next = call(7);
    await jest.advanceTimersByTimeAsync(20);
    expect(batches).toEqual([[1, 2], [3], [4, 5, 6]]);
    await jest.advanceTimersByTimeAsync(30);
    expect([await Promise.all(full), await next, jest.getTimerCount()]).toEqual([[4, 5, 6], 7, 0]);
  } finally {
    jest.useRealTimers();
  }
});
