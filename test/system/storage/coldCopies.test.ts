import { randomInt } from 'node:crypto';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';

import { type ColdCopies, createColdCopies } from '../../../store/coldStorage/coldCopies.js';
import { BrokenPointFile } from '../../../store/coldStorage/pointFile.js';
import { type Blobs, createFolderBlobs } from '../../../store/contents/blobs.js';
import { createS3Blobs } from '../../../store/contents/s3Blobs.js';
import type { WholePoint } from '../../../store/vectors/points.js';
import { type S3Emulator, startS3 } from '../../emulators/s3.js';

const DIMENSIONS = 1536;
/** About 18 MB: three parts of a multipart upload. */
const MANY = 3_000;
const AT_ONCE = 500;
const BUCKET = 'cold';

interface Place {
  readonly blobs: Blobs;
  readonly copies: ColdCopies;
  keys(): Promise<string[]>;
  /** Changes a stored object without the store. */
  change(key: string, damage: (bytes: Buffer) => Buffer): Promise<void>;
}

let folder: string;
let s3: S3Emulator;
const places: Record<string, Place> = {};

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'allotrope-cold-'));
  s3 = await startS3();
  const credentials = { accessKeyId: 'id', secretAccessKey: 'secret' };
  const inBucket = createS3Blobs({ bucket: BUCKET, endpoint: s3.endpoint, region: 'us-east-1', credentials });
  const inFolder = createFolderBlobs(folder);
  places['a folder'] = {
    blobs: inFolder,
    copies: createColdCopies(inFolder),
    async keys() {
      const entries = await readdir(folder, { recursive: true, withFileTypes: true });
      return entries
        .filter((entry) => entry.isFile())
        .map(({ parentPath, name }) => path.relative(folder, path.join(parentPath, name)))
        .toSorted();
    },
    change: async (key, damage) => writeFile(path.join(folder, key), damage(await readFile(path.join(folder, key)))),
  };
  places['a bucket'] = {
    blobs: inBucket,
    copies: createColdCopies(inBucket),
    keys: async () =>
      [...[...s3.objects.keys()].map((key) => key.slice(BUCKET.length + 1)), ...s3.inProgress()].toSorted(),
    change: async (key, damage) => {
      const at = `${BUCKET}/${key}`;
      s3.objects.set(at, damage(s3.objects.get(at) ?? Buffer.alloc(0)));
    },
  };
});
afterAll(async () => {
  await rm(folder, { recursive: true });
  await s3.close();
});

/** Numbers that would change if they were stored in decimal. */
const NUMBERS = Float32Array.from({ length: MANY + DIMENSIONS }, (_, at) => Math.sin(at * 31) / 3);
const pointOf = (chunkIndex: number): WholePoint => ({
  chunkIndex,
  dense: NUMBERS.slice(chunkIndex, chunkIndex + DIMENSIONS),
  sparse:
    chunkIndex % 3 === 0
      ? null
      : { indices: Uint32Array.of(chunkIndex, 4_294_967_295), values: Float32Array.of(0.1, 1 / chunkIndex) },
  payload: { file_id: 7, tags: ['größer', `n${chunkIndex}`] },
});
async function* pointsOf(count: number, fault?: Error): AsyncIterable<WholePoint[]> {
  for (let from = 0; from < count; from += AT_ONCE) {
    const length = Math.min(AT_ONCE, count - from);
    yield await Promise.resolve(Array.from({ length }, (_, nth) => pointOf(from + nth)));
  }
  if (fault) throw fault;
}
async function read(copies: ColdCopies, copy: Parameters<ColdCopies['read']>[0]): Promise<WholePoint[]> {
  const found: WholePoint[] = [];
  for await (const some of copies.read(copy)) found.push(...some);
  return found;
}
/** Each test uses its own file. */
const newOwner = () => ({ organizationId: 1, fileId: randomInt(1, 2 ** 40), generation: 4 });
const header = (points: number) => ({ dimensions: DIMENSIONS, points });

describe.each(['a folder', 'a bucket'])('cold copies in %s', (name) => {
  const place = (): Place => places[name]!;
  const of = async ({ fileId }: { fileId: number }) =>
    (await place().keys()).filter((key) => key.includes(`1/${fileId}/`));

  test('restore all points bit for bit, also of large files', async () => {
    const owner = newOwner();
    const { copies } = place();
    const copy = await copies.save(owner, 'first', header(MANY), pointsOf(MANY));
    expect(copy).toMatchObject({ key: `1/${owner.fileId}/4.first.vectors`, generation: 4, points: MANY });
    expect(copy!.bytes).toBeGreaterThan(2 * 8 * 1024 * 1024);
    expect(await of(owner)).toEqual([copy!.key]);
    let next = 0;
    for await (const some of copies.read(copy!)) {
      for (const point of some) {
        const made = pointOf(next++);
        // Jest's own comparison takes a second for a hundred points.
        if (!isDeepStrictEqual(point, made)) expect(point).toEqual(made);
      }
    }
    expect(next).toBe(MANY);
    await copies.delete(copy!.key);
    expect(await of(owner)).toEqual([]);
  });

  test('are not stored when points are missing or unreadable, in small and large files', async () => {
    const { copies } = place();
    for (const count of [2, MANY]) {
      const owner = newOwner();
      expect(await copies.save(owner, 'few', header(count + 1), pointsOf(count))).toBeNull();
      expect(await copies.save(owner, 'many', header(count - 1), pointsOf(count))).toBeNull();
      const outage = new Error('Qdrant is down');
      await expect(copies.save(owner, 'away', header(count), pointsOf(count, outage))).rejects.toThrow(outage);
      expect(await of(owner)).toEqual([]);
    }
  });

  test.each([
    ['truncated', (bytes: Buffer) => bytes.subarray(0, bytes.length - 100)],
    ['empty', () => Buffer.alloc(0)],
    ['changed in one bit', (bytes: Buffer) => (bytes.writeUInt8(bytes.readUInt8(5_000) ^ 1, 5_000), bytes)],
    ['followed by other bytes', (bytes: Buffer) => Buffer.concat([bytes, Buffer.from('x')])],
  ])('that are %s are refused', async (_what, damage) => {
    const { copies, change } = place();
    const copy = await copies.save(newOwner(), 'spoilt', header(20), pointsOf(20));
    await change(copy!.key, (bytes) => damage(Buffer.from(bytes)));
    await expect(read(copies, copy!)).rejects.toThrow(BrokenPointFile);
  });

  test('that are missing are reported', async () => {
    const { copies } = place();
    const copy = await copies.save(newOwner(), 'gone', header(2), pointsOf(2));
    await copies.delete(copy!.key);
    await expect(read(copies, copy!)).rejects.toThrow(BrokenPointFile);
  });

  test('can be read partially', async () => {
    const { copies } = place();
    const copy = await copies.save(newOwner(), 'left', header(MANY), pointsOf(MANY));
    for await (const some of copies.read(copy!)) {
      expect(some[0]).toMatchObject({ chunkIndex: 0 });
      break;
    }
    expect(await read(copies, copy!)).toHaveLength(MANY);
  });

  test('of other attempts are deleted; the given one and the contents of the file stay', async () => {
    const owner = newOwner();
    const { blobs, copies } = place();
    await blobs.put(`1/${owner.fileId}/4.raw`, Buffer.from('content'));
    for (const token of ['one', 'two', 'three']) await copies.save(owner, token, header(3), pointsOf(3));
    await copies.deleteOthers(owner, `1/${owner.fileId}/4.two.vectors`);
    expect(await of(owner)).toEqual([`1/${owner.fileId}/4.raw`, `1/${owner.fileId}/4.two.vectors`]);
    await copies.deleteOthers(owner, null);
    expect(await of(owner)).toEqual([`1/${owner.fileId}/4.raw`]);
  });

  test('are deleted with their generation', async () => {
    const owner = newOwner();
    const { blobs, copies } = place();
    const newer = await copies.save({ ...owner, generation: 5 }, 'new', header(3), pointsOf(3));
    await copies.save(owner, 'old', header(3), pointsOf(3));
    await blobs.deleteGenerations({ ...owner, userId: 2, generations: { below: 5 } });
    expect(await of(owner)).toEqual([newer!.key]);
  });
});
