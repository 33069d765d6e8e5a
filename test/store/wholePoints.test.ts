/** Reads and writes of complete points that need several requests, because a request has a limit of numbers. */
import { expect, test } from '@jest/globals';

import type { Collections } from '../../store/vectors/collection.js';
import { pointId } from '../../store/vectors/pointId.js';
import { createWholePoints, type WholePoint } from '../../store/vectors/points.js';
import { createUpserts } from '../../store/vectors/upserts.js';

const collections = {
  nameOf: (space: string) => `own-${space}`,
  write: ({ name }: { name: string }, work: (collection: string) => Promise<unknown>) => work(`own-${name}`),
} as unknown as Collections;
const fileOf = (dimensions: number) => ({ fileId: 7, generation: 2, space: { name: 's', dimensions } as never });
const idOf = (chunkIndex: number) => pointId(7, 2, chunkIndex, 's');

/** A client that returns a point for each id but the missing ones, the last first, and records the ids of requests. */
function clientOf(missing: readonly number[] = []) {
  const requests: string[][] = [];
  const written: { collection: string; points: { id: string }[] }[] = [];
  const chunkOf = new Map(Array.from({ length: 20 }, (_, nth) => [idOf(nth), nth]));
  const client = {
    retrieve(_name: string, { ids }: { ids: string[] }) {
      requests.push(ids);
      const found = ids.filter((id) => !missing.includes(chunkOf.get(id)!)).toReversed();
      return Promise.resolve(
        found.map((id) => ({
          vector: {
            dense: [chunkOf.get(id)!, 1],
            ...(chunkOf.get(id) === 1 ? {} : { sparse: { indices: [4_000_000_000], values: [0.5] } }),
          },
          payload: { chunk_index: chunkOf.get(id)!, tags: ['t'] },
        })),
      );
    },
    upsert: (collection: string, { points }: { points: { id: string }[] }) =>
      Promise.resolve(void written.push({ collection, points })),
  };
  return { client: client as never, requests, written };
}
async function read(client: never, dimensions: number, count: number) {
  const batches: WholePoint[][] = [];
  for await (const batch of createWholePoints(client, collections).readPoints(fileOf(dimensions), count))
    batches.push(batch);
  return batches;
}
const indexes = (batches: readonly (readonly WholePoint[])[]) =>
  batches.map((batch) => batch.map(({ chunkIndex }) => chunkIndex));

test('points are read in requests of at most 300,000 numbers, each once and in order; missing ones are omitted', async () => {
  const { client, requests } = clientOf([4]);
  expect(indexes(await read(client, 100_000, 7))).toEqual([[0, 1, 2], [3, 5], [6]]);
  expect(requests.flat()).toEqual(Array.from({ length: 7 }, (_, nth) => idOf(nth)));
  expect(indexes(await read(client, 100_000, 3))).toEqual([[0, 1, 2]]);
  expect(await read(client, 100_000, 0)).toEqual([]);
  // A vector that is larger than a request is read alone.
  expect(indexes(await read(client, 300_001, 2))).toEqual([[0], [1]]);
  const [[, second] = []] = await read(client, 2, 2);
  expect(second).toEqual({
    ...{ chunkIndex: 1, dense: Float32Array.of(1, 1), sparse: null, payload: { chunk_index: 1, tags: ['t'] } },
  });
});

test('a lost collection has no points, and any other error is thrown', async () => {
  const failing = (status: number) =>
    ({ retrieve: () => Promise.reject(Object.assign(new Error('no'), { status })) }) as never;
  expect(await read(failing(404), 2, 1)).toEqual([[]]);
  await expect(read(failing(500), 2, 1)).rejects.toThrow('no');
});

test('points are written in requests of at most 300,000 numbers, with their vectors and the changed fields', async () => {
  const { client, written } = clientOf();
  const points = (await read(client, 2, 5)).flat();
  await createWholePoints(client, collections).writePoints(fileOf(150_000), points, { tags: ['new'] });
  expect(written.map(({ collection, points: some }) => [collection, some.map(({ id }) => id)])).toEqual([
    ['own-s', [idOf(0), idOf(1)]],
    ['own-s', [idOf(2), idOf(3)]],
    ['own-s', [idOf(4)]],
  ]);
  expect(written[0]!.points).toEqual([
    {
      ...{ id: idOf(0), payload: { chunk_index: 0, tags: ['new'] } },
      vector: { dense: [0, 1], sparse: { indices: [4_000_000_000], values: [0.5] } },
    },
    { id: idOf(1), vector: { dense: [1, 1] }, payload: { chunk_index: 1, tags: ['new'] } },
  ]);
});

test('each space is written to its own collection, and a failed write frees its slot', async () => {
  const written: string[] = [];
  let fails = true;
  const client = {
    upsert(collection: string, { points }: { points: { payload: { file_id: number } }[] }) {
      if (fails) return Promise.reject(new Error('Qdrant is down'));
      written.push(...points.map(({ payload }) => `${collection} ${payload.file_id}`));
      return Promise.resolve();
    },
  };
  const upsert = createUpserts(client as never, collections, { maxBytes: 1_000_000, atOnce: 1 });
  const file = (fileId: number, name: string) =>
    ({
      ...{ organizationId: 1, userId: 2, fileId, parentId: null, ancestors: [], generation: 1, model: 'OPENAI' },
      ...{ source: 'PDF', fileTypeAtSource: null, mediaType: 'TEXT', tagPairs: [], space: { name, dimensions: 1 } },
      vectors: [Float32Array.of(1)],
    }) as never;
  for (let nth = 0; nth < 3; nth += 1) await expect(upsert([file(1, 'a')])).rejects.toThrow('Qdrant is down');
  fails = false;
  await upsert([file(1, 'a'), file(2, 'b'), file(3, 'a')]);
  expect(written.toSorted()).toEqual(['own-a 1', 'own-a 3', 'own-b 2']);
});
