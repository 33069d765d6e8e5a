/** Fixtures for tests of the embedded Qdrant: the public client and twenty points. */
import { QdrantClient } from '@qdrant/js-client-rest';

import { testEngines } from '../support/engines.js';

export const client = new QdrantClient({ url: testEngines().qdrantUrl });
export const uuid = (n: number) => `00000000-0000-0000-0000-0000000000${n}`;
export const tick = (n: number) => new Date(1.7e12 + n * 1e9).toISOString();

/**
 * Twenty points: ids 0 to 9, then UUIDs. Points of odd index have the vector `title`, the others
 * `published: true`.
 */
export const points = Array.from({ length: 20 }, (_, i) => ({
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

export type Filter = NonNullable<Parameters<typeof client.count>[1]>['filter'];
/** Returns the exact number of points of a collection that match a filter. */
export const count = async (name: string, filter?: Filter) =>
  (await client.count(name, { ...(filter && { filter }), exact: true })).count;
export const has = (key: string, value: string | number | boolean) => ({ key, match: { value } });
/** Creates a collection with three vector spaces and seven indexes, and fills it with the points. */
export async function fill(name: string): Promise<void> {
  await client.createCollection(name, {
    vectors: { dense: { size: 4, distance: 'Cosine' }, title: { size: 4, distance: 'Cosine' } },
    sparse_vectors: { bm25: { modifier: 'idf' } },
  });
  for (const [field_name, field_schema] of Object.entries(INDEXES)) {
    await client.createPayloadIndex(name, { field_name, field_schema, wait: true });
  }
  await client.upsert(name, { wait: true, points });
}
