/** Tests of the reads and listings of file storage, in a folder and in a bucket. */
import { mkdir, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';

import { type Blobs, createFolderBlobs } from '../../store/contents/blobs.js';
import { createS3Blobs } from '../../store/contents/s3Blobs.js';
import { type S3Emulator, startS3 } from '../emulators/s3.js';

let folder: string;
let s3: S3Emulator;
const storages: Record<string, Blobs> = {};
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'allotrope-blobs-'));
  s3 = await startS3(2);
  const credentials = { accessKeyId: 'id', secretAccessKey: 'secret' };
  storages['a folder'] = createFolderBlobs(folder);
  storages['a bucket'] = createS3Blobs({ bucket: 'b', endpoint: s3.endpoint, region: 'us-east-1', credentials });
});
afterAll(async () => {
  await rm(folder, { recursive: true });
  await s3.close();
});
const all = async <T>(values: AsyncIterable<T>): Promise<T[]> => {
  const found: T[] = [];
  for await (const value of values) found.push(value);
  return found;
};

describe.each(['a folder', 'a bucket'])('contents in %s', (name) => {
  const CONTENT = Buffer.from('größer');

  test('have a size, are read whole, as a stream and as a file, and are missing after their deletion', async () => {
    const blobs = storages[name]!;
    await blobs.put('1/7/1.raw', CONTENT);
    expect(await blobs.size('1/7/1.raw')).toBe(CONTENT.length);
    expect(Buffer.from((await blobs.get('1/7/1.raw'))!)).toEqual(CONTENT);
    expect(Buffer.concat(await all((await blobs.stream('1/7/1.raw'))!))).toEqual(CONTENT);
    const opened = (await blobs.open('1/7/1.raw'))!;
    expect(await readFile(opened.path)).toEqual(CONTENT);
    await opened.close();
    // In a folder, the opened file is the content itself; for a bucket, it is a copy, which close() deletes.
    expect(await readFile(opened.path).catch(() => null)).toEqual(name === 'a folder' ? CONTENT : null);
    await blobs.delete('1/7/1.raw');
    for (const read of ['size', 'get', 'stream', 'open'] as const) expect(await blobs[read]('1/7/1.raw')).toBeNull();
    await blobs.delete('1/7/1.raw');
  });

  test('are all listed, of one organization or of all', async () => {
    const blobs = storages[name]!;
    const keys = ['1/7/1.raw', '1/7/2.raw', '1/8/1.raw', '1/originals/5', '11/7/1.raw'];
    for (const key of keys) await blobs.put(key, CONTENT);
    expect((await all(blobs.keys(null))).toSorted()).toEqual(keys);
    expect((await all(blobs.keys(1))).toSorted()).toEqual(keys.slice(0, 4));
    expect(await all(blobs.keys(2))).toEqual([]);
    expect((await blobs.keysOf({ organizationId: 1, fileId: 7 })).toSorted()).toEqual(keys.slice(0, 2));
    expect(await blobs.countOf({ organizationId: 1, fileId: 7 })).toBe(2);
  });
});

test('a content that cannot be read is not reported as missing', async () => {
  const blobs = storages['a folder']!;
  // A folder in place of the file: every user, even root, fails to read it.
  await mkdir(path.join(folder, '3/7/1.raw'), { recursive: true });
  await expect(blobs.get('3/7/1.raw')).rejects.toThrow('EISDIR');
});
