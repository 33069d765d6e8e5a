import { afterAll, beforeAll, expect, test } from '@jest/globals';
import mongoose from 'mongoose';

import type { FileRecord } from '../../contract/files/records.js';
import type { FileDoc } from '../../store/models/files.js';
import { type RunDoc, runModel } from '../../store/models/runs.js';
import { startService, type TestService } from '../support/service.js';

let service: TestService;
beforeAll(async () => {
  service = await startService({ LOG_LEVEL: 'silent', TEMPORAL_ADDRESS: '127.0.0.1:1' }, { worker: false });
});
afterAll(() => service.close());

test('an activity that runs after the end of its run does not restart the parent file', async () => {
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

test('a run that ends counts each file once while its outcomes are copied to the ledger', async () => {
  const user = await service.user('edith');
  const { id } = (await user.post<FileRecord>('/upload_text', { contents: 'The harbour opens at six.' })).body;
  const connection = await mongoose.createConnection(service.env['MONGODB_URI'] ?? '').asPromise();
  try {
    const runs = runModel(connection);
    const run = (await runs.findOne({ fileId: id }).lean()) as RunDoc;
    const counted = async () => (await service.store.ledger.tallies([run])).get(run._id);
    expect(await counted()).toMatchObject({ discovered: 1, pending: 1 });
    // As after a crash before the run is marked as ended.
    await service.store.ledger.close(run);
    expect(await counted()).toMatchObject({ discovered: 1, pending: 1, aborted: 0 });
  } finally {
    await connection.close();
  }
});

test('concurrent requests for one new sitemap create one file and one event, and a run each', async () => {
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
    // The row of the run has the defaults of the schema, although it was not written through mongoose.
    const blank = new runs().toObject({ minimize: false });
    expect(rows[0]).toMatchObject({ startedAt: null, finishedAt: null, held: false, counts: {} });
    expect(Object.keys(rows[0] ?? {})).toEqual(expect.arrayContaining(Object.keys(blank)));
    const eventRows = await connection
      .collection('events')
      .find({ 'events.objectId': String(fileId) })
      .toArray();
    expect(eventRows.flatMap(({ events }) => (events as { kind: string }[]).map(({ kind }) => kind))).toEqual([
      'FILES_CREATED',
    ]);
  } finally {
    await connection.close();
  }
});

test('concurrent requests of several users are accepted separately, for new and existing sitemaps', async () => {
  const users = await Promise.all(['grace', 'mary', 'joan'].map((name) => service.user(name)));
  const knownScrape = await users[0]?.scrape({ url: 'http://site.example/known.xml', tags: { round: 'first' } });
  const refused = users[1]?.post('/scrape_sitemap', { url: 'no address' });
  const accepted = await Promise.all(
    users.flatMap((user) =>
      ['known', 'other'].map(async (name) => {
        const url = `http://site.example/${name}.xml`;
        const headers: Record<string, string> = name === 'other' ? { 'idempotency-key': 'once' } : {};
        const { status, body } = await user.post<FileRecord>(
          '/scrape_sitemap',
          { url, tags: { round: 'last' } },
          headers,
        );
        expect(status).toBe(200);
        return { user, body };
      }),
    ),
  );
  expect((await refused)?.status).toBe(422);
  expect(new Set(accepted.map(({ body }) => body.id)).size).toBe(6);
  expect(accepted[0]?.body.id).toBe(knownScrape?.id);
  for (const { user, body } of accepted) {
    expect(body).toMatchObject({ sync_status: 'QUEUED_FOR_SYNC', tags: { round: 'last' } });
    // The response equals the stored record.
    expect(await user.file(body.id)).toEqual(body);
  }
  const connection = await mongoose.createConnection(service.env['MONGODB_URI'] ?? '').asPromise();
  try {
    for (const { body } of accepted) {
      const runs = await connection.collection('runs').find({ fileId: body.id }).toArray();
      expect(runs).toHaveLength(body.id === knownScrape?.id ? 2 : 1);
      expect(runs.at(-1)).toMatchObject({
        userId: body.organization_user_id,
        requestId: body.request_id,
        startedAt: null,
      });
      const eventRows = await connection
        .collection('events')
        .find({ 'events.objectId': String(body.id) })
        .toArray();
      const events = eventRows.flatMap(
        ({ events: rowEvents }) => rowEvents as { kind: string; objectId: string | string[]; customerId: string }[],
      );
      expect(events.filter(({ objectId }) => [objectId].flat().includes(String(body.id)))).toMatchObject([
        { kind: 'FILES_CREATED', customerId: body.organization_supplied_user_id },
      ]);
    }
  } finally {
    await connection.close();
  }
});

test('accepts a new container once, with its event and run; writes nothing for an existing one or if an insert fails', async () => {
  const owner = { organizationId: 0, userId: 0, customerId: '' };
  const user = await service.user('dora');
  const like = await user.scrape({ url: 'http://site.example/like.xml' });
  const connection = await mongoose.createConnection(service.env['MONGODB_URI'] ?? '').asPromise();
  try {
    const countRecords = (): Promise<number[]> =>
      Promise.all(['files', 'runs', 'events'].map((name) => connection.collection(name).countDocuments()));
    const countsBefore = await countRecords();
    const file = await connection.collection('files').findOne({ _id: like.id as never });
    const run = await connection.collection('runs').findOne({ fileId: like.id });
    const fresh = {
      file: { ...file, ...owner, _id: -1 } as unknown as FileDoc,
      run: { ...run, ...owner, _id: -1, fileId: -1 } as unknown as RunDoc,
    };
    expect(await service.store.newContainers.accept(fresh)).toBe(true);
    expect(await countRecords()).toEqual(countsBefore.map((count) => count + 1));
    expect(await service.store.newContainers.accept(fresh)).toBe(false);
    // The run cannot be inserted, because a run with its id exists.
    const conflicting = { file: { ...fresh.file, _id: -2, externalFileId: 'other' }, run: fresh.run };
    expect(await service.store.newContainers.accept(conflicting)).toBe(false);
    expect(await countRecords()).toEqual(countsBefore.map((count) => count + 1));
  } finally {
    await connection.close();
  }
});
