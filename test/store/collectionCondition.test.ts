import { expect, test } from '@jest/globals';

import { createCollectionConditions } from '../../store/vectors/condition.js';

const failure = (status: number): Error => Object.assign(new Error(`status ${status}`), { status });

/** Checks the collections `a` and `b`. The read of collection `a` rejects with the error. */
const checkWith = (error: Error) =>
  createCollectionConditions(
    {
      getCollection: async (name: string) => {
        if (name === 'a') throw error;
        return { config: { params: { vectors: {} } } };
      },
      scroll: async () => ({}),
      query: async () => ({}),
      count: async () => ({ count: 3 }),
    } as never,
    { all: async () => ['a', 'b'] } as never,
    (name) => name,
  ).check();

test('a check omits a collection that was deleted since the collections were listed', async () => {
  expect(await checkWith(failure(404))).toEqual([{ space: 'b', points: 3, problem: null }]);
});

test('a check reports a damaged collection, and rejects if Qdrant does not answer', async () => {
  expect(await checkWith(failure(500))).toEqual([
    { space: 'a', points: 0, problem: 'status 500' },
    { space: 'b', points: 3, problem: null },
  ]);
  await expect(checkWith(failure(503))).rejects.toThrow('status 503');
});
