/** Quarantine of files that are missing at their source. */
import type { Client } from '@temporalio/client';
import { afterAll, beforeAll, expect, test } from '@jest/globals';

import type { DataSourceRecord, FileRecord } from '../../../contract/files/records.js';
import { scheduleIds } from '../../../contract/runs/workflowIds.js';
import { createTemporalClient } from '../../../dispatch/client.js';
import { createDispatcher, type Dispatcher } from '../../../dispatch/dispatcher.js';
import { quarantineSweepOnce } from '../../../dispatch/quarantineSweep.js';
import { createLog } from '../../../observability/log.js';
import type { QuarantinedDoc } from '../../../store/models/quarantine.js';
import { readStoredState } from '../../support/storedState.js';
import { type ApiClient, apiClient, type Listed, type TestUser } from '../../support/client.js';
import { pointsOfFile, fileIdsWithStoredVectors, eventKindsOf } from '../../support/coldFiles.js';
import { countDocuments, withDatabase } from '../../support/mongo.js';
import { testEngines } from '../../support/engines.js';
import { runScheduledSync } from '../../support/scheduledSyncs.js';
import { startService, type TestService } from '../../support/service.js';
import { TIME_LIMIT_MS, waitFor } from '../../support/waitFor.js';
import { fixtureForGitBook } from '../../support/sourceFixtures/gitbook.js';
import type { SourceFixture, FixtureContent } from '../../support/sourceFixtures/fixture.js';
import { thoroughly } from '../../support/thorough.js';

interface Quarantined {
  readonly file_id: number;
  readonly external_file_id: string;
  readonly state: string;
  readonly run_id: number;
  readonly quarantined_at: string;
  readonly kept_until: string;
}

const DAY_MS = 24 * 3_600_000;
const log = createLog({ level: 'silent', name: 'test' });
let service: TestService;
let fixture: SourceFixture;
let client: Client;
let dispatcher: Dispatcher;
let organization: ApiClient;

beforeAll(async () => {
  fixture = await fixtureForGitBook();
  const settings = { ALLOWED_PRIVATE_HOSTS: '127.0.0.1', SOURCE_URLS: fixture.settings, QUARANTINE_DAYS: '3' };
  service = await startService(settings);
  client = createTemporalClient({ address: testEngines().temporalAddress, namespace: 'default' });
  dispatcher = createDispatcher(client, service.names, service.store, log);
  organization = apiClient(service.url, { authorization: `Bearer ${service.apiKey}` });
});
afterAll(async () => {
  await service.close();
  await fixture.close();
  await dispatcher.close();
});

const findInconsistencies = async (): Promise<string[]> => (await readStoredState(service.env)).findInconsistencies();
/** Waits until no run is in progress. */
const allRunsEnded = () =>
  waitFor(
    () => withDatabase(service, (db) => db.collection('runs').countDocuments({ finishedAt: null })),
    (runs) => runs === 0,
  );
const quarantined = async (query = ''): Promise<Quarantined[]> =>
  (await organization.get<Listed<Quarantined>>(`/quarantined_files?${query}`)).body.results;
const restore = (body: Record<string, unknown>) =>
  organization.post<{ restoring: number }>('/quarantined_files/restore', body);

/** Connects a user and syncs the whole account. Returns the functions that its tests need. */
async function connected(customerId: string) {
  const user: TestUser = await service.user(customerId);
  const content: FixtureContent = fixture.reset();
  expect(await fixture.connect(user, { sync_files_on_connection: true })).toMatchObject({ status: 200 });
  const files = async (): Promise<FileRecord[]> =>
    (await user.post<Listed<FileRecord>>('/user_files_v2', { order_by: 'id', order_dir: 'asc' })).body.results;
  const settled = (number: number): Promise<FileRecord[]> =>
    waitFor(
      files,
      (records) => records.length === number && records.every((file) => file.sync_status === 'READY'),
      TIME_LIMIT_MS,
    );
  const syncedFiles = await settled(2 + content.others.length);
  const sources = async () => (await user.post<Listed<DataSourceRecord>>('/user_data_sources', {})).body.results;
  const { id } = (await sources())[0]!;
  const config = { customer_ids: [customerId], auto_sync_enabled_sources: 'ALL' };
  expect((await organization.post('/update_users', config)).status).toBe(200);
  const syncNow = async (): Promise<void> => {
    expect(await runScheduledSync(client, service.names, scheduleIds.source(id))).toMatchObject({
      outcome: 'finished',
    });
    await allRunsEnded();
  };
  const findFileIds = async (query: string): Promise<number[]> => [
    ...new Set((await user.search({ query, k: 20 })).map((one) => one.file_id)),
  ];
  return {
    user,
    content,
    all: syncedFiles,
    id,
    files,
    settled,
    syncNow,
    found: findFileIds,
    mine: `customer_id=${customerId}`,
  };
}

/** Makes the deadlines of quarantined files earlier by `days`. */
const advanceDeadlines = (ids: readonly number[], days: number): Promise<unknown> =>
  withDatabase(service, (db) =>
    db
      .collection<QuarantinedDoc>('quarantined_files')
      .updateMany({ _id: { $in: [...ids] } }, [{ $set: { keptUntil: { $subtract: ['$keptUntil', days * DAY_MS] } } }]),
  );

test('hides a missing file from callers, keeps it for operators, and restores it unchanged', async () => {
  const { user, content, all, id, files, settled, syncNow, found, mine } = await connected('alma');
  const [name = ''] = content.others;
  const missing = all.find((file) => file.external_file_id === name)!;
  const points = await pointsOfFile(service.env, missing.id);
  const { results: chunks } = await user.chunks({ ids: [missing.id] });
  expect(points.length).toBeGreaterThan(0);
  expect(await found('About boats')).toContain(missing.id);

  fixture.remove(name);
  await syncNow();
  expect(await settled(all.length - 1)).not.toContainEqual(expect.objectContaining({ id: missing.id }));
  expect((await user.chunks({ ids: [missing.id] })).results).toEqual([]);
  expect(await found('About boats')).not.toContain(missing.id);
  expect((await user.post('/resync_file', { file_id: missing.id })).status).toBe(404);
  expect(await user.get('/whoami')).toMatchObject({ body: { num_files_synced: all.length - 1 } });
  expect(await pointsOfFile(service.env, missing.id)).toEqual([]);
  expect(await fileIdsWithStoredVectors(service.env)).toEqual([missing.id]);
  expect((await eventKindsOf(service.env, missing.id)).filter((kind) => kind === 'FILE_DELETED')).toHaveLength(1);
  const [row] = await quarantined(mine);
  expect(row).toMatchObject({ file_id: missing.id, external_file_id: name, state: 'KEPT' });
  expect(Date.parse(row!.kept_until) - Date.parse(row!.quarantined_at)).toBeGreaterThan(2.9 * DAY_MS);
  expect(await quarantined(`data_source_id=${id}&run_id=${row?.run_id}`)).toEqual([row]);
  expect(await quarantined('data_source_id=1')).toEqual([]);
  // Other organizations neither see nor restore the file, and a request without ids restores nothing.
  const other = await service.store.organizations.create('other');
  const stranger = apiClient(service.url, { authorization: `Bearer ${other.apiKey}` });
  expect((await stranger.get('/quarantined_files')).body).toEqual({ results: [], count: 0 });
  const refused = await stranger.post('/quarantined_files/restore', { file_ids: [missing.id] });
  expect(refused).toMatchObject({ status: 200, body: { restoring: 0 } });
  expect((await restore({})).status).toBe(400);
  expect((await restore({ file_ids: [] })).body).toEqual({ restoring: 0 });
  await allRunsEnded();
  expect(await quarantined(mine)).toEqual([row]);
  expect(await findInconsistencies()).toEqual([]);
  // Tags added during the quarantine apply to the restored file.
  await user.post('/data_sources/tags/add', { data_source_id: id, tags: { pier: 'north' } });
  await allRunsEnded();

  const requestsBefore = fixture.contentRequests?.(name);
  expect(await restore({ file_ids: [missing.id] })).toMatchObject({ status: 200, body: { restoring: 1 } });
  await settled(all.length);
  await allRunsEnded();
  const restored = await user.file(missing.id);
  expect(restored).toEqual({
    ...missing,
    tags: { ...missing.tags, pier: 'north' },
    updated_at: restored.updated_at,
    // The last workflow of the file is the one that restored it.
    workflow_id: expect.stringMatching(/^[a-z0-9]{8}:restore:/),
  });
  const untagged = (comparedPoints: readonly unknown[]) =>
    (comparedPoints as { payload: Record<string, unknown> }[]).map(
      ({ payload: { tags: _tags, ...payload }, ...point }) => ({
        ...point,
        payload,
      }),
    );
  const restoredPoints = await pointsOfFile(service.env, missing.id);
  expect(untagged(restoredPoints)).toEqual(untagged(points));
  expect(restoredPoints).toContainEqual(
    expect.objectContaining({ payload: expect.objectContaining({ tags: ['pier=north'] }) }),
  );
  expect((await user.chunks({ ids: [missing.id] })).results).toEqual(chunks);
  expect(await found('About boats')).toContain(missing.id);
  expect(fixture.contentRequests?.(name)).toBe(requestsBefore);
  expect(await fileIdsWithStoredVectors(service.env)).toEqual([]);
  expect(await quarantined(mine)).toEqual([]);
  expect(await findInconsistencies()).toEqual([]);

  // The restored file is still missing at its source. It is quarantined again only after a listing has contained it.
  await syncNow();
  await syncNow();
  expect(await files()).toHaveLength(all.length);
  expect(await pointsOfFile(service.env, missing.id)).toEqual(restoredPoints);
  fixture.reset();
  await syncNow();
  fixture.remove(name);
  await syncNow();
  expect((await quarantined(mine)).map((one) => one.file_id)).toEqual([missing.id]);
  expect((await restore({ customer_id: 'alma' })).body).toEqual({ restoring: 1 });
  await settled(all.length);
  await allRunsEnded();
  expect(await findInconsistencies()).toEqual([]);
});

test('erases a file that is not restored in time, without leftovers', async () => {
  const { content, all, settled, syncNow, mine } = await connected('bela');
  for (const other of content.others.slice(0, 2)) fixture.remove(other);
  await syncNow();
  await settled(all.length - 2);
  const [first, second] = (await quarantined(mine)).map((one) => one.file_id) as [number, number];
  await advanceDeadlines([first], 3.1);
  expect((await quarantined(mine)).map((one) => one.file_id)).toEqual([second]);
  // The deadline has passed.
  expect((await restore({ file_ids: [first] })).body).toEqual({ restoring: 0 });
  expect(await quarantineSweepOnce(service.store, dispatcher)).toBe(1);
  const rows = () => withDatabase(service, (db) => db.collection('quarantined_files').countDocuments());
  await waitFor(rows, (number) => number === 1);
  await allRunsEnded();
  const remainingCounts = await withDatabase(service, (db) =>
    countDocuments(db, ['segments', 'contents'], { fileId: first }),
  );
  expect(remainingCounts).toEqual([0, 0]);
  expect(await fileIdsWithStoredVectors(service.env)).toEqual([second]);
  expect(await pointsOfFile(service.env, first)).toEqual([]);
  expect(await quarantineSweepOnce(service.store, dispatcher)).toBe(0);
  expect(await findInconsistencies()).toEqual([]);

  // When access is revoked, quarantined files are erased.
  const { id } = (await sourcesOf('bela'))[0]!;
  const user = await service.user('bela');
  expect((await user.post('/revoke_access_token', { data_source_id: id })).status).toBe(200);
  expect(await quarantined(mine)).toEqual([]);
  expect(await quarantineSweepOnce(service.store, dispatcher)).toBe(1);
  await waitFor(rows, (number) => number === 0);
  await allRunsEnded();
  expect(await fileIdsWithStoredVectors(service.env)).toEqual([]);
  expect(await findInconsistencies()).toEqual([]);
});
const sourcesOf = async (customerId: string): Promise<DataSourceRecord[]> =>
  (await (await service.user(customerId)).post<Listed<DataSourceRecord>>('/user_data_sources', {})).body.results;

thoroughly('restores no file whose external id a new file has, and erases all files of a deleted user', async () => {
  const { content, all, settled, syncNow, mine } = await connected('cora');
  fixture.remove(content.others[0]!);
  await syncNow();
  await settled(all.length - 1);
  const [row] = await quarantined(mine);
  fixture.reset();
  await syncNow();
  await settled(all.length);
  expect((await restore({ file_ids: [row?.file_id] })).body).toEqual({ restoring: 1 });
  await allRunsEnded();
  expect(await quarantined(mine)).toEqual([row]);
  expect(await settled(all.length)).not.toContainEqual(expect.objectContaining({ id: row?.file_id }));
  expect(await findInconsistencies()).toEqual([]);

  expect((await organization.post('/delete_users', { customer_ids: ['cora'] })).status).toBe(200);
  await waitFor(
    () => quarantined(mine),
    (rows) => rows.length === 0,
  );
  await allRunsEnded();
  expect(await fileIdsWithStoredVectors(service.env)).toEqual([]);
  expect(await findInconsistencies()).toEqual([]);
});
