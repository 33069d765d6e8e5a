/** What a process keeps between calls of MongoDB: usage that is not written yet, and the version of the records. */
import { afterEach, expect, jest, test } from '@jest/globals';

import { SCHEMA_VERSION } from '../../store/migrations/run.js';
import { outdatedMessage, watchSchema } from '../../store/migrations/schemaWatch.js';
import { createEmbeddingUsages } from '../../store/usage/embeddingUsage.js';
import { everyRow } from '../support/everyRow.js';

afterEach(() => {
  jest.useRealTimers();
});

/** A connection whose rows of usage are a map. `outages` counts the writes that still fail. */
function openUsages() {
  const state = { outages: 0, writes: 0 };
  const rows = new Map<string, Record<string, number | string>>();
  interface Write {
    readonly updateOne: {
      readonly filter: { readonly _id: string };
      readonly update: { readonly $set: Record<string, number | string>; readonly $inc: Record<string, number> };
    };
  }
  const model = {
    async bulkWrite(writes: readonly Write[]) {
      state.writes += 1;
      if (state.outages > 0) {
        state.outages -= 1;
        throw new Error('MongoDB does not answer');
      }
      for (const { updateOne } of writes) {
        const row = { ...rows.get(updateOne.filter._id), ...updateOne.update.$set };
        for (const [name, by] of Object.entries(updateOne.update.$inc)) row[name] = Number(row[name] ?? 0) + by;
        rows.set(updateOne.filter._id, row);
      }
    },
    find: ({ organizationId }: { organizationId: number }) => ({
      sort: () => ({ lean: async () => [...rows.values()].filter((row) => row['organizationId'] === organizationId) }),
    }),
  };
  return { state, usages: createEmbeddingUsages({ model: () => model } as never) };
}

test('usage of embedding is summed per organization and space, and written once in half a second', async () => {
  jest.useFakeTimers();
  const { state, usages } = openUsages();
  usages.count(1, 's', { requests: 1, tokens: 2.4 });
  usages.count(1, 's', { computed: 3, tokens: 2.4 });
  usages.count(1, 't', { reused: 4 });
  usages.count(2, 's', { requests: 9 });
  await jest.advanceTimersByTimeAsync(499);
  expect(state.writes).toBe(0);
  await jest.advanceTimersByTimeAsync(1);
  expect(state.writes).toBe(1);
  await usages.flush();
  expect(state.writes).toBe(1);
  // Later counts are written too.
  usages.count(1, 't', { reused: 1 });
  await jest.advanceTimersByTimeAsync(500);
  expect(state.writes).toBe(2);
  expect(await usages.get(1)).toEqual({
    s: { requests: 1, tokens: 5, computed: 3, reused: 0 },
    t: { requests: 0, tokens: 0, computed: 0, reused: 5 },
  });
});

test('a read includes usage that is not written yet; a failed write is repeated with later usage, each count once', async () => {
  const { state, usages } = openUsages();
  usages.count(1, 's', { requests: 1 });
  expect(await usages.get(1)).toMatchObject({ s: { requests: 1 } });
  state.outages = 1;
  usages.count(1, 's', { requests: 2 });
  await expect(usages.flush()).rejects.toThrow('MongoDB');
  usages.count(1, 's', { requests: 4 });
  expect(await usages.get(1)).toMatchObject({ s: { requests: 7 } });
});

/** Stored versions of the records, and the newer version that a process reports. */
const VERSIONS: readonly (readonly [row: object | null, newer: number | null])[] = [
  [null, null],
  [{ version: SCHEMA_VERSION }, null],
  [{ version: SCHEMA_VERSION - 1 }, null],
  [{ version: SCHEMA_VERSION + 1 }, SCHEMA_VERSION + 1],
  // A newer process has begun to migrate.
  [{ version: SCHEMA_VERSION, target: SCHEMA_VERSION + 2 }, SCHEMA_VERSION + 2],
];
const connectionOf = (read: () => object | null) => ({ collection: () => ({ findOne: async () => read() }) }) as never;

test('a process finds out that a newer one migrates the records, from the start of the migration', () =>
  everyRow(VERSIONS, JSON.stringify, async ([row, newer]) => {
    const watch = watchSchema(
      connectionOf(() => row),
      60_000,
    );
    expect(watch.newer).toBeNull();
    expect([await watch.check(), watch.newer]).toEqual([newer, newer]);
    watch.stop();
  }));

test('the version is checked at every interval, also after an outage, and reported to each listener once', async () => {
  jest.useFakeTimers();
  let answer = (): object | null => {
    throw new Error('MongoDB does not answer');
  };
  const watch = watchSchema(
    connectionOf(() => answer()),
    1_000,
  );
  const heard: number[] = [];
  watch.onNewer((version) => heard.push(version));
  await jest.advanceTimersByTimeAsync(1_000);
  answer = () => ({ version: SCHEMA_VERSION + 1 });
  expect([watch.newer, heard]).toEqual([null, []]);
  await jest.advanceTimersByTimeAsync(2_000);
  expect([watch.newer, heard]).toEqual([SCHEMA_VERSION + 1, [SCHEMA_VERSION + 1]]);
  // A backup of the earlier version was restored.
  answer = () => ({ version: SCHEMA_VERSION });
  await jest.advanceTimersByTimeAsync(1_000);
  expect(watch.newer).toBeNull();
  watch.stop();
  answer = () => ({ version: SCHEMA_VERSION + 1 });
  await jest.advanceTimersByTimeAsync(5_000);
  expect(watch.newer).toBeNull();
  expect(outdatedMessage(SCHEMA_VERSION + 1)).toContain(`version ${SCHEMA_VERSION + 1}`);
});
