/** Tests of the decisions of a search before it reads vectors: sizes, spaces, refusals and the vector of the query. */
import { expect, test } from '@jest/globals';

import { queryVectors } from '../../api/chunks/queryVectors.js';
import { refuseCold } from '../../api/chunks/refuseCold.js';
import { rerankFound } from '../../api/chunks/rerankFound.js';
import { candidatesOf, poolOf } from '../../api/chunks/search.js';
import { spacesForVector } from '../../api/chunks/searchSpaces.js';

const ADA = { organizationId: 1, userId: 2 };
const NEVER = new AbortController().signal;

test('a reranker gets 4 × k texts, at least 50, at most 200 (or k); a hybrid search reads 4 × k hits per list, at least 400', () => {
  expect([1, 12, 13, 50, 51, 200, 201, 1_000].map(candidatesOf)).toEqual([50, 50, 52, 200, 200, 200, 201, 1_000]);
  expect([1, 100, 101, 1_000].map(poolOf)).toEqual([400, 400, 404, 4_000]);
});

/** Returns the spaces for a query vector with `length` numbers. @param sizes dimensions in the records of the files */
const spacesFor = (length: number, spaces: readonly string[], sizes: Readonly<Record<string, number>> = {}) => {
  const store = {
    files: {
      spacesOf: () => Promise.resolve(spaces),
      dimensionsIn: (_tenant: object, _model: string, space: string) => Promise.resolve(sizes[space] ?? null),
    },
  };
  const space = { name: 'configured', dimensions: 3 };
  const embedder = { models: () => [{ model: 'OPENAI', space }], spaceOf: () => space };
  return spacesForVector(ADA, 'OPENAI', Array<number>(length).fill(1), { store, embedder } as never);
};

test('a query vector is searched in the spaces of its length, also in one without a configured provider', async () => {
  expect(await spacesFor(3, ['configured', 'former'], { former: 5 })).toEqual(['configured']);
  expect(await spacesFor(5, ['configured', 'former'], { former: 5 })).toEqual(['former']);
  expect(await spacesFor(1_536, ['given-openai-1536'])).toEqual(['given-openai-1536']);
  await expect(spacesFor(4, ['configured', 'former'], { former: 5 })).rejects.toMatchObject({
    ...{ status: 422, detail: [{ loc: ['body', 'query_vector'], msg: expect.stringContaining('3 or 5 numbers') }] },
  });
});

test('a user without files gets the same errors for a query vector as one with files', async () => {
  expect(await spacesFor(3, [])).toEqual([]);
  await expect(spacesFor(4, [])).rejects.toMatchObject({ status: 422 });
});

test('a refusal names up to 100 files in cold storage', async () => {
  const refusal = async (count: number) => {
    const ids = Array.from({ length: count }, (_, nth) => nth + 1);
    const find = (_caller: object, _model: string, _filter: object, limit: number) =>
      Promise.resolve(ids.slice(0, limit));
    const error: unknown = await refuseCold(ADA, 'OPENAI', {} as never, {
      store: { coldFiles: { findForSearch: find } } as never,
    }).catch((thrown: unknown) => thrown);
    return (error as { detail?: string } | undefined)?.detail?.replace(/\. Call.*/s, '');
  };
  expect(await refusal(0)).toBeUndefined();
  expect(await refusal(2)).toBe('These files are in cold storage: 1, 2');
  expect(await refusal(100)).toMatch(/99, 100$/);
  expect(await refusal(101)).toMatch(/99, 100 and more$/);
});

test('the embedded model gets the query immediately, a remote provider only when a space needs the vector', async () => {
  const embedded = async (provider: string | null, callerVector: number[] | null = null) => {
    const sent: unknown[] = [];
    const embedder = {
      models: () => [{ model: 'OPENAI', provider, space: { name: 'own' } }],
      embed: (space: string, texts: string[], purpose: string) => (
        sent.push([space, texts, purpose]),
        Promise.resolve([[space.length]])
      ),
    };
    const request = { query: 'q', model: 'OPENAI', callerVector } as const;
    const vectorIn = queryVectors(ADA, request, NEVER, { embedder, metrics: { embedded: () => undefined } } as never);
    const early = sent.length;
    const vectors = [await vectorIn('own'), await vectorIn('other'), await vectorIn('own')];
    return { early, sent: sent.length, vectors };
  };
  expect(await embedded('openai')).toEqual({ early: 0, sent: 3, vectors: [[3], [5], [3]] });
  // The embedded model computes the vector of its own space once.
  expect(await embedded(null)).toEqual({ early: 1, sent: 2, vectors: [[3], [5], [3]] });
  expect(await embedded('openai', [7])).toEqual({ early: 0, sent: 0, vectors: [[7], [7], [7]] });
});

test('reranked results are the best k, with texts before pictures', async () => {
  const found = ['a', ' ', 'b', 'c'].map((text, nth) => ({ chunk: { text }, hit: { score: 1 - nth / 10 } }));
  const asked: unknown[] = [];
  const reranker = {
    rerank: (query: string, texts: string[], count: number) => (
      asked.push([query, texts, count]),
      Promise.resolve([
        { index: 2, score: 9 },
        { index: 0, score: 8 },
        { index: 1, score: 7 },
      ])
    ),
  };
  const rerank = async (k: number) =>
    (await rerankFound(found as never, { query: 'q', k }, reranker as never, NEVER)).map(({ chunk, hit }) => [
      chunk.text,
      hit.score,
    ]);
  expect(await rerank(2)).toEqual([
    ['c', 9],
    ['a', 8],
  ]);
  expect((await rerank(9)).map(([text]) => text)).toEqual(['c', 'a', 'b', ' ']);
  expect(asked).toEqual([
    ['q', ['a', 'b', 'c'], 2],
    ['q', ['a', 'b', 'c'], 3],
  ]);
});
