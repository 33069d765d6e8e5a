import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';

import { type Blobs, blobKey, createFolderBlobs } from '../../store/blobs.js';
import { createS3Blobs } from '../../store/s3Blobs.js';
import { type S3Emulator, startS3 } from '../emulators/s3.js';

let folder: string;
let s3: S3Emulator;
const stores: Record<string, Blobs> = {};

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'allotrope-blobs-'));
  s3 = await startS3();
  stores['a folder'] = createFolderBlobs(folder);
  stores['a bucket'] = createS3Blobs({
    bucket: 'contents',
    endpoint: s3.endpoint,
    region: 'us-east-1',
    credentials: { accessKeyId: 'id', secretAccessKey: 'secret' },
  });
});
afterAll(async () => {
  await rm(folder, { recursive: true });
  await s3.close();
});

describe.each(['a folder', 'a bucket'])('contents in %s', (name) => {
  const read = async (key: string) => Buffer.from(await stores[name]!.get(key)).toString();

  test('come back as they were put, also when put twice', async () => {
    const key = blobKey(1, 7, 1, 'raw');
    await stores[name]!.put(key, Buffer.from('Grüße\u0000'));
    await stores[name]!.put(key, Buffer.from('Grüße\u0000'));
    expect(await read(key)).toBe('Grüße\u0000');
  });

  test('older generations go, the current one and other files stay', async () => {
    for (const [fileId, generation] of [
      [8, 1],
      [8, 2],
      [8, 10],
      [80, 1],
    ] as const) {
      await stores[name]!.put(blobKey(1, fileId, generation, 'raw'), 'x');
      await stores[name]!.put(blobKey(1, fileId, generation, 'txt'), 'y');
    }
    const file = { organizationId: 1, userId: 1, fileId: 8 };
    await stores[name]!.deleteGenerations({ ...file, generations: { below: 10 } });
    await expect(read(blobKey(1, 8, 2, 'raw'))).rejects.toThrow();
    await expect(read(blobKey(1, 8, 1, 'txt'))).rejects.toThrow();
    expect(await read(blobKey(1, 8, 10, 'raw'))).toBe('x');
    expect(await read(blobKey(1, 80, 1, 'txt'))).toBe('y');
    await stores[name]!.deleteGenerations({ ...file, generations: { exactly: 10 } });
    await expect(read(blobKey(1, 8, 10, 'raw'))).rejects.toThrow();
  });

  test('deleting what is not there is no fault', async () => {
    await stores[name]!.deleteGenerations({ organizationId: 9, userId: 9, fileId: 9, generations: { below: 5 } });
  });
});
