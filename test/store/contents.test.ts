import { randomUUID } from 'node:crypto';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import mongoose, { type Connection } from 'mongoose';

import { createColdCopies } from '../../store/coldStorage/coldCopies.js';
import { type Blobs, createFolderBlobs } from '../../store/contents/blobs.js';
import { type ContentOwner, type Contents, createContents } from '../../store/contents/contents.js';
import { contentModel } from '../../store/models/contents.js';
import { createS3Blobs } from '../../store/contents/s3Blobs.js';
import { insertOnce } from '../../store/database/insertOnce.js';
import { number, schemaOf } from '../../store/database/record.js';
import { type S3Emulator, startS3 } from '../emulators/s3.js';
import { testEngines } from '../support/engines.js';

const ROW_BYTES = 16;
/** Sample text for each storage. Those for file storage exceed the maximum size of a row. */
const SAMPLES = {
  'rows of MongoDB': 'Grüße\u0000',
  'a folder': 'Grüße\u0000, longer than a row',
  'a bucket': 'Grüße\u0000, longer than a row',
};
type Place = keyof typeof SAMPLES;
const places = Object.keys(SAMPLES) as Place[];

let folder: string;
let s3: S3Emulator;
let connection: Connection;
let bucket: Blobs;
let stores: Record<Place, Contents>;

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'allotrope-contents-'));
  s3 = await startS3();
  connection = await mongoose
    .createConnection(testEngines().mongodbUri, { dbName: `contents-${randomUUID()}` })
    .asPromise();
  const rows = contentModel(connection);
  const inFolder = createContents(rows, createFolderBlobs(folder), ROW_BYTES);
  bucket = createS3Blobs({
    bucket: 'contents',
    endpoint: s3.endpoint,
    region: 'us-east-1',
    credentials: { accessKeyId: 'id', secretAccessKey: 'secret' },
  });
  stores = {
    'rows of MongoDB': inFolder,
    'a folder': inFolder,
    'a bucket': createContents(rows, bucket, ROW_BYTES),
  };
});
afterAll(async () => {
  await connection.dropDatabase();
  await connection.close();
  await rm(folder, { recursive: true });
  await s3.close();
});

const keep = async (store: Contents, owner: ContentOwner, text: string): Promise<void> => {
  const small = await store.saveIfLarge(owner, Buffer.from(text));
  if (small) await store.write([small]);
};
const read = async (store: Contents, owner: ContentOwner): Promise<string | null> => {
  const bytes = await store.get(owner);
  return bytes && Buffer.from(bytes).toString();
};

describe.each(places)('contents in %s', (place) => {
  const fileId = 10 * places.indexOf(place);
  const tenant = { organizationId: 1, userId: 1 };

  test('are returned as stored, even if they were stored twice', async () => {
    const owner = { ...tenant, fileId: fileId + 7, generation: 1 };
    await keep(stores[place], owner, SAMPLES[place]);
    await keep(stores[place], owner, SAMPLES[place]);
    expect(await read(stores[place], owner)).toBe(SAMPLES[place]);
    expect(await stores[place].countOf(tenant, [owner.fileId])).toBe(1);
  });

  test('are not visible to another organization', async () => {
    const owner = { ...tenant, fileId: fileId + 6, generation: 1 };
    await keep(stores[place], owner, SAMPLES[place]);
    expect(await read(stores[place], { ...owner, organizationId: 2 })).toBeNull();
    expect(await stores[place].countOf({ ...tenant, organizationId: 2 }, [owner.fileId])).toBe(0);
  });

  test('of older generations are deleted; those of the current generation and of other files are kept', async () => {
    const file = { ...tenant, fileId: fileId + 8 };
    const otherFile = { ...tenant, fileId: fileId + 9, generation: 1 };
    for (const generation of [1, 2, 10]) await keep(stores[place], { ...file, generation }, SAMPLES[place]);
    await keep(stores[place], otherFile, SAMPLES[place]);

    await stores[place].deleteGenerations([{ ...file, generations: { below: 10 } }]);
    expect(await read(stores[place], { ...file, generation: 2 })).toBeNull();
    expect(await read(stores[place], { ...file, generation: 10 })).toBe(SAMPLES[place]);
    expect(await read(stores[place], otherFile)).toBe(SAMPLES[place]);
    expect(await stores[place].countOf(tenant, [file.fileId, otherFile.fileId])).toBe(2);

    await stores[place].deleteGenerations([{ ...file, generations: { exactly: 10 } }]);
    expect(await read(stores[place], { ...file, generation: 10 })).toBeNull();
  });

  test('are copied to another generation, and copying can be repeated', async () => {
    const owner = { ...tenant, fileId: fileId + 5, generation: 3 };
    await keep(stores[place], owner, SAMPLES[place]);
    for (let time = 0; time < 2; time += 1) await stores[place].copyGeneration(owner, 4);
    expect(await read(stores[place], { ...owner, generation: 4 })).toBe(SAMPLES[place]);
    expect(await read(stores[place], owner)).toBe(SAMPLES[place]);
    expect(await stores[place].countOf(tenant, [owner.fileId])).toBe(2);
    await stores[place].copyGeneration({ ...owner, organizationId: 2 }, 5);
    expect(await read(stores[place], { ...owner, generation: 5 })).toBeNull();
  });

  test('deleting missing contents succeeds', async () => {
    const scope = { organizationId: 9, userId: 9, fileId: 9, generations: { below: 5 } };
    await stores[place].deleteGenerations([scope]);
    expect(await stores[place].countOf(scope, [9])).toBe(0);
  });
});

test('a deletion loses no content of the file that is written meanwhile; a deletion of all contents removes the folder', async () => {
  const file = { organizationId: 1, userId: 1, fileId: 72 };
  const store = stores['a folder'];
  for (let generation = 1; generation <= 100; generation += 1) {
    const deletion = store.deleteGenerations([{ ...file, generations: { below: generation } }]);
    await Promise.all([deletion, keep(store, { ...file, generation }, SAMPLES['a folder'])]);
    expect(await read(store, { ...file, generation })).toBe(SAMPLES['a folder']);
  }
  expect(await readdir(path.join(folder, '1'))).toContain('72');
  await store.deleteGenerations([{ ...file, generations: { below: 101 } }]);
  expect(await readdir(path.join(folder, '1'))).not.toContain('72');
});

test('an upload that a crashed process left in the bucket is deleted with the other copies of its file', async () => {
  const upload = `${s3.endpoint}/contents/1/71/3.aaaa.vectors?uploads`;
  expect((await fetch(upload, { method: 'POST', headers: { authorization: 'x' } })).status).toBe(200);
  expect(s3.inProgress()).toEqual(['contents/1/71/3.aaaa.vectors']);
  await createColdCopies(bucket).deleteOthers({ organizationId: 1, fileId: 71 }, null);
  expect(s3.inProgress()).toEqual([]);
});

test('a deletion fails if the bucket keeps an object', async () => {
  const owner = { organizationId: 1, userId: 1, fileId: 70, generation: 1 };
  await keep(stores['a bucket'], owner, SAMPLES['a bucket']);
  s3.locked.add('contents/1/70/1.raw');
  await expect(stores['a bucket'].deleteGenerations([{ ...owner, generations: { below: 2 } }])).rejects.toThrow(
    '1/70/1.raw was not deleted: AccessDenied',
  );
});

test('a repeated insert skips rows that exist, and fails if another row is rejected for another reason', async () => {
  await connection.createCollection('numbers', { validator: { n: { $gt: 0 } } });
  const schema = schemaOf<{ _id: number; n: number }>({ _id: number, n: number });
  const model = connection.model<{ _id: number; n: number }>('numbers', schema);
  expect(await insertOnce(model, [{ _id: 1, n: 1 }])).toBe(true);
  expect(await insertOnce(model, [{ _id: 1, n: 9 }])).toBe(false);
  const rows = [1, 2].map((_id) => ({ _id, n: 2 }));
  expect(await insertOnce(model, rows)).toBe(false);
  await expect(insertOnce(model, [...rows, { _id: 3, n: 0 }])).rejects.toMatchObject({ code: 121 });
  expect(await model.find().sort({ _id: 1 }).lean()).toEqual([
    { _id: 1, n: 1 },
    { _id: 2, n: 2 },
  ]);
});
