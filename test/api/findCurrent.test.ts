import { describe, expect, test } from '@jest/globals';

import { findCurrent, type ReadFiles } from '../../api/chunks/findCurrent.js';
import type { ApiDeps } from '../../api/http/deps.js';
import { rankingOf, rankingOfPoints } from '../../api/chunks/ranking.js';
import { chunkKey } from '../../store/models/chunks.js';
import type { ChunkKey, VectorHit } from '../../store/vectors/search.js';

const TENANT = { organizationId: 1, userId: 2 };
const hit = (fileId: number, generation: number): VectorHit => ({
  ...{ fileId, generation, chunkIndex: 0 },
  score: 1 / fileId,
});

/** Fake store of files at the given generations, with their chunks; records the number of files in each read. */
function storeOf(generations: Record<number, number>) {
  const reads: number[] = [];
  const readFiles = ((_, ids) => {
    reads.push(ids.length);
    return Promise.resolve(ids.flatMap((_id) => (_id in generations ? [{ _id, generation: generations[_id] }] : [])));
  }) as ReadFiles;
  const store = {
    chunks: {
      cache: () => undefined,
      byKeys: (_: unknown, keys: readonly ChunkKey[]) =>
        Promise.resolve(
          keys
            .filter(({ fileId, generation }) => generations[fileId] === generation)
            .map((key) => ({ ...key, key: chunkKey(key.fileId, key.generation, key.chunkIndex), text: 'text' })),
        ),
    },
  };
  return { deps: { store } as unknown as Pick<ApiDeps, 'store'>, readFiles, reads, generations };
}

describe('current chunks of search hits', () => {
  test('are found in one read if no hit is stale', async () => {
    const { deps, reads, readFiles } = storeOf({ 1: 1, 2: 1, 3: 1 });
    const ranked = [hit(1, 1), hit(2, 1), hit(3, 1)];
    const current = await findCurrent(
      TENANT,
      's',
      { wanted: 2, limit: 3, readFiles },
      () => Promise.resolve({ ranked: rankingOf(ranked), isAll: true }),
      deps,
    );
    expect(current.map(({ file }) => file._id)).toEqual([1, 2]);
    expect(reads).toEqual([2]);
  });

  test('exclude other generations and deleted files, and continue with later hits', async () => {
    const { deps, readFiles } = storeOf({ 1: 2, 3: 1, 4: 1 });
    const ranked = [hit(1, 1), hit(2, 1), hit(1, 3), hit(3, 1), hit(4, 1)];
    const current = await findCurrent(
      TENANT,
      's',
      { wanted: 2, limit: 5, readFiles },
      () => Promise.resolve({ ranked: rankingOf(ranked), isAll: false }),
      deps,
    );
    expect(current.map(({ file }) => file._id)).toEqual([3, 4]);
  });

  test('are found by a second search with a higher limit if too few hits of the first are current', async () => {
    const { deps, readFiles } = storeOf({ 9: 1 });
    const limits: number[] = [];
    const search = (limit: number) => {
      limits.push(limit);
      const stale = Array.from({ length: 8 }, (_, index) => hit(index + 1, 1));
      return Promise.resolve({ ranked: rankingOf([...stale, hit(9, 1)].slice(0, limit)), isAll: limit > 9 });
    };
    const current = await findCurrent(TENANT, 's', { wanted: 1, limit: 4, readFiles }, search, deps);
    expect(current.map(({ file }) => file._id)).toEqual([9]);
    expect(limits).toEqual([4, 16]);
  });

  test('need a second search if a file was replaced between the search and the read of its record', async () => {
    const { deps, readFiles } = storeOf({ 1: 2 });
    let searches = 0;
    const search = () => {
      searches += 1;
      return Promise.resolve({ ranked: rankingOf([hit(1, searches)]), isAll: true });
    };
    const current = await findCurrent(TENANT, 's', { wanted: 5, limit: 21, readFiles }, search, deps);
    expect(current.map(({ hit: { generation } }) => generation)).toEqual([2]);
    expect(searches).toBe(2);
  });

  test('need a second search if points were deleted between the search and the read of their chunks', async () => {
    const { deps, readFiles } = storeOf({ 1: 2 });
    let searches = 0;
    const search = () => {
      searches += 1;
      const chunks = new Map(searches === 1 ? [] : [['point', hit(1, 2)]]);
      return Promise.resolve({
        ranked: rankingOfPoints([{ id: 'point', score: 1 }], () => Promise.resolve(chunks)),
        isAll: true,
      });
    };
    const current = await findCurrent(TENANT, 's', { wanted: 5, limit: 21, readFiles }, search, deps);
    expect(current.map(({ hit: { generation } }) => generation)).toEqual([2]);
    expect(searches).toBe(2);
  });

  test('are those of the generations in the file records, even if texts of older generations are cached', async () => {
    const { deps, readFiles } = storeOf({ 1: 2 });
    const texts = {
      byKeys: (_: unknown, keys: readonly ChunkKey[]) =>
        Promise.resolve(
          keys.map(({ fileId, generation, chunkIndex }) => ({
            key: chunkKey(fileId, generation, chunkIndex),
            text: 'old',
          })),
        ),
      cache: () => undefined,
    };
    const store = { ...deps.store, chunks: texts } as unknown as ApiDeps['store'];
    const ranked = [hit(1, 1), hit(2, 1)];
    const search = () => Promise.resolve({ ranked: rankingOf(ranked), isAll: true });
    expect(await findCurrent(TENANT, 's', { wanted: 5, limit: 21, readFiles }, search, { store })).toEqual([]);
  });

  test('are empty if the file is replaced during each search; the searches end', async () => {
    const { deps, generations, readFiles } = storeOf({ 1: 2 });
    const search = () => {
      const ranked = [hit(1, generations[1] ?? 0)];
      generations[1] = (generations[1] ?? 0) + 1;
      return Promise.resolve({ ranked: rankingOf(ranked), isAll: true });
    };
    expect(await findCurrent(TENANT, 's', { wanted: 5, limit: 21, readFiles }, search, deps)).toEqual([]);
  });
});
