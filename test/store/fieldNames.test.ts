/** Tests of the migration of records of version 0.2.0, some of whose fields were renamed. */
import { randomUUID } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import mongoose from 'mongoose';
import { afterEach, beforeEach, expect, test } from '@jest/globals';

import { runMigrations, SCHEMA_VERSION } from '../../store/migrations/run.js';
import { openModels } from '../../store/models/openModels.js';
import { createOriginals } from '../../store/originals/originals.js';
import { createTranscripts } from '../../store/originals/transcripts.js';
import { createFolderBlobs } from '../../store/contents/blobs.js';
import { createDeletedItems } from '../../store/items/deletedItems.js';
import { createSequence } from '../../store/database/sequence.js';
import { testEngines } from '../support/engines.js';

let connection: mongoose.Connection;

beforeEach(async () => {
  connection = await mongoose
    .createConnection(testEngines().mongodbUri, { dbName: `names-${randomUUID().slice(0, 8)}`, autoIndex: false })
    .asPromise();
  await connection.collection('meta').insertOne({ _id: 'schema', version: 1 } as never);
});
afterEach(async () => {
  await connection.dropDatabase();
  await connection.close();
});

const TENANT = { organizationId: 1, userId: 2 };
const SOURCE = { ...TENANT, _id: 9, dataSourceId: 9 };
const OPTIONS = { detectLanguage: true, speakers: false };
const READING = { etag: '"1"', lastModified: null, runId: 4, entries: 3 };
/** Number of items. It exceeds what a single update of the migration changes. */
const ITEMS = 700;

const insert = (name: string, ...rows: object[]) => connection.collection(name).insertMany(rows as never[]);

async function insertOldRows(): Promise<void> {
  const transcript = { service: 'deepgram', wishes: OPTIONS, segments: [], language: null, duration: 1 };
  const job = { service: 'deepgram', wishes: OPTIONS, id: 'job' };
  const original = { ...TENANT, bytes: null, doomed: false, aliveAt: null };
  await Promise.all([
    insert('connection_attempts', { ...TENANT, _id: 1, wishes: { listItems: true } }),
    insert('dataSources', { ...TENANT, _id: 9, passedListingAt: new Date(5) }),
    insert(
      'files',
      { ...TENANT, _id: 1, externalFileId: 'feed', feedReading: { ...READING, asked: 'hash' } },
      { ...TENANT, _id: 2, externalFileId: 'page', feedReading: null },
    ),
    insert(
      'items',
      ...Array.from({ length: ITEMS }, (_, index) => ({
        ...{ ...TENANT, _id: index + 1, dataSourceId: 9, externalId: `item ${index}` },
        ...(index % 2 === 0 && { place: `/a/${index}` }),
      })),
    ),
    insert(
      'originals',
      { ...original, _id: 1, fileId: 1, transcription: job },
      { ...original, _id: 2, fileId: 2, transcription: null, transcript: gzipSync(JSON.stringify(transcript)) },
      { ...original, _id: 3, fileId: null, aliveAt: new Date(0), doomed: true },
      { ...original, _id: 4, fileId: null, aliveAt: new Date() },
    ),
    insert('quarantined_files', { ...TENANT, _id: 3, file: { feedReading: { ...READING, asked: 'hash' } } }),
    insert(
      'runs',
      { ...TENANT, _id: 1, kind: 'syncItems', progress: { listed: 1, point: 'next', since: null, told: ['root'] } },
      { ...TENANT, _id: 2, kind: 'syncFeed', progress: { found: { reading: { ...READING, asked: 'hash' } } } },
      { ...TENANT, _id: 3, kind: 'syncUpload', progress: null },
    ),
    insert('users', { _id: 2, organizationId: 1, customerId: 'a', limitTurns: 7 }),
  ]);
  await connection
    .collection('items')
    .createIndexes([{ key: { dataSourceId: 1, place: 1 }, partialFilterExpression: { place: { $exists: true } } }]);
}

const allRows = async () =>
  Object.fromEntries(
    await Promise.all(
      (await connection.listCollections())
        .filter(({ name }) => name !== 'meta')
        .map(async ({ name }) => [name, await connection.collection(name).find().sort({ _id: 1 }).toArray()] as const),
    ),
  );

test('after the migration, rows of version 0.2.0 have the new field names', async () => {
  await insertOldRows();
  await runMigrations(connection, 0);
  expect(await connection.collection('meta').findOne()).toMatchObject({ version: SCHEMA_VERSION });
  const models = await openModels(connection);

  expect(await models.attempts.findById(1).lean()).toMatchObject({ actions: { listItems: true } });
  expect(await models.dataSources.findById(9).lean()).toMatchObject({ appliedListingAt: new Date(5) });
  expect((await models.files.findById(1).lean())?.feedReading).toEqual({ ...READING, fingerprint: 'hash' });
  expect((await models.files.findById(2).lean())?.feedReading).toBeNull();
  expect((await models.quarantined.findById(3).lean())?.file.feedReading).toEqual({ ...READING, fingerprint: 'hash' });
  expect(await models.users.findById(2).lean()).toMatchObject({ limitVersion: 7 });
  expect(await models.runs.find().sort({ _id: 1 }).lean()).toMatchObject([
    { progress: { listed: 1, nextChangeToken: 'next', changeToken: null, coveredRoots: ['root'] } },
    { progress: { found: { reading: { ...READING, fingerprint: 'hash' } } } },
    { progress: null },
  ]);

  const transcripts = createTranscripts(models.originals);
  expect(await transcripts.find({ ...TENANT, fileId: 1, originalId: 1 })).toEqual({
    transcript: null,
    job: { service: 'deepgram', options: OPTIONS, id: 'job' },
  });
  expect(await transcripts.find({ ...TENANT, fileId: 2, originalId: 2 })).toMatchObject({
    transcript: { service: 'deepgram', options: OPTIONS },
    job: null,
  });
  const originals = createOriginals(models.originals, createFolderBlobs('/nonexistent'), createSequence(connection), 1);
  const draft = (id: number) => ({ id, size: 1, sha256: '', owner: TENANT, head: new Uint8Array(), bytes: null });
  await originals.accept(draft(4), 5, null);
  await expect(originals.accept(draft(3), 6, null)).rejects.toThrow('was deleted');

  await createDeletedItems(models.items, models.files).markPathsDeleted(SOURCE, ['/a']);
  expect(await models.items.countDocuments({ isGone: true })).toBe(ITEMS / 2);
  const indexes = (await models.items.collection.indexes()).map(({ name }) => name);
  expect(indexes).toContain('dataSourceId_1_path_1');
  expect(indexes).not.toContain('dataSourceId_1_place_1');

  const old = /"(?:wishes|passedListingAt|asked|place|doomed|told|point|since|limitTurns)":/;
  expect(JSON.stringify(await allRows())).not.toMatch(old);
});

test('a migration that was interrupted, or runs twice concurrently, has the same result', async () => {
  await insertOldRows();
  await runMigrations(connection, 0);
  const expected = await allRows();
  for (const name of Object.keys(expected)) await connection.collection(name).drop();
  await insertOldRows();
  await connection.collection('meta').updateOne({}, { $set: { version: 1, target: SCHEMA_VERSION } });
  // As after a crash: some rows have the new names, and the index is gone.
  await connection.collection('items').updateMany({ _id: { $lte: 300 } } as never, { $rename: { place: 'path' } });
  await connection.collection('items').dropIndex('dataSourceId_1_place_1');
  await connection
    .collection('runs')
    .updateOne({ _id: 1 } as never, { $rename: { 'progress.told': 'progress.coveredRoots' } });
  await Promise.all([runMigrations(connection, 0), runMigrations(connection, 0)]);
  const sorted = (rows: unknown) =>
    JSON.parse(
      JSON.stringify(rows, (_key, value: unknown) =>
        value !== null && typeof value === 'object' && !Array.isArray(value) && !Buffer.isBuffer(value)
          ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
          : value,
      ),
    ) as unknown;
  const rowsAfter = await allRows();
  for (const row of [...(expected['originals'] ?? []), ...(rowsAfter['originals'] ?? [])]) delete row['aliveAt'];
  expect(sorted(rowsAfter)).toEqual(sorted(expected));
});
