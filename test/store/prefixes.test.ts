/** Tests that lookups by path or id match whole path segments and whole ids, not any common prefix of characters. */
import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import mongoose, { type Connection } from 'mongoose';

import { type Blobs, createFolderBlobs } from '../../store/contents/blobs.js';
import { createS3Blobs } from '../../store/contents/s3Blobs.js';
import { createDeletedItems, type DeletedItems } from '../../store/items/deletedItems.js';
import { fileModel } from '../../store/models/files.js';
import { itemModel } from '../../store/models/items.js';
import { type S3Emulator, startS3 } from '../emulators/s3.js';
import { testEngines } from '../support/engines.js';
import { everyRow } from '../support/everyRow.js';

const SOURCE = { _id: 40, organizationId: 1, userId: 7 };
const OTHERS = [
  { ...SOURCE, _id: 41 },
  { ...SOURCE, userId: 8 },
  { ...SOURCE, organizationId: 2 },
];
let connection: Connection;
let deletedItems: DeletedItems;
let folder: string;
let s3: S3Emulator;
const storages: Record<string, Blobs> = {};

beforeAll(async () => {
  const { mongodbUri } = testEngines();
  connection = await mongoose.createConnection(mongodbUri, { dbName: `prefixes-${randomUUID()}` }).asPromise();
  deletedItems = createDeletedItems(itemModel(connection), fileModel(connection));
  folder = await mkdtemp(path.join(tmpdir(), 'allotrope-prefixes-'));
  s3 = await startS3();
  storages['a folder'] = createFolderBlobs(folder);
  storages['a bucket'] = createS3Blobs({
    ...{ bucket: 'contents', endpoint: s3.endpoint, region: 'us-east-1' },
    credentials: { accessKeyId: 'id', secretAccessKey: 'secret' },
  });
});
afterAll(async () => {
  await connection.dropDatabase();
  await connection.close();
  await rm(folder, { recursive: true });
  await s3.close();
});

/** Stores an item at each path of a source, and of other sources. */
async function store(paths: readonly string[]): Promise<void> {
  const items = itemModel(connection).collection;
  await items.deleteMany({});
  const rows = [SOURCE, ...OTHERS].flatMap(({ _id, organizationId, userId }) =>
    paths.map((itemPath) => ({ dataSourceId: _id, organizationId, userId, path: itemPath, isGone: false })),
  );
  await items.insertMany(rows.map((row, index) => ({ ...row, _id: index + 1, externalId: `item ${index}` })) as never);
}
/** Returns the marked paths. @param of the source; null: all other sources */
async function marked(of: typeof SOURCE | null): Promise<string[]> {
  const rows = await itemModel(connection).find({ isGone: true }).lean();
  const isOwn = (row: (typeof rows)[number]): boolean =>
    row.dataSourceId === SOURCE._id && row.organizationId === 1 && row.userId === 7;
  return rows.filter((row) => isOwn(row) === (of !== null)).map((row) => row.path ?? '');
}

/** Paths that a source reports as deleted, the paths that are marked with them, and neighbours that are not. */
const PATHS: readonly (readonly [
  deleted: readonly string[],
  marked: readonly string[],
  unmarked: readonly string[],
])[] = [
  [['/a/b'], ['/a/b', '/a/b/c', '/a/b/c/d', '/a/b/ '], ['/a/bc', '/a/b c', '/a/b.md', '/a/b0', '/a/b!', '/a', '/a/']],
  [['/a'], ['/a', '/a/b', '/a//'], ['/ab', '/A', '/A/b', '/x/a', '/x/a/b', '/a-1/b', '/a~']],
  [['/a.b'], ['/a.b', '/a.b/c'], ['/aXb', '/aXb/c']],
  [
    ['/a*', '/(b'],
    ['/a*', '/a*/c', '/(b/c'],
    ['/aa', '/aa/c', '/b/c'],
  ],
  [['/ü'], ['/ü', '/ü/ü', '/ü/\u{1F600}'], ['/u', '/üu', '/ü\u{1F600}']],
  [['12/ticket:1'], ['12/ticket:1', '12/ticket:1/file'], ['12/ticket:10', '12/ticket:10/file', '12/ticket:1x']],
  [[''], ['', '/a', '/b/c'], ['a', '0']],
];

test('a deleted path marks all paths below it, but no neighbour and no path of another account', () =>
  everyRow(
    PATHS,
    ([paths]) => paths.join(' '),
    async ([paths, expected, unmarked]) => {
      await store([...expected, ...unmarked]);
      await deletedItems.markPathsDeleted(SOURCE, paths);
      expect((await marked(SOURCE)).toSorted()).toEqual([...expected].toSorted());
      expect(await marked(null)).toEqual([]);
    },
  ));

test('marks each of many paths, and no other', async () => {
  const paths = Array.from({ length: 402 }, (_, index) => `/p${index}/x`);
  await store(paths);
  const parents = paths.slice(1, -1).map((parent) => parent.slice(0, -2));
  await deletedItems.markPathsDeleted(SOURCE, parents);
  expect((await marked(SOURCE)).toSorted()).toEqual(paths.slice(1, -1).toSorted());
});

const FILES: readonly (readonly [organizationId: number, fileId: number])[] = [
  [1, 2],
  [1, 20],
  [1, 22],
  [1, 12],
  [12, 2],
  [11, 2],
  [2, 1],
];
const keyOf = ([organizationId, fileId]: (typeof FILES)[number]): string => `${organizationId}/${fileId}/1.raw`;

test('lists and deletes the contents of one file or organization, not of numbers that begin with the same digits', () =>
  everyRow(Object.keys(storages), String, async (name) => {
    const blobs = storages[name]!;
    for (const file of FILES) await blobs.put(keyOf(file), Buffer.from('x'));
    const stored = async (organizationId: number | null): Promise<string[]> => {
      const keys: string[] = [];
      for await (const key of blobs.keys(organizationId)) keys.push(key);
      return keys.toSorted();
    };
    const ofOrganization = FILES.filter(([organizationId]) => organizationId === 1).map(keyOf);
    expect(await stored(1)).toEqual(ofOrganization.toSorted());
    expect(await blobs.keysOf({ organizationId: 1, fileId: 2 })).toEqual(['1/2/1.raw']);
    expect(await blobs.countOf({ organizationId: 1, fileId: 2 })).toBe(1);
    await blobs.deleteGenerations({ organizationId: 1, userId: 7, fileId: 2, generations: { below: 9 } });
    expect(await stored(null)).toEqual(FILES.slice(1).map(keyOf).toSorted());
  }));
