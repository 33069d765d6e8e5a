/** Tests of the order of search results from several vector spaces. */
import { expect, test } from '@jest/globals';

import { createSearchMemory } from '../../api/chunks/searchMemory.js';
import type { ApiDeps } from '../../api/http/deps.js';
import { searchChunks, type SearchRequest } from '../../api/chunks/search.js';
import { chunkKey } from '../../store/models/chunks.js';
import type { ChunkKey, VectorHit, VectorQuery } from '../../store/vectors/search.js';
import type { ChunkFilter } from '../../store/vectors/searchFilter.js';
import { everyRow } from '../support/everyRow.js';

/** Hits of each space: file and score. The two spaces have different ranges of scores. */
const SPACES: Record<string, [fileId: number, score: number][]> = {
  here: [
    [1, 0.9],
    [3, 0.8],
    [5, 0.7],
  ],
  other: [
    [2, 0.3],
    [4, 0.2],
    [6, 0.1],
  ],
};
let users = 10;

/** Returns the ids of found files, the searched spaces, and whether the memory marks the user as in several spaces. */
async function search(fields: Partial<SearchRequest>, { hasUnsearched = true, isBroken = false } = {}) {
  const searched: string[] = [];
  const filesOf = (ids: readonly number[]) => ids.map((_id) => ({ _id, generation: 1 }));
  const store = {
    files: {
      findHits: (_: unknown, ids: readonly number[]) => Promise.resolve(filesOf(ids)),
      findWithOtherSpaces: (_: unknown, ids: readonly number[]) =>
        Promise.resolve({ files: filesOf(ids), hasUnsearched }),
    },
    chunks: {
      cache: () => undefined,
      byKeys: (_: unknown, keys: readonly ChunkKey[]) =>
        Promise.resolve(
          keys.map((key) => ({ ...key, key: chunkKey(key.fileId, key.generation, key.chunkIndex), text: 'text' })),
        ),
    },
    vectors: {
      search({ space, limit }: VectorQuery) {
        searched.push(space);
        if (isBroken) return Promise.reject(new Error('broken'));
        const dense = (SPACES[space] ?? []).map(([fileId, score]): VectorHit => ({
          fileId,
          generation: 1,
          chunkIndex: 0,
          score,
        }));
        return Promise.resolve({ dense: dense.slice(0, limit), sparse: [] });
      },
    },
  };
  const request: SearchRequest = {
    spaces: () => Promise.resolve(['here', 'other']),
    ...{ likely: null, refusesColdFiles: false, query: 'q', vectorIn: () => Promise.resolve([1]), vectorGiven: false },
    ...{ model: 'OPENAI', k: 10, filter: {} as ChunkFilter, exact: false, weights: null, rerank: null },
    signal: new AbortController().signal,
    ...fields,
  };
  const searchMemory = createSearchMemory();
  const deps = { store, encodeQuery: () => null, searchMemory, rerankers: {} } as unknown as ApiDeps;
  const userId = (users += 1);
  const hits = await searchChunks({ organizationId: 1, userId }, request, deps);
  const isRemembered = searchMemory.inSeveralSpaces.has(`1:${userId}:OPENAI`);
  return { ids: hits.map(({ hit }) => hit.fileId), searched, isRemembered };
}

const ROWS: [what: string, given: Partial<SearchRequest>, ids: number[]][] = [
  ['by rank, because each model has its own range of scores', {}, [1, 2, 3, 4, 5, 6]],
  ['by rank, the likely space searched early', { likely: 'here' }, [1, 2, 3, 4, 5, 6]],
  ['by rank, the last space as the likely one', { likely: 'other' }, [1, 2, 3, 4, 5, 6]],
  ['by score for a vector of the caller', { vectorGiven: true }, [1, 3, 5, 2, 4, 6]],
  ['by score, the likely space searched early', { vectorGiven: true, likely: 'other' }, [1, 3, 5, 2, 4, 6]],
  ['the best k of both', { k: 3 }, [1, 2, 3]],
  ['the best k of both by score', { k: 4, vectorGiven: true }, [1, 3, 5, 2]],
  ['of one space by score', { spaces: () => Promise.resolve(['other']) }, [2, 4, 6]],
  ['of no space, no results', { spaces: () => Promise.resolve([]) }, []],
];

test('orders chunks of several spaces by rank, and by score only for a vector of the caller', () =>
  everyRow(
    ROWS,
    ([what]) => what,
    async ([, fields, ids]) => expect((await search(fields)).ids).toEqual(ids),
  ));

test('searches only the likely space if all files are in it', async () => {
  const found = { ids: [2, 4, 6], searched: ['other'], isRemembered: false };
  expect(await search({ likely: 'other' }, { hasUnsearched: false })).toEqual(found);
});

test('a failure in one space fails the search', async () => {
  await expect(search({}, { isBroken: true })).rejects.toThrow('broken');
});

test('remembers users with files in several spaces, but not those for whom the provider of one space failed', async () => {
  expect(await search({ likely: 'here' })).toMatchObject({ isRemembered: true });
  const vectorIn = (space: string) => (space === 'here' ? Promise.reject(new Error('down')) : Promise.resolve([1]));
  const spaces = () => Promise.resolve(['other']);
  expect(await search({ likely: 'here', vectorIn, spaces })).toEqual({
    ...{ ids: [2, 4, 6], searched: ['other'], isRemembered: false },
  });
});
