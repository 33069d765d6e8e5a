/**
 * Tests of the records that API requests store, and of the answers of list operations, while no worker runs. Each test
 * of a user's records creates its own users, so that it finds no rows of other tests.
 */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';

import type { NewEvent } from '../../contract/events.js';
import { DEFAULT_INGEST_OPTIONS } from '../../contract/files/ingestOptions.js';
import type { FileRecord } from '../../contract/files/records.js';
import type { DataSourceDoc } from '../../store/models/dataSources.js';
import type { ApiClient, Listed } from '../support/client.js';
import { everyRow } from '../support/everyRow.js';
import { testAccounts } from './accepted/accounts.js';
import { testRuns } from './accepted/runs.js';
import {
  closeIdleService,
  database,
  key,
  ok,
  secondOrganization,
  otherKey,
  refusal,
  service,
  createUser,
  type StoredUser,
  startIdleService,
  reserveIds,
} from './accepted/idleService.js';

beforeAll(startIdleService);
afterAll(closeIdleService);

testAccounts();
testRuns();

test('the API key of the settings belongs to organization 1, which is named "default"', async () => {
  expect(ok(await key.get('/organization'))).toMatchObject({ id: 1, name: 'default' });
});

const withKey = (name: string) => ({ 'idempotency-key': name });

describe('Idempotency-Key', () => {
  const remove = (client: ApiClient, name: string, id = 1) =>
    client.post('/delete_files_v2', { filters: { ids: [id] } }, withKey(name));

  test('repeats the first answer for a repeated request, without a second effect', async () => {
    const { user, runs } = await createUser();
    const contents = { contents: 'The lighthouse was lit.' };
    const firstAnswer = await user.post<FileRecord>('/upload_text', contents, withKey('once'));
    const secondAnswer = await user.post<FileRecord>(
      '/upload_text',
      { ...contents, chunk_size: null },
      withKey('once'),
    );
    expect(secondAnswer).toMatchObject({ status: 200, body: firstAnswer.body });
    expect([firstAnswer, secondAnswer].map(({ headers }) => headers.get('idempotent-replayed'))).toEqual([
      null,
      'true',
    ]);
    expect(await runs()).toHaveLength(1);
    expect(ok(await user.post<FileRecord>('/upload_text', contents, withKey('twice'))).id).not.toBe(
      firstAnswer.body.id,
    );
  });

  test('is separate per user, even if two users of an organization send the same key', async () => {
    const [ada, ben] = [await createUser(), await createUser()];
    const contents = { contents: 'The same text of both.' };
    const answers = [ada, ben].map(({ user }) => user.post<FileRecord>('/upload_text', contents, withKey('shared')));
    const [fileOfAda, fileOfBen] = (await Promise.all(answers)).map(ok);
    expect([fileOfAda!.organization_user_id, fileOfBen!.organization_user_id]).toEqual([
      ada.owner.userId,
      ben.owner.userId,
    ]);
    for (const { runs } of [ada, ben]) expect(await runs()).toHaveLength(1);
  });

  test('is separate per operation, and per organization for calls without a user', async () => {
    const { user, runs } = await createUser();
    ok(await remove(user, 'shared'));
    ok(await user.post('/move_to_hot_storage', {}, withKey('shared')));
    expect((await runs()).map(({ kind }) => kind)).toEqual(['deleteFiles', 'moveStorage']);
    const recount = (client: ApiClient) => client.post('/organization/statistics', {}, withKey('shared'));
    for (const client of [key, otherKey])
      expect(
        [await recount(client), await recount(client)].map(({ headers }) => headers.get('idempotent-replayed')),
      ).toEqual([...[null, 'true']]);
  });

  test('is refused for another request, or if it is invalid', async () => {
    const { user, runs } = await createUser();
    ok(await remove(user, 'taken'));
    expect(await remove(user, 'taken', 2)).toMatchObject({
      ...{ status: 422, body: { detail: [{ loc: ['header', 'idempotency-key'] }] } },
    });
    for (const name of ['', 'x'.repeat(256)]) expect((await remove(user, name)).status).toBe(422);
    ok(await remove(user, 'x'.repeat(255)));
    expect(await runs()).toHaveLength(2);
  });

  test('stays unused if its request is refused', async () => {
    const { user, runs } = await createUser();
    const deleteBy = (filters: object) => user.post('/delete_files_v2', { filters }, withKey('refused'));
    expect((await deleteBy({})).status).toBe(400);
    ok(await deleteBy({ ids: [1] }));
    expect(await runs()).toHaveLength(1);
  });

  test('of an upload is refused for a file with another name, type or content', async () => {
    const { user } = await createUser();
    const send = (name: string, content: string, type?: string) =>
      user.upload({ name, content, ...(type !== undefined && { type }) }, {}, withKey('file'));
    const first = ok(await send('a.txt', 'one text', 'text/plain'));
    expect(ok(await send('a.txt', 'one text', 'text/plain')).id).toBe(first.id);
    for (const [name, content, type] of [
      ['b.txt', 'one text', 'text/plain'],
      ['a.txt', 'two text', 'text/plain'],
      ['a.txt', 'one text', 'text/markdown'],
    ] as const)
      expect({ name, content, type, status: (await send(name, content, type)).status }).toMatchObject({ status: 422 });
  });
});

describe('webhooks', () => {
  const NEVER = new Date(Date.now() + 3_600_000);
  let webhookId: number;
  interface Delivery {
    readonly id: number;
    readonly status: string;
    readonly event_id: string;
  }
  const deliveries = async (query = ''): Promise<[ids: number[], count: number]> => {
    const { results, count } = ok(await key.get<Listed<Delivery>>(`/webhooks/${webhookId}/deliveries${query}`));
    return [results.map(({ id }) => id), count];
  };
  beforeAll(async () => {
    webhookId = ok(await key.post<{ id: number }>('/add_webhook', { url: 'http://127.0.0.1:9/hook' })).id;
    const event = { kind: 'CHECKUP', customerId: '', objectId: null, info: null, at: new Date() } as const;
    const statuses = ['DELIVERED', 'FAILED', 'PENDING', 'FAILED', 'DELIVERED', 'DELIVERED'] as const;
    await service.store.deliveries.record(
      { _id: webhookId, organizationId: 1 },
      statuses.map((status, index) => ({
        ...{ event: { ...event, position: 101 + index }, status, tries: 1, nextTryAt: NEVER, attempt: null },
      })),
    );
    const another = { _id: webhookId + 1, organizationId: 1 };
    const outcome = { status: 'FAILED', tries: 1, nextTryAt: null, attempt: null } as const;
    await service.store.deliveries.record(another, [{ ...outcome, event: { ...event, position: 999 } }]);
  });

  test('list matching deliveries, latest first, with their count', () =>
    everyRow(
      [
        ['', [106, 105, 104, 103, 102, 101], 6],
        ['?status=FAILED', [104, 102], 2],
        ['?status=PENDING', [103], 1],
        ['?status=DELIVERED&limit=2', [106, 105], 3],
        ['?status=DELIVERED&limit=2&offset=2', [101], 3],
        ['?offset=5', [101], 6],
      ] as const,
      ([query]) => query,
      async ([query, expectedIds, count]) => expect(await deliveries(query)).toEqual([expectedIds, count]),
    ));

  test('are hidden from other organizations', async () => {
    expect(await otherKey.get(`/webhooks/${webhookId}/deliveries`)).toMatchObject(refusal(404));
    expect(await otherKey.post(`/webhooks/${webhookId}/redeliver`, {})).toMatchObject(refusal(404));
    expect(await otherKey.delete(`/delete_webhook/${webhookId}`)).toMatchObject(refusal(404));
    expect((await key.get(`/webhooks/${webhookId}/deliveries?limit=10001`)).status).toBe(422);
  });

  test('redeliver the deliveries in ids, or all failed ones without ids, and wake the delivery workflow', async () => {
    const redeliver = (body: object) => key.post<{ count: number }>(`/webhooks/${webhookId}/redeliver`, body);
    const webhooks = database.collection('webhooks');
    await webhooks.updateOne({ _id: webhookId as never }, { $set: { wake: null, disabledAt: new Date() } });
    // A pending delivery is not queued twice.
    expect(ok(await redeliver({ ids: [101, 103] }))).toEqual({ success: true, count: 1 });
    expect(await deliveries('?status=PENDING')).toEqual([[103, 101], 2]);
    expect(await webhooks.findOne({ _id: webhookId as never })).toMatchObject({
      ...{ wake: expect.any(Number), disabledAt: null },
    });
    expect(ok(await redeliver({ ids: [] }))).toEqual({ success: true, count: 2 });
    expect(await deliveries('?status=FAILED')).toEqual([[], 0]);
    expect(await deliveries('?status=DELIVERED')).toEqual([[106, 105], 2]);
  });
});

test('GET /events continues after a cursor and reports whether there is more', async () => {
  const { organizationId } = secondOrganization;
  const kinds = ['ADD', 'UPDATE', 'CANCEL', 'REVOKE', 'DATA_SOURCE_READY'] as const;
  const newEvent = (kind: (typeof kinds)[number]): NewEvent => ({
    ...{ kind, organizationId, customerId: 'first', objectId: '7', info: null },
  });
  await service.store.transaction((session) => service.store.events.write(kinds.map(newEvent), session));
  await service.store.events.number();
  interface Feed {
    readonly results: { readonly cursor: number; readonly event_id: string; readonly webhook_type: string }[];
    readonly next_cursor: number;
    readonly has_more: boolean;
  }
  const feed = async (query: string): Promise<unknown[]> => {
    const { results, ...rest } = ok(await otherKey.get<Feed>(`/events${query}`));
    for (const { cursor, event_id: id } of results) expect(id).toBe(`evt_${organizationId}_${cursor}`);
    return [results.map(({ webhook_type: kind }) => kind), rest.next_cursor, rest.has_more];
  };
  expect(await feed('')).toEqual([kinds, 5, false]);
  expect(await feed('?limit=2')).toEqual([['ADD', 'UPDATE'], 2, true]);
  expect(await feed('?limit=2&after=2')).toEqual([['CANCEL', 'REVOKE'], 4, true]);
  expect(await feed('?limit=2&after=3')).toEqual([['REVOKE', 'DATA_SOURCE_READY'], 5, false]);
  expect(await feed('?after=5')).toEqual([[], 5, false]);
  expect((await otherKey.get('/events?limit=1001')).status).toBe(422);
});

describe('files in quarantine', () => {
  const DAY = 24 * 3_600_000;
  const rows = [
    { parent: 21, source: null, run: 31, user: 0 },
    { parent: 22, source: 12, run: 31, user: 0 },
    { parent: 21, source: 11, run: 32, user: 1 },
    { parent: null, source: 11, run: 33, user: 1 },
  ];
  let owners: StoredUser[];
  let firstId: number;
  beforeAll(async () => {
    owners = [await createUser(), await createUser()];
    firstId = reserveIds(10);
    const at = new Date(Date.now() - DAY);
    const keptUntil = new Date(Date.now() + DAY);
    const row = ({ parent, source, run, user }: (typeof rows)[number], index: number) => ({
      ...{ _id: firstId + index, ...owners[user]!.owner, dataSourceId: source, parentId: parent, state: 'kept' },
      ...{ missedBy: run, runId: run, quarantinedAt: at, keptUntil, copy: null },
      file: { name: `name ${index}`, source: 'BOX', externalFileId: `e${index}`, externalUrl: null },
    });
    const foreign = { ...row(rows[0]!, 9), organizationId: secondOrganization.organizationId };
    const late = { ...row(rows[3]!, 4), keptUntil: at };
    await database.collection('quarantined_files').insertMany([...rows.map(row), late, foreign] as never[]);
  });
  const names = () => ({ one: owners[0]!.owner.customerId, two: owners[1]!.owner.customerId });

  test('are listed by filters, all of which must match', () =>
    everyRow(
      [
        [() => '', [0, 1, 2, 3], 4],
        [() => '?data_source_id=11', [2, 3], 2],
        [() => '?parent_id=21', [0, 2], 2],
        [() => '?run_id=31', [0, 1], 2],
        [() => `?customer_id=${names().one}`, [0, 1], 2],
        [() => `?customer_id=${names().two}&parent_id=21`, [2], 1],
        [() => '?limit=2', [0, 1], 4],
        [() => '?limit=2&offset=2', [2, 3], 4],
        [() => '?data_source_id=11&parent_id=22', [], 0],
      ] as [() => string, number[], number][],
      ([query]) => String(query),
      async ([query, expectedIndexes, count]) => {
        const listed = ok(await key.get<Listed<{ file_id: number }>>(`/quarantined_files${query()}`));
        expect([listed.results.map(({ file_id: id }) => id - firstId), listed.count]).toEqual([expectedIndexes, count]);
      },
    ));

  test('are shown with the values of their file records, and are hidden from other organizations', async () => {
    const { results } = ok(await key.get<Listed<unknown>>('/quarantined_files?limit=1&offset=1'));
    expect(results).toEqual([
      {
        ...{ file_id: firstId + 1, name: 'name 1', source: 'BOX', external_file_id: 'e1', external_url: null },
        ...{ data_source_id: 12, parent_id: 22, organization_supplied_user_id: names().one, run_id: 31 },
        ...{ quarantined_at: expect.any(String), kept_until: expect.any(String), state: 'KEPT' },
      },
    ]);
    const [{ quarantined_at: from, kept_until: to }] = results as [{ quarantined_at: string; kept_until: string }];
    expect(Date.parse(to) - Date.parse(from)).toBeGreaterThan(DAY);
    const { results: foreign } = ok(await otherKey.get<Listed<{ file_id: number }>>('/quarantined_files'));
    expect(foreign.map(({ file_id: id }) => id - firstId)).toEqual([9]);
  });

  test('are restored by one run per user, except files not requested, expired, or of other organizations', async () => {
    const restore = (body: object) => key.post<{ restoring: number }>('/quarantined_files/restore', body);
    expect(await restore({})).toMatchObject(refusal(400));
    expect(ok(await restore({ file_ids: [firstId + 9, firstId + 4] }))).toEqual({ restoring: 0 });
    expect(ok(await otherKey.post('/quarantined_files/restore', { run_id: 33 }))).toEqual({ restoring: 0 });
    expect(ok(await restore({ parent_id: 21 }))).toEqual({ restoring: 2 });
    for (const { runs } of owners)
      expect(await runs()).toMatchObject([{ kind: 'settleQuarantine', request: { does: 'restore' }, fileId: null }]);
    const stored = await database.collection('quarantined_files').find().sort({ _id: 1 }).toArray();
    expect(stored.map(({ state }) => state as string)).toEqual([
      ...['returning', 'kept', 'returning', 'kept', 'kept', 'kept'],
    ]);
    const [restoreRun] = await owners[0]!.runs();
    expect(stored[0]).toMatchObject({ runId: restoreRun!._id });
    expect(restoreRun).toMatchObject({ workflowId: `restore:${restoreRun!._id}` });
    expect(ok(await restore({ run_id: 31, file_ids: [firstId + 1, firstId + 2] }))).toEqual({ restoring: 1 });
  });
});

describe('upload', () => {
  test('creates a file with the requested options, its run, and the events of the file and of its request', async () => {
    const { user, files, runs, events, owner } = await createUser();
    const options = { chunk_size: 300, use_ocr: true, enable_cold_storage: true, hot_storage_time_to_live: 9 };
    const answer = ok(await user.upload({ name: 'notes.md', content: '# Otters' }, options));
    const [file] = await files();
    expect(file).toMatchObject({
      ...{ ...owner, _id: answer.id, name: 'notes.md', source: 'MD', syncStatus: 'QUEUED_FOR_SYNC', parentId: null },
      ...{ isContainer: false, externalUrl: null, supportsColdStorage: true, hotStorageTimeToLive: 9 },
      ...{ options: { chunkSize: 300, useOcr: true }, ocrProperties: { use_ocr: true }, dataSourceId: null },
      ...{ original: { size: 8 }, statistics: { fileFormat: 'MD', fileSize: 8, mimeType: 'text/markdown' } },
    });
    const [run, ...otherRuns] = await runs();
    expect(otherRuns).toEqual([]);
    expect(run).toMatchObject({
      ...{ kind: 'syncUpload', workflowId: `uploads:${owner.userId}`, fileId: answer.id, bytes: 8, stream: true },
      ...{ requestId: answer.request_id, uploadId: answer.upload_id, customerId: owner.customerId, outcome: null },
    });
    expect(file).toMatchObject({ runId: run!._id, requestId: answer.request_id, uploadId: answer.upload_id });
    expect(await events()).toEqual([`FILES_CREATED ${answer.id}`, `ALL_UPLOADED_FILES_QUEUED ${answer.request_id}`]);
  });

  test('with a wrong extension gets the format of its content', async () => {
    const { user, files } = await createUser();
    ok(await user.upload({ name: 'letter.txt', content: '%PDF-1.7\n' }));
    expect((await files())[0]).toMatchObject({ source: 'PDF', fileMetadata: { named_as: 'TXT' } });
  });

  test('from a URL has its own workflow; the file has the requested name, or else the name in the URL', async () => {
    const { user, files, runs } = await createUser();
    const send = (body: object) =>
      user.post<FileRecord>('/upload_file_from_url', { url: 'http://127.0.0.1:9/manuals/pump.pdf', ...body });
    const [plain, withName] = [ok(await send({})), ok(await send({ file_name: 'c.csv', use_textract: true }))];
    expect(await files()).toMatchObject([
      { name: 'pump.pdf', source: 'PDF', externalUrl: 'http://127.0.0.1:9/manuals/pump.pdf', original: null },
      { name: 'c.csv', source: 'CSV', options: { useOcr: true }, sourceOptions: { fileName: 'c.csv' } },
    ]);
    expect((await runs()).map(({ workflowId }) => workflowId)).toEqual([`upload:${plain.id}`, `upload:${withName.id}`]);
    for (const url of ['ftp://127.0.0.1/a', 'http://u:p@127.0.0.1:9/']) expect((await send({ url })).status).toBe(422);
  });

  test('is refused if the limit per upload is zero', async () => {
    const { user, owner, files } = await createUser();
    const limit = (max_files_per_upload: number) =>
      key.post('/update_users', { customer_ids: [owner.customerId], max_files_per_upload });
    ok(await limit(0));
    expect(
      await user.post('/upload_text', { contents: 'Refunds are paid within 14 days.', name: 'refunds.txt' }),
    ).toMatchObject(refusal(400));
    ok(await limit(1));
    ok(await user.post('/upload_text', { contents: 'Refunds are paid within 14 days.', name: 'refunds.txt' }));
    expect(await files()).toHaveLength(1);
  });

  const setFields = (id: number, fields: object) =>
    database.collection('files').updateOne({ _id: id as never }, { $set: fields });
  const originals = (id: number) => database.collection('originals').countDocuments({ fileId: id });

  test('of a text overwrites another text that is not being synced', async () => {
    const { user, files, runs } = await createUser();
    const text = { contents: 'The first text.', name: 'first' };
    const { id, upload_id: firstUploadId } = ok(await user.post<FileRecord>('/upload_text', text));
    expect((await files())[0]).toMatchObject({ source: 'RAW_TEXT', name: 'first', syncStatus: 'QUEUED_FOR_SYNC' });
    const overwrite = (fileId: number, options: object = {}) =>
      user.post<FileRecord>('/upload_text', {
        contents: 'Another text, longer.',
        overwrite_file_id: fileId,
        ...options,
      });
    expect(await overwrite(id)).toMatchObject(refusal(409));
    await setFields(id, { syncStatus: 'READY' });
    expect(ok(await overwrite(id, { chunk_size: 90 }))).toMatchObject({
      id,
      name: 'first',
      sync_status: 'QUEUED_FOR_SYNC',
    });
    const [file] = await files();
    expect(file).toMatchObject({ original: { size: 21 }, options: { chunkSize: 90 }, statistics: { fileSize: 21 } });
    expect(file!.uploadId).not.toBe(firstUploadId);
    expect(await originals(id)).toBe(1);
    expect((await runs()).map(({ kind, fileId }) => [kind, fileId])).toEqual([
      ['syncUpload', id],
      ['syncUpload', id],
    ]);
    await setFields(id, { syncStatus: 'SYNC_ERROR' });
    expect(ok(await overwrite(id, { name: 'second' })).name).toBe('second');
    const sent = ok(await user.upload({ name: 'a.txt', content: 'not a raw text' }));
    await setFields(sent.id, { syncStatus: 'READY' });
    expect(await overwrite(sent.id)).toMatchObject(refusal(400));
    expect(await overwrite(2 ** 40)).toMatchObject(refusal(404));
    expect((await user.post('/upload_text', { contents: 'four' })).status).toBe(422);
  });
});

describe('resync', () => {
  test('queues a file in a final state with its stored options, and removes chunks that the caller provided', async () => {
    const { user, seed, files, runs, owner } = await createUser();
    const fileOptions = { ...DEFAULT_INGEST_OPTIONS, chunkSize: 200, chunkOverlap: 100, skipEmbeddingGeneration: true };
    const [id] = await seed({
      fields: { options: fileOptions, dataSourceId: 5, callerChunks: { id: 1, size: 1, sha256: 'x' } },
    });
    const answer = ok(await user.post<FileRecord>('/resync_file', { file_id: id, chunk_size: 50 }));
    expect((await files())[0]).toMatchObject({
      ...{ syncStatus: 'QUEUED_FOR_SYNC', callerChunks: null, requestId: answer.request_id },
      options: { chunkSize: 50, chunkOverlap: 49, skipEmbeddingGeneration: true },
    });
    expect(await runs()).toMatchObject([
      {
        ...{ ...owner, kind: 'resyncFile', cause: 'resync', workflowId: `resync:${id}`, fileId: id, dataSourceId: 5 },
        requestId: answer.request_id,
      },
    ]);
  });

  test('is refused for a file that is being synced, has deleted contents, or does not exist', async () => {
    const { user, seed, runs } = await createUser();
    const states = [
      'QUEUED_FOR_SYNC',
      'SYNCING',
      'DELAYED',
      'RATE_LIMITED',
      'QUEUED_FOR_OCR',
      'EVALUATING_RESYNC',
    ] as const;
    const busy = await seed(...states.map((syncStatus) => ({ fields: { syncStatus } })));
    for (const id of busy) expect(await user.post('/resync_file', { file_id: id })).toMatchObject(refusal(409));
    const [emptied] = await seed({ fields: { source: 'PDF', fileContentsDeleted: true, syncStatus: 'READY_TO_SYNC' } });
    expect(await user.post('/resync_file', { file_id: emptied })).toMatchObject(refusal(409));
    expect(await user.post('/resync_file', { file_id: 2 ** 40 })).toMatchObject(refusal(404));
    expect(await runs()).toEqual([]);
    const finalStates = ['READY', 'SYNC_ERROR', 'SYNC_ABORTED', 'READY_TO_SYNC'] as const;
    for (const id of await seed(...finalStates.map((syncStatus) => ({ fields: { syncStatus } }))))
      ok(await user.post('/resync_file', { file_id: id }));
  });

  test('overrides the stored options with those of the request', async () => {
    const { user, seed, files } = await createUser();
    const fileOptions = {
      ...DEFAULT_INGEST_OPTIONS,
      chunkSize: 200,
      skipEmbeddingGeneration: true,
      generateChunksOnly: true,
    };
    const rows: [object, object][] = [
      [{}, {}],
      [{ chunk_overlap: 0 }, { chunkOverlap: 0 }],
      [{ chunk_overlap: 199 }, { chunkOverlap: 199 }],
      [{ force_embedding_generation: true }, { skipEmbeddingGeneration: false, generateChunksOnly: false }],
      [{ skip_file_processing: true }, { skipFileProcessing: true }],
    ];
    const seeded = await seed(...rows.map(() => ({ fields: { options: fileOptions } })));
    await everyRow(rows, JSON.stringify, async ([requested, expected], index) => {
      ok(await user.post('/resync_file', { file_id: seeded[index], ...requested }));
      expect((await files()).find(({ _id }) => _id === seeded[index])!.options).toEqual({
        ...fileOptions,
        ...expected,
      });
    });
    const [fresh] = await seed({ fields: { options: fileOptions } });
    expect((await user.post('/resync_file', { file_id: fresh, chunk_overlap: 200 })).status).toBe(422);
  });
});

describe('delete', () => {
  test('creates a run with the requested options', () =>
    everyRow(
      [
        ['/delete_files_v2', { filters: { ids: [1] } }, { filters: { ids: [1] } }],
        [
          '/delete_files_v2',
          { filters: { name: 'n' }, send_webhook: true },
          { filters: { name: 'n' }, sendWebhook: true },
        ],
        [
          '/delete_files_v2',
          { filters: { non_synced_only: true }, preserve_file_record: true },
          { preserveFileRecord: true },
        ],
        ['/delete_files', { file_ids: [1] }, { filters: { ids: [1] }, deleteChildren: false }],
        ['/delete_files', { sync_statuses: ['READY'], delete_child_files: true }, { deleteChildren: true }],
        ['/delete_files', { sync_statuses: ['READY'] }, { filters: { syncStatuses: ['READY'], nonSyncedOnly: false } }],
        ['/delete_files', { delete_non_synced_only: true, send_webhook: true }, { sendWebhook: true }],
      ] as [string, object, { filters?: object }][],
      ([path, body]) => `${path} ${JSON.stringify(body)}`,
      async ([path, body, request]) => {
        const { user, runs, owner } = await createUser();
        expect(ok(await user.post(path, body))).toEqual({ success: true });
        const usual = { preserveFileRecord: false, sendWebhook: false };
        const [run] = await runs();
        expect(run).toMatchObject({ ...owner, kind: 'deleteFiles', fileId: null, request: { ...usual, ...request } });
        expect(run!.workflowId).toBe(`delete:${run!._id}`);
      },
    ));

  test('requires a filter', async () => {
    const { user, runs } = await createUser();
    const unfiltered = [
      {},
      { ids: [] },
      { include_all_children: true },
      { include_containers: true },
      { include_containers: false },
      { name: '' },
      { tags: {} },
    ];
    await everyRow(unfiltered, JSON.stringify, async (filters) =>
      expect(await user.post('/delete_files_v2', { filters })).toMatchObject(refusal(400)),
    );
    await everyRow(
      [{}, { file_ids: [] }, { delete_child_files: true }, { file_ids: null }],
      JSON.stringify,
      async (body) => expect(await user.post('/delete_files', body)).toMatchObject(refusal(400)),
    );
    expect(await runs()).toEqual([]);
    for (const filters of [{ sync_error_message: '' }, { root_files_only: true }, { tags: { a: 1 } }])
      ok(await user.post('/delete_files_v2', { filters }));
    expect(await runs()).toHaveLength(3);
  });

  test('of one file affects only that file', async () => {
    const { user, seed, runs } = await createUser();
    const [id] = await seed({}, {});
    ok(await user.delete(`/deletefile/${id}`));
    expect(await runs()).toMatchObject([{ kind: 'deleteFiles', request: { filters: { ids: [id] } } }]);
    expect((await user.delete(`/deletefile/${2 ** 40}`)).status).toBe(404);
    expect((await user.delete('/deletefile/1.5')).status).toBe(422);
  });
});

describe('scrape', () => {
  test('of a sitemap stores the requested options in the file of the sitemap and in the run', async () => {
    const { user, files, runs, owner } = await createUser();
    const answer = ok(
      await user.post<FileRecord>('/scrape_sitemap', {
        ...{ url: 'http://127.0.0.1:9/sitemap.xml', tags: { a: 1 }, max_pages_to_scrape: 7, chunk_size: 300 },
        ...{
          url_paths_to_include: ['/in'],
          url_paths_to_exclude: ['/out'],
          urls_to_scrape: ['/one', ' '],
          max_tokens: 99,
        },
        ...{ html_tags_to_skip: ['nav'], enable_auto_sync: true },
      }),
    );
    const scrape = {
      ...{ maxPagesToScrape: 7, urlPathsToInclude: ['/in'], urlPathsToExclude: ['/out'], enableAutoSync: true },
      ...{ urlsToScrape: ['http://127.0.0.1:9/one', expect.any(String)], htmlTagsToSkip: ['nav'] },
    };
    expect(await files()).toMatchObject([
      {
        ...{ ...owner, isContainer: true, runKind: 'scrapeSitemap', name: 'http://127.0.0.1:9/sitemap.xml' },
        ...{ tags: [{ key: 'a', value: 1 }], options: { chunkSize: 300 }, sourceOptions: scrape, enableAutoSync: true },
        ...{ fileMetadata: { is_folder: true }, source: 'WEB_SCRAPE' },
      },
    ]);
    expect(await runs()).toMatchObject([
      {
        ...{ kind: 'scrapeSitemap', workflowId: `scrape:${answer.id}`, fileId: answer.id, maxTokens: 99 },
        request: { url: 'http://127.0.0.1:9/sitemap.xml', tags: { a: 1 }, ingest: { chunkSize: 300 }, scrape },
      },
    ]);
    expect(answer).toMatchObject({ sync_status: 'QUEUED_FOR_SYNC', request_id: (await runs())[0]!.requestId });
  });

  test('by links starts one crawl per list element, or none if one is invalid; defaults: 3 levels, 100 pages', async () => {
    const { user, files, runs } = await createUser();
    const url = (path: string) => `http://127.0.0.1:9/${path}`;
    const bad = await user.post('/web_scrape', [{ url: url('a') }, { url: 'http://u:p@127.0.0.1:9/' }]);
    expect(bad).toMatchObject({ status: 422, body: { detail: [{ loc: ['body', 1, 'url'] }] } });
    expect(await files()).toEqual([]);
    const requests = [{ url: url('a') }, { url: url('b'), recursion_depth: 0, max_pages_to_scrape: 5, max_tokens: 8 }];
    const answers = ok(await user.post<FileRecord[]>('/web_scrape', requests));
    expect(answers.map(({ external_url: address }) => address)).toEqual([url('a'), url('b')]);
    const scrapes = [
      { recursionDepth: 3, maxPagesToScrape: 100 },
      { recursionDepth: 0, maxPagesToScrape: 5 },
    ];
    expect(await runs()).toMatchObject(
      scrapes.map((scrape, index) => ({
        ...{ kind: 'webScrape', workflowId: `scrape:${answers[index]!.id}`, request: { scrape } },
        ...(index === 1 && { maxTokens: 8 }),
      })),
    );
    expect((await runs())[0]).not.toHaveProperty('maxTokens');
    expect((await files()).map(({ fileMetadata }) => fileMetadata)).toEqual([
      { max_pages_to_scrape: 100, recursion_depth: 3 },
      { max_pages_to_scrape: 5, recursion_depth: 0 },
    ]);
    expect(
      (
        await user.post(
          '/web_scrape',
          Array.from({ length: 101 }, () => requests[0]),
        )
      ).status,
    ).toBe(422);
  });

  test('of a URL that is already a scraped page is refused', async () => {
    const { user, seed } = await createUser();
    const [id] = await seed({ fields: { externalFileId: 'http://127.0.0.1:9/page' } });
    const answer = await user.post<{ detail: string }>('/scrape_sitemap', { url: 'http://127.0.0.1:9/page' });
    expect(answer).toMatchObject({ status: 409, body: { detail: expect.stringContaining(String(id)) } });
  });

  test('of a feed creates a data source and a container, and removes user name and password from the URL', async () => {
    const { user, files, runs, owner } = await createUser();
    const feed = {
      url: 'http://ada:secret@127.0.0.1:9/feed',
      tags: { topic: 'releases' },
      data_source_tags: { team: 'support' },
    };
    expect(ok(await user.post('/integrations/rss_feed', { ...feed, request_id: 'feed-2026' }))).toEqual({
      success: true,
    });
    const [source] = await database.collection<DataSourceDoc>('dataSources').find({ userId: owner.userId }).toArray();
    const url = 'http://127.0.0.1:9/feed';
    expect(source).toMatchObject({
      type: 'RSS_FEED',
      externalId: `RSS_FEED|${url}`,
      tags: [{ key: 'team', value: 'support' }],
    });
    expect(source!.sealedCredentials).not.toBeNull();
    const [file] = await files();
    expect(file).toMatchObject({
      ...{
        dataSourceId: source!._id,
        isContainer: true,
        runKind: 'syncFeed',
        externalFileId: url,
        requestId: 'feed-2026',
      },
      ...{ tags: [{ key: 'topic', value: 'releases' }], fileMetadata: { is_feed_url: true } },
    });
    expect(await runs()).toMatchObject([
      {
        kind: 'syncFeed',
        workflowId: `feed:${file!._id}`,
        requestId: 'feed-2026',
        dataSourceId: source!._id,
        request: { url },
      },
    ]);
    expect(JSON.stringify([source, file, await runs()])).not.toContain('secret');
    // The second request finds the existing feed and changes its data_source_tags. A run copies them to its files.
    ok(await user.post('/integrations/rss_feed', { url, data_source_tags: { team: 'sales' } }));
    expect((await runs()).map(({ kind, workflowId }) => [kind, workflowId])).toContainEqual([
      ...['updateTags', `update-tags:${source!._id}`],
    ]);
  });
});
