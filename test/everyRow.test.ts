import { expect, test } from '@jest/globals';

import { everyRow } from './support/everyRow.js';

const isEven = (row: number): void => expect(row % 2).toBe(0);

test('a rule that holds for every row passes, and meets each row once, in order', async () => {
  const met: number[] = [];
  await everyRow([2, 4, 6], String, (row) => met.push(row));
  expect(met).toEqual([2, 4, 6]);
});

test('every row that breaks a rule is named with its failure, whether the rule is asynchronous or not', async () => {
  const rule = async (row: number): Promise<void> => {
    await Promise.resolve();
    isEven(row);
  };
  for (const [one, options] of [
    [isEven, {}],
    [rule, {}],
    [rule, { atOnce: 3 }],
  ] as const) {
    const failing = everyRow([1, 2, 3, 4, 5], (row) => `row ${row}`, one, options);
    await expect(failing).rejects.toThrow(/^3 of 5 rows break the rule:[\s\S]*row 1: [\s\S]*row 3: [\s\S]*row 5: /);
    await expect(failing).rejects.toThrow(/Expected: .*0/);
  }
});

test('a table without rows fails', async () => {
  await expect(everyRow([], String, isEven)).rejects.toThrow(/no rows/);
});

test('no more rows are checked at once than asked for', async () => {
  const load = { now: 0, most: 0 };
  await everyRow(
    Array.from({ length: 10 }, (_, at) => at),
    String,
    async () => {
      load.now += 1;
      load.most = Math.max(load.most, load.now);
      await new Promise((resolve) => setImmediate(resolve));
      load.now -= 1;
    },
    { atOnce: 4 },
  );
  expect(load).toEqual({ now: 0, most: 4 });
});
