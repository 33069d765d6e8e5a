/** Tests of the census of points, which `reconcile` and `vectors rebuild` use: its results and requests to Qdrant. */
import { afterEach, expect, test } from '@jest/globals';

import { createPointsCensus } from '../../store/vectors/census.js';
import { pointId } from '../../store/vectors/pointId.js';
import { type QdrantRecorder, type QdrantRequest, startQdrantRecorder } from '../emulators/qdrant.js';

const LAYOUT = { shards: 1, replicas: 1, writeConsistency: 1, quantization: 'none', onDisk: [] } as const;
const TENANT = { organizationId: 1, userId: 2 };
const OF_TENANT = [
  { key: 'organization_id', match: { value: '1' } },
  { key: 'user_id', match: { value: 2 } },
];
const opened: QdrantRecorder[] = [];
afterEach(async () => {
  await Promise.all(opened.splice(0).map((recorder) => recorder.close()));
});

/** Opens the census of a deployment with two spaces, on a server that another deployment uses too. */
async function open(resultOf: (request: QdrantRequest) => unknown, statusOf?: (request: QdrantRequest) => number) {
  const recorder = await startQdrantRecorder(['own-a-4', 'own-b-8', 'other-a-4'], statusOf, resultOf);
  opened.push(recorder);
  const writes = { maxBytes: 1_000_000, atOnce: 2 };
  const census = createPointsCensus({ url: recorder.url, apiKey: null, prefix: 'own-', layout: LAYOUT, writes });
  /** Returns the bodies of the requests of an operation, each with its collection. */
  const sent = (operation: string) =>
    recorder.requests
      .filter(({ path }) => path.endsWith(`/${operation}`))
      .map(({ path, body }) => [path.split('/')[2], body]);
  return { census, sent };
}
const point = (file_id: number, generation: number, chunk_index: number, tags?: string[]) => ({
  id: `${file_id}-${generation}-${chunk_index}`,
  payload: { file_id, generation, chunk_index, ...(tags && { tags }) },
});
const nextOf = (given: { body: Record<string, unknown> }) => given.body['offset'];

test('counts the points of each generation and space over all pages, with their tags and their last chunk', async () => {
  let pages = 0;
  const { census, sent } = await open((request) => {
    if (!request.path.endsWith('scroll')) return undefined;
    pages += 1;
    // A reader that repeats a page would never end.
    if (pages > 9) return { points: [], next_page_offset: null };
    if (request.path.includes('b-8')) return { points: [point(7, 3, 0)], next_page_offset: null };
    return nextOf(request) === undefined
      ? { points: [point(7, 3, 5, ['b', 'a']), point(7, 2, 0)], next_page_offset: 'next' }
      : { points: [point(7, 3, 1, ['a', 'b']), point(7, 3, 2, ['c'])], next_page_offset: null };
  });
  expect(await census.count(TENANT, { above: 6, upTo: 9 })).toEqual([
    { space: 'a-4', fileId: 7, generation: 3, count: 3, last: 5, tags: new Set(['["a","b"]', '["c"]']) },
    { space: 'a-4', fileId: 7, generation: 2, count: 1, last: 0, tags: new Set(['[]']) },
    { space: 'b-8', fileId: 7, generation: 3, count: 1, last: 0, tags: new Set(['[]']) },
  ]);
  const requests = sent('scroll');
  expect(requests.map(([collection]) => collection)).toEqual(['own-a-4', 'own-a-4', 'own-b-8']);
  expect(requests[1]).toMatchObject([
    'own-a-4',
    { offset: 'next', filter: { must: [...OF_TENANT, { key: 'file_id', range: { gt: 6, lte: 9 } }] } },
  ]);
  await census.count(TENANT, { above: 9, upTo: null });
  expect(sent('scroll').at(-1)).toMatchObject([
    'own-b-8',
    { filter: { must: [...OF_TENANT, { key: 'file_id', range: { gt: 9 } }] } },
  ]);
});

test('lists organizations and the users of one organization, each once, over all spaces', async () => {
  const { census, sent } = await open(({ path }) =>
    path.endsWith('facet')
      ? { hits: (path.includes('a-4') ? ['10', '9'] : ['9']).map((value) => ({ value })) }
      : undefined,
  );
  expect(await census.organizations()).toEqual([9, 10]);
  expect(sent('facet')[0]?.[1]).not.toHaveProperty('filter');
  expect(await census.users(4)).toEqual([9, 10]);
  expect(sent('facet').at(-1)?.[1]).toMatchObject({
    ...{ key: 'user_id', exact: true },
    filter: { must: [{ key: 'organization_id', match: { value: '4' } }] },
  });
});

test('finds the chunks without a sparse vector, of the named files only', async () => {
  const { census, sent } = await open(({ path }) =>
    path.endsWith('scroll') ? { points: [point(7, 3, 2)], next_page_offset: null } : undefined,
  );
  const found: object[] = [];
  for await (const page of census.withoutSparse(TENANT, [7, 8])) found.push(...page);
  expect(found).toEqual([
    { fileId: 7, chunkIndex: 2 },
    { fileId: 7, chunkIndex: 2 },
  ]);
  expect(sent('scroll')[0]?.[1]).toMatchObject({
    filter: {
      must: [...OF_TENANT, { key: 'file_id', match: { any: [7, 8] } }],
      must_not: [{ has_vector: 'sparse' }],
    },
  });
});

test('deletes the points of one generation from a chunk on; from the first one on, also those without a chunk index', async () => {
  const { census, sent } = await open(() => undefined);
  const points = { space: 'a-4', fileId: 7, generation: 3 };
  await census.remove(TENANT, points, 2);
  await census.remove(TENANT, points, 0);
  const must = [...OF_TENANT, { key: 'file_id', match: { value: 7 } }, { key: 'generation', match: { value: 3 } }];
  expect(sent('delete')).toEqual([
    ['own-a-4', { filter: { must: [...must, { key: 'chunk_index', range: { gte: 2 } }] } }],
    ['own-a-4', { filter: { must } }],
  ]);
});

test('reads vectors in the order of their keys; the result is null for points of other users and points without a vector', async () => {
  const keys = [0, 1, 2, 3].map((chunkIndex) => ({ fileId: 7, generation: 3, chunkIndex }));
  const idOf = (chunkIndex: number) => pointId(7, 3, chunkIndex, 'a-4');
  const stored = (chunkIndex: number, userId: number, vector: object) => ({
    ...{ id: idOf(chunkIndex), vector, payload: { organization_id: '1', user_id: userId } },
  });
  const points = [
    stored(2, 2, { dense: [2] }),
    stored(1, 9, { dense: [1] }),
    stored(0, 2, { dense: [0] }),
    stored(3, 2, {}),
  ];
  let status = 200;
  const { census } = await open(
    ({ path }) => (path.endsWith('a-4/points') ? points : undefined),
    () => status,
  );
  expect(await census.read(TENANT, 'a-4', keys)).toEqual({ vectors: [[0], null, [2], null] });
  status = 500;
  expect(await census.read(TENANT, 'a-4', keys)).toEqual({ problem: expect.any(String) });
  status = 503;
  await expect(census.read(TENANT, 'a-4', keys)).rejects.toMatchObject({ status: 503 });
});

test('skips collections that the last check found damaged, until they are created again', async () => {
  const { census, sent } = await open(
    ({ path }) => (path.endsWith('scroll') ? { points: [], next_page_offset: null } : undefined),
    ({ path }) => (path.endsWith('a-4/points/query') ? 500 : 200),
  );
  expect(await census.check()).toEqual([
    { space: 'a-4', points: 0, problem: expect.any(String) },
    { space: 'b-8', points: 3, problem: null },
  ]);
  const counted = async (): Promise<(string | undefined)[]> => {
    const before = sent('scroll').length;
    await census.count(TENANT, { above: 0, upTo: null });
    return sent('scroll')
      .slice(before)
      .map(([collection]) => collection as string | undefined);
  };
  expect(await counted()).toEqual(['own-b-8']);
  await census.recreate({ name: 'a-4', dimensions: 4 });
  expect(await counted()).toEqual(['own-a-4', 'own-b-8']);
});
