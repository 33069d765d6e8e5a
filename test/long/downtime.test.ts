/** Tests that a schedule that has missed several intervals starts only one sync, and never two at the same time. */
import type { Client } from '@temporalio/client';
import { afterAll, beforeAll, expect, test } from '@jest/globals';

import type { DataSourceRecord } from '../../contract/files/records.js';
import { scheduleIds } from '../../contract/runs/workflowIds.js';
import { createTemporalClient } from '../../dispatch/client.js';
import type { RunDoc } from '../../store/models/runs.js';
import { apiClient, type Listed } from '../support/client.js';
import { withDatabase } from '../support/mongo.js';
import { type OwnService, startOwnService } from '../support/ownService.js';
import { scheduleOf, scheduleWhen } from '../support/scheduledSyncs.js';
import { waitFor } from '../support/waitFor.js';
import { fixtureForGitBook } from '../support/sourceFixtures/gitbook.js';
import type { SourceFixture } from '../support/sourceFixtures/fixture.js';

/** Interval of the schedule, normally hours; not below Temporal's minimum catch-up window of 10 s. */
const EVERY_MS = 12_000;
const DOWN_MS = 4 * EVERY_MS;

let service: OwnService;
let fixture: SourceFixture;
let client: Client;
let scheduleId: string;

beforeAll(async () => {
  fixture = await fixtureForGitBook();
  service = await startOwnService({ ALLOWED_PRIVATE_HOSTS: '127.0.0.1', SOURCE_URLS: fixture.settings });
  client = createTemporalClient({
    address: service.env['TEMPORAL_ADDRESS'] ?? '',
    namespace: 'default',
  });
  const user = await service.user('away');
  fixture.reset();
  expect(await fixture.connect(user, { sync_files_on_connection: false })).toMatchObject({ status: 200 });
  const { id } = (await user.post<Listed<DataSourceRecord>>('/user_data_sources', {})).body.results[0]!;
  const organization = apiClient(service.url, { authorization: `Bearer ${service.env['API_KEY'] ?? ''}` }, 60_000);
  const config = { customer_ids: ['away'], auto_sync_enabled_sources: 'ALL', auto_sync_interval: 3 };
  expect((await organization.post('/update_users', config)).status).toBe(200);
  scheduleId = scheduleIds.source(id);
  const createdSchedule = await scheduleWhen(client, service.names, scheduleId, (one) => one !== null);
  // The catch-up window equals the interval.
  expect(createdSchedule?.policies.catchupWindow).toBe(createdSchedule?.spec.intervals?.[0]?.every);
  await client.schedule.getHandle(service.names.idOf(scheduleId)).update(({ policies, action, ...rest }) => ({
    ...rest,
    action: action as never,
    policies: { ...policies, catchupWindow: EVERY_MS },
    spec: { intervals: [{ every: EVERY_MS }] },
  }));
}, 300_000);
afterAll(async () => {
  await client.connection.close();
  await service.close();
  await fixture.close();
});

const syncs = (): Promise<Pick<RunDoc, 'acceptedAt' | 'finishedAt'>[]> =>
  withDatabase(service, async (db) => db.collection<RunDoc>('runs').find({ kind: 'autoSync' }).toArray());
const actionsTaken = async (): Promise<number> =>
  (await scheduleOf(client, service.names, scheduleId))?.info.numActionsTaken ?? 0;

test('starts one sync for all the intervals that Temporal was down', async () => {
  await waitFor(syncs, (runs) => runs.some(({ finishedAt }) => finishedAt !== null));
  const from = Date.now();
  await service.kill('temporal', DOWN_MS);
  const until = Date.now();
  await waitFor(
    () => actionsTaken().catch(() => 0),
    (actions) => actions > 0,
  );
  const info = await waitFor(
    async () => (await scheduleOf(client, service.names, scheduleId).catch(() => null))?.info,
    (one) => one?.recentActions.some(({ takenAt }) => takenAt.getTime() > until) === true,
  );
  const missed = info?.recentActions.filter(
    ({ scheduledAt, takenAt }) =>
      scheduledAt.getTime() > from && scheduledAt.getTime() <= until && takenAt.getTime() > from,
  );
  expect(missed).toHaveLength(1);
  // Temporal starts the latest missed sync; the earlier ones are outside the catch-up window.
  expect(until - (missed?.[0]?.scheduledAt.getTime() ?? 0)).toBeLessThanOrEqual(EVERY_MS + 2_000);
  expect(info?.numActionsMissedCatchupWindow).toBeGreaterThanOrEqual(2);
}, 300_000);

test('starts no further sync while one runs over several intervals, and the next one after its end', async () => {
  fixture.hold();
  const before = (await syncs()).length;
  await waitFor(
    () => fixture.requestsInProgress(),
    (requests) => requests > 0,
  );
  const skippedBefore = (await scheduleOf(client, service.names, scheduleId))?.info.numActionsSkippedOverlap ?? 0;
  await scheduleWhen(
    client,
    service.names,
    scheduleId,
    (one) => (one?.info.numActionsSkippedOverlap ?? 0) >= skippedBefore + 3,
  );
  const syncsUntilNow = await syncs();
  expect(syncsUntilNow.length - before).toBeLessThanOrEqual(1);
  fixture.reset();
  // The delayed sync ends, and one after it.
  await waitFor(syncs, (runs) => runs.filter(({ finishedAt }) => finishedAt !== null).length > syncsUntilNow.length);
}, 600_000);
