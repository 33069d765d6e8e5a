/** The embedded Qdrant with the official client: reads return what a Qdrant server returns. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';

import { client, count, fill, has, points, tick, uuid, type Filter } from '../../engines/qdrantPoints.js';

const NAME = `reads-${process.pid}`;

beforeAll(() => fill(NAME));
afterAll(() => client.deleteCollection(NAME));

test('describes a collection', async () => {
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

test('returns the points that were written, including numbers and nulls', async () => {
  const [three, twelve, ...more] = await client.retrieve(NAME, { ids: [3, uuid(12), 4711], with_vector: true });
  expect(more).toEqual([]);
  expect(three?.payload).toEqual(points[3]?.payload);
  expect(twelve?.id).toBe(uuid(12));
  const { dense, title, bm25 } = (three?.vector ?? {}) as Record<string, number[]>;
  // Cosine vectors are stored with length one.
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
    ['the number of values', { must: [{ key: 'tags', values_count: { gt: 1 } }] }, 20],
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
    expect(await count(NAME, filter)).toBe(expected);
  });
});

describe('scrolling', () => {
  test('returns a filtered collection page by page', async () => {
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
  const similar = [1, 0.5, 0, 0.1];
  const urls = (answer: { points: { payload?: Record<string, unknown> | null | undefined }[] }) =>
    answer.points.map((point) => point.payload?.['url']);
  const prefetch = [
    { query: similar, using: 'dense', limit: 10 },
    { query: { indices: [7], values: [1] }, using: 'bm25', limit: 10 },
  ];

  test('rank by similarity', async () => {
    const filter = { must: [has('group', 1)] };
    const found = await client.query(NAME, { query: similar, using: 'dense', limit: 3, with_payload: ['url'], filter });
    expect(urls(found)).toEqual(['u10', 'u13', 'u7']);
    expect(found.points[0]?.score).toBeCloseTo(1, 5);
  });

  test('use a stored point as the vector, and exclude that point', async () => {
    const found = await client.query(NAME, { query: 3, using: 'dense', limit: 2 });
    expect(found.points.map((point) => point.id)).toEqual([4, 2]);
  });

  test('weight rare words of a sparse vector above common ones', async () => {
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
    // u7: rank 5 by similarity without u9, rank 0 by words; each adds 1 / (2 + rank).
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

  test('support offsets, score thresholds and batches', async () => {
    const all = await client.query(NAME, { query: similar, using: 'dense', limit: 5 });
    const later = await client.query(NAME, {
      query: similar,
      using: 'dense',
      limit: 3,
      offset: 2,
      score_threshold: 0.9,
    });
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

describe('the distance matrix', () => {
  const ids = [0, 3, uuid(12), uuid(19)];
  const filter = { must: [{ has_id: ids }] };

  test('has the nearest other points among the filtered ones, best first', async () => {
    const result = await client.searchMatrixOffsets(NAME, { filter, sample: 4, limit: 2, using: 'dense' });
    expect(result.ids).toEqual(ids);
    expect(result.offsets_row).toEqual([0, 0, 1, 1, 2, 2, 3, 3]);
    const storedPoints = await client.retrieve(NAME, { ids, with_vector: ['dense'] });
    const vectorOf = (offset: number): number[] =>
      (storedPoints.find(({ id }) => id === ids[offset])?.vector as { dense: number[] } | undefined)?.dense ?? [];
    const cosine = (one: number, other: number): number =>
      vectorOf(one).reduce((sum, value, at) => sum + value * (vectorOf(other)[at] ?? 0), 0);
    const expected = ids.flatMap((_, row) =>
      [0, 1, 2, 3]
        .filter((column) => column !== row)
        .toSorted((a, b) => cosine(row, b) - cosine(row, a))
        .slice(0, 2)
        .map((column) => [column, cosine(row, column)] as const),
    );
    expect(result.offsets_col).toEqual(expected.map(([column]) => column));
    result.scores.forEach((score, pair) => expect(score).toBeCloseTo(expected[pair]?.[1] ?? 2, 5));
  });

  test('is empty for fewer than two points, and limited to the size of the sample', async () => {
    const matrix = (has_id: (string | number)[], sample: number) =>
      client.searchMatrixOffsets(NAME, { filter: { must: [{ has_id }] }, sample, using: 'dense' });
    expect(await matrix([3], 2)).toEqual({ offsets_row: [], offsets_col: [], scores: [], ids: [] });
    const sampled = await matrix(ids, 2);
    expect(sampled.ids).toHaveLength(2);
    expect(sampled.offsets_row).toEqual([0, 1]);
    expect(sampled.offsets_col).toEqual([1, 0]);
    await expect(matrix(ids, 1)).rejects.toThrow('Unprocessable');
  });
});

test('counts the values of a field', async () => {
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
