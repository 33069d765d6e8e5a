import { afterAll, beforeAll, expect, test } from '@jest/globals';
import mongoose from 'mongoose';

import { runModel } from '../../store/runs/model.js';
import { startService, type TestService } from '../support/service.js';

let service: TestService;
beforeAll(async () => {
  service = await startService({ LOG_LEVEL: 'silent', TEMPORAL_ADDRESS: '127.0.0.1:1' }, { worker: false });
});
afterAll(() => service.close());

test('a step that comes late does not put the parent of an ended run into motion again', async () => {
  const user = await service.user('lena');
  const { id, organization_id, organization_user_id } = await user.scrape({ url: 'http://site.example/sitemap.xml' });
  const [parent] = await service.store.files.byIds(
    { organizationId: organization_id, userId: organization_user_id ?? 0 },
    [id],
  );
  const runId = parent?.runId ?? 0;
  expect(await service.store.files.moveContainer(runId, id, { status: 'SYNCING' })).toBe(true);
  expect(await service.store.files.abortOpen(runId, 'cancelled', 'cancelled')).toBe(1);
  expect(await service.store.files.moveContainer(runId, id, { status: 'SYNCING' })).toBe(false);
  expect(await user.file(id)).toMatchObject({ sync_status: 'SYNC_ABORTED' });
});

test('requests for one new sitemap at the same moment are one file, told of once, with a run each', async () => {
  const user = await service.user('ada');
  const parents = await Promise.all(
    Array.from({ length: 6 }, () => user.scrape({ url: 'http://site.example/new.xml' })),
  );
  const ids = new Set(parents.map(({ id }) => id));
  expect(ids.size).toBe(1);
  const connection = await mongoose.createConnection(service.env['MONGODB_URI'] ?? '').asPromise();
  try {
    const [fileId] = ids;
    const runs = runModel(connection);
    const rows = await runs.collection.find({ fileId }).toArray();
    expect(rows).toHaveLength(6);
    // What the schema gives a run is in its row, though it was not made by it.
    const blank = new runs().toObject({ minimize: false });
    expect(rows[0]).toMatchObject({ startedAt: null, finishedAt: null, held: false, counts: {} });
    expect(Object.keys(rows[0] ?? {})).toEqual(expect.arrayContaining(Object.keys(blank)));
    const told = await connection
      .collection('events')
      .find({ 'events.objectId': String(fileId) })
      .toArray();
    expect(told.flatMap(({ events }) => (events as { kind: string }[]).map(({ kind }) => kind))).toEqual([
      'FILES_CREATED',
    ]);
  } finally {
    await connection.close();
  }
});
