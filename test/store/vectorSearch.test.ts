import { randomInt, randomBytes, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { QdrantClient } from '@qdrant/js-client-rest';
import fc from 'fast-check';

import type { TagCondition, TagTree } from '../../contract/files/fileFilters.js';
import { loadConfig } from '../../config/config.js';
import type { TagValue } from '../../contract/files/records.js';
import { storedTags, tagPairs } from '../../contract/files/tags.js';
import { inspectQdrant } from '../../store/overview/inspection.js';
import { createPointsCensus } from '../../store/vectors/census.js';
import { pointId } from '../../store/vectors/pointId.js';
import type { WholePoint } from '../../store/vectors/points.js';
import { byScore, createVectorSearch, type PointHit, type VectorQuery } from '../../store/vectors/search.js';
import type { ChunkFilter } from '../../store/vectors/searchFilter.js';
import { createVectors, type Vectors } from '../../store/vectors/vectors.js';
import { encodeDocument } from '../../providers/embeddings/sparse/sparseEncoder.js';
import { testEngines } from '../support/engines.js';

const SPACE = { name: 'few-4', dimensions: 4 };
const MINE = { organizationId: 7, userId: 70 };
const QUERY: VectorQuery = {
  ...MINE,
  space: SPACE.name,
  model: 'OPENAI',
  filter: { media: 'TEXT' },
  dense: [1, 0, 0, 0],
  sparse: null,
  limit: 1000,
  exact: false,
};

let vectors: Vectors;
const { qdrant: settings } = loadConfig({
  SECRET_KEY: `k1:${randomBytes(32).toString('base64')}`,
  QDRANT_COLLECTION_PREFIX: `v${randomUUID().slice(0, 8)}-`,
});

type Tags = Readonly<Record<string, TagValue>>;
interface Seed {
  readonly id: number;
  readonly tags?: Tags;
  readonly text?: string;
  /** Default: a vector that depends on the last three digits of the id. */
  readonly vector?: Float32Array;
}
const write = (seeds: readonly Seed[], tenant = MINE, space = SPACE, into = vectors): Promise<void> =>
  into.upsert(
    seeds.map(({ id, tags = {}, text, vector }) => ({
      ...tenant,
      fileId: id,
      parentId: null,
      ancestors: [],
      generation: 1,
      space,
      model: 'OPENAI' as const,
      source: 'TEXT' as const,
      fileTypeAtSource: null,
      mediaType: 'TEXT' as const,
      tagPairs: tagPairs(storedTags(tags)),
      vectors: [vector ?? Float32Array.from([1, (id % 1000) / 100, 0, 0])],
      ...(text === undefined ? {} : { sparseOf: () => encodeDocument(text) }),
    })),
  );
const idsOf = async (filter: Partial<ChunkFilter>, options: Partial<VectorQuery> = {}): Promise<number[]> => {
  const { dense } = await vectors.search({ ...QUERY, ...options, filter: { media: 'TEXT', ...filter } });
  return dense.map(({ fileId }) => fileId);
};

beforeAll(() => {
  vectors = createVectors({ ...settings, url: testEngines().qdrantUrl });
});
afterAll(() => vectors.deleteAll(MINE));

describe('tags_v2', () => {
  const text = fc.constantFrom('a', 'b', '4', 'true', '', 'x=y', 'ü');
  const values: fc.Arbitrary<TagValue> = fc.oneof(
    text,
    fc.constantFrom(4, -1.5, 1e21),
    fc.boolean(),
    fc.array(text, { maxLength: 3 }),
    fc.array(fc.constantFrom(4, 5), { maxLength: 2 }),
    fc.array(fc.boolean(), { maxLength: 2 }),
  );
  const keys = fc.constantFrom('k', 'k=a', 'k%3Da', 'a.b');
  const condition: fc.Arbitrary<TagCondition> = fc.record(
    { key: keys, value: values, negate: fc.boolean() },
    { requiredKeys: ['key', 'value'] },
  );
  const nested = (depth: number): fc.Arbitrary<TagTree> => {
    const member = depth === 1 ? condition : fc.oneof(condition, nested(depth - 1));
    const members = fc.array(member, { maxLength: 3 });
    return fc.oneof(
      members.map((AND) => ({ AND })),
      members.map((OR) => ({ OR })),
    );
  };

  const membersOf = (tree: TagTree) => ('AND' in tree ? tree.AND : tree.OR);
  const hasCondition = (part: TagTree | TagCondition): boolean => 'key' in part || membersOf(part).some(hasCondition);
  const spelled = (value: unknown): string[] => [value].flat().map(String);
  /** Evaluates a tree as the public API defines it. */
  function holds(part: TagTree | TagCondition, tags: Tags): boolean {
    if ('key' in part) {
      const has = part.key in tags ? spelled(tags[part.key]) : [];
      return spelled(part.value).some((tag) => has.includes(tag)) !== (part.negate ?? false);
    }
    const parts = membersOf(part).filter(hasCondition);
    if (parts.length === 0) return true;
    return 'AND' in part ? parts.every((member) => holds(member, tags)) : parts.some((member) => holds(member, tags));
  }

  test('a tree finds exactly the chunks whose tags match', async () => {
    // fast-check prints the seed of a failure; TEST_SEED repeats it.
    const seed = Number(process.env['TEST_SEED'] ?? randomInt(2 ** 31));
    const records = fc.sample(fc.dictionary(keys, values, { maxKeys: 4 }), { numRuns: 60, seed });
    await write(records.map((tags, index) => ({ id: 1000 + index, tags })));
    const ids = records.map((_, index) => 1000 + index);
    await fc.assert(
      fc.asyncProperty(nested(3), async (tagTree) => {
        const expected = ids.filter((_, index) => holds(tagTree, records[index] ?? {}));
        const foundIds = await idsOf({ tagTree, fileIds: ids });
        expect(foundIds.toSorted((a, b) => a - b)).toEqual(expected);
      }),
      { seed, numRuns: 150 },
    );
  });

  test('filters more files by a tag than a list of ids could contain', async () => {
    const many = Array.from({ length: 12_000 }, (_, index) => ({ id: 100_000 + index, tags: { lot: 'many' } }));
    await write(many);
    await write([{ id: 200_000, tags: { lot: 'one' }, text: 'quince' }]);
    const sparse = encodeDocument('quince');
    const matches = await vectors.search({
      ...QUERY,
      sparse,
      limit: 20_000,
      filter: { media: 'TEXT', tagTree: { OR: ['many', 'one'].map((value) => ({ key: 'lot', value })) } },
    });
    expect(matches.dense).toHaveLength(12_001);
    expect(matches.sparse.map(({ fileId }) => fileId)).toEqual([200_000]);
  });
});

test('finds words only in chunks with sparse vectors, of the same tenant and filter', async () => {
  await write([{ id: 2001, text: 'error E4711 in the pump' }, { id: 2002, text: 'the pump runs' }, { id: 2003 }]);
  await write([{ id: 2004, text: 'error E4711 of a stranger' }], { organizationId: 8, userId: 70 });
  const sparse = encodeDocument('E4711');
  const { dense, sparse: sparseHits } = await vectors.search({
    ...QUERY,
    sparse,
    filter: { media: 'TEXT', fileIds: [2001, 2002, 2003, 2004] },
  });
  expect(dense.map(({ fileId }) => fileId)).toEqual([2001, 2002, 2003]);
  expect(sparseHits).toMatchObject([{ fileId: 2001, generation: 1, chunkIndex: 0 }]);
  expect(sparseHits[0]?.score).toBeGreaterThan(0);
  await vectors.deleteAll({ organizationId: 8, userId: 70 });
});

describe('with texts of another tenant in the same collection', () => {
  const OTHERS = { organizationId: 8, userId: 71 };
  afterEach(() => vectors.deleteAll(OTHERS));
  const scores = async () => {
    const sparse = encodeDocument('pump valve');
    const filter = { media: 'TEXT' as const, fileIds: [4001, 4002, 4003] };
    return (await vectors.search({ ...QUERY, sparse, filter })).sparse.map(({ fileId, score }) => [fileId, score]);
  };

  test('the scores of words are the same, whatever the other tenant writes', async () => {
    await write([
      { id: 4001, text: 'the pump runs' },
      { id: 4002, text: 'the valve leaks' },
      { id: 4003, text: 'a pump and a motor' },
    ]);
    const scoresBefore = await scores();
    // Among the texts of the tenant, "valve" is rarer than "pump".
    expect(scoresBefore[0]?.[0]).toBe(4002);
    const valves = Array.from({ length: 300 }, (_, index) => ({ id: 5000 + index, text: `valve number ${index}` }));
    await write(valves, OTHERS);
    expect(await scores()).toEqual(scoresBefore);
  });
});

test('orders equal scores by file, then by chunk', async () => {
  await write([3009, 3001, 3005].map((id) => ({ id: id * 1000 })));
  expect(await idsOf({ fileIds: [3_009_000, 3_001_000, 3_005_000] })).toEqual([3_001_000, 3_005_000, 3_009_000]);
  const hit = (fileId: number, chunkIndex: number) => ({ fileId, chunkIndex, generation: 1, score: 1 });
  expect([hit(2, 1), hit(2, 0), hit(1, 5)].toSorted(byScore)).toEqual([hit(1, 5), hit(2, 0), hit(2, 1)]);
});

test('a search for ids, followed by a read of their chunks, returns the same hits as a search that includes the chunks', async () => {
  const words = ['pump', 'valve', 'motor', 'seal'];
  const ids = Array.from({ length: 60 }, (_, index) => 6001 + index);
  await write(ids.map((id) => ({ id, text: `the ${words[id % 4]} and the ${words[id % 3]} of machine ${id % 7}` })));
  const query = {
    ...QUERY,
    sparse: encodeDocument('pump valve machine 3'),
    filter: { media: 'TEXT' as const, fileIds: ids },
    limit: 200,
  };
  const { dense, sparse } = await vectors.search(query);
  expect([dense.length, sparse.length > 20]).toEqual([60, true]);
  const points = await vectors.searchIds(query);
  const withChunks = async (hits: readonly PointHit[]) => {
    const chunks = await vectors.chunksOf(
      MINE,
      SPACE.name,
      hits.map(({ id }) => id),
    );
    return hits.map(({ id, score }) => ({ ...chunks.get(id)!, score })).toSorted(byScore);
  };
  expect(await withChunks(points.dense)).toEqual(dense);
  expect(await withChunks(points.sparse)).toEqual(sparse);
});

test('deleted points have no chunks', async () => {
  await write([{ id: 7001 }, { id: 7002 }]);
  const { dense } = await vectors.searchIds({ ...QUERY, filter: { media: 'TEXT', fileIds: [7001, 7002] } });
  await vectors.deletePoints([{ fileId: 7001, generation: 1, space: SPACE.name, count: 1 }]);
  const chunks = await vectors.chunksOf(
    MINE,
    SPACE.name,
    dense.map(({ id }) => id),
  );
  expect([...chunks.values()]).toEqual([{ fileId: 7002, generation: 1, chunkIndex: 0 }]);
});

test('points of another tenant have no chunks and no vectors, even by their ids', async () => {
  const foreign = { organizationId: 8, userId: 71 };
  await write([{ id: 7003 }], foreign);
  const { dense } = await vectors.searchIds({ ...QUERY, ...foreign, filter: { media: 'TEXT', fileIds: [7003] } });
  const ids = dense.map(({ id }) => id);
  const key = { fileId: 7003, generation: 1, chunkIndex: 0 };
  expect([...(await vectors.chunksOf(foreign, SPACE.name, ids)).values()]).toEqual([key]);
  expect([...(await vectors.retrieve(foreign, SPACE.name, [key])).keys()]).toEqual(['7003:1:0']);
  for (const tenant of [
    MINE,
    { ...foreign, userId: MINE.userId },
    { ...foreign, organizationId: MINE.organizationId },
  ]) {
    expect(await vectors.chunksOf(tenant, SPACE.name, ids)).toEqual(new Map());
    expect(await vectors.retrieve(tenant, SPACE.name, [key])).toEqual(new Map());
  }
});

test('the neighbours of each given point are the nearest other given points of the same tenant, best first', async () => {
  const foreign = { organizationId: 8, userId: 71 };
  const ids = [7011, 7012, 7013, 7014];
  // Each vector is rotated by the same angle from the previous one, so the nearest vectors have neighbouring numbers.
  const turned = (turn: number): Float32Array => Float32Array.from([Math.cos(turn), Math.sin(turn), 0, 0]);
  await write(ids.map((id, nth) => ({ id, vector: turned(nth / 5) })));
  await write([{ id: 7015, vector: turned(0.1) }], foreign);
  const pointOf = (id: number): string => pointId(id, 1, 0, SPACE.name);
  const asked = { ids: [...ids, 7015].map(pointOf), count: 2 };
  const neighbours = await vectors.neighboursOf(MINE, SPACE.name, asked);
  const fileOf = new Map([...ids, 7015].map((id) => [pointOf(id), id]));
  const neighbourFiles = [...neighbours].map(([id, others]) => [
    fileOf.get(id),
    others.map((other) => fileOf.get(other.id)),
  ]);
  expect(Object.fromEntries(neighbourFiles)).toEqual({
    7011: [7012, 7013],
    7012: expect.arrayContaining([7011, 7013]),
    7013: expect.arrayContaining([7012, 7014]),
    7014: [7013, 7012],
  });
  expect(neighbours.get(pointOf(7011))?.[1]?.score).toBeCloseTo(Math.cos(2 / 5), 4);
  expect(await vectors.neighboursOf(foreign, SPACE.name, asked)).toEqual(new Map());
});

test('returns no neighbours if the Qdrant server cannot compute them', async () => {
  const older = createVectorSearch(() => Promise.reject(Object.assign(new Error('not found'), { status: 404 })), {
    nameOf: String,
  });
  expect(await older.neighboursOf(MINE, SPACE.name, { ids: ['a', 'b'], count: 2 })).toEqual(new Map());
  const broken = createVectorSearch(() => Promise.reject(Object.assign(new Error('failed'), { status: 500 })), {
    nameOf: String,
  });
  await expect(broken.neighboursOf(MINE, SPACE.name, { ids: ['a', 'b'], count: 2 })).rejects.toThrow('failed');
});

test('a space without a collection has no results', async () => {
  expect(await vectors.search({ ...QUERY, space: 'missing-4' })).toEqual({ dense: [], sparse: [] });
  expect(await vectors.searchIds({ ...QUERY, space: 'missing-4' })).toEqual({ dense: [], sparse: [] });
  expect(await vectors.chunksOf(MINE, 'missing-4', [randomUUID()])).toEqual(new Map());
  const chunk = { fileId: 1, generation: 1, chunkIndex: 0 };
  expect(await vectors.retrieve(MINE, 'missing-4', [chunk])).toEqual(new Map());
});

test('a write of new or of restored points creates a lost collection again', async () => {
  const space = { name: 'lost-4', dimensions: 4 };
  const file = { fileId: 9001, generation: 1, space };
  const read = async (): Promise<WholePoint[]> => {
    const found: WholePoint[] = [];
    for await (const batch of vectors.readPoints(file, 1)) found.push(...batch);
    return found;
  };
  const client = new QdrantClient({ url: testEngines().qdrantUrl, checkCompatibility: false });
  const lose = () => client.deleteCollection(`${settings.prefix}${space.name}`);
  await write([{ id: file.fileId }], MINE, space);
  const points = await read();
  expect(points).toHaveLength(1);
  await lose();
  await vectors.writePoints(file, points, {});
  expect(await read()).toEqual(points);
  await lose();
  await write([{ id: file.fileId }], MINE, space);
  expect(await read()).toEqual(points);
  await lose();
});

test('a deployment never touches the collections of another one whose longer prefix begins with its own', async () => {
  const tenant = { organizationId: 8, userId: 80 };
  const space = { name: 'minilm-l6-v2-384', dimensions: 384 };
  const url = testEngines().qdrantUrl;
  const other = createVectors({ ...settings, url, prefix: `${settings.prefix}test-` });
  const vector = Float32Array.from({ length: space.dimensions }, (_, at) => (at === 0 ? 1 : 0));
  await write([{ id: 9002, vector }], tenant, space, other);
  const census = createPointsCensus({ ...settings, url });
  await vectors.setTags([{ ...tenant, _id: 9002, tagPairs: ['team=red'] }]);
  await vectors.deleteGenerations([{ ...tenant, fileId: 9002, generations: { exactly: 1 } }]);
  await vectors.deleteAll(tenant);
  expect(await other.countOf(tenant, [9002])).toBe(1);
  expect((await other.search({ ...QUERY, ...tenant, space: space.name, dense: [...vector] })).dense).toHaveLength(1);
  expect(await vectors.countOf(tenant, [9002])).toBe(0);
  expect((await census.count(tenant, { above: 9001, upTo: 9002 })).map(({ space: found }) => found)).toEqual([]);
  expect((await inspectQdrant({ ...settings, url })).collections.map(({ name }) => name)).not.toContain(
    `${settings.prefix}test-${space.name}`,
  );
  await other.deleteAll(tenant);
});

test('sends one request for both kinds of vectors, and the exact flag', async () => {
  const requests: {
    searches: { using: string; params?: { exact?: boolean; idf?: unknown }; filter: { must: unknown[] } }[];
  }[] = [];
  const recorder = createServer((request, response) => {
    let body = '';
    request.on('data', (part) => (body += String(part)));
    request.on('end', () => {
      const { searches } = JSON.parse(body) as (typeof requests)[number];
      requests.push({ searches });
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify({ result: searches.map(() => ({ points: [] })), status: 'ok', time: 0 }));
    });
  }).listen(0, '127.0.0.1');
  await once(recorder, 'listening');
  const { port } = recorder.address() as AddressInfo;
  const recorded = createVectors({ ...settings, url: `http://127.0.0.1:${port}` });
  await recorded.search({ ...QUERY, sparse: encodeDocument('word'), exact: true });
  await recorded.search(QUERY);
  recorder.closeAllConnections();
  recorder.close();
  expect(requests.map(({ searches }) => searches.map(({ using, params }) => [using, params?.exact ?? false]))).toEqual([
    [
      ['dense', true],
      ['sparse', false],
    ],
    [['dense', false]],
  ]);
  const owned = [
    { key: 'organization_id', match: { value: '7' } },
    { key: 'user_id', match: { value: 70 } },
  ];
  expect(requests[0]?.searches[1]?.params?.idf).toEqual({ corpus: { must: owned } });
  for (const { filter } of requests.flatMap(({ searches }) => searches))
    expect(filter.must).toEqual(
      expect.arrayContaining([
        { key: 'organization_id', match: { value: '7' } },
        { key: 'user_id', match: { value: 70 } },
      ]),
    );
});
