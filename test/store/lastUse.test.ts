/** Tests how the last uses of files are collected in memory and written. The model of files and the clock are fakes. */
import { afterEach, beforeEach, expect, jest, test } from '@jest/globals';

import { hotMs } from '../../contract/files/coldStorage.js';
import { createLastUse } from '../../store/coldStorage/lastUse.js';

const NOW = Date.parse('2026-01-02T03:04:05.000Z');
const HOUR_MS = 3_600_000;
const ADA = { organizationId: 1, userId: 7 };

beforeEach(() => void jest.useFakeTimers({ now: NOW }));
afterEach(() => void jest.useRealTimers());

/** Returns a recorder of uses, the queries that it sends, and the updates that it writes. */
function start() {
  const store = { isDown: false, lastUsedAt: null as Date | null, queries: [] as object[] };
  const updates: { filter: object; update: object }[] = [];
  const lastUse = createLastUse({
    find: (query: { $or: { _id: { $in: number[] } }[] }) => ({
      async lean() {
        await Promise.resolve();
        if (store.isDown) throw new Error('down');
        store.queries.push(query);
        const { lastUsedAt } = store;
        return query.$or.flatMap(({ _id, ...tenant }) =>
          _id.$in.map((id) => ({ _id: id, ...tenant, hotStorageTimeToLive: 5, lastUsedAt })),
        );
      },
    }),
    bulkWrite: async (changes: { updateOne: { filter: object; update: object } }[]) =>
      void updates.push(...changes.map(({ updateOne }) => updateOne)),
  } as never);
  const use = (_id: number, fields: object = {}): void =>
    lastUse.record([{ _id, ...ADA, supportsColdStorage: true, lastUsedAt: null, ...fields }] as never);
  const updatedIds = () => updates.splice(0).map(({ filter }) => (filter as { _id: number })._id);
  return { store, updates, lastUse, use, updatedIds };
}

test('writes the uses of two seconds together, and writes later uses again after two seconds', async () => {
  const { use, updatedIds, store } = start();
  use(1);
  await jest.advanceTimersByTimeAsync(1_000);
  use(2);
  use(1);
  await jest.advanceTimersByTimeAsync(999);
  expect(updatedIds()).toEqual([]);
  await jest.advanceTimersByTimeAsync(1);
  expect([updatedIds(), store.queries.length]).toEqual([[1, 2], 1]);
  for (const id of [3, 4]) {
    use(id);
    await jest.advanceTimersByTimeAsync(2_000);
    expect(updatedIds()).toEqual([id]);
  }
  expect(jest.getTimerCount()).toBe(0);
});

test('continues after a failed write, and after a write on request', async () => {
  const { use, updatedIds, store, lastUse } = start();
  store.isDown = true;
  use(1);
  await jest.advanceTimersByTimeAsync(2_000);
  store.isDown = false;
  use(2);
  await jest.advanceTimersByTimeAsync(2_000);
  expect(updatedIds()).toEqual([2]);
  use(3);
  await lastUse.flush();
  expect([updatedIds(), jest.getTimerCount()]).toEqual([[3], 0]);
  use(4);
  await jest.advanceTimersByTimeAsync(2_000);
  expect(updatedIds()).toEqual([4]);
});

test('a use is written with its tenant and the time at which the file becomes cold', async () => {
  const { use, updates, lastUse, store } = start();
  use(1);
  use(2, { userId: 8 });
  use(3);
  use(4, { organizationId: 2 });
  await lastUse.flush();
  expect(store.queries).toEqual([
    {
      $or: [
        { ...ADA, _id: { $in: [1, 3] } },
        { ...ADA, userId: 8, _id: { $in: [2] } },
        { ...ADA, organizationId: 2, _id: { $in: [4] } },
      ],
      supportsColdStorage: true,
    },
  ]);
  const filter = { _id: 2, organizationId: 1, userId: 8, supportsColdStorage: true, hotStorageTimeToLive: 5 };
  const set = { lastUsedAt: new Date(NOW), coolsAt: new Date(NOW + hotMs(5)) };
  expect(updates.find((update) => (update.filter as typeof filter)._id === 2)).toEqual({
    filter,
    update: { $set: set },
  });
});

test('does not write a use within an hour of the last one, nor one of a file that stays in hot storage', async () => {
  const { use, updatedIds, store, lastUse } = start();
  use(1, { lastUsedAt: new Date(NOW - HOUR_MS + 1) });
  use(2, { supportsColdStorage: false });
  expect(jest.getTimerCount()).toBe(0);
  use(3, { lastUsedAt: new Date(NOW - HOUR_MS) });
  await lastUse.flush();
  expect(updatedIds()).toEqual([3]);
  // Another process has recorded a use since the search read the file.
  store.lastUsedAt = new Date(NOW - HOUR_MS + 1);
  use(4);
  await lastUse.flush();
  store.lastUsedAt = new Date(NOW - HOUR_MS);
  use(5);
  await lastUse.flush();
  expect(updatedIds()).toEqual([5]);
});

test('collects at most ten thousand files, and as many again after a write', async () => {
  const { use, updatedIds, lastUse } = start();
  for (let round = 0; round < 2; round += 1) {
    for (let id = 0; id <= 10_000; id += 1) use(id);
    await lastUse.flush();
    expect(updatedIds()).toHaveLength(10_000);
  }
});
