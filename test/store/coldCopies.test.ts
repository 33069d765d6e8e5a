/** Cold copies of points, in a file storage in memory. test/system/storage/coldCopies.test.ts tests large ones. */
import { expect, test } from '@jest/globals';

import { createColdCopies } from '../../store/coldStorage/coldCopies.js';
import { BrokenPointFile } from '../../store/coldStorage/pointFile.js';
import type { WholePoint } from '../../store/vectors/points.js';
import { everyRow } from '../support/everyRow.js';

const OWNER = { organizationId: 1, fileId: 7, generation: 4 };
/** One more point than a batch of the reader contains. */
const COUNT = 257;
const pointOf = (chunkIndex: number): WholePoint => ({
  chunkIndex,
  // Numbers that rounding to decimal digits would change.
  dense: Float32Array.of(Math.sin(chunkIndex) / 3, -0.1),
  sparse:
    chunkIndex % 2 === 0
      ? null
      : { indices: Uint32Array.of(1, 4_294_967_295), values: Float32Array.of(0.1, chunkIndex) },
  payload: { file_id: 7, tags: ['größer'] },
});
const POINTS = Array.from({ length: COUNT }, (_, at) => pointOf(at));

async function* inBatches(points: readonly WholePoint[], fault?: Error): AsyncIterable<WholePoint[]> {
  for (let from = 0; from < points.length; from += 100) yield await Promise.resolve(points.slice(from, from + 100));
  if (fault) throw fault;
}

/** Opens copies in a file storage that returns contents in small parts. `closed` has the key of each closed stream. */
function open() {
  const objects = new Map<string, Buffer>();
  const closed: string[] = [];
  const blobs = {
    async putStream(key: string, parts: AsyncIterable<Uint8Array>) {
      const stored: Uint8Array[] = [];
      // A storage may keep what it received before a failure.
      objects.set(key, Buffer.alloc(0));
      for await (const part of parts) stored.push(part);
      objects.set(key, Buffer.concat(stored));
    },
    async stream(key: string) {
      const bytes = objects.get(key);
      if (!bytes) return null;
      return (async function* parts() {
        try {
          for (let at = 0; at < bytes.length; at += 333) yield await Promise.resolve(bytes.subarray(at, at + 333));
        } finally {
          closed.push(key);
        }
      })();
    },
    delete: async (key: string) => void objects.delete(key),
    keysOf: async () => [...objects.keys()],
  };
  return { objects, closed, copies: createColdCopies(blobs as never) };
}
const save = ({ copies }: ReturnType<typeof open>, points = inBatches(POINTS)) =>
  copies.save(OWNER, 'token', { dimensions: 2, points: COUNT }, points);
async function read(parts: AsyncIterable<WholePoint[]>): Promise<WholePoint[]> {
  const found: WholePoint[] = [];
  for await (const batch of parts) found.push(...batch);
  return found;
}

test('a copy restores all points bit for bit, in their order, and its record has its size in bytes', async () => {
  const storage = open();
  const copy = await save(storage);
  const bytes = storage.objects.get('1/7/4.token.vectors');
  expect(copy).toEqual({ key: '1/7/4.token.vectors', generation: 4, points: COUNT, bytes: bytes?.length });
  expect(await read(storage.copies.read(copy!))).toEqual(POINTS);
});

test('a copy is not kept if points are missing or cannot be read', async () => {
  const storage = open();
  expect(await save(storage, inBatches(POINTS.slice(1)))).toBeNull();
  expect(storage.objects.size).toBe(0);
  await expect(save(storage, inBatches(POINTS, new Error('Qdrant does not answer')))).rejects.toThrow('Qdrant');
  expect(storage.objects.size).toBe(0);
});

const DAMAGES: readonly (readonly [what: string, damage: (bytes: Buffer) => Buffer | null])[] = [
  ['a missing file', () => null],
  ['an empty file', () => Buffer.alloc(0)],
  ['another kind of file', (bytes) => Buffer.concat([Buffer.from('x'), bytes])],
  ['a truncated file', (bytes) => bytes.subarray(0, -1)],
  ['a file without its hash', (bytes) => bytes.subarray(0, -32)],
  ['additional bytes', (bytes) => Buffer.concat([bytes, Buffer.alloc(1)])],
  ['a changed vector', (bytes) => (bytes.writeUInt8(bytes.readUInt8(bytes.length - 40) ^ 1, bytes.length - 40), bytes)],
  ['a changed payload', (bytes) => (bytes.writeUInt8(0x5b, bytes.indexOf('{')), bytes)],
];
test('a damaged copy is reported as broken, also if only one bit differs, and its stream is closed', () =>
  everyRow(
    DAMAGES,
    ([what]) => what,
    async ([, damage]) => {
      const storage = open();
      const copy = (await save(storage))!;
      const damaged = damage(Buffer.from(storage.objects.get(copy.key)!));
      if (damaged) storage.objects.set(copy.key, damaged);
      else storage.objects.delete(copy.key);
      await expect(read(storage.copies.read(copy))).rejects.toBeInstanceOf(BrokenPointFile);
      expect(storage.closed).toEqual(damaged ? [copy.key] : []);
    },
  ));

test('deletes the other copies of a file, and no other content', async () => {
  const storage = open();
  for (const key of ['1/7/4.a.vectors', '1/7/4.b.vectors', '1/7/3.c.vectors', '1/7/4.raw'])
    storage.objects.set(key, Buffer.alloc(1));
  await storage.copies.deleteOthers(OWNER, '1/7/4.b.vectors');
  expect([...storage.objects.keys()]).toEqual(['1/7/4.b.vectors', '1/7/4.raw']);
  await storage.copies.deleteOthers(OWNER, null);
  expect([...storage.objects.keys()]).toEqual(['1/7/4.raw']);
});
