import { randomBytes } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';

import { loadConfig } from '../../config/config.js';
import type { FileVectors } from '../../store/vectors/point.js';
import { pointId } from '../../store/vectors/pointId.js';
import { createVectors, type Vectors } from '../../store/vectors/vectors.js';
import { type QdrantRecorder, startQdrantRecorder } from '../emulators/qdrant.js';

/** Tests the exact requests to Qdrant: the embedded engine ignores many of their fields. */

let qdrant: QdrantRecorder;
beforeEach(async () => {
  qdrant = await startQdrantRecorder();
});
afterEach(() => qdrant.close());

const SECRETS = { SECRET_KEY: `k1:${randomBytes(32).toString('base64')}` };
/** Creates vectors as the service does under these settings. */
const vectorsWith = (settings: Record<string, string>): Vectors => {
  const { qdrant: qdrantSettings } = loadConfig({ ...SECRETS, QDRANT_COLLECTION_PREFIX: 'own-', ...settings });
  return createVectors({ ...qdrantSettings, url: qdrant.url });
};
const SPACE = { name: 'some-8', dimensions: 8 };
const file = (fileId: number, chunks: number, fields: Partial<FileVectors> = {}): FileVectors => ({
  organizationId: 1,
  userId: 2,
  fileId,
  parentId: 9,
  ancestors: [9, 8],
  generation: 3,
  space: SPACE,
  model: 'OPENAI',
  source: 'PDF',
  fileTypeAtSource: null,
  mediaType: 'TEXT',
  tagPairs: ['team=docs'],
  vectors: Array.from({ length: chunks }, (_, index) => new Float32Array(SPACE.dimensions).fill((index + 1) / 7)),
  ...fields,
});
const written = () => qdrant.requests.filter(({ method, path }) => method === 'PUT' && path.endsWith('/points'));
interface Point {
  readonly id: string;
  readonly vector: { readonly dense: number[]; readonly sparse?: { readonly indices: number[] } };
  readonly payload: Record<string, unknown>;
}
const pointsIn = (body: Record<string, unknown>) => body['points'] as Point[];

describe('collection', () => {
  test.each([
    [
      'with the defaults of Qdrant',
      {},
      { shard_number: 1, replication_factor: 1, write_consistency_factor: 1 },
      {},
      {},
    ],
    [
      'over a cluster',
      { QDRANT_SHARDS: '6', QDRANT_REPLICAS: '3', QDRANT_WRITE_CONSISTENCY: '2' },
      { shard_number: 6, replication_factor: 3, write_consistency_factor: 2 },
      {},
      {},
    ],
    [
      'for less memory',
      { QDRANT_QUANTIZATION: 'scalar', QDRANT_ON_DISK: 'vectors, payload,hnsw,sparse' },
      {
        shard_number: 1,
        replication_factor: 1,
        write_consistency_factor: 1,
        on_disk_payload: true,
        hnsw_config: { on_disk: true },
        quantization_config: { scalar: { type: 'int8', quantile: 0.99, always_ram: true } },
      },
      { on_disk: true },
      { index: { on_disk: true } },
    ],
    [
      'with one bit per number',
      { QDRANT_QUANTIZATION: 'binary' },
      {
        shard_number: 1,
        replication_factor: 1,
        write_consistency_factor: 1,
        quantization_config: { binary: { always_ram: true } },
      },
      {},
      {},
    ],
  ])('is created %s', async (_what, settings, expected, dense, sparse) => {
    await vectorsWith(settings as Record<string, string>).upsert([file(1, 1)]);
    const createdCollections = qdrant.requests.filter(
      ({ method, path }) => method === 'PUT' && path === '/collections/own-some-8',
    );
    expect(createdCollections.map(({ body }) => body)).toEqual([
      {
        vectors: { dense: { size: 8, distance: 'Cosine', ...dense } },
        sparse_vectors: { sparse: { modifier: 'idf', ...sparse } },
        ...expected,
      },
    ]);
  });

  test('has every index before its first point, with the organization as tenant', async () => {
    await vectorsWith({}).upsert([file(1, 1)]);
    const steps = qdrant.requests.map(({ method, path }) => `${method} ${path.replace('/collections/own-some-8', '')}`);
    expect(steps.at(-1)).toBe('PUT /points');
    expect(steps.indexOf('PUT ')).toBeLessThan(steps.indexOf('PUT /index'));
    const indexes = qdrant.requests.filter(({ path }) => path.endsWith('/index')).map(({ body }) => body);
    expect(Object.fromEntries(indexes.map((body) => [body['field_name'], body['field_schema']]))).toEqual({
      organization_id: { type: 'keyword', is_tenant: true },
      user_id: 'integer',
      file_id: 'integer',
      parent_id: 'integer',
      ancestors: 'integer',
      generation: 'integer',
      model: 'keyword',
      source: 'keyword',
      file_type_at_source: 'keyword',
      media_type: 'keyword',
      tags: 'keyword',
    });
  });

  test.each([
    ['QDRANT_WRITE_CONSISTENCY', { QDRANT_REPLICAS: '2', QDRANT_WRITE_CONSISTENCY: '3' }, 'QDRANT_REPLICAS'],
    ['QDRANT_QUANTIZATION', { QDRANT_QUANTIZATION: 'product' }, 'scalar'],
    ['QDRANT_ON_DISK', { QDRANT_ON_DISK: 'vectors,graph' }, 'hnsw'],
    ['QDRANT_SHARDS', { QDRANT_SHARDS: '0' }, '1'],
    ['QDRANT_WRITE_BYTES', { QDRANT_WRITE_BYTES: '33000000' }, '32000000'],
  ])('an invalid value of %s is refused at start', (name, settings, hint) => {
    const load = () => loadConfig({ ...SECRETS, ...settings });
    expect(load).toThrow(name);
    expect(load).toThrow(hint);
  });
});

describe('points', () => {
  const SMALL = { QDRANT_WRITE_BYTES: '1000000' };
  const LARGE = { name: 'large-4096', dimensions: 4096 };
  /** Returns vectors whose numbers have the longest possible JSON. */
  const long = (chunks: number) =>
    Array.from({ length: chunks }, (_, index) => new Float32Array(4096).fill(-0.0000012345678 - index * 1e-7));

  test('have a field for each filter, and the same ids at each attempt', async () => {
    const vectors = vectorsWith({});
    await vectors.upsert([file(5, 2)]);
    await vectors.upsert([file(5, 2)]);
    const [first, second] = written();
    expect(second?.body).toEqual(first?.body);
    expect(pointsIn(first?.body ?? {}).map(({ id }) => id)).toEqual(
      [0, 1].map((chunk) => pointId(5, 3, chunk, 'some-8')),
    );
    expect(pointsIn(first?.body ?? {})[1]).toMatchObject({
      vector: { dense: Array.from(new Float32Array(8).fill(2 / 7)) },
      payload: {
        organization_id: '1',
        user_id: 2,
        file_id: 5,
        parent_id: 9,
        ancestors: [9, 8],
        generation: 3,
        chunk_index: 1,
        model: 'OPENAI',
        source: 'PDF',
        file_type_at_source: null,
        media_type: 'TEXT',
        tags: ['team=docs'],
      },
    });
  });

  test('fill requests up to the maximum of bytes, and each point is sent once', async () => {
    await vectorsWith(SMALL).upsert([file(1, 3), file(2, 4)]);
    expect(written()).toHaveLength(1);
    await vectorsWith(SMALL).upsert([1, 2, 3].map((id) => file(id, 15, { space: LARGE, vectors: long(15) })));
    const requests = written().slice(1);
    // 45 points of about 100 KB each.
    expect(requests.length).toBeGreaterThan(4);
    for (const { bytes } of requests) expect(bytes).toBeLessThanOrEqual(1_000_000);
    // No request has room for the first point of the next one.
    for (const { bytes } of requests.slice(0, -1)) expect(bytes).toBeGreaterThan(850_000);
    const ids = requests.flatMap(({ body }) => pointsIn(body).map(({ id }) => id));
    expect(new Set(ids).size).toBe(45);
    expect(ids).toHaveLength(45);
  });

  test('are sent in requests within the maximum of bytes, also with sparse vectors and multi-byte tags', async () => {
    const sparse = {
      indices: Array.from({ length: 20_000 }, (_, at) => 4_000_000_000 + at),
      values: Array(20_000).fill(1.2345),
    };
    const encodedIndexes: number[] = [];
    const sparseOf = (chunkIndex: number) => {
      encodedIndexes.push(chunkIndex);
      return chunkIndex === 1 ? null : sparse;
    };
    const tagPairs = [`team=${'雪'.repeat(20_000)}`];
    await vectorsWith(SMALL).upsert([file(1, 8, { sparseOf, tagPairs })]);
    expect(encodedIndexes).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
    const requests = written();
    expect(requests.length).toBeGreaterThan(2);
    for (const { bytes } of requests) expect(bytes).toBeLessThanOrEqual(1_000_000);
    const points = requests.flatMap(({ body }) => pointsIn(body));
    expect(points.map(({ vector }) => vector.sparse?.indices.length ?? 0)).toEqual(
      encodedIndexes.map((chunkIndex) => (chunkIndex === 1 ? 0 : 20_000)),
    );
  });

  test('are written by a limited number of concurrent requests, for all callers together', async () => {
    const vectors = vectorsWith({ ...SMALL, QDRANT_WRITES_AT_ONCE: '2' });
    await vectors.upsert([file(0, 1)]);
    const upserts = Array.from({ length: 9 }, (_, id) => vectors.upsert([file(id + 1, 1)]));
    await Promise.all(upserts);
    expect(written()).toHaveLength(10);
    expect(qdrant.maxConcurrent()).toBe(2);
  });

  test('are deleted by ids that are computed from file, generation, chunk and space', async () => {
    const vectors = vectorsWith({});
    await vectors.deletePoints([
      { fileId: 1, generation: 4, space: 'some-8', count: 2 },
      { fileId: 2, generation: 1, space: 'other-4', count: 1 },
      { fileId: 3, generation: 1, space: 'other-4', count: 0 },
    ]);
    expect(qdrant.requests.map(({ path, body }) => [path, body])).toEqual([
      ['/collections/own-some-8/points/delete', { points: [pointId(1, 4, 0, 'some-8'), pointId(1, 4, 1, 'some-8')] }],
      ['/collections/own-other-4/points/delete', { points: [pointId(2, 1, 0, 'other-4')] }],
    ]);
  });
});
