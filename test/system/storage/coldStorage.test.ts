import type { Client } from '@temporalio/client';
import { truncate } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';

import type { FileRecord } from '../../../contract/files/records.js';
import type { EmbeddingStorageStatus } from '../../../contract/files/statuses.js';
import { createTemporalClient } from '../../../dispatch/client.js';
import { coldSweepOnce } from '../../../dispatch/coldSweep.js';
import { createDispatcher, type Dispatcher } from '../../../dispatch/dispatcher.js';
import { reapOnce } from '../../../dispatch/reaper.js';
import { createLog } from '../../../observability/log.js';
import { readStoredState } from '../../support/storedState.js';
import { apiClient, type TestUser } from '../../support/client.js';
import {
  letDaysPass,
  pointsOfFile,
  recordOf,
  fileIdsWithStoredVectors,
  storedVectors,
  eventKindsOf,
} from '../../support/coldFiles.js';
import { adoptFiles, connectSource } from '../../support/dataSources.js';
import { testEngines } from '../../support/engines.js';
import { startService, type TestService } from '../../support/service.js';
import { waitFor } from '../../support/waitFor.js';
import { thoroughly } from '../../support/thorough.js';

const log = createLog({ level: 'silent', name: 'test' });
let service: TestService;
let client: Client;
let dispatcher: Dispatcher;
let user: TestUser;

beforeAll(async () => {
  service = await startService();
  client = createTemporalClient({ address: testEngines().temporalAddress, namespace: 'default' });
  dispatcher = createDispatcher(client, service.names, service.store, log);
  user = await service.user('frida');
});
afterAll(async () => {
  await service.close();
  await dispatcher.close();
});

const text = (number: number) => `The harbour number ${number}. `.repeat(60);

/** Uploads files whose vectors may move to cold storage, and waits until they are READY. */
async function uploads(count: number, more: Record<string, unknown> = {}): Promise<FileRecord[]> {
  const query = { chunk_size: 60, enable_cold_storage: true, hot_storage_time_to_live: 1, ...more };
  const sent = await Promise.all(
    Array.from({ length: count }, (_, number) => user.send({ name: `${number}.md`, content: text(number) }, query)),
  );
  const ready = await Promise.all(sent.map(({ id }) => user.settled(id)));
  expect(ready.map((file) => file.sync_status)).toEqual(sent.map(() => 'READY'));
  return ready;
}

const sweep = () => coldSweepOnce(service.store, dispatcher);
const inStorage = (id: number, status: EmbeddingStorageStatus): Promise<FileRecord> =>
  waitFor(
    () => user.file(id),
    (file) => file.embedding_storage_status === status,
  );
/** Waits until no run is in progress, so that each move has deleted its leftovers. */
const allRunsEnded = () =>
  waitFor(
    () => service.store.runs.listActiveStartedUntil(new Date(Date.now() + 1), 10),
    (runs) => runs.length === 0,
  );
async function cool(files: readonly FileRecord[]): Promise<void> {
  await letDaysPass(
    service.env,
    2,
    files.map(({ id }) => id),
  );
  await sweep();
  for (const { id } of files) await inStorage(id, 'COLD_STORAGE');
  await allRunsEnded();
}
const toHot = (filters: Record<string, unknown>) => user.post<boolean>('/move_to_hot_storage', { filters });
const modify = (body: Record<string, unknown>) => user.post<boolean>('/modify_cold_storage_parameters', body);
const pointsOf = ({ id }: FileRecord) => pointsOfFile(service.env, id);
const findInconsistencies = async () => (await readStoredState(service.env)).findInconsistencies();

test('moves unused vectors to file storage, and restores them bit for bit', async () => {
  const [file, other] = (await uploads(2, { generate_sparse_vectors: true })) as [FileRecord, FileRecord];
  expect(file).toMatchObject({ embedding_storage_status: 'HOT_STORAGE', hot_storage_time_to_live: 1 });
  const before = await pointsOf(file);
  expect(before.length).toBeGreaterThan(2);
  expect(before[0]).toMatchObject({ vector: { dense: expect.anything(), sparse: expect.anything() } });
  expect(await sweep()).toBe(0);

  await letDaysPass(service.env, 2, [file.id]);
  expect(await sweep()).toBe(1);
  const cold = await inStorage(file.id, 'COLD_STORAGE');
  await allRunsEnded();
  expect(await pointsOf(file)).toEqual([]);
  expect(await fileIdsWithStoredVectors(service.env)).toEqual([file.id]);
  expect(cold).toMatchObject({
    sync_status: 'READY',
    embedding_properties: file.embedding_properties,
    supports_cold_storage: true,
  });
  expect((await user.file(other.id)).embedding_storage_status).toBe('HOT_STORAGE');
  expect(await findInconsistencies()).toEqual([]);

  expect((await toHot({ ids: [file.id] })).body).toBe(true);
  await inStorage(file.id, 'HOT_STORAGE');
  await allRunsEnded();
  expect(await pointsOf(file)).toEqual(before);
  expect(await fileIdsWithStoredVectors(service.env)).toEqual([]);
  expect((await eventKindsOf(service.env, file.id)).filter((kind) => kind.startsWith('MOVED'))).toEqual([
    'MOVED_TO_COLD_STORAGE',
    'MOVED_TO_HOT_STORAGE',
  ]);
  expect(await findInconsistencies()).toEqual([]);
  // The restore restarts the time to live.
  expect(await sweep()).toBe(0);
});

test('counts a search hit as use, which restarts the time to live; another use within the hour writes nothing', async () => {
  const [file] = (await uploads(1, { generate_sparse_vectors: true })) as [FileRecord];
  await letDaysPass(service.env, 2, [file.id]);
  const found = await user.search({ query: 'harbour', k: 3, file_ids: [file.id] });
  expect(found.length).toBeGreaterThan(0);
  await service.store.lastUse.flush();
  expect(await sweep()).toBe(0);
  const { lastUsedAt } = (await recordOf(service.env, file.id)) ?? {};
  await user.search({ query: 'harbour', k: 3, file_ids: [file.id] });
  await service.store.lastUse.flush();
  expect((await recordOf(service.env, file.id))?.lastUsedAt).toEqual(lastUsedAt);
  await letDaysPass(service.env, 2, [file.id]);
  expect(await sweep()).toBe(1);
  await inStorage(file.id, 'COLD_STORAGE');
  await allRunsEnded();
});

test('refuses a search that needs files in cold storage, and names them, unless it excludes them; other searches work', async () => {
  const searcher = await service.user('selma');
  const cold = { chunk_size: 60, enable_cold_storage: true, hot_storage_time_to_live: 1 };
  const send = async (name: string, more: Record<string, unknown>) =>
    searcher.settled((await searcher.send({ name, content: text(7) }, more)).id);
  const [first, second, warm] = [await send('a.md', cold), await send('b.md', cold), await send('c.md', {})];
  const ids = [first.id, second.id];
  await letDaysPass(service.env, 2, ids);
  await sweep();
  await allRunsEnded();
  const searchAnswer = (more: Record<string, unknown> = {}) =>
    searcher.post<{ detail: string; documents: { file_id: number }[] }>('/embeddings', {
      query: 'harbour',
      k: 50,
      ...more,
    });
  const refused = await searchAnswer();
  expect(refused.status).toBe(409);
  for (const id of ids) expect(refused.body.detail).toContain(String(id));
  expect(refused.body.detail).toMatch(/move_to_hot_storage.*exclude_cold_storage_files/);
  const searchOfTwo = await searchAnswer({ file_ids: [second.id, warm.id] });
  expect(searchOfTwo.status).toBe(409);
  expect(searchOfTwo.body.detail).toContain(String(second.id));
  expect(searchOfTwo.body.detail).not.toContain(String(first.id));
  expect((await searchAnswer({ tags: { no: 'such' } })).body.documents).toEqual([]);
  expect((await searchAnswer({ embedding_model: 'COHERE_MULTILINGUAL_V3' })).status).toBe(200);
  expect(new Set((await searchAnswer({ file_ids: [warm.id] })).body.documents.map((found) => found.file_id))).toEqual(
    new Set([warm.id]),
  );
  const searchWithoutCold = await searchAnswer({ exclude_cold_storage_files: true });
  expect(new Set(searchWithoutCold.body.documents.map((found) => found.file_id))).toEqual(new Set([warm.id]));
  // The chunks are still listed, without their vectors.
  const { results } = await searcher.chunks({ ids: [first.id] }, { include_vectors: true });
  expect(results.length).toBeGreaterThan(2);
  expect(results.map((chunk) => chunk.embedding)).toEqual(results.map(() => null));
  await searcher.post('/move_to_hot_storage', {});
  await waitFor(searchAnswer, ({ status }) => status === 200);
  await allRunsEnded();
  expect(new Set((await searchAnswer()).body.documents.map((found) => found.file_id))).toEqual(
    new Set([...ids, warm.id]),
  );
});

thoroughly('applies tags changed in cold storage to the restored vectors', async () => {
  const [file] = (await uploads(1)) as [FileRecord];
  await cool([file]);
  await user.post('/create_user_file_tags', { organization_user_file_id: file.id, tags: { team: 'red' } });
  await toHot({ ids: [file.id] });
  await inStorage(file.id, 'HOT_STORAGE');
  await allRunsEnded();
  for (const point of await pointsOf(file)) expect(point).toMatchObject({ payload: { tags: ['team=red'] } });
  expect(await findInconsistencies()).toEqual([]);
});

test('keeps a file in cold storage after a resync without changes; a resync with another chunk size stores its vectors in hot storage', async () => {
  const [file] = (await uploads(1)) as [FileRecord];
  await cool([file]);
  await user.post('/resync_file', { file_id: file.id });
  expect(await user.settled(file.id)).toMatchObject({ sync_status: 'READY', embedding_storage_status: 'COLD_STORAGE' });
  await allRunsEnded();
  expect(await pointsOf(file)).toEqual([]);
  await user.post('/resync_file', { file_id: file.id, chunk_size: 100 });
  expect(await user.settled(file.id)).toMatchObject({ sync_status: 'READY', embedding_storage_status: 'HOT_STORAGE' });
  await allRunsEnded();
  expect((await pointsOf(file)).length).toBeGreaterThan(0);
  expect(await fileIdsWithStoredVectors(service.env)).not.toContain(file.id);
  expect(await findInconsistencies()).toEqual([]);
  // The file can move to cold storage again.
  await cool([file]);
});

thoroughly(
  'skips a file in cold storage when re-embedding, and reports the reason; re-embeds it after it was restored',
  async () => {
    const [cold, hot] = (await uploads(2)) as [FileRecord, FileRecord];
    await cool([cold]);
    const before = await user.file(cold.id);
    const vectorsBefore = await storedVectors(service.env);
    const reembed = async () => {
      const { body } = await user.post<{ id: number; files: number; skipped: object }>('/files/reembed', {
        embedding_model: 'SOLAR_1_MINI',
        filters: { ids: [cold.id, hot.id] },
      });
      const { id, files, skipped } = body;
      const ended = await waitFor(
        async () => (await user.get<{ status: string }>(`/files/reembed/${id}`)).body,
        ({ status }) => status !== 'RUNNING' && status !== 'QUEUED',
      );
      return { files, skipped, ended };
    };
    const first = { cold_storage: 1 };
    expect(await reembed()).toMatchObject({
      ...{ files: 1, skipped: first },
      ended: { status: 'FINISHED', reembedded: 1, failed: 0, skipped: first },
    });
    expect(await user.file(cold.id)).toEqual(before);
    expect(await storedVectors(service.env)).toEqual(vectorsBefore);
    expect(await pointsOf(cold)).toEqual([]);

    await toHot({ ids: [cold.id] });
    await inStorage(cold.id, 'HOT_STORAGE');
    await allRunsEnded();
    const second = { already_embedded: 1 };
    expect(await reembed()).toMatchObject({
      ...{ files: 1, skipped: second },
      ended: { status: 'FINISHED', reembedded: 1, skipped: second },
    });
    expect(Object.keys((await user.file(cold.id)).embedding_properties ?? {})).toEqual(['SOLAR_1_MINI']);
    expect(await findInconsistencies()).toEqual([]);
  },
);

test('deletes the stored vectors of a deleted file in cold storage, whether or not its record is kept', async () => {
  const [file, kept] = (await uploads(2)) as [FileRecord, FileRecord];
  await cool([file, kept]);
  await user.post('/delete_files_v2', { filters: { ids: [kept.id] }, preserve_file_record: true });
  await waitFor(
    () => user.file(kept.id),
    (one) => one.file_contents_deleted,
  );
  expect(await user.file(kept.id)).toMatchObject({ embedding_storage_status: 'HOT_STORAGE' });
  await user.post('/delete_files_v2', { filters: { ids: [file.id] } });
  await waitFor(
    () => recordOf(service.env, file.id),
    (record) => record === null,
  );
  const stored = await fileIdsWithStoredVectors(service.env);
  expect(stored).not.toContain(file.id);
  expect(stored).not.toContain(kept.id);
  expect(await findInconsistencies()).toEqual([]);
});

thoroughly(
  'keeps vectors when access to their data source is revoked, and still moves them in both directions',
  async () => {
    const [cold, hot] = (await uploads(2)) as [FileRecord, FileRecord];
    const owner = await service.store.users.ensure(1, 'frida');
    const { _id } = await connectSource(service, owner);
    await adoptFiles(service, _id, [cold.id, hot.id]);
    const before = [await pointsOf(cold), await pointsOf(hot)];
    await cool([cold]);
    expect((await user.post('/revoke_access_token', { data_source_id: _id })).body).toEqual({ success: true });
    expect(await user.file(cold.id)).toMatchObject({ sync_status: 'READY', embedding_storage_status: 'COLD_STORAGE' });
    expect(await fileIdsWithStoredVectors(service.env)).toContain(cold.id);
    expect(await pointsOf(hot)).toEqual(before[1]);
    await cool([hot]);
    expect((await toHot({ ids: [cold.id, hot.id] })).body).toBe(true);
    for (const { id } of [cold, hot]) await inStorage(id, 'HOT_STORAGE');
    await allRunsEnded();
    expect([await pointsOf(cold), await pointsOf(hot)]).toEqual(before);
    const stored = await fileIdsWithStoredVectors(service.env);
    for (const { id } of [cold, hot]) expect(stored).not.toContain(id);
    expect(await findInconsistencies()).toEqual([]);
  },
);

test('moves a file only while its settings enable that; only valid changes apply, each with one event', async () => {
  const [file] = (await uploads(1, { enable_cold_storage: false })) as [FileRecord];
  const filters = { ids: [file.id] };
  await letDaysPass(service.env, 1_000, [file.id]);
  expect(await sweep()).toBe(0);
  expect(await user.file(file.id)).toMatchObject({
    embedding_storage_status: 'HOT_STORAGE',
    supports_cold_storage: false,
    hot_storage_time_to_live: null,
  });
  expect((await pointsOf(file)).length).toBeGreaterThan(0);
  expect((await modify({ filters, enable_cold_storage: true, hot_storage_time_to_live: 3 })).body).toBe(true);
  expect(await user.file(file.id)).toMatchObject({ supports_cold_storage: true, hot_storage_time_to_live: 3 });
  await letDaysPass(service.env, 2, [file.id]);
  expect(await sweep()).toBe(0);
  // The time to live counts from the last use.
  await modify({ filters, hot_storage_time_to_live: 1 });
  expect(await sweep()).toBe(1);
  await inStorage(file.id, 'COLD_STORAGE');
  await allRunsEnded();
  // Requests of another user, and invalid requests, change nothing.
  const stranger = await service.user('stranger');
  expect((await stranger.post('/move_to_hot_storage', { filters })).body).toBe(true);
  expect((await stranger.post('/modify_cold_storage_parameters', { enable_cold_storage: false })).body).toBe(true);
  for (const body of [
    { hot_storage_time_to_live: 0 },
    { hot_storage_time_to_live: 'x' },
    { enable_cold_storage: 'maybe' },
  ])
    expect((await modify(body)).status).toBe(422);
  expect((await user.post('/move_to_hot_storage', { filters: { ids: ['x'] } })).status).toBe(422);
  await allRunsEnded();
  expect(await user.file(file.id)).toMatchObject({
    embedding_storage_status: 'COLD_STORAGE',
    supports_cold_storage: true,
  });
  // An unchanged setting emits no event.
  await modify({ filters, enable_cold_storage: true });
  await modify({ filters, enable_cold_storage: false });
  expect(await inStorage(file.id, 'HOT_STORAGE')).toMatchObject({
    supports_cold_storage: false,
    hot_storage_time_to_live: null,
  });
  await allRunsEnded();
  expect((await pointsOf(file)).length).toBeGreaterThan(0);
  const events = await eventKindsOf(service.env, file.id);
  expect(events.filter((kind) => kind === 'EMBEDDING_STORAGE_MODIFIED')).toHaveLength(3);
  expect(await fileIdsWithStoredVectors(service.env)).not.toContain(file.id);
  expect(await findInconsistencies()).toEqual([]);
});

test('starts a move again in the reaper after its workflow was terminated in Temporal', async () => {
  const [file] = (await uploads(1)) as [FileRecord];
  const { coldCopies, runs } = service.store;
  const { save } = coldCopies;
  let reached = false;
  let release: () => void = () => undefined;
  const blocked = new Promise<void>((resolve) => {
    release = resolve;
  });
  Object.assign(coldCopies, {
    save: async (...given: Parameters<typeof save>) => {
      reached = true;
      await blocked;
      return save(...given);
    },
  });
  await letDaysPass(service.env, 2, [file.id]);
  await sweep();
  await waitFor(() => reached, Boolean);
  const [run] = await runs.listActiveStartedUntil(new Date(Date.now() + 1), 10);
  await client.workflow.getHandle(service.names.idOf(run?.workflowId ?? '')).terminate('test');
  expect(await user.file(file.id)).toMatchObject({ embedding_storage_status: 'HOT_TO_COLD' });
  expect(await reapOnce({ client, names: service.names }, service.store, log, Date.now() + 60_000)).toBe(1);
  Object.assign(coldCopies, { save });
  release();
  await inStorage(file.id, 'COLD_STORAGE');
  await allRunsEnded();
  await waitFor(findInconsistencies, (notes) => notes.length === 0);
  const events = await eventKindsOf(service.env, file.id);
  expect(events.filter((kind) => kind === 'MOVED_TO_COLD_STORAGE')).toHaveLength(1);
});

thoroughly('reverts a move during which the file is searched or synced', async () => {
  const [used, synced] = (await uploads(2)) as [FileRecord, FileRecord];
  const before = await pointsOf(used);
  const { coldCopies } = service.store;
  const { save } = coldCopies;
  let blockedCount = 0;
  let release: () => void = () => undefined;
  const blocked = new Promise<void>((resolve) => {
    release = resolve;
  });
  Object.assign(coldCopies, {
    save: async (...given: Parameters<typeof save>) => {
      blockedCount += 1;
      await blocked;
      return save(...given);
    },
  });
  await letDaysPass(service.env, 2, [used.id, synced.id]);
  await sweep();
  await waitFor(
    () => blockedCount,
    (count) => count === 2,
  );
  expect((await user.search({ query: 'harbour', k: 1, file_ids: [used.id] })).length).toBe(1);
  await service.store.lastUse.flush();
  await user.post('/resync_file', { file_id: synced.id, chunk_size: 100 });
  expect(await user.settled(synced.id)).toMatchObject({ embedding_storage_status: 'HOT_STORAGE' });
  Object.assign(coldCopies, { save });
  release();
  await inStorage(used.id, 'HOT_STORAGE');
  await allRunsEnded();
  expect(await pointsOf(used)).toEqual(before);
  expect((await pointsOf(synced)).length).toBeGreaterThan(0);
  expect(await fileIdsWithStoredVectors(service.env)).not.toContain(used.id);
  expect(await fileIdsWithStoredVectors(service.env)).not.toContain(synced.id);
  expect(await findInconsistencies()).toEqual([]);
});

thoroughly('fails a file whose stored vectors are unreadable; a resync computes new vectors', async () => {
  const [file] = (await uploads(1)) as [FileRecord];
  await cool([file]);
  const { key = '' } = (await recordOf(service.env, file.id))?.coldCopy ?? {};
  await truncate(path.join(service.env['DATA_DIR'] ?? '', 'files', key), 100);
  await toHot({ ids: [file.id] });
  const lost = await waitFor(
    () => user.file(file.id),
    (one) => one.sync_status === 'SYNC_ERROR',
  );
  expect(lost.sync_error_message).toMatch(/Resync/);
  await allRunsEnded();
  await user.post('/resync_file', { file_id: file.id });
  expect(await user.settled(file.id)).toMatchObject({ sync_status: 'READY', embedding_storage_status: 'HOT_STORAGE' });
  await allRunsEnded();
  expect((await pointsOf(file)).length).toBeGreaterThan(0);
  expect(await findInconsistencies()).toEqual([]);
});

thoroughly('leaves no stored vectors of a deleted user', async () => {
  const deletedUser = await service.user('gone');
  const { id } = await deletedUser.send(
    { name: 'a.md', content: text(1) },
    { enable_cold_storage: true, hot_storage_time_to_live: 1 },
  );
  await deletedUser.settled(id);
  await letDaysPass(service.env, 2, [id]);
  await sweep();
  await waitFor(
    () => fileIdsWithStoredVectors(service.env),
    (ids) => ids.includes(id),
  );
  const organization = apiClient(service.url, { authorization: `Bearer ${service.apiKey}` });
  await organization.post('/delete_users', { customer_ids: ['gone'] });
  await waitFor(
    () => recordOf(service.env, id),
    (record) => record === null,
  );
  await allRunsEnded();
  expect(await fileIdsWithStoredVectors(service.env)).not.toContain(id);
  expect(await findInconsistencies()).toEqual([]);
});

thoroughly('leaves each file complete in one storage after concurrent moves in both directions', async () => {
  const files = await uploads(6);
  const ids = files.map(({ id }) => id);
  const before = await Promise.all(files.map(pointsOf));
  await letDaysPass(service.env, 2, ids);
  await Promise.all([sweep(), toHot({ ids }), toHot({ ids })]);
  await allRunsEnded();
  await toHot({ ids });
  for (const id of ids) await inStorage(id, 'HOT_STORAGE');
  await allRunsEnded();
  expect(await Promise.all(files.map(pointsOf))).toEqual(before);
  expect(await findInconsistencies()).toEqual([]);
});
