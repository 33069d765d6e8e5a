import { expect, test } from '@jest/globals';

import { everyRow } from './support/everyRow.js';

const isEven = (row: number): void => expect(row % 2).toBe(0);

test('everyRow passes if every row satisfies the rule, and checks each row once, in order', async () => {
  const checked: number[] = [];
  await everyRow([2, 4, 6], String, (row) => checked.push(row));
  expect(checked).toEqual([2, 4, 6]);
});

test('everyRow names every row that breaks the rule, with its failure, for synchronous and asynchronous rules', async () => {
  const rule = async (row: number): Promise<void> => {
    await Promise.resolve();
    isEven(row);
  };
  for (const [check, options] of [
    [isEven, {}],
    [rule, {}],
    [rule, { atOnce: 3 }],
  ] as const) {
    const failing = everyRow([1, 2, 3, 4, 5], (row) => `row ${row}`, check, options);
    await expect(failing).rejects.toThrow(/^3 of 5 rows break the rule:[\s\S]*row 1: [\s\S]*row 3: [\s\S]*row 5: /);
    await expect(failing).rejects.toThrow(/Expected: .*0/);
  }
});

test('everyRow fails for a table without rows', async () => {
  await expect(everyRow([], String, isEven)).rejects.toThrow(/no rows/);
});

test('everyRow checks at most atOnce rows at a time', async () => {
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
