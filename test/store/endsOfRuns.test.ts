/** Tests of ends of runs, and of loops over more files or users than the store processes in one call. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import mongoose, { type Connection } from 'mongoose';

import { loadConfig, storeSettings } from '../../config/config.js';
import { connectStore, type Store } from '../../store/connect.js';
import { inParts } from '../../store/database/inParts.js';
import { fileModel } from '../../store/models/files.js';
import { openModels } from '../../store/models/openModels.js';
import { everyRow } from '../support/everyRow.js';
import { seedFiles } from '../support/seedFiles.js';
import { startService, type TestService } from '../support/service.js';

/** More items than any of the tested loops processes at once. */
const NUMBER = 1_100;
const IDS = Array.from({ length: NUMBER }, (_, nth) => nth + 1);
const ADA = { organizationId: 1, userId: 7, customerId: 'ada' };
const [ABORTED, CLOSED] = [71, 72];

let service: TestService;
let connection: Connection;
let store: Store;
beforeAll(async () => {
  service = await startService({ LOG_LEVEL: 'silent', TEMPORAL_ADDRESS: '127.0.0.1:1' }, { worker: false });
  connection = await mongoose.createConnection(service.env['MONGODB_URI'] ?? '').asPromise();
  store = await connectStore(storeSettings(loadConfig(service.env)));
});
afterAll(async () => {
  await store.close();
  await connection.close();
  await service.close();
});

test('reading a cursor in parts neither loses nor repeats a row', () =>
  everyRow([0, 1, 249, 250, 251, 500, 501], String, async (rows) => {
    async function* cursor(): AsyncIterable<number> {
      for (let row = 0; row < rows; row++) yield await Promise.resolve(row);
    }
    const parts: number[][] = [];
    for await (const part of inParts<number>(cursor())) parts.push(part);
    expect(parts.flat()).toEqual(Array.from({ length: rows }, (_, row) => row));
    expect(parts.every((part) => part.length > 0 && part.length <= 250)).toBe(true);
  }));

test('the abort of a run ends each of its open files, and no file of another run', async () => {
  await seedFiles(
    service,
    ADA,
    [...IDS, NUMBER + 1].map((id) => ({
      id,
      fields: { runId: id > NUMBER ? CLOSED : ABORTED, syncStatus: 'QUEUED_FOR_SYNC' as const },
    })),
  );
  expect(await store.files.abortOpen(ABORTED, 'It was cancelled.', 'cancelled')).toBe(NUMBER);
  const files = fileModel(connection);
  expect(await files.countDocuments({ runId: ABORTED, syncStatus: 'SYNC_ABORTED' })).toBe(NUMBER);
  expect(await files.countDocuments({ syncStatus: 'QUEUED_FOR_SYNC' })).toBe(1);
});

test('the end of a run records the outcome of each of its files once, and continues where it stopped', async () => {
  const { ledger, runs } = await openModels(connection);
  const files = fileModel(connection);
  await files.updateMany({}, { $set: { runId: CLOSED, syncStatus: 'READY' } });
  const run = { _id: CLOSED, organizationId: 1, userId: 7, kind: 'scrapeSitemap', closedTo: 50 };
  await runs.collection.insertOne({ ...run, finishedAt: null } as never);
  const recorded = async () =>
    (await ledger.find({ runId: CLOSED }, { fileId: 1 }).sort({ fileId: 1 }).lean()).map(({ fileId }) => fileId);
  const itemIds = [...IDS, NUMBER + 1];
  await store.ledger.close(run as never);
  expect(await recorded()).toEqual(itemIds.filter((id) => id > 50));
  await store.ledger.close({ ...run, closedTo: 0 } as never);
  expect(await recorded()).toEqual(itemIds);
});

test('a rebuild is accepted once for each user with files in its scope', async () => {
  const { users } = await openModels(connection);
  const blank = new users().toObject({ minimize: false });
  const owners = IDS.map((nth) => ({ organizationId: 3, userId: 10_000 + nth, customerId: `user ${nth}` }));
  await users.collection.insertMany(
    owners.map(({ userId, ...owner }) => ({ ...blank, ...owner, _id: userId, deletedAt: null })) as never,
  );
  const files = fileModel(connection);
  const file = { ...new files().toObject({ minimize: false }), source: 'TEXT', vectorSpace: 's', isContainer: false };
  await files.collection.insertMany(
    owners.map((owner, nth) => ({ ...file, ...owner, _id: 10_000 + nth, externalFileId: `of ${nth}` })) as never,
  );
  const scope = { organizationId: 3, customerId: null, space: null };
  const accepted = await store.rebuilds.accept(scope);
  expect(new Set(accepted).size).toBe(NUMBER);
  const { runs } = await openModels(connection);
  const accepting = await runs.distinct('userId', { kind: 'reembedFiles', finishedAt: null });
  expect(accepting.toSorted((a, b) => a - b)).toEqual(owners.map(({ userId }) => userId));
  // A second call returns the same runs.
  expect([...(await store.rebuilds.accept(scope))].toSorted((a, b) => a - b)).toEqual(
    accepted.toSorted((a, b) => a - b),
  );
});

test('a run that ends while it is stalled stores the stall in its list of past stalls', async () => {
  const { runs } = await openModels(connection);
  const [since, earlier] = [new Date('2026-01-02'), new Date('2026-01-01')];
  const past = { cause: 'no_worker', message: 'No worker runs.', since: earlier, until: since };
  const stall = { cause: 'qdrant_down', message: 'Qdrant does not answer.', since };
  const ids = [201, 202];
  await runs.collection.insertMany(
    ids.map((_id) => ({
      ...{ _id, ...ADA, kind: 'syncUpload', workflowId: `upload:${_id}`, finishedAt: null, stall, stalls: [past] },
      ...{ startedAt: since, acceptedAt: since, requestId: 'r' },
    })) as never,
  );
  await store.runs.finish(201, 'finished', {});
  await store.uploadStreams.finish(ADA, await runs.find({ _id: 202 }).lean());
  for (const id of ids) {
    const ended = await store.runs.find(id);
    expect(ended).toMatchObject({ outcome: 'finished', stalls: [past, { ...stall, until: ended?.finishedAt }] });
    expect(ended?.stall).toBeUndefined();
  }
});
