import { expect, test } from '@jest/globals';

import { discard } from '../../activities/generations/cleanUp.js';
import type { Store } from '../../store/connect.js';
import { inScope, type GenerationScope } from '../../store/generations.js';

const FILE = { _id: 5, organizationId: 1, userId: 7 };

/** Discards an attempt for FILE. @returns for each store, which of the generations 1 to 9 are deleted */
async function discarded(published: number, attempt: number): Promise<number[][]> {
  const deleted: number[][] = [];
  const deleteGenerations = (scopes: readonly GenerationScope[]): Promise<void> => {
    for (const scope of scopes) expect(scope).toMatchObject({ fileId: 5, organizationId: 1, userId: 7 });
    deleted.push(
      [1, 2, 3, 4, 5, 6, 7, 8, 9].filter((generation) => scopes.some((scope) => inScope(generation, scope))),
    );
    return Promise.resolve();
  };
  const part = { deleteGenerations };
  const store = { vectors: part, chunks: part, contents: part } as unknown as Store;
  await discard(store, [{ file: { ...FILE, generation: published }, generation: attempt }]);
  return deleted;
}

test('discarding attempts deletes their generations in every store, and never the published one', async () => {
  expect(await discarded(3, 4)).toEqual([[4], [4], [4]]);
  expect(await discarded(3, 6)).toEqual([
    [4, 5, 6],
    [4, 5, 6],
    [4, 5, 6],
  ]);
  expect(await discarded(3, 3)).toEqual([[], [], []]);
});
