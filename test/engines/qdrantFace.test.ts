/** The embedded Qdrant under the public client: the answers a Qdrant server gives to the same calls. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { QdrantClient } from '@qdrant/js-client-rest';

import { testEngines } from '../support/engines.js';

const client = new QdrantClient({ url: testEngines().qdrantUrl });
const NAME = `face-${process.pid}`;
const uuid = (n: number) => `00000000-0000-0000-0000-0000000000${n}`;
const tick = (n: number) => new Date(1.7e12 + n * 1e9).toISOString();

/** Ids 0 to 9, then UUIDs; every second has the vector `title` and is published. */
const points = Array.from({ length: 20 }, (_, i) => ({
  id: i < 10 ? i : uuid(i),
  vector: {
    dense: [1, i / 20, 0, 0.1],
    ...(i % 2 ? { title: [0, 1, i, 0] } : {}),
    bm25: { indices: [i, 100, 200 + (i % 3)], values: [1, 0.5, 0.75] },
  },
  payload: {
    group: i % 3,
    url: `u${i}`,
    at: tick(i),
    score: i * 1.5,
    published: i % 2 === 0,
    tags: ['a', `t${i % 4}`],
    text: `hello world number ${i}`,
    parts: [{ a: i, b: 'x' }],
    nothing: null,
    big: 9007199254740991,
    fraction: 0.1,
  },
}));

const INDEXES = {
  group: 'integer',
  url: { type: 'keyword', is_tenant: true },
  at: 'datetime',
  score: 'float',
  published: 'bool',
  tags: 'keyword',
  text: { type: 'text', tokenizer: 'word', lowercase: true },
} as const;

type Filter = NonNullable<Parameters<typeof client.count>[1]>['filter'];
const count = async (filter?: Filter) => (await client.count(NAME, { ...(filter && { filter }), exact: true })).count;
const has = (key: string, value: string | number | boolean) => ({ key, match: { value } });
/** Status and words of a refusal. */
const refusal = async (call: Promise<unknown>) =>
  call.then(
    () => 'accepted',
    (error: { status: number; data: { status: { error: string } } }) => [error.status, error.data.status.error],
  );

async function fill(name: string): Promise<void> {
  await client.createCollection(name, {
    vectors: { dense: { size: 4, distance: 'Cosine' }, title: { size: 4, distance: 'Cosine' } },
    sparse_vectors: { bm25: { modifier: 'idf' } },
  });
  for (const [field_name, field_schema] of Object.entries(INDEXES)) {
    await client.createPayloadIndex(name, { field_name, field_schema, wait: true });
  }
  await client.upsert(name, { wait: true, points });
}

beforeAll(() => fill(NAME));
afterAll(async () => {
  for (const { name } of (await client.getCollections()).collections) {
    if (name.startsWith(NAME)) await client.deleteCollection(name);
  }
});

test('a collection tells what it holds', async () => {
  const info = await client.getCollection(NAME);
  expect(info.points_count).toBe(20);
  expect(info.config.params.vectors).toEqual({
    dense: { size: 4, distance: 'Cosine' },
    title: { size: 4, distance: 'Cosine' },
  });
  expect(info.payload_schema['url']).toEqual({
    data_type: 'keyword',
    points: 20,
    params: { type: 'keyword', is_tenant: true },
  });
  expect(await client.collectionExists(NAME)).toEqual({ exists: true });
  expect((await client.getCollections()).collections).toContainEqual({ name: NAME });
});

test('points come back as they were given, numbers and nulls included', async () => {
  const [three, twelve, ...more] = await client.retrieve(NAME, { ids: [3, uuid(12), 4711], with_vector: true });
  expect(more).toEqual([]);
  expect(three?.payload).toEqual(points[3]?.payload);
  expect(twelve?.id).toBe(uuid(12));
  const { dense, title, bm25 } = (three?.vector ?? {}) as Record<string, number[]>;
  // Cosine: stored at length one.
  expect(Math.hypot(...(dense ?? []))).toBeCloseTo(1, 5);
  expect(title).toHaveLength(4);
  expect(bm25).toEqual({ indices: [3, 100, 200], values: [1, 0.5, 0.75] });
});

describe('filters', () => {
  test.each<[string, Filter, number]>([
    ['a value', { must: [has('group', 1)] }, 7],
    ['true', { must: [has('published', true)] }, 10],
    ['false, inside another filter', { must: [{ should: [has('published', false)] }] }, 10],
    ['any of', { must: [{ key: 'url', match: { any: ['u1', 'u2'] } }] }, 2],
    ['none of', { must_not: [{ key: 'url', match: { any: ['u1', 'u2'] } }] }, 18],
    ['all except', { must: [{ key: 'url', match: { except: ['u1'] } }] }, 19],
    ['a member of a list', { must: [has('tags', 't1')] }, 5],
    ['words', { must: [{ key: 'text', match: { text: 'NUMBER 7' } }] }, 1],
    ['a range', { must: [{ key: 'score', range: { gte: 3, lt: 9 } }] }, 4],
    ['a range of dates', { must: [{ key: 'at', range: { gt: tick(10) } }] }, 9],
    ['how many values', { must: [{ key: 'tags', values_count: { gt: 1 } }] }, 20],
    ['an empty field', { must: [{ is_empty: { key: 'absent' } }] }, 20],
    ['a null', { must: [{ is_null: { key: 'nothing' } }] }, 20],
    ['ids', { must: [{ has_id: [1, 2, uuid(15)] }] }, 3],
    ['a vector', { must: [{ has_vector: 'title' }] }, 10],
    ['one of several', { should: [has('url', 'u1'), has('url', 'u5')] }, 2],
    ['two of several', { min_should: { conditions: [has('published', true), has('group', 0)], min_count: 2 } }, 4],
    [
      'parts of one element',
      { must: [{ nested: { key: 'parts', filter: { must: [{ key: 'a', range: { gte: 15 } }, has('b', 'x')] } } }] },
      5,
    ],
  ])('by %s', async (_, filter, expected) => {
    expect(await count(filter)).toBe(expected);
  });
});

describe('scrolling', () => {
  test('goes page by page through what a filter leaves', async () => {
    const seen: unknown[] = [];
    const pages: number[] = [];
    let offset: string | number | undefined;
    do {
      const filter = { must: [has('published', true)] };
      const page = await client.scroll(NAME, {
        limit: 4,
        filter,
        with_payload: ['url'],
        with_vector: ['dense'],
        ...(offset !== undefined && { offset }),
      });
      pages.push(page.points.length);
      seen.push(...page.points.map((point) => point.payload?.['url']));
      expect(Object.keys(page.points[0]?.vector ?? {})).toEqual(['dense']);
      offset = (page.next_page_offset ?? undefined) as string | number | undefined;
    } while (offset !== undefined);
    expect(pages).toEqual([4, 4, 2]);
    expect(seen).toEqual(['u0', 'u2', 'u4', 'u6', 'u8', 'u10', 'u12', 'u14', 'u16', 'u18']);
  });

  test('orders by a number or a date', async () => {
    const byScore = await client.scroll(NAME, {
      limit: 3,
      order_by: { key: 'score', direction: 'desc' },
      with_payload: { include: ['score'] },
    });
    expect(byScore.points.map((point) => point.payload)).toEqual([{ score: 28.5 }, { score: 27 }, { score: 25.5 }]);
    const byDate = await client.scroll(NAME, {
      limit: 3,
      order_by: { key: 'at', start_from: tick(5) },
      with_payload: false,
    });
    expect(byDate.points.map((point) => point.id)).toEqual([5, 6, 7]);
    expect(byDate.next_page_offset).toBeNull();
  });
});

describe('queries', () => {
  const near = [1, 0.5, 0, 0.1];
  const urls = (answer: { points: { payload?: Record<string, unknown> | null | undefined }[] }) =>
    answer.points.map((point) => point.payload?.['url']);
  const prefetch = [
    { query: near, using: 'dense', limit: 10 },
    { query: { indices: [7], values: [1] }, using: 'bm25', limit: 10 },
  ];

  test('rank by nearness', async () => {
    const filter = { must: [has('group', 1)] };
    const found = await client.query(NAME, { query: near, using: 'dense', limit: 3, with_payload: ['url'], filter });
    expect(urls(found)).toEqual(['u10', 'u13', 'u7']);
    expect(found.points[0]?.score).toBeCloseTo(1, 5);
  });

  test('take a stored point for the vector, and leave it out', async () => {
    const found = await client.query(NAME, { query: 3, using: 'dense', limit: 2 });
    expect(found.points.map((point) => point.id)).toEqual([4, 2]);
  });

  test('weigh rare words of a sparse vector above common ones', async () => {
    const query = { indices: [7, 100], values: [1, 1] };
    const [first, second] = (await client.query(NAME, { query, using: 'bm25', limit: 3 })).points;
    expect(first?.id).toBe(7);
    // ln(1 + (20 - n + 0.5) / (n + 0.5)): n = 1 for the word 7, n = 20 for the word 100.
    expect(first?.score).toBeCloseTo(Math.log(1 + 19.5 / 1.5) + 0.5 * Math.log(1 + 0.5 / 20.5), 4);
    expect(second?.score).toBeCloseTo(0.5 * Math.log(1 + 0.5 / 20.5), 4);
  });

  test('fuse by reciprocal rank', async () => {
    const filter = { must_not: [has('url', 'u9')] };
    const found = await client.query(NAME, {
      prefetch,
      query: { fusion: 'rrf' },
      limit: 3,
      with_payload: ['url'],
      filter,
    });
    // u7: fifth by nearness once u9 is out, first by words; 1 / (2 + rank), ranks from 0.
    expect(urls(found)[0]).toBe('u7');
    expect(found.points[0]?.score).toBeCloseTo(1 / 2 + 1 / 7, 5);
    expect(urls(found)[1]).toBe('u10');
    expect(found.points[1]?.score).toBeCloseTo(1 / 2, 5);
  });

  test('fuse by weighted reciprocal rank', async () => {
    const found = await client.query(NAME, { prefetch, query: { rrf: { k: 60, weights: [3, 1] } }, limit: 2 });
    expect(found.points.map((point) => point.id)).toEqual([7, uuid(10)]);
  });

  test('fuse by distribution of scores', async () => {
    const found = await client.query(NAME, { prefetch, query: { fusion: 'dbsf' }, limit: 2 });
    expect(found.points[0]?.id).toBe(7);
  });

  test('skip, cut off below a score, and come in batches', async () => {
    const all = await client.query(NAME, { query: near, using: 'dense', limit: 5 });
    const later = await client.query(NAME, { query: near, using: 'dense', limit: 3, offset: 2, score_threshold: 0.9 });
    expect(later.points.map((point) => point.id)).toEqual(all.points.slice(2).map((point) => point.id));
    const searches = [
      { query: [1, 0, 0, 0], using: 'dense', limit: 1 },
      { query: [0, 1, 0, 0], using: 'dense', limit: 1 },
    ];
    const [first, second] = await client.queryBatch(NAME, { searches });
    expect(first?.points.map((point) => point.id)).toEqual([0]);
    expect(second?.points.map((point) => point.id)).toEqual([uuid(19)]);
  });
});

test('facets count the values of a field', async () => {
  expect((await client.facet(NAME, { key: 'tags', exact: true })).hits).toEqual([
    { value: 'a', count: 20 },
    { value: 't0', count: 5 },
    { value: 't1', count: 5 },
    { value: 't2', count: 5 },
    { value: 't3', count: 5 },
  ]);
  const filter = { must: [has('published', true)] };
  expect((await client.facet(NAME, { key: 'group', exact: true, filter })).hits).toEqual([
    { value: 0, count: 4 },
    { value: 1, count: 3 },
    { value: 2, count: 3 },
  ]);
});

describe('changes', () => {
  const changing = `${NAME}-changing`;
  const payload = async (id: number) => (await client.retrieve(changing, { ids: [id] }))[0]?.payload;
  const total = async (filter?: Filter) => (await client.count(changing, filter ? { filter } : {})).count;
  beforeAll(() => fill(changing));

  test('of payload: set, delete, overwrite, clear, by ids or by a filter', async () => {
    await client.setPayload(changing, { wait: true, payload: { title: 'T' }, filter: { must: [has('group', 2)] } });
    expect(await total({ must: [has('title', 'T')] })).toBe(6);
    await client.setPayload(changing, { wait: true, payload: { x: 1 }, points: [1, 2] });
    expect(await payload(1)).toEqual({ ...points[1]?.payload, x: 1 });
    await client.deletePayload(changing, { wait: true, keys: ['x'], points: [1] });
    expect(await payload(1)).toEqual(points[1]?.payload);
    await client.overwritePayload(changing, { wait: true, payload: { only: 1 }, points: [9] });
    expect(await payload(9)).toEqual({ only: 1 });
    await client.clearPayload(changing, { wait: true, points: [9] });
    expect(await payload(9)).toEqual({});
  });

  test('of vectors: one replaced, one removed, the others kept', async () => {
    await client.updateVectors(changing, { wait: true, points: [{ id: 5, vector: { dense: [0, 0, 1, 0] } }] });
    await client.deleteVectors(changing, { wait: true, points: [5], vector: ['title'] });
    const [five] = await client.retrieve(changing, { ids: [5], with_vector: true });
    expect(five?.vector).toEqual({ dense: [0, 0, 1, 0], bm25: { indices: [5, 100, 202], values: [1, 0.5, 0.75] } });
  });

  test('of several kinds in one request, in their order', async () => {
    const done = await client.batchUpdate(changing, {
      wait: true,
      operations: [
        {
          upsert: {
            batch: {
              ids: [50, 51],
              vectors: {
                dense: [
                  [1, 0, 0, 0],
                  [0, 1, 0, 0],
                ],
              },
              payloads: [{ n: 0 }, { n: 1 }],
            },
          },
        },
        { set_payload: { payload: { m: 2 }, points: [51] } },
        { delete: { points: [50] } },
      ],
    });
    expect(done.map((step) => step.status)).toEqual(['completed', 'completed', 'completed']);
    expect(await client.retrieve(changing, { ids: [50, 51] })).toEqual([{ id: 51, payload: { n: 1, m: 2 } }]);
    await client.delete(changing, { wait: true, points: [51] });
  });

  test('deletes points by ids and by a filter', async () => {
    await client.delete(changing, { wait: true, points: [0, uuid(19)] });
    await client.delete(changing, { wait: true, filter: { must: [{ key: 'url', match: { any: ['u3', 'u4'] } }] } });
    expect(await total()).toBe(16);
  });

  test('of an index', async () => {
    await client.deletePayloadIndex(changing, 'published', { wait: true });
    expect((await client.getCollection(changing)).payload_schema['published']).toBeUndefined();
  });

  test('deletes a collection and takes its name again, empty', async () => {
    expect(await client.deleteCollection(changing)).toBe(true);
    expect(await client.deleteCollection(changing)).toBe(false);
    await client.createCollection(changing, { vectors: { size: 2, distance: 'Dot' } });
    await client.upsert(changing, { wait: true, points: [{ id: 1, vector: [1, 2] }] });
    expect(await client.retrieve(changing, { ids: [1], with_vector: true })).toEqual([
      { id: 1, vector: [1, 2], payload: {} },
    ]);
  });
});

describe('refusals', () => {
  const dense = [1, 2, 3, 4];
  const upsert = (point: { id: string | number; vector: Record<string, unknown> }) =>
    refusal(client.upsert(NAME, { wait: true, points: [point as never] }));

  test.each<[string, () => Promise<unknown>, [number, string]]>([
    [
      'an absent collection',
      () => refusal(client.getCollection('absent')),
      [404, "Not found: Collection `absent` doesn't exist!"],
    ],
    [
      'a name that is taken',
      () => refusal(client.createCollection(NAME, { vectors: { size: 4, distance: 'Cosine' } })),
      [409, `Wrong input: Collection \`${NAME}\` already exists!`],
    ],
    [
      'a wrong dimension',
      () => upsert({ id: 1, vector: { dense: [1, 2] } }),
      [400, 'Wrong input: Vector dimension error: expected dim: 4, got 2'],
    ],
    [
      'an unknown vector',
      () => upsert({ id: 1, vector: { nope: dense } }),
      [400, 'Wrong input: Not existing vector name error: nope'],
    ],
    [
      'an id that is neither number nor UUID',
      () => upsert({ id: 'not-a-uuid', vector: { dense } }),
      [
        400,
        'Format error in JSON body: value not-a-uuid is not a valid point ID, valid values are either an unsigned integer or a UUID',
      ],
    ],
    [
      'a sparse vector of unequal lengths',
      () => upsert({ id: 1, vector: { bm25: { indices: [1, 2], values: [1] } } }),
      [422, 'Validation error in JSON body: [vector.values: must be the same length as indices]'],
    ],
    [
      'a sparse vector with an index twice',
      () => upsert({ id: 1, vector: { bm25: { indices: [1, 1], values: [1, 2] } } }),
      [422, 'Validation error in JSON body: [vector.indices: must be unique]'],
    ],
    [
      'a query of a wrong dimension',
      () => refusal(client.query(NAME, { query: [1, 2], using: 'dense' })),
      [400, 'Wrong input: Vector dimension error: expected dim: 4, got 2'],
    ],
    [
      'a query by an unknown vector',
      () => refusal(client.query(NAME, { query: dense, using: 'nope' })),
      [400, 'Wrong input: Not existing vector name error: nope'],
    ],
    [
      'a query by an absent point',
      () => refusal(client.query(NAME, { query: 4711, using: 'dense' })),
      [404, 'Not found: No point with id 4711 found'],
    ],
    [
      'vectors of an absent point',
      () => refusal(client.updateVectors(NAME, { points: [{ id: 4711, vector: { dense } }] })),
      [404, 'Not found: No point with id 4711 found'],
    ],
    [
      'an unknown condition',
      () => refusal(count({ must: [{ near: 1 } as never] })),
      [400, 'Format error in JSON body: unknown condition near'],
    ],
    [
      'no limit of results',
      () => refusal(client.query(NAME, { query: dense, using: 'dense', limit: 0 })),
      [422, 'Validation error in JSON body: [limit: value 0 invalid, must be 1 or larger]'],
    ],
  ])('of %s', async (_, call, expected) => {
    expect(await call()).toEqual(expected);
  });

  test('of an order without an index, by its reason', async () => {
    expect(await refusal(client.scroll(NAME, { order_by: 'url' }))).toEqual([
      400,
      expect.stringMatching(/^Wrong input: No range index for `order_by` key: `url`/),
    ]);
  });

  test('leave nothing behind', async () => {
    expect(await count()).toBe(20);
    expect((await client.retrieve(NAME, { ids: [1] }))[0]?.payload).toEqual(points[1]?.payload);
  });
});

describe('the server itself', () => {
  const send = async (init: RequestInit) =>
    (await fetch(`${testEngines().qdrantUrl}/collections/${NAME}/points/count`, { method: 'POST', ...init })).status;

  test('refuses a body that is too large, is no JSON or does not say that it is', async () => {
    const headers = { 'content-type': 'application/json' };
    expect(await send({ headers, body: new Uint8Array(64 * 1024 * 1024 + 1) })).toBe(413);
    expect(await send({ headers, body: '{"exact":' })).toBe(400);
    expect(await send({ headers: { 'content-type': 'text/plain' }, body: '{}' })).toBe(415);
  });

  test('names what it does not offer', async () => {
    const answer = await fetch(`${testEngines().qdrantUrl}/collections/${NAME}/snapshots`);
    expect(answer.status).toBe(404);
    expect(await answer.json()).toMatchObject({ status: { error: expect.stringContaining('does not offer GET') } });
  });

  test('serves many callers at once', async () => {
    const counts = await Promise.all(Array.from({ length: 200 }, () => count({ must: [has('group', 1)] })));
    expect(new Set(counts)).toEqual(new Set([7]));
  });
});
