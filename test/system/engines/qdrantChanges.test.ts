/** The embedded Qdrant with the official client: changes, and requests that a Qdrant server refuses as well. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';

import { testEngines } from '../../support/engines.js';
import { client, count, fill, has, points, uuid } from '../../engines/qdrantPoints.js';

const NAME = `changes-${process.pid}`;

/** Returns the status and message of a refusal. */
const refusal = async (call: Promise<unknown>) =>
  call.then(
    () => 'accepted',
    (error: { status: number; data: { status: { error: string } } }) => [error.status, error.data.status.error],
  );

beforeAll(() => fill(NAME));
afterAll(async () => {
  for (const name of [NAME, `${NAME}-changing`]) await client.deleteCollection(name);
});

describe('changes', () => {
  const changing = `${NAME}-changing`;
  const payload = async (id: number) => (await client.retrieve(changing, { ids: [id] }))[0]?.payload;
  beforeAll(() => fill(changing));

  test('set, delete, overwrite and clear payload, by ids or by a filter', async () => {
    await client.setPayload(changing, { wait: true, payload: { title: 'T' }, filter: { must: [has('group', 2)] } });
    expect(await count(changing, { must: [has('title', 'T')] })).toBe(6);
    await client.setPayload(changing, { wait: true, payload: { x: 1 }, points: [1, 2] });
    expect(await payload(1)).toEqual({ ...points[1]?.payload, x: 1 });
    await client.deletePayload(changing, { wait: true, keys: ['x'], points: [1] });
    expect(await payload(1)).toEqual(points[1]?.payload);
    await client.overwritePayload(changing, { wait: true, payload: { only: 1 }, points: [9] });
    expect(await payload(9)).toEqual({ only: 1 });
    await client.clearPayload(changing, { wait: true, points: [9] });
    expect(await payload(9)).toEqual({});
  });

  test('replace and remove single vectors, and keep the others', async () => {
    await client.updateVectors(changing, { wait: true, points: [{ id: 5, vector: { dense: [0, 0, 1, 0] } }] });
    await client.deleteVectors(changing, { wait: true, points: [5], vector: ['title'] });
    const [five] = await client.retrieve(changing, { ids: [5], with_vector: true });
    expect(five?.vector).toEqual({ dense: [0, 0, 1, 0], bm25: { indices: [5, 100, 202], values: [1, 0.5, 0.75] } });
  });

  test('of several kinds in one request apply in order', async () => {
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

  test('delete points by ids and by a filter', async () => {
    await client.delete(changing, { wait: true, points: [0, uuid(19)] });
    await client.delete(changing, { wait: true, filter: { must: [{ key: 'url', match: { any: ['u3', 'u4'] } }] } });
    expect(await count(changing)).toBe(16);
  });

  test('delete an index', async () => {
    await client.deletePayloadIndex(changing, 'published', { wait: true });
    expect((await client.getCollection(changing)).payload_schema['published']).toBeUndefined();
  });

  test('delete a collection, whose name can be used again for an empty one', async () => {
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
      () => refusal(count(NAME, { must: [{ near: 1 } as never] })),
      [400, 'Format error in JSON body: unknown condition near'],
    ],
    [
      'a limit of 0 results',
      () => refusal(client.query(NAME, { query: dense, using: 'dense', limit: 0 })),
      [422, 'Validation error in JSON body: [limit: value 0 invalid, must be 1 or larger]'],
    ],
  ])('of %s', async (_, call, expected) => {
    expect(await call()).toEqual(expected);
  });

  test('of an order without an index give the reason', async () => {
    expect(await refusal(client.scroll(NAME, { order_by: 'url' }))).toEqual([
      400,
      expect.stringMatching(/^Wrong input: No range index for `order_by` key: `url`/),
    ]);
  });

  test('change nothing', async () => {
    expect(await count(NAME)).toBe(20);
    expect((await client.retrieve(NAME, { ids: [1] }))[0]?.payload).toEqual(points[1]?.payload);
  });
});

describe('the server itself', () => {
  const send = async (init: RequestInit) =>
    (await fetch(`${testEngines().qdrantUrl}/collections/${NAME}/points/count`, { method: 'POST', ...init })).status;

  test('refuses a body that is too large, not JSON, or not declared as JSON', async () => {
    const headers = { 'content-type': 'application/json' };
    expect(await send({ headers, body: new Uint8Array(64 * 1024 * 1024 + 1) })).toBe(413);
    expect(await send({ headers, body: '{"exact":' })).toBe(400);
    expect(await send({ headers: { 'content-type': 'text/plain' }, body: '{}' })).toBe(415);
  });

  test('names an operation that it does not offer', async () => {
    const answer = await fetch(`${testEngines().qdrantUrl}/collections/${NAME}/snapshots`);
    expect(answer.status).toBe(404);
    expect(await answer.json()).toMatchObject({ status: { error: expect.stringContaining('does not offer GET') } });
  });

  test('answers many concurrent callers', async () => {
    const counts = await Promise.all(Array.from({ length: 200 }, () => count(NAME, { must: [has('group', 1)] })));
    expect(new Set(counts)).toEqual(new Set([7]));
  });
});
