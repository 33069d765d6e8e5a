/** Tests of the requests that scheduled syncs send to a source without a change feed. */
import type { Client } from '@temporalio/client';
import { afterAll, beforeAll, expect, test } from '@jest/globals';

import type { DataSourceRecord, FileRecord } from '../../../contract/files/records.js';
import { scheduleIds } from '../../../contract/runs/workflowIds.js';
import { createTemporalClient } from '../../../dispatch/client.js';
import { apiClient, type Listed, type TestUser } from '../../support/client.js';
import { testEngines } from '../../support/engines.js';
import { runScheduledSync, scheduleWhen } from '../../support/scheduledSyncs.js';
import { startService, type TestService } from '../../support/service.js';
import type { SourceFixture } from '../../support/sourceFixtures/fixture.js';
import { fixtureForGitBook } from '../../support/sourceFixtures/gitbook.js';
import { waitFor } from '../../support/waitFor.js';

let service: TestService;
let fixture: SourceFixture;
let client: Client;

beforeAll(async () => {
  fixture = await fixtureForGitBook();
  service = await startService({ ALLOWED_PRIVATE_HOSTS: '127.0.0.1', SOURCE_URLS: fixture.settings });
  client = createTemporalClient({ address: testEngines().temporalAddress, namespace: 'default' });
});
afterAll(async () => {
  await service.close();
  await Promise.all([fixture.close(), client.connection.close()]);
});

const filesOf = async (user: TestUser): Promise<FileRecord[]> =>
  (await user.post<Listed<FileRecord>>('/user_files_v2', { pagination: { limit: 100 } })).body.results;
const sourceOf = async (user: TestUser): Promise<DataSourceRecord> =>
  (await user.post<Listed<DataSourceRecord>>('/user_data_sources', {})).body.results[0]!;

/** Enables automatic syncs of GitBook for a user. @returns the id of the schedule of the user's account */
async function schedule(customerId: string, dataSourceId: number, settings: Record<string, unknown> = {}) {
  const organization = apiClient(service.url, { authorization: `Bearer ${service.apiKey}` });
  const body = { customer_ids: [customerId], auto_sync_enabled_sources: ['GITBOOK'], ...settings };
  expect(await organization.post('/update_users', body)).toMatchObject({ status: 200 });
  const scheduleId = scheduleIds.source(dataSourceId);
  await scheduleWhen(client, service.names, scheduleId, (description) => description !== null);
  return scheduleId;
}

test('a scheduled sync without changes makes no more requests than a listing', async () => {
  const user = await service.user('ida');
  const content = fixture.reset();
  expect(await fixture.connect(user, { sync_files_on_connection: true })).toMatchObject({ status: 200 });
  const readyFiles = (): Promise<FileRecord[]> =>
    waitFor(
      () => filesOf(user),
      (files) =>
        files.length === 2 + content.others.length && files.every(({ sync_status }) => sync_status === 'READY'),
    );
  await readyFiles();
  const scheduleId = await schedule('ida', (await sourceOf(user)).id);
  const requestsOf = async (act: () => Promise<unknown>): Promise<number> => {
    const countBefore = fixture.requestCount();
    await act();
    return fixture.requestCount() - countBefore;
  };
  const runSchedule = () => runScheduledSync(client, service.names, scheduleId);
  // After this sync, the service has recorded that the files match the listing.
  expect(await runSchedule()).toEqual({ outcome: 'finished', parts: 2 });

  const { id } = await sourceOf(user);
  const listing = await requestsOf(async () => {
    expect((await user.post('/integrations/items/sync', { data_source_id: id })).status).toBe(200);
    await waitFor(
      () => sourceOf(user),
      ({ sync_status }) => sync_status === 'READY',
    );
  });
  // The requested listing may have found changes that no sync has applied, so the next sync reads the selection again.
  expect(await runSchedule()).toEqual({ outcome: 'finished', parts: 2 });
  const unchanged = await requestsOf(async () =>
    expect(await runSchedule()).toEqual({ outcome: 'finished', parts: 1 }),
  );
  expect(unchanged).toBeGreaterThan(0);
  expect(unchanged).toBeLessThanOrEqual(listing);

  fixture.write(content.lighthouse, 'The lighthouse was moved in 1950.');
  const filesBefore = await readyFiles();
  expect(await runSchedule()).toEqual({ outcome: 'finished', parts: 2 });
  const changed = (await readyFiles()).filter(
    ({ id: fileId, last_sync }) => filesBefore.find((file) => file.id === fileId)?.last_sync !== last_sync,
  );
  expect(changed.map(({ external_file_id }) => external_file_id)).toEqual([content.lighthouse]);
});

test('files above max_files_per_upload are added once the limit is raised, without a change at the source', async () => {
  const user = await service.user('max');
  const content = fixture.reset();
  const fileCount = 2 + content.others.length;
  expect(await fixture.connect(user, { sync_files_on_connection: false })).toMatchObject({ status: 200 });
  const { id } = await waitFor(
    () => sourceOf(user),
    ({ sync_status }) => sync_status === 'READY',
  );
  const scheduleId = await schedule('max', id, { max_files_per_upload: 1 });
  expect((await user.post('/integrations/files/sync', { data_source_id: id, ids: content.containers })).status).toBe(
    200,
  );
  await waitFor(
    () => filesOf(user),
    (files) => files.length === 1 && files.every(({ sync_status }) => sync_status === 'READY'),
  );
  for (let number = 0; number < 2; number += 1)
    expect(await runScheduledSync(client, service.names, scheduleId)).toEqual({ outcome: 'finished', parts: 2 });
  await schedule('max', id, { max_files_per_upload: fileCount });
  expect(await runScheduledSync(client, service.names, scheduleId)).toEqual({ outcome: 'finished', parts: 2 });
  await waitFor(
    () => filesOf(user),
    (files) => files.length === fileCount,
  );
});
