import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';

import type { DataSourceRecord, FileRecord } from '../../contract/records.js';
import { CONNECTED_SOURCES, HONOURED_BY, honours } from '../../contract/sources.js';
import { encodeDocument } from '../../embeddings/sparse/sparseEncoder.js';
import { type EventRowDoc, INTENDED } from '../../store/events/model.js';
import { ACCESS_KEY, ACCESS_KEY_SECRET, type S3SourceEmulator, startS3Source } from '../emulators/s3Source.js';
import { startSite } from '../emulators/site.js';
import { readAtRest } from '../support/atRest.js';
import type { Listed, TestUser } from '../support/client.js';
import { connectSource, pointTags, withDatabase } from '../support/dataSources.js';
import { startService, type TestService } from '../support/service.js';
import { soon } from '../support/soon.js';
import {
  KEEPER,
  LIGHTHOUSE,
  SOURCE_STANDS,
  type SourceStand,
  standForS3,
  type StandContent,
  type StandSource,
} from '../support/sourceStands.js';
import { storedPoints } from '../support/storedPoints.js';

interface Item {
  readonly id: number;
  readonly external_id: string;
  readonly name: string;
  readonly parent_external_id: string | null;
  readonly root_external_id: string | null;
  readonly is_selectable: boolean;
  readonly is_expandable: boolean;
  readonly item_type: string;
  readonly organization_user_file_to_sync_id: number | null;
}

const SOURCES = Object.keys(SOURCE_STANDS) as StandSource[];

let service: TestService;
const stands = {} as Record<StandSource, SourceStand>;
let s3: S3SourceEmulator;
/** Of an object at most. */
const MAX_BYTES = 300_000;
let customers = 0;

beforeAll(async () => {
  for (const source of SOURCES) stands[source] = await SOURCE_STANDS[source]();
  // Another store, to be named by callers.
  s3 = await startS3Source();
  service = await startService({
    ALLOWED_PRIVATE_HOSTS: '127.0.0.1',
    MAX_UPLOAD_BYTES: String(MAX_BYTES),
    SOURCE_URLS: Object.values(stands)
      .map(({ settings }) => settings)
      .join(','),
  });
});
afterAll(async () => {
  await service.close();
  await Promise.all([...Object.values(stands), s3].map((stand) => stand.close()));
});

/** Each chunk of a file has the sparse vector of its text. */
async function expectSparse(user: TestUser, fileId: number): Promise<void> {
  const terms = (indices: readonly number[] | undefined) => indices?.toSorted((a, b) => a - b);
  const { results } = await user.chunks({ ids: [fileId] });
  expect(results.length).toBeGreaterThan(0);
  expect((await storedPoints(service, fileId)).map(({ sparse }) => terms(sparse?.indices))).toEqual(
    results.map((chunk) => terms(encodeDocument(chunk.source_content)?.indices)),
  );
}

describe.each(SOURCES)('%s', (type) => {
  let user: TestUser;
  let customer: string;
  let stand: SourceStand;
  let content: StandContent;

  beforeEach(async () => {
    stand = stands[type];
    content = stand.reset();
    customers += 1;
    customer = `owner ${customers}`;
    user = await service.user(customer);
  });

  const source = async (): Promise<DataSourceRecord> => {
    const { results } = (await user.post<Listed<DataSourceRecord>>('/user_data_sources', {})).body;
    expect(results).toHaveLength(1);
    return results[0]!;
  };
  /** The data source once no listing of it is under way. */
  const listed = () => soon(source, ({ sync_status: status }) => status === 'READY' || status === 'SYNC_ERROR');
  /** The only data source, connected with nothing done yet but what the body asks for. */
  const connect = async (body: Record<string, unknown> = {}): Promise<DataSourceRecord> => {
    const quiet = { sync_source_items: false, sync_files_on_connection: false, ...body };
    expect(await stand.connect(user, quiet)).toMatchObject({ status: 200 });
    return listed();
  };
  const files = async (filters: Record<string, unknown> = {}): Promise<FileRecord[]> =>
    (
      await user.post<Listed<FileRecord>>('/user_files_v2', {
        filters,
        pagination: { limit: 1_000 },
        order_by: 'name',
      })
    ).body.results;
  const FINAL = ['READY', 'SYNC_ERROR', 'SYNC_ABORTED', 'READY_TO_SYNC'];
  /** All files, once there are so many and each is at rest. */
  const settledFiles = (number: number): Promise<FileRecord[]> =>
    soon(files, (some) => some.length === number && some.every((file) => FINAL.includes(file.sync_status)));
  const items = async (body: Record<string, unknown> = {}): Promise<{ items: Item[]; count: number }> => {
    const { id } = await source();
    const answer = await user.post<{ items: Item[]; count: number }>('/integrations/items/list', {
      data_source_id: id,
      pagination: { limit: 1_000 },
      ...body,
    });
    expect(answer).toMatchObject({ status: 200 });
    return answer.body;
  };
  const textOf = async (externalId: string): Promise<string> => {
    const { results } = await user.chunks({ external_file_ids: [externalId] });
    return results.map((chunk) => chunk.source_content).join('\n');
  };
  const listItems = async (): Promise<DataSourceRecord> => {
    const { id } = await source();
    const { status, body } = await user.post<DataSourceRecord>('/integrations/items/sync', { data_source_id: id });
    expect({ status, sync_status: body.sync_status }).toEqual({ status: 200, sync_status: 'QUEUED_FOR_SYNCING' });
    return listed();
  };
  const syncFiles = async (ids: readonly string[], more: Record<string, unknown> = {}): Promise<void> => {
    const { id } = await source();
    const request = { data_source_id: id, ids, ...more };
    expect(await user.post('/integrations/files/sync', request)).toMatchObject({
      status: 200,
      body: { success: true },
    });
  };
  /** Makes files of all there is, as far as the connection has not done so already. */
  const syncRest = async (more: Record<string, unknown> = {}): Promise<void> => {
    if (!honours(type, 'sync_files_on_connection')) await syncFiles(content.containers, more);
  };
  /** Connects with everything synced. */
  const connectWhole = async (body: Record<string, unknown> = {}): Promise<DataSourceRecord> => {
    const connected = await connect({ sync_files_on_connection: true, ...body });
    await syncRest();
    return connected;
  };
  /** What was told of this customer, in order. */
  const told = async (): Promise<string[]> => {
    const kinds: string[] = [];
    await withDatabase(service, async (connection) => {
      const rows = connection.collection<EventRowDoc>('events').find({ 'events.customerId': customer });
      for await (const { last, events } of rows)
        for (const event of events) if (last !== INTENDED && event.customerId === customer) kinds.push(event.kind);
    });
    return kinds;
  };
  const amiss = async (): Promise<string[]> => (await readAtRest(service.env)).amiss(customer);

  test('is connected, listed in pages with all that lies in it, and its content is found', async () => {
    // Of this source alone: what is told twice is counted over all customers.
    const mine = `mine of ${type}`;
    const wishes = { tags: { team: 'docs' }, request_id: mine, chunk_size: 200, chunk_overlap: 10 };
    const answer = await stand.connect(user, {
      sync_source_items: true,
      data_source_tags: { region: 'north' },
      ...wishes,
    });
    expect(answer).toMatchObject({ status: 200, body: stand.connected ?? { success: true } });
    const first = await source();
    expect(first).toMatchObject({
      data_source_external_id: stand.externalId,
      data_source_type: type,
      token: {},
      last_sync_action: 'ADD',
      revoked_access: false,
      tags: { region: 'north' },
    });
    expect(['QUEUED_FOR_SYNCING', 'SYNCING', 'READY']).toContain(first.sync_status);
    expect(Object.keys(first)).toHaveLength(18);
    expect(await listed()).toMatchObject({ sync_status: 'READY', source_items_synced_at: expect.any(String) });
    expect(stand.pagesListed()).toBeGreaterThanOrEqual(3);

    const all = await items();
    expect(all.count).toBe(content.items);
    expect(all.items).toHaveLength(content.items);
    const paged: Item[] = [];
    for (let offset = 0; offset < all.count; offset += 4)
      paged.push(...(await items({ pagination: { limit: 4, offset } })).items);
    expect(paged).toEqual(all.items);
    const roots = await items({ filters: { root_files_only: true } });
    expect(roots.items.map((item) => item.external_id).toSorted()).toEqual([...content.containers].toSorted());
    // Down the tree, a folder at a time.
    const seen: string[] = [];
    const open = [...content.containers];
    for (let parent = open.pop(); parent !== undefined; parent = open.pop()) {
      const below = (await items({ parent_id: parent })).items;
      for (const item of below) {
        expect(item.parent_external_id).toBe(parent);
        seen.push(item.external_id);
        if (item.is_expandable) open.push(item.external_id);
      }
    }
    expect([...seen, ...content.containers].toSorted()).toEqual(all.items.map((item) => item.external_id).toSorted());

    await syncRest(wishes);
    const documents = [content.lighthouse, content.keeper, ...content.others];
    const made = await settledFiles(documents.length);
    for (const file of made) {
      expect(file).toMatchObject({
        source: type,
        sync_status: 'READY',
        organization_user_data_source_id: first.id,
        request_id: mine,
        chunk_size: 200,
        chunk_overlap: 10,
        tags: { region: 'north', team: 'docs' },
        file_statistics: { file_format: content.format ?? type },
      });
    }
    expect(made.map((file) => file.external_file_id).toSorted()).toEqual(documents.toSorted());
    expect(await textOf(content.lighthouse)).toContain(LIGHTHOUSE);
    expect(await textOf(content.keeper)).toContain(KEEPER);
    expect((await user.search({ query: 'When was the lighthouse lit?', k: 1 }))[0]?.content).toContain(LIGHTHOUSE);
    const linked = (await items({ filters: { external_ids: [content.keeper] } })).items;
    expect(linked.map((item) => item.organization_user_file_to_sync_id)).toEqual([
      made.find((file) => file.external_file_id === content.keeper)?.id,
    ]);
    await soon(source, ({ files_synced_at: at }) => at !== null);
    await soon(told, (kinds) => kinds.includes('ALL_FILES_PROCESSED'));
    const kinds = await told();
    for (const kind of ['ADD', 'DATA_SOURCE_READY', 'ALL_UPLOADED_FILES_QUEUED', 'ALL_FILES_PROCESSED'])
      expect({ kind, times: kinds.filter((one) => one === kind).length }).toEqual({ kind, times: 1 });
    expect(stand.mostAtOnce()).toBeLessThanOrEqual(CONNECTED_SOURCES[type].requestsAtOnce);
    expect(await amiss()).toEqual([]);
  });

  test('items are found by each filter and put in each order', async () => {
    await connect({ sync_source_items: true });
    const all = (await items()).items;
    const lighthouse = all.find((item) => item.external_id === content.lighthouse)!;
    const ids = async (body: Record<string, unknown>) => (await items(body)).items.map((item) => item.id);
    for (const filters of [
      { ids: [lighthouse.id] },
      { external_ids: [content.lighthouse] },
      { name: 'IGHTHOUS', item_types: [lighthouse.item_type] },
    ])
      expect(await ids({ filters })).toEqual([lighthouse.id]);
    expect(await ids({ filters: { ids: [lighthouse.id], file_formats: ['PDF'] } })).toEqual([]);
    const byName = all.map(({ name, id }) => ({ name, id }));
    expect(byName).toEqual(byName.toSorted((a, b) => (a.name === b.name ? a.id - b.id : a.name < b.name ? -1 : 1)));
    const sorted = all.map(({ id }) => id).toSorted((a, b) => a - b);
    expect(await ids({ order_by: 'id' })).toEqual(sorted);
    expect(await ids({ order_by: 'id', order_dir: 'desc' })).toEqual(sorted.toReversed());
    expect(await ids({ order_by: 'id', pagination: { limit: 3, starting_id: sorted[2] } })).toEqual(sorted.slice(3, 6));
    const folders = (await items({ order_by: 'directories_first' })).items.map((item) => item.is_expandable);
    expect(folders).toEqual(folders.toSorted((a, b) => Number(b) - Number(a)));
  });

  test.each([
    [true, true],
    [true, false],
    [false, true],
    [false, false],
  ])('sync_source_items %s and sync_files_on_connection %s: neither asks for the other', async (lists, syncs) => {
    const body = { sync_source_items: lists, sync_files_on_connection: syncs };
    expect((await stand.connect(user, body)).status).toBe(200);
    const ready = await listed();
    expect(ready.sync_status).toBe('READY');
    const honoured = syncs && honours(type, 'sync_files_on_connection');
    if (honoured) await settledFiles(2 + content.others.length);
    else expect(await files()).toEqual([]);
    expect((await items()).count).toBe(lists ? content.items : 0);
    expect(ready.source_items_synced_at === null).toBe(!lists);
    expect((await soon(source, ({ files_synced_at: at }) => (at !== null) === honoured)).last_sync_action).toBe('ADD');
    if (lists) return;
    await listItems();
    expect((await items()).count).toBe(content.items);
  });

  test('a selection brings in itself and what lies in it, with its own options, and is told as UPDATE', async () => {
    const before = await connect();
    await syncFiles([content.branch], {
      tags: { a: 'b' },
      request_id: 'picked',
      chunk_size: 90,
      chunk_overlap: 5,
      max_items_per_chunk: 7,
      set_page_as_boundary: true,
      prepend_filename_to_chunks: true,
      generate_sparse_vectors: true,
      use_ocr: true,
      parse_pdf_tables_with_ocr: true,
      file_sync_config: { split_rows: true, generate_chunks_only: true, include_speaker_labels: true },
    });
    const made = await settledFiles(2);
    for (const file of made)
      expect(file).toMatchObject({
        sync_status: 'READY',
        request_id: 'picked',
        tags: { a: 'b' },
        chunk_size: 90,
        chunk_overlap: 5,
        generate_sparse_vectors: true,
        chunk_properties: {
          set_page_as_boundary: true,
          prepend_filename_to_chunks: true,
          max_items_per_chunk: 7,
        },
        // Chunks without vectors.
        file_statistics: { num_embeddings: 0 },
      });
    const stored = await service.store.files.byIds(
      { organizationId: before.organization_id, userId: before.organization_user_id },
      made.map(({ id }) => id),
    );
    for (const { options } of stored)
      expect(options).toMatchObject({
        splitRows: true,
        generateChunksOnly: true,
        includeSpeakerLabels: true,
        useOcr: true,
        parsePdfTablesWithOcr: true,
      });
    expect(made.map((file) => file.external_file_id).toSorted()).toEqual(
      [content.keeper, content.lighthouse].toSorted(),
    );
    const after = await source();
    expect(after.last_sync_action).toBe('UPDATE');
    expect(after.last_synced_at > before.last_synced_at).toBe(true);
    expect((await told()).filter((kind) => kind === 'UPDATE')).toHaveLength(1);
    // incremental_sync is no reason to leave anything out where the source does not honour it.
    expect(HONOURED_BY.incremental_sync).not.toContain(type);
    const wishes = { chunk_size: 80, incremental_sync: true, request_id: 'again', generate_sparse_vectors: true };
    await syncFiles([content.keeper], wishes);
    const isAgain = (file: FileRecord) => file.request_id === 'again' && file.sync_status === 'READY';
    const again = await soon(files, (some) => some.some(isAgain));
    await expectSparse(user, again.find(isAgain)?.id ?? 0);
  });

  test('what is not there, or not for the account, costs itself alone and says why', async () => {
    await connect();
    stand.breakItem(content.keeper, 403);
    await syncFiles([content.containers[0]!, 'nowhere', content.others[0]!, content.others[0]!]);
    const made = await settledFiles(4);
    const of = (externalId: string) => made.find((file) => file.external_file_id === externalId);
    expect(of(content.lighthouse)?.sync_status).toBe('READY');
    expect(of(content.others[0]!)?.sync_status).toBe('READY');
    expect(of(content.keeper)).toMatchObject({
      sync_status: 'SYNC_ERROR',
      sync_error_message: expect.stringMatching(/does not let the connected account see/),
    });
    expect(of('nowhere')).toMatchObject({
      sync_status: 'SYNC_ERROR',
      sync_error_message: expect.stringMatching(/no such item/),
    });
    expect(await amiss()).toEqual([]);
  });

  test('a change at the source is taken in, what is unchanged is not rewritten, what was deleted there is gone here', async () => {
    await connectWhole({ sync_source_items: true });
    const before = await settledFiles(2 + content.others.length);
    const second = `second of ${type}`;
    stand.write(content.lighthouse, 'The lighthouse was moved in 1950.');
    await syncFiles(content.containers, { request_id: second });
    await soon(files, (some) => some.every((file) => file.request_id === second && file.sync_status === 'READY'));
    expect(await textOf(content.lighthouse)).toContain('1950');
    expect(await textOf(content.lighthouse)).not.toContain('1901');
    const generations = async () =>
      new Map(
        (
          await service.store.files.byIds(
            { organizationId: before[0]!.organization_id, userId: before[0]!.organization_user_id ?? 0 },
            before.map(({ id }) => id),
          )
        ).map((file) => [file.externalFileId, file.generation]),
      );
    const now = await generations();
    expect(now.get(content.lighthouse)).toBeGreaterThan(now.get(content.keeper) ?? 0);

    stand.remove(content.keeper);
    expect(await listItems()).toMatchObject({ sync_status: 'READY', data_source_metadata: expect.any(Object) });
    expect((await files()).map((file) => file.external_file_id)).not.toContain(content.keeper);
    expect(await files()).toHaveLength(before.length - 1);
    expect((await items()).items.map((item) => item.external_id)).not.toContain(content.keeper);
    const found = await user.search({ query: KEEPER, k: 10 });
    expect(found.map((hit) => hit.content).join('\n')).not.toContain(KEEPER);
    expect(await amiss()).toEqual([]);
  });

  test('a listing that misses too much deletes nothing until an operator approves it', async () => {
    content = stand.reset(20);
    const { id } = await connectWhole({ sync_source_items: true });
    const number = 2 + content.others.length + 20;
    await settledFiles(number);
    stand.reset();
    expect(await listItems()).toMatchObject({ sync_status: 'READY', data_source_metadata: { deletions_held: 20 } });
    expect(await files()).toHaveLength(number);
    expect((await items()).count).toBe(content.items);
    expect(await service.store.dataSources.approveDeletions(id)).toBe(true);
    const after = await listItems();
    expect(after.data_source_metadata).not.toHaveProperty('deletions_held');
    expect(await files()).toHaveLength(number - 20);
    expect((await items()).count).toBe(content.items - 20);
    // Once, not for ever.
    stand.reset(20);
    await syncFiles(content.containers);
    await settledFiles(number);
    stand.reset();
    expect((await listItems()).data_source_metadata).toMatchObject({ deletions_held: 20 });
    expect(await files()).toHaveLength(number);
  });

  test('a storm of 429 costs waiting, and nothing else', async () => {
    stand.limit(60);
    await stand.connect(user, { sync_source_items: true });
    expect(await listed()).toMatchObject({ sync_status: 'READY' });
    await syncRest();
    const made = await settledFiles(2 + content.others.length);
    expect(new Set(made.map((file) => file.sync_status))).toEqual(new Set(['READY']));
    expect((await items()).count).toBe(content.items);
    expect(await amiss()).toEqual([]);
  });

  test('credentials that the source takes back end the connection, and the account can be connected again', async () => {
    const { id } = await connect({ sync_source_items: true });
    stand.takeBack();
    await syncFiles(content.containers);
    const revoked = await soon(source, (one) => one.revoked_access);
    expect(revoked).toMatchObject({ token: null, last_sync_action: 'REVOKE' });
    expect((await told()).filter((kind) => kind === 'REVOKE')).toHaveLength(1);
    await soon(source, (one) => one.data_source_metadata['files_error'] !== undefined);
    for (const [path, body] of [
      ['/integrations/items/sync', {}],
      ['/integrations/files/sync', { ids: ['a'] }],
    ] as const)
      expect(await user.post(path, { data_source_id: id, ...body })).toMatchObject({
        status: 409,
        body: { detail: expect.stringMatching(/Connect it again/) },
      });
    stand.reset();
    expect(await connect({ sync_files_on_connection: true })).toMatchObject({
      id,
      revoked_access: false,
      last_sync_action: 'ADD',
    });
    await syncRest();
    const made = await settledFiles(2 + content.others.length);
    expect(made.map((file) => file.sync_status)).toEqual(made.map(() => 'READY'));
    await soon(source, (one) => one.data_source_metadata['files_error'] === undefined);
    expect(await amiss()).toEqual([]);
  });

  test('credentials that end in the middle of a sync leave no file in motion', async () => {
    content = stand.reset(20);
    await connect();
    stand.breakItem(content.keeper, 401);
    await syncFiles(content.containers);
    expect(await soon(source, (one) => one.revoked_access)).toMatchObject({ last_sync_action: 'REVOKE' });
    const made = await settledFiles(2 + content.others.length + 20);
    expect(made.find((file) => file.external_file_id === content.keeper)?.sync_status).toMatch(/SYNC_(ERROR|ABORTED)/);
    await soon(told, (kinds) => kinds.includes('ALL_FILES_PROCESSED'));
    expect((await told()).filter((kind) => kind === 'REVOKE')).toHaveLength(1);
    expect(await amiss()).toEqual([]);
  });

  test('access that is revoked here is over at once: nothing is left in motion, nothing can be synced', async () => {
    const { id } = await connectWhole({ sync_source_items: true });
    await settledFiles(2 + content.others.length);
    expect((await user.post('/revoke_access_token', { data_source_id: id })).body).toEqual({ success: true });
    expect(await source()).toMatchObject({ revoked_access: true, token: null, last_sync_action: 'REVOKE' });
    const [file] = await files();
    expect((await user.post('/resync_file', { file_id: file?.id })).status).toBe(200);
    expect(await user.settled(file?.id ?? 0)).toMatchObject({
      sync_status: 'SYNC_ERROR',
      sync_error_message: expect.stringMatching(/no access to the data source/),
    });
    // What was synced stays.
    expect(await textOf(content.lighthouse)).toContain(LIGHTHOUSE);
    expect(await amiss()).toEqual([]);
  });

  test('a listing that hangs is cancelled, and so is a sync of files', async () => {
    const { id } = await connect();
    stand.hold();
    const syncing = await user.post<DataSourceRecord>('/integrations/items/sync', { data_source_id: id });
    expect(syncing.body.sync_status).toBe('QUEUED_FOR_SYNCING');
    await soon(source, (one) => one.sync_status === 'SYNCING');
    // A second request meets the listing that is under way.
    const second = await user.post<DataSourceRecord>('/integrations/items/sync', { data_source_id: id });
    expect(second).toMatchObject({ status: 200, body: { sync_status: 'SYNCING' } });
    expect((await user.post('/integrations/items/sync/cancel', { data_source_id: id })).status).toBe(200);
    expect(await listed()).toMatchObject({ sync_status: 'READY', source_items_synced_at: null });
    // Once more changes nothing.
    expect(await user.post('/integrations/items/sync/cancel', { data_source_id: id })).toMatchObject({
      status: 200,
      body: { sync_status: 'READY' },
    });
    stand.reset();
    await syncFiles([content.branch]);
    const [file] = await settledFiles(2);
    stand.hold();
    expect((await user.post('/resync_file', { file_id: file?.id })).status).toBe(200);
    await soon(
      () => user.file(file?.id ?? 0),
      (one) => one.sync_status === 'SYNCING',
    );
    expect((await user.post('/cancel_sync', { file_id: file?.id })).status).toBe(200);
    expect((await user.settled(file?.id ?? 0)).sync_status).toBe('SYNC_ABORTED');
    stand.reset();
    expect(await listItems()).toMatchObject({ sync_status: 'READY' });
    expect(await amiss()).toEqual([]);
  });

  test('connecting again keeps the record; its tags, and those added later, come to files and points', async () => {
    const { id } = await connectWhole({ data_source_tags: { region: 'north', kept: 'yes' } });
    const made = await settledFiles(2 + content.others.length);
    const again = await connect({ data_source_tags: { region: 'south' } });
    expect(again).toMatchObject({ id, tags: { region: 'south', kept: 'yes' }, last_sync_action: 'ADD' });
    const { body } = await user.post<DataSourceRecord>('/data_sources/tags/add', {
      data_source_id: id,
      tags: { project: ['red', 'blue'] },
    });
    expect(body.tags).toEqual({ region: 'south', kept: 'yes', project: ['red', 'blue'] });
    const tagsV2 = {
      AND: [
        { key: 'project', value: 'blue' },
        { key: 'region', value: 'south' },
      ],
    };
    await soon(
      () => files({ tags_v2: tagsV2 }),
      (some) => some.length === made.length,
    );
    const hits = await soon(
      () => user.search({ query: 'When was the lighthouse lit?', k: 1, tags_v2: tagsV2 }),
      (some) => some.length === 1,
    );
    expect(hits[0]?.content).toContain(LIGHTHOUSE);
    expect((await pointTags(service, hits[0]!.file_id)).flat()).toEqual(
      expect.arrayContaining(['project=blue', 'project=red', 'region=south', 'kept=yes']),
    );
  });

  test('credentials that are refused are 400 with a sentence, and leave nothing behind', async () => {
    const { status, body } = await stand.connectAsNobody(user);
    expect({ status, body }).toEqual({ status: 400, body: { detail: expect.stringMatching(/credentials/) } });
    expect((body as { detail: string }).detail).not.toMatch(/[<>]/);
    expect((await user.post<Listed<unknown>>('/user_data_sources', {})).body.results).toEqual([]);
  });

  test('its secret is nowhere at rest, and another record does not open it', async () => {
    const { id } = await connectWhole({ sync_source_items: true });
    await settledFiles(2 + content.others.length);
    const rows: string[] = [];
    await withDatabase(service, async (connection) => {
      for (const { name } of await connection.listCollections())
        for await (const row of connection.collection(name).find()) rows.push(JSON.stringify(row));
    });
    expect(rows.length).toBeGreaterThan(10);
    expect(rows.filter((row) => row.includes(stand.secret))).toEqual([]);
    const { organization_id: organizationId, organization_user_id: userId } = await source();
    const known = (await service.store.dataSources.find({ organizationId, userId }, id))!;
    expect(service.store.dataSources.credentialsOf(known)).toContain(stand.secret);
    for (const elsewhere of [{ _id: id + 1 }, { organizationId: organizationId + 1 }])
      expect(() => service.store.dataSources.credentialsOf({ ...known, ...elsewhere })).toThrow();
  });
});

describe('GITBOOK by its own operations', () => {
  let user: TestUser;
  let dataSource: DataSourceRecord;
  let content: StandContent;

  beforeAll(async () => {
    content = stands.GITBOOK.reset();
    user = await service.user('gitbook');
    const quiet = { sync_source_items: false, sync_files_on_connection: false };
    expect((await stands.GITBOOK.connect(user, quiet)).status).toBe(200);
    dataSource = (await user.post<Listed<DataSourceRecord>>('/user_data_sources', {})).body.results[0]!;
  });

  test('its spaces are listed as they are now, over all pages', async () => {
    const { status, body } = await user.get<{ results: { id: string; name: string; url: string | null }[] }>(
      `/integrations/gitbook/spaces?data_source_id=${dataSource.id}`,
    );
    expect(status).toBe(200);
    expect(body.results.map(({ id }) => id)).toEqual(content.containers);
    expect(body.results[0]).toEqual({ id: 'atlas', name: 'Space atlas', url: 'https://app.gitbook.com/s/atlas' });
  });

  test('some spaces are synced, one that is not there tells so', async () => {
    const request = {
      data_source_id: dataSource.id,
      space_ids: ['boats', 'gone'],
      tags: { from: 'spaces' },
      generate_sparse_vectors: true,
    };
    expect(await user.post('/integrations/gitbook/sync', request)).toMatchObject({
      status: 200,
      body: { success: true },
    });
    const { results } = await soon(
      async () => (await user.post<Listed<FileRecord>>('/user_files_v2', { order_by: 'name' })).body,
      ({ results: some }) => some.length === 2 && some.every((file) => /^(READY|SYNC_ERROR)$/.test(file.sync_status)),
    );
    expect(results).toMatchObject([
      { external_file_id: 'boats/boats-1', name: 'About boats', sync_status: 'READY', tags: { from: 'spaces' } },
      { external_file_id: 'gone', sync_status: 'SYNC_ERROR' },
    ]);
    expect(results[0]).toMatchObject({
      external_url: 'https://app.gitbook.com/s/boats/boats-1',
      file_metadata: { type: 'PAGE', space_id: 'boats' },
    });
    await expectSparse(user, results[0]?.id ?? 0);
  });

  test.each([
    ['more than twenty spaces', { space_ids: Array.from({ length: 21 }, (_, index) => `space-${index}`) }, 422],
    ['a data source that is not there', { data_source_id: 2 ** 40 }, 404],
  ])('%s is refused', async (_name, wrong, status) => {
    const request = { data_source_id: dataSource.id, space_ids: ['boats'], ...wrong };
    expect((await user.post('/integrations/gitbook/sync', request)).status).toBe(status);
  });

  test('a data source of another kind is no GitBook, and what is not built for it says so', async () => {
    const owner = { organizationId: dataSource.organization_id, userId: dataSource.organization_user_id };
    const box = await connectSource(service, { ...owner, customerId: 'gitbook' }, { type: 'BOX', externalId: 'BOX|a' });
    const id = box._id;
    const answers = await Promise.all([
      user.post('/integrations/gitbook/sync', { data_source_id: id, space_ids: [] }),
      user.get(`/integrations/gitbook/spaces?data_source_id=${id}`),
      user.post('/integrations/items/list', { data_source_id: id }),
      user.post('/integrations/items/sync', { data_source_id: id }),
      user.post('/integrations/files/sync', { data_source_id: id, ids: [] }),
    ]);
    expect(answers.map(({ status }) => status)).toEqual([404, 404, 200, 501, 501]);
    expect(answers[2]?.body).toEqual({ items: [], count: 0 });
  });

  test.each([
    ['an organization that the token does not see', { organization: 'another' }],
    ['one that would lead elsewhere', { organization: '..' }],
    ['one that is a path', { organization: 'harbour-org/spaces' }],
    ['a token that no header holds', { access_token: 'gb\r\nx-other: 1' }],
    ['a token of other letters', { access_token: 'gb_😀' }],
  ])('%s is 400', async (_name, wrong) => {
    const { status, body } = await stands.GITBOOK.connect(user, wrong);
    expect({ status, body }).toEqual({ status: 400, body: { detail: expect.any(String) } });
  });
});

describe('GITHUB by its own operations', () => {
  let user: TestUser;
  let id: number;

  const source = async (): Promise<DataSourceRecord> =>
    (await user.post<Listed<DataSourceRecord>>('/user_data_sources', {})).body.results[0]!;
  const itemIds = async (): Promise<string[]> => {
    const request = { data_source_id: id, order_by: 'id', pagination: { limit: 1_000 } };
    const { body } = await user.post<{ items: Item[] }>('/integrations/items/list', request);
    return body.items.map((item) => item.external_id);
  };
  const atRest = () => soon(source, (one) => one.sync_status === 'READY');

  beforeAll(async () => {
    stands.GITHUB.reset();
    user = await service.user('github');
    expect(await stands.GITHUB.connect(user)).toMatchObject({ status: 200, body: { success: true } });
    ({ id } = await source());
  });

  test('its username is told, and nothing is listed unless that is asked for', async () => {
    expect(await source()).toMatchObject({
      sync_status: 'READY',
      source_items_synced_at: null,
      data_source_metadata: { username: 'ada' },
    });
    expect(await itemIds()).toEqual([]);
  });

  test('its repositories are answered by the page, as they are now', async () => {
    const page = async (query: string) => (await user.get(`/integrations/github/repos${query}`)).body;
    expect(await page('?per_page=1&page=2')).toEqual([
      { id: 701, name: 'ada/boats', url: 'https://github.com/ada/boats' },
    ]);
    expect(await page(`?per_page=500&page=3&data_source_id=${id}`)).toMatchObject([{ name: 'ada/eels' }]);
    expect(await page('?page=9')).toEqual([]);
    for (const query of ['?page=0', '?per_page=0', '?page=x'])
      expect((await user.get(`/integrations/github/repos${query}`)).status).toBe(422);
  });

  test('some repositories are listed, by each of their names, and others that are known stay', async () => {
    const sync = (repos: unknown[], more = {}) => user.post('/integrations/github/sync_repos', { repos, ...more });
    expect(await sync(['ada/boats', '702'])).toMatchObject({ status: 200, body: { success: true } });
    expect(await atRest()).toMatchObject({ source_items_synced_at: expect.any(String) });
    const first = ['ada/boats', 'ada/boats/boats.md', 'ada/crews', 'ada/crews/crews.md'];
    expect((await itemIds()).toSorted()).toEqual(first);
    await user.post('/integrations/files/sync', { data_source_id: id, ids: ['ada/boats/boats.md'] });
    const made = await soon(
      async () => (await user.post<Listed<FileRecord>>('/user_files_v2', {})).body.results,
      ([file]) => file?.sync_status === 'READY',
    );
    expect(made).toMatchObject([
      {
        name: 'boats.md',
        external_url: 'https://github.com/ada/boats/blob/release/1/boats.md',
        file_metadata: { type: 'FILE', repository: 'ada/boats', path: 'boats.md' },
      },
    ]);
    expect((await sync(['DOCKS', 'https://github.com/ada/eels'], { data_source_id: id })).status).toBe(200);
    await soon(itemIds, (ids) => ids.length === 8);
    await atRest();
    expect((await user.post<Listed<FileRecord>>('/user_files_v2', {})).body.results).toHaveLength(1);
    for (const wrong of [['ada/nowhere'], ['ada/boats', ''], ['../user']])
      expect(await sync(wrong)).toMatchObject({ status: 400, body: { detail: expect.stringMatching(/repos/) } });
    for (const wrong of [[], Array.from({ length: 26 }, () => 'ada/boats'), [7]])
      expect((await sync(wrong)).status).toBe(422);
    expect(await itemIds()).toHaveLength(8);
  });

  test('while items are being listed, a selection of repositories is told to wait', async () => {
    await atRest();
    stands.GITHUB.hold('/branches/');
    expect((await user.post('/integrations/items/sync', { data_source_id: id })).status).toBe(200);
    expect(await user.post('/integrations/github/sync_repos', { repos: ['ada/boats'] })).toMatchObject({
      status: 409,
      body: { detail: expect.stringMatching(/being listed/) },
    });
    expect((await user.post('/integrations/items/sync/cancel', { data_source_id: id })).status).toBe(200);
    stands.GITHUB.reset();
    await atRest();
  });

  test.each([
    ['another user than that of the token', { username: 'grace' }],
    ['a token that no header holds', { access_token: 'gh\r\nx-other: 1' }],
    ['a token of other letters', { access_token: 'gh_😀' }],
  ])('%s is 400', async (_name, wrong) => {
    const { status, body } = await stands.GITHUB.connect(user, wrong);
    expect({ status, body }).toEqual({ status: 400, body: { detail: expect.any(String) } });
  });

  test('without an id the only open account is meant; none is 404, several are 400', async () => {
    const stranger = await service.user('github stranger');
    expect((await stranger.get('/integrations/github/repos')).status).toBe(404);
    const owner = await source();
    const tenant = { organizationId: owner.organization_id, userId: owner.organization_user_id, customerId: 'github' };
    await connectSource(service, tenant, { type: 'GITHUB', externalId: 'GITHUB|2' });
    for (const answer of [
      await user.get('/integrations/github/repos'),
      await user.post('/integrations/github/sync_repos', { repos: ['ada/boats'] }),
    ])
      expect(answer).toMatchObject({ status: 400, body: { detail: expect.stringMatching(/data_source_id/) } });
    expect((await user.get(`/integrations/github/repos?data_source_id=${id}`)).status).toBe(200);
  });
});

describe('S3 by its own operations', () => {
  let user: TestUser;
  let store: SourceStand;

  beforeEach(async () => {
    store = standForS3(s3);
    store.reset();
    customers += 1;
    user = await service.user(`s3 ${customers}`);
  });

  const connect = (body: Record<string, unknown> = {}) =>
    store.connect(user, { endpoint_url: `http://${s3.host}/`, sync_source_items: false, ...body });
  const sync = (ids: readonly Record<string, unknown>[], body: Record<string, unknown> = {}) =>
    user.post<{ success?: true; detail?: unknown }>('/integrations/s3/files', { ids, ...body });
  /** The files there are, once so many are at rest, by external id. */
  const settled = async (number: number): Promise<Map<string, FileRecord>> => {
    const { results } = await soon(
      async () => (await user.post<Listed<FileRecord>>('/user_files_v2', { pagination: { limit: 100 } })).body,
      ({ results: some }) =>
        some.length === number && some.every((file) => /^(READY|SYNC_ERROR)$/.test(file.sync_status)),
    );
    return new Map(results.map((file) => [file.external_file_id, file]));
  };

  test('the store that endpoint_url names is asked, and its record is answered without what was handed over', async () => {
    const { status, body } = await connect({ data_source_tags: { region: 'north' } });
    expect({ status, body }).toMatchObject({
      status: 200,
      body: {
        data_source_external_id: `S3|${ACCESS_KEY}|${s3.host}`,
        data_source_type: 'S3',
        sync_status: 'READY',
        last_sync_action: 'ADD',
        revoked_access: false,
        tags: { region: 'north' },
        data_source_metadata: { endpoint_url: `http://${s3.host}` },
      },
    });
    expect(Object.keys(body as object)).toHaveLength(18);
    expect(JSON.stringify(body)).not.toContain(ACCESS_KEY_SECRET);
    expect(s3.requests.length).toBeGreaterThan(0);
  });

  test.each([
    ['a metadata address', 'http://169.254.169.254'],
    ['a private address', 'http://10.0.0.1:9000'],
    ['another scheme', 'ftp://store.example'],
    ['credentials in it', 'http://key:secret@127.0.0.1'],
    ['a query', 'http://127.0.0.1/?bucket=a'],
    ['a name that is nowhere', 'http://store.invalid'],
    ['no address', 'store'],
  ])('an endpoint_url with %s is 422', async (_name, endpoint) => {
    const { status, body } = await connect({ endpoint_url: endpoint });
    expect({ status, body }).toMatchObject({
      status: 422,
      body: { detail: [{ loc: ['body', 'endpoint_url'], msg: expect.any(String) }] },
    });
    expect(s3.requests).toEqual([]);
  });

  test('an endpoint_url where no store is, is no connection', async () => {
    const site = await startSite({ '/': '<!doctype html><title>A site</title><p>Words.' });
    const { status, body } = await connect({ endpoint_url: site.origin });
    expect([400, 503]).toContain(status);
    expect(body).toEqual({ detail: expect.any(String) });
    await site.close();
  });

  test('a secret that does not fit the key is 400, as is a key that no header holds', async () => {
    for (const wrong of [{ access_key_secret: 'another' }, { access_key: 'AK\r\nx-other: 1' }])
      expect(await connect(wrong)).toMatchObject({
        status: 400,
        body: { detail: expect.stringMatching(/credentials/) },
      });
  });

  test('a key that may not list buckets is connected, and syncs those that are named', async () => {
    s3.misbehave((path) => (path === '' ? { status: 403, code: 'AccessDenied' } : null));
    const { status, body } = await connect({ sync_source_items: true });
    expect(status).toBe(200);
    expect((await sync([{ bucket: 'boats' }])).status).toBe(200);
    expect((await settled(1)).get('boats/boats-1.md')?.sync_status).toBe('READY');
    const [source] = (
      await soon(
        async () => (await user.post<Listed<DataSourceRecord>>('/user_data_sources', {})).body,
        ({ results }) => results[0]?.sync_status === 'SYNC_ERROR',
      )
    ).results;
    expect(source).toMatchObject({ id: (body as DataSourceRecord).id, revoked_access: false });
    expect(source?.data_source_metadata['items_error']).toMatch(/does not let the connected account see/);
  });

  test('objects, prefixes and buckets are synced, and items by their id', async () => {
    await connect();
    for (const name of ['2025-a', '2025-b', '2026-a'])
      s3.buckets.get('docks')?.set(`logs/${name}.txt`, { content: name });
    const ids = [
      { bucket: 'atlas', id: 'sights/lighthouse.md' },
      { bucket: 'docks', prefix: 'logs/2025' },
      { bucket: 'boats', prefix: '', id: null },
      { id: 'crews/crews-1.md' },
      { bucket: 'eels', prefix: 'none/' },
      { bucket: 'eels', prefix: 'eels-0' },
    ];
    const more = { chunk_size: 90, chunk_overlap: 5, tags: { a: 'b' }, request_id: 'picked' };
    expect(await sync(ids, more)).toMatchObject({ status: 200, body: { success: true } });
    const files = await settled(7);
    const ready = [...files].filter(([, file]) => file.sync_status === 'READY').map(([id]) => id);
    expect(ready.toSorted()).toEqual([
      'atlas/sights/lighthouse.md',
      'boats/boats-1.md',
      'crews/crews-1.md',
      'docks/logs/2025-a.txt',
      'docks/logs/2025-b.txt',
    ]);
    for (const id of ['eels/none/', '/eels/eels-0'])
      expect(files.get(id)).toMatchObject({ sync_status: 'SYNC_ERROR', sync_error_message: expect.any(String) });
    expect(files.get('atlas/sights/lighthouse.md')).toMatchObject({
      name: 'lighthouse.md',
      external_url: 's3://atlas/sights/lighthouse.md',
      chunk_size: 90,
      tags: { a: 'b' },
      request_id: 'picked',
      file_metadata: { type: 'FILE', bucket: 'atlas' },
    });
  });

  test('keys of any letters are read, in a bucket of another region too; one that no address can say tells so', async () => {
    const keys = ['a b+c.md', 'ümläut/日本.md', `it's (1) & "2" <3>.md`, '100%/#1?.md', 'twice//slashed.md', '!*.md'];
    const odd = new Map([...keys, 'up/../away.md'].map((key) => [key, { content: `Of ${key}` }] as const));
    s3.buckets.set('odd.keys', odd);
    s3.regions.set('odd.keys', 'eu-north-1');
    await connect();
    await sync([{ bucket: 'odd.keys' }]);
    const files = await settled(keys.length + 1);
    for (const key of keys) {
      expect({ key, status: files.get(`odd.keys/${key}`)?.sync_status }).toEqual({ key, status: 'READY' });
      const { results } = await user.chunks({ external_file_ids: [`odd.keys/${key}`] });
      expect(results.map((chunk) => chunk.source_content).join('')).toContain(key.slice(-5, -3));
    }
    expect(files.get('odd.keys/up/../away.md')).toMatchObject({
      sync_status: 'SYNC_ERROR',
      sync_error_message: expect.stringMatching(/can not be asked for/),
    });
  });

  test('an object past the limit is not read, and says why', async () => {
    s3.buckets.get('boats')?.set('large.txt', { content: Buffer.alloc(MAX_BYTES + 1, 'a'), type: 'text/plain' });
    await connect();
    await sync([{ bucket: 'boats' }]);
    const files = await settled(2);
    expect(files.get('boats/boats-1.md')?.sync_status).toBe('READY');
    expect(files.get('boats/large.txt')).toMatchObject({
      sync_status: 'SYNC_ERROR',
      sync_error_message: expect.stringMatching(/larger than the 300,000 bytes/),
    });
  });

  test('data_source_id may be left out where there is one connection; of several, one must be named', async () => {
    expect(await sync([{ bucket: 'boats' }])).toMatchObject({ status: 404 });
    const { id } = (await connect()).body as DataSourceRecord;
    expect((await sync([{ bucket: 'boats' }], { data_source_id: null })).status).toBe(200);
    s3.keys.set('AKIAOTHER', ACCESS_KEY_SECRET);
    expect((await connect({ access_key: 'AKIAOTHER' })).status).toBe(200);
    expect(await sync([{ bucket: 'boats' }])).toMatchObject({
      status: 400,
      body: { detail: expect.stringMatching(/data_source_id/) },
    });
    expect((await sync([{ bucket: 'boats' }], { data_source_id: id })).status).toBe(200);
    expect(await sync([{ bucket: 'boats' }], { data_source_id: 2 ** 40 })).toMatchObject({ status: 404 });
  });

  test.each([
    ['nothing', {}],
    ['only a prefix', { prefix: 'logs/' }],
    ['an id and a prefix', { id: 'a', prefix: 'logs/' }],
  ])('a choice of %s is 422', async (_name, chosen) => {
    expect(await sync([{ bucket: 'boats' }, chosen])).toMatchObject({
      status: 422,
      body: { detail: [{ loc: ['body', 'ids', 1] }] },
    });
  });
});
