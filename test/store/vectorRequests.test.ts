/** Tests the requests to Qdrant that delete, change and count points: their tenants, their collections and their size. */
import { afterEach, expect, jest, test } from '@jest/globals';

import { pointId } from '../../store/vectors/pointId.js';
import { createVectors } from '../../store/vectors/vectors.js';
import { type QdrantRecorder, type QdrantRequest, startQdrantRecorder } from '../emulators/qdrant.js';

const LAYOUT = { shards: 1, replicas: 1, writeConsistency: 1, quantization: 'none', onDisk: [] } as const;
const SPACES = ['a-4', 'b-8'];
const opened: QdrantRecorder[] = [];
afterEach(async () => {
  jest.restoreAllMocks();
  await Promise.all(opened.splice(0).map((recorder) => recorder.close()));
});

/** Opens the vectors of a deployment with two spaces, on a server that another deployment uses too. */
async function open(statusOf?: (request: QdrantRequest) => number) {
  const recorder = await startQdrantRecorder([...SPACES.map((space) => `own-${space}`), 'other-a-4'], statusOf);
  opened.push(recorder);
  const writes = { maxBytes: 1_000_000, atOnce: 2 };
  const vectors = createVectors({ url: recorder.url, apiKey: null, prefix: 'own-', layout: LAYOUT, writes });
  /** Returns the requests, without lists of the collections: collection, operation and body. */
  const sent = () =>
    recorder.requests
      .filter(({ path }) => path !== '/collections')
      .map(({ path, body }) => [...path.replace('/collections/', '').split('/points/'), body]);
  return { vectors, sent, requests: recorder.requests };
}
/** Sorts requests, because those to several collections are concurrent. */
const ordered = (requests: readonly (readonly unknown[])[]) =>
  requests.toSorted((a, b) => JSON.stringify(a).localeCompare(JSON.stringify(b)));
const inEachSpace = (operation: string, body: object) =>
  SPACES.map((space) => [`own-${space}`, operation, body] as const);
const of = (organizationId: number, userId: number) => [
  { key: 'organization_id', match: { value: String(organizationId) } },
  { key: 'user_id', match: { value: userId } },
];
const TENANT = { organizationId: 1, userId: 2 };

test('deletes generations of files of their tenants, in every space of the deployment', async () => {
  const { vectors, sent } = await open();
  await vectors.deleteGenerations([
    { ...TENANT, fileId: 5, generations: { below: 3 } },
    { organizationId: 7, userId: 8, fileId: 6, generations: { exactly: 4 } },
  ]);
  const ofFile = (fileId: number) => ({ key: 'file_id', match: { value: fileId } });
  const should = [
    { must: [...of(1, 2), ofFile(5), { key: 'generation', range: { lt: 3 } }] },
    { must: [...of(7, 8), ofFile(6), { key: 'generation', match: { value: 4 } }] },
  ];
  expect(ordered(sent())).toEqual(inEachSpace('delete', { filter: { should } }));
  const { vectors: others, sent: sentNothing } = await open();
  await others.deleteGenerations([]);
  expect(sentNothing()).toEqual([]);
});

test('deletes and counts all points of one user, in every space of the deployment', async () => {
  const { vectors, sent } = await open();
  await vectors.deleteAll(TENANT);
  expect(ordered(sent())).toEqual(inEachSpace('delete', { filter: { must: of(1, 2) } }));
  expect(await vectors.countAll(TENANT)).toBe(6);
  expect(await vectors.countOf(TENANT, [5, 6])).toBe(6);
  const must = [...of(1, 2), { key: 'file_id', match: { any: [5, 6] } }];
  expect(ordered(sent().slice(2))).toEqual(
    ordered([
      ...inEachSpace('count', { filter: { must: of(1, 2) }, exact: true }),
      ...inEachSpace('count', { filter: { must }, exact: true }),
    ]),
  );
  expect(await vectors.countBySpace(1)).toEqual(SPACES.map((space) => ({ space, points: 3 })));
});

test('sets the tags of files with equal tags and the same user together, and of others separately', async () => {
  const { vectors, sent } = await open();
  const file = (_id: number, tagPairs: string[], tenant = TENANT) => ({ _id, tagPairs, ...tenant });
  const other = { organizationId: 1, userId: 9 };
  await vectors.setTags([file(1, ['a=1']), file(2, ['a=1']), file(3, []), file(4, ['a=1'], other)]);
  const operation = (tags: string[], must: object[], ids: number[]) => ({
    set_payload: { payload: { tags }, filter: { must: [...must, { key: 'file_id', match: { any: ids } }] } },
  });
  const operations = [
    operation(['a=1'], of(1, 2), [1, 2]),
    operation([], of(1, 2), [3]),
    operation(['a=1'], of(1, 9), [4]),
  ];
  expect(ordered(sent())).toEqual(inEachSpace('batch', { operations }));
});

test('deletes points by at most 10,000 ids per request, and stops at the first request if the collection is missing', async () => {
  const { vectors, sent } = await open(({ path }) => (path.includes('lost-4') ? 404 : 200));
  await vectors.deletePoints([
    { fileId: 5, generation: 1, space: 'a-4', count: 10_001 },
    { fileId: 5, generation: 1, space: 'lost-4', count: 10_001 },
  ]);
  const ids = sent()
    .filter(([collection]) => collection === 'own-a-4')
    .map(([, , body]) => (body as { points: string[] }).points);
  expect(ids.map(({ length }) => length)).toEqual([10_000, 1]);
  expect(ids.at(-1)).toEqual([pointId(5, 1, 10_000, 'a-4')]);
  expect(sent().filter(([collection]) => collection === 'own-lost-4')).toHaveLength(1);
});

test('a probe searches in each collection, and reports damaged ones, unless they were deleted meanwhile', async () => {
  const { vectors, sent } = await open(({ path }) =>
    path.endsWith('query') ? (path.includes('a-4') ? 500 : 404) : 200,
  );
  expect(await vectors.probe()).toEqual([{ name: 'own-a-4', reason: expect.stringContaining('500') }]);
  const query = { query: [1, 0, 0, 0], using: 'dense', limit: 1, with_payload: false };
  expect(ordered(sent().filter(([, operation]) => operation === 'query'))).toEqual(inEachSpace('query', query));
});

test('probe() sends no request within five seconds after a success, and sends requests at once after a failure', async () => {
  let status = 200;
  const { vectors, requests } = await open(() => status);
  const now = jest.spyOn(performance, 'now').mockReturnValue(100_000);
  const probes = () => requests.filter(({ path }) => path === '/collections').length;
  expect(await vectors.probe()).toEqual([]);
  now.mockReturnValue(105_000);
  await vectors.probe();
  expect(probes()).toBe(1);
  now.mockReturnValue(105_001);
  status = 503;
  await expect(vectors.probe()).rejects.toMatchObject({ store: 'Qdrant', kind: 'failed' });
  await expect(vectors.probe()).rejects.toMatchObject({ store: 'Qdrant' });
  expect(probes()).toBe(3);
});
