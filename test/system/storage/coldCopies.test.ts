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
import { thoroughRows } from '../../support/thorough.js';

const DIMENSIONS = 1536;
/** About 17 MB: three parts of a multipart upload. */
const LARGE_COUNT = 2_800;
/** About 4 MB: more than a stream buffers. */
const MEDIUM_COUNT = 600;
const BATCH_SIZE = 500;
const BUCKET = 'cold';

interface Storage {
  readonly blobs: Blobs;
  readonly copies: ColdCopies;
  keys(): Promise<string[]>;
  /** Changes a stored object directly, not through ColdCopies. */
  change(key: string, damage: (bytes: Buffer) => Buffer): Promise<void>;
}

let folder: string;
let s3: S3Emulator;
const storages: Record<string, Storage> = {};

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'allotrope-cold-'));
  s3 = await startS3();
  const credentials = { accessKeyId: 'id', secretAccessKey: 'secret' };
  const inBucket = createS3Blobs({ bucket: BUCKET, endpoint: s3.endpoint, region: 'us-east-1', credentials });
  const inFolder = createFolderBlobs(folder);
  storages['a folder'] = {
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
  storages['a bucket'] = {
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

/** Numbers that rounding to decimal digits would change. */
const NUMBERS = Float32Array.from({ length: LARGE_COUNT + DIMENSIONS }, (_, at) => Math.sin(at * 31) / 3);
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
  for (let from = 0; from < count; from += BATCH_SIZE) {
    const length = Math.min(BATCH_SIZE, count - from);
    yield await Promise.resolve(Array.from({ length }, (_, nth) => pointOf(from + nth)));
  }
  if (fault) throw fault;
}
async function read(copies: ColdCopies, copy: Parameters<ColdCopies['read']>[0]): Promise<WholePoint[]> {
  const found: WholePoint[] = [];
  for await (const batch of copies.read(copy)) found.push(...batch);
  return found;
}
/** Each test uses its own file. */
const newOwner = () => ({ organizationId: 1, fileId: randomInt(1, 2 ** 40), generation: 4 });
const header = (points: number) => ({ dimensions: DIMENSIONS, points });

describe.each(['a folder', 'a bucket'])('cold copies in %s', (name) => {
  const storage = (): Storage => storages[name]!;
  const keysOf = async ({ fileId }: { fileId: number }) =>
    (await storage().keys()).filter((key) => key.includes(`1/${fileId}/`));

  test('restore all points bit for bit, also of large files', async () => {
    const owner = newOwner();
    const { copies } = storage();
    const copy = await copies.save(owner, 'first', header(LARGE_COUNT), pointsOf(LARGE_COUNT));
    expect(copy).toMatchObject({ key: `1/${owner.fileId}/4.first.vectors`, generation: 4, points: LARGE_COUNT });
    expect(copy!.bytes).toBeGreaterThan(2 * 8 * 1024 * 1024);
    expect(await keysOf(owner)).toEqual([copy!.key]);
    let next = 0;
    for await (const batch of copies.read(copy!)) {
      for (const point of batch) {
        const expected = pointOf(next++);
        // toEqual takes a second for a hundred points.
        if (!isDeepStrictEqual(point, expected)) expect(point).toEqual(expected);
      }
    }
    expect(next).toBe(LARGE_COUNT);
    await copies.delete(copy!.key);
    expect(await keysOf(owner)).toEqual([]);
  });

  test.each([2, ...thoroughRows([LARGE_COUNT])])(
    'are not stored when points are missing, surplus or unreadable, in a file of %i points',
    async (count) => {
      const { copies } = storage();
      const owner = newOwner();
      expect(await copies.save(owner, 'few', header(count + 1), pointsOf(count))).toBeNull();
      expect(await copies.save(owner, 'many', header(count - 1), pointsOf(count))).toBeNull();
      const outage = new Error('Qdrant is down');
      await expect(copies.save(owner, 'away', header(count), pointsOf(count, outage))).rejects.toThrow(outage);
      expect(await keysOf(owner)).toEqual([]);
    },
  );

  test('leave no part of a large file when its last points are unreadable', async () => {
    const { copies } = storage();
    const owner = newOwner();
    const outage = new Error('Qdrant is down');
    const points = pointsOf(LARGE_COUNT, outage);
    await expect(copies.save(owner, 'away', header(LARGE_COUNT), points)).rejects.toThrow(outage);
    expect(await keysOf(owner)).toEqual([]);
  });

  test.each([
    ['truncated', (bytes: Buffer) => bytes.subarray(0, bytes.length - 100)],
    ['empty', () => Buffer.alloc(0)],
    ['changed in one bit', (bytes: Buffer) => (bytes.writeUInt8(bytes.readUInt8(5_000) ^ 1, 5_000), bytes)],
    ['followed by other bytes', (bytes: Buffer) => Buffer.concat([bytes, Buffer.from('x')])],
  ])('that are %s are refused', async (_what, damage) => {
    const { copies, change } = storage();
    const copy = await copies.save(newOwner(), 'spoilt', header(20), pointsOf(20));
    await change(copy!.key, (bytes) => damage(Buffer.from(bytes)));
    await expect(read(copies, copy!)).rejects.toThrow(BrokenPointFile);
  });

  test('that are missing cannot be read', async () => {
    const { copies } = storage();
    const copy = await copies.save(newOwner(), 'gone', header(2), pointsOf(2));
    await copies.delete(copy!.key);
    await expect(read(copies, copy!)).rejects.toThrow(BrokenPointFile);
  });

  test('can be read partially', async () => {
    const { copies } = storage();
    const copy = await copies.save(newOwner(), 'left', header(MEDIUM_COUNT), pointsOf(MEDIUM_COUNT));
    for await (const batch of copies.read(copy!)) {
      expect(batch[0]).toMatchObject({ chunkIndex: 0 });
      break;
    }
    expect(await read(copies, copy!)).toHaveLength(MEDIUM_COUNT);
  });

  test('of other attempts are deleted; the given copy and the contents of the file are kept', async () => {
    const owner = newOwner();
    const { blobs, copies } = storage();
    await blobs.put(`1/${owner.fileId}/4.raw`, Buffer.from('content'));
    for (const token of ['one', 'two', 'three']) await copies.save(owner, token, header(3), pointsOf(3));
    await copies.deleteOthers(owner, `1/${owner.fileId}/4.two.vectors`);
    expect(await keysOf(owner)).toEqual([`1/${owner.fileId}/4.raw`, `1/${owner.fileId}/4.two.vectors`]);
    await copies.deleteOthers(owner, null);
    expect(await keysOf(owner)).toEqual([`1/${owner.fileId}/4.raw`]);
  });

  test('are deleted with their generation', async () => {
    const owner = newOwner();
    const { blobs, copies } = storage();
    const newer = await copies.save({ ...owner, generation: 5 }, 'new', header(3), pointsOf(3));
    await copies.save(owner, 'old', header(3), pointsOf(3));
    await blobs.deleteGenerations({ ...owner, userId: 2, generations: { below: 5 } });
    expect(await keysOf(owner)).toEqual([newer!.key]);
  });
});
