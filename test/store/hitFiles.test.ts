/** Tests of the query that reads the files of hits, and whether the user has files in another space or cold storage. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import mongoose from 'mongoose';

import { createHitFiles, type HitFiles } from '../../store/files/hitFiles.js';
import { fileModel } from '../../store/models/files.js';
import { testEngines } from '../support/engines.js';

const MINE = { organizationId: 901, userId: 5 };
/** A search. The query also reports files of its model in another vector space, and files in cold storage. */
const SEARCHED = { model: 'OPENAI', space: 'here', cold: true } as const;
let connection: mongoose.Connection;
let files: HitFiles;

interface RowFields {
  readonly userId?: number;
  readonly space?: string | null;
  readonly model?: string;
  readonly stored?: string | null;
}
const row = (_id: number, { userId = 5, space = 'here', model = 'OPENAI', stored = null }: RowFields = {}) => ({
  ...{ _id, organizationId: 901, userId, externalFileId: `${_id}`, source: 'WEB_SCRAPE', generation: 1 },
  ...{ vectorSpace: space, options: { embeddingModel: model }, embeddingStorageStatus: stored },
});
const insert = (...rows: ReturnType<typeof row>[]) =>
  fileModel(connection).collection.insertMany(rows as unknown as Parameters<mongoose.Collection['insertMany']>[0]);
const findFiles = async (
  ids: readonly number[],
  elsewhere: Parameters<HitFiles['findWithOtherSpaces']>[2] = SEARCHED,
) => {
  const answer = await files.findWithOtherSpaces(MINE, ids, elsewhere);
  return [answer.files.map(({ _id }) => _id).toSorted((a, b) => a - b), answer.hasUnsearched];
};

beforeAll(async () => {
  const { mongodbUri } = testEngines();
  connection = await mongoose.createConnection(mongodbUri, { dbName: `found-${process.pid}` }).asPromise();
  await fileModel(connection).createIndexes();
  files = createHitFiles(fileModel(connection));
});
afterAll(async () => {
  await connection.dropDatabase();
  await connection.close();
});

test('returns only records of the tenant, and whether any of its files with the model is in another space', async () => {
  await insert(row(1), row(2), row(3, { space: null }), row(4, { model: 'SOLAR_1_MINI', space: 'other' }));
  // A file of another user, in another space and in cold storage.
  await insert(row(5, { userId: 6, space: 'other', stored: 'COLD_STORAGE' }));
  expect((await files.findHits(MINE, [1, 2, 5, 99])).map(({ _id }) => _id)).toEqual([1, 2]);
  expect(await findFiles([1, 2, 5, 99])).toEqual([[1, 2], false]);
  expect(await findFiles([])).toEqual([[], false]);

  await insert(row(6, { space: 'other' }));
  expect(await findFiles([1])).toEqual([[1], true]);
  expect(await findFiles([1], { ...SEARCHED, model: 'SOLAR_1_MINI' })).toEqual([[1], true]);
  expect(await findFiles([1], { ...SEARCHED, model: 'COHERE_MULTILINGUAL_V3' })).toEqual([[1], false]);
  await fileModel(connection).deleteOne({ _id: 6 });
  expect(await findFiles([1])).toEqual([[1], false]);
});

test.each(['COLD_STORAGE', 'COLD_TO_HOT'])(
  'a file in %s is reported as not searched unless cold files are ignored',
  async (stored) => {
    await insert(row(7, { stored }));
    expect(await findFiles([1])).toEqual([[1], true]);
    expect(await findFiles([1], { ...SEARCHED, cold: false })).toEqual([[1], false]);
    await fileModel(connection).deleteOne({ _id: 7 });
  },
);
