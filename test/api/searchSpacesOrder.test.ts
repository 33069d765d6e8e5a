/** In which order a search answers what lies in several vector spaces. */
import { expect, test } from '@jest/globals';

import { createSearchMemory } from '../../api/chunks/searchMemory.js';
import type { ApiDeps } from '../../api/deps.js';
import { searchChunks, type SearchRequest } from '../../api/chunks/search.js';
import { chunkKey } from '../../store/chunks/model.js';
import type { ChunkKey, VectorHit, VectorQuery } from '../../store/vectors/search.js';
import type { ChunkFilter } from '../../store/vectors/searchFilter.js';
import { everyRow } from '../support/everyRow.js';

/** Hits of each space: file and score. The scores of the second are of another kind. */
const SPACES: Record<string, [fileId: number, score: number][]> = {
  here: [
    [1, 0.9],
    [3, 0.8],
    [5, 0.7],
  ],
  there: [
    [2, 0.3],
    [4, 0.2],
    [6, 0.1],
  ],
};
let users = 10;

/** What is found, and the spaces that were searched. */
async function search(given: Partial<SearchRequest>, { isElsewhere = true, isBroken = false } = {}) {
  const searched: string[] = [];
  const filesOf = (ids: readonly number[]) => ids.map((_id) => ({ _id, generation: 1 }));
  const store = {
    files: {
      found: (_: unknown, ids: readonly number[]) => Promise.resolve(filesOf(ids)),
      foundBeside: (_: unknown, ids: readonly number[]) => Promise.resolve({ files: filesOf(ids), isElsewhere }),
    },
    chunks: {
      keep: () => undefined,
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
    spaces: () => Promise.resolve(['here', 'there']),
    ...{ likely: null, needsCold: false, query: 'q', vectorIn: () => Promise.resolve([1]), vectorGiven: false },
    ...{ model: 'OPENAI', k: 10, filter: {} as ChunkFilter, exact: false, weights: null, rerank: null },
    signal: new AbortController().signal,
    ...given,
  };
  const searchMemory = createSearchMemory();
  const deps = { store, encodeQuery: () => null, searchMemory, rerankers: {} } as unknown as ApiDeps;
  const found = await searchChunks({ organizationId: 1, userId: (users += 1) }, request, deps);
  return { ids: found.map(({ hit }) => hit.fileId), searched };
}

const ROWS: [what: string, given: Partial<SearchRequest>, ids: number[]][] = [
  ['by rank where each model has scores of its own', {}, [1, 2, 3, 4, 5, 6]],
  ['the same where the likely space is searched early', { likely: 'here' }, [1, 2, 3, 4, 5, 6]],
  ['the same where the likely space is the last', { likely: 'there' }, [1, 2, 3, 4, 5, 6]],
  ['by score for a vector of the caller', { vectorGiven: true }, [1, 3, 5, 2, 4, 6]],
  ['by score, the likely space searched early', { vectorGiven: true, likely: 'there' }, [1, 3, 5, 2, 4, 6]],
  ['the best k of both', { k: 3 }, [1, 2, 3]],
  ['the best k of both by score', { k: 4, vectorGiven: true }, [1, 3, 5, 2]],
  ['of one space as it stands', { spaces: () => Promise.resolve(['there']) }, [2, 4, 6]],
  ['of none nothing', { spaces: () => Promise.resolve([]) }, []],
];

test('chunks of several spaces come by rank, and by score only for a vector that its caller gave', () =>
  everyRow(
    ROWS,
    ([what]) => what,
    async ([, given, ids]) => expect((await search(given)).ids).toEqual(ids),
  ));

test('the likely space alone is searched where all files lie there', async () => {
  expect(await search({ likely: 'there' }, { isElsewhere: false })).toEqual({ ids: [2, 4, 6], searched: ['there'] });
});

test('a search that fails in a space fails, and is not an answer without it', async () => {
  await expect(search({}, { isBroken: true })).rejects.toThrow('broken');
});
