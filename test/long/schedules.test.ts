/** Tests a thousand schedules. */
import type { Client } from '@temporalio/client';
import { afterAll, beforeAll, expect, test } from '@jest/globals';

import { createTemporalClient } from '../../dispatch/client.js';
import { createSchedules, type Schedules } from '../../dispatch/schedules.js';
import { createLog } from '../../observability/log.js';
import { type ApiClient, apiClient } from '../support/client.js';
import { connectSource } from '../support/dataSources.js';
import { withDatabase } from '../support/mongo.js';
import { testEngines } from '../support/engines.js';
import { scheduleOf } from '../support/scheduledSyncs.js';
import { startService, type TestService } from '../support/service.js';
import { waitFor } from '../support/waitFor.js';

const NUMBER = 1_000;
const HOUR_MS = 3_600_000;

let service: TestService;
let client: Client;
let schedules: Schedules;
let organization: ApiClient;

beforeAll(async () => {
  // The worker of the service updates the schedules, and `schedules` of this test does so concurrently, as a second
  // worker would.
  service = await startService({ LOG_LEVEL: 'silent' });
  client = createTemporalClient({ address: testEngines().temporalAddress, namespace: 'default' });
  schedules = createSchedules(client, service.names, service.store, createLog({ level: 'silent', name: 'test' }));
  organization = apiClient(service.url, { authorization: `Bearer ${service.apiKey}` });
}, 120_000);
afterAll(async () => {
  await service.close();
  await client.connection.close();
});

/** Returns the schedules of this service that Temporal lists, with their intervals. */
async function listed(): Promise<Map<string, number>> {
  const intervals = new Map<string, number>();
  for await (const { scheduleId, spec } of client.schedule.list({ pageSize: 1_000 })) {
    const key = service.names.keyOf(scheduleId);
    if (key !== null) intervals.set(key, spec?.intervals?.[0]?.every ?? 0);
  }
  return intervals;
}
const settle = async (holds: (found: Map<string, number>) => boolean): Promise<Map<string, number>> => {
  await schedules.reconcile();
  return waitFor(listed, holds, 300_000);
};

test('creates, changes and deletes a thousand schedules without leftovers', async () => {
  const owner = await service.store.users.ensure(1, 'thora');
  const ids: string[] = [];
  for (let index = 0; index < NUMBER; index += 1) {
    const { _id } = await connectSource(service, owner, { externalId: `GOOGLE_DRIVE|${index}` });
    ids.push(`auto-sync:${_id}`);
  }
  const set = async (config: Record<string, unknown>): Promise<void> => {
    const answer = await organization.post('/organization/update', { global_user_config: config });
    expect(answer).toMatchObject({ status: 200 });
  };
  await set({ auto_sync_enabled_sources: ['GOOGLE_DRIVE'], auto_sync_interval: 12 });
  const createdSchedules = await settle((found) => found.size === NUMBER);
  expect([...createdSchedules.keys()].toSorted()).toEqual(ids.toSorted());
  expect(await schedules.compare()).toEqual({ ended: 0, missing: 0 });

  await set({ auto_sync_interval: 3 });
  const isChanged = (found: Map<string, number>): boolean =>
    [...found.values()].every((every) => every === 3 * HOUR_MS);
  expect((await settle(isChanged)).size).toBe(NUMBER);

  // A schedule deleted by hand is created again; a schedule without a row is deleted.
  const [deleted = '', orphaned = ''] = ids;
  await client.schedule.getHandle(service.names.idOf(deleted)).delete();
  await withDatabase(service, (db) => db.collection('schedules').deleteOne({ _id: orphaned as never }));
  await waitFor(listed, (found) => !found.has(deleted));
  expect(await schedules.compare()).toEqual({ ended: 1, missing: 1 });
  await schedules.reconcile();
  await waitFor(() => scheduleOf(client, service.names, deleted), Boolean);
  expect(await scheduleOf(client, service.names, orphaned)).toBeNull();

  expect((await organization.post('/delete_users', { customer_ids: ['thora'] })).status).toBe(200);
  await waitFor(listed, (found) => found.size === 0, 300_000);
  const remainingRows = await withDatabase(service, (db) =>
    db.collection('schedules').countDocuments({ userId: owner.userId }),
  );
  expect(remainingRows).toBe(0);
  expect(await schedules.compare()).toEqual({ ended: 0, missing: 0 });
}, 900_000);
