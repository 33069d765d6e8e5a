import { afterAll, beforeAll, expect, test } from '@jest/globals';

import type { FileDoc } from '../../store/models/files.js';
import { openModels } from '../../store/models/openModels.js';
import type { ScheduleDoc } from '../../store/models/schedules.js';
import { connectSource, revokeSource } from '../support/dataSources.js';
import { withDatabase } from '../support/mongo.js';
import { everyRow } from '../support/everyRow.js';
import { seedFiles } from '../support/seedFiles.js';
import { startService, type TestService } from '../support/service.js';

// Tests of the desired schedule of each record, and of changes made while the schedule in Temporal is being updated.
let service: TestService;
let owner: { organizationId: number; userId: number; customerId: string };
let stranger: typeof owner;
let lastId = 1_000;

beforeAll(async () => {
  service = await startService({}, { worker: false });
  await Promise.all(['ada', 'bert'].map((name) => service.user(name)));
  owner = await service.store.users.ensure(1, 'ada');
  stranger = await service.store.users.ensure(1, 'bert');
});
afterAll(() => service.close());

const rowOf = (fields: Partial<ScheduleDoc>): ScheduleDoc => ({
  ...{ ...owner, _id: `auto-sync:${lastId}`, dataSourceId: null, fileId: null, version: 1, marked: true },
  ...{ claimedUntil: null, applied: null, ...fields },
});
const seedSite = async (fields: Partial<FileDoc> = {}): Promise<Partial<ScheduleDoc>> => {
  lastId += 1;
  const site = { isContainer: true, source: 'WEB_SCRAPE' as const, enableAutoSync: true };
  await seedFiles(service, owner, [{ id: lastId, fields: { ...site, ...fields } }]);
  return { fileId: lastId };
};
const connectAccount = async (enableAutoSync: boolean | null, isRevoked = false): Promise<Partial<ScheduleDoc>> => {
  lastId += 1;
  const { _id } = await connectSource(service, owner, { externalId: `GOOGLE_DRIVE|${lastId}`, enableAutoSync });
  if (isRevoked) await revokeSource(service, owner, _id);
  return { dataSourceId: _id };
};
const [ON, OFF, GONE] = [{ state: 'on', hours: 24 }, { state: 'off' }, { state: 'gone' }];
const RECORDS: readonly (readonly [what: string, record: () => Promise<Partial<ScheduleDoc>>, desired: object])[] = [
  ['an enabled site', () => seedSite(), ON],
  ['a disabled site', () => seedSite({ enableAutoSync: false }), OFF],
  ['a site with deleted contents', () => seedSite({ fileContentsDeleted: true }), OFF],
  ['a file that contains no others', () => seedSite({ isContainer: false }), GONE],
  ['a site of another user', async () => ({ ...(await seedSite()), ...stranger }), GONE],
  ['a missing file', () => Promise.resolve({ fileId: 1 }), GONE],
  ['an enabled account', () => connectAccount(true), ON],
  ['a disabled account', () => connectAccount(false), OFF],
  ['an account without a setting', () => connectAccount(null), OFF],
  ['a revoked account', () => connectAccount(true, true), { state: 'paused', hours: 24 }],
  ['an account of another user', async () => ({ ...(await connectAccount(true)), ...stranger }), GONE],
  ['a missing account', () => Promise.resolve({ dataSourceId: 1 }), GONE],
  ['a record of an unknown user', async () => ({ ...(await seedSite()), userId: 999_999 }), GONE],
];
test('a site or account has a schedule while it exists, is enabled and has contents; revoked access pauses it', () =>
  everyRow(
    RECORDS,
    ([what]) => what,
    async ([, record, desired]) =>
      expect(await service.store.schedules.desiredState(rowOf(await record()))).toEqual(desired),
  ));

test('a row changed during its update in Temporal is due again; markApplied rejects a deleted row', async () => {
  const { schedules, transaction } = service.store;
  const seed = rowOf({ _id: 'auto-sync:file:77', fileId: 77 });
  await withDatabase(service, async (connection) => {
    const models = await openModels(connection);
    await models.schedules.collection.deleteMany({});
    await models.schedules.collection.insertOne(seed as never);
  });
  const claimed = (await schedules.claim(60_000))!;
  expect(claimed._id).toBe(seed._id);
  // Until the claim expires, no other process can claim the row.
  expect(await schedules.claim(60_000)).toBeNull();
  await transaction((session) => schedules.markUsers(1, ['ada'], session));
  expect(await schedules.markApplied(claimed, 'on, every 24 h')).toBe(true);
  const claimedAgain = (await schedules.claim(60_000))!;
  expect(claimedAgain).toMatchObject({ _id: seed._id, version: 2, applied: 'on, every 24 h' });
  expect(await schedules.markApplied(claimedAgain, null)).toBe(true);
  expect(await schedules.claim(60_000)).toBeNull();
  await schedules.remove([seed._id]);
  expect(await schedules.markApplied(claimedAgain, 'on, every 24 h')).toBe(false);
});

test('concurrent lookups of users, which share one query, find a user only in its own organization', async () => {
  const { organizations, users } = service.store;
  const { organizationId } = await organizations.create('others');
  const foreign = await users.ensure(organizationId, 'ada');
  const { customerId: _name, ...tenant } = owner;
  const asked = [tenant, tenant, { organizationId, userId: foreign.userId }, { ...tenant, userId: foreign.userId }];
  const results = await Promise.all(asked.map((caller) => users.find(caller)));
  expect(results).toEqual([owner, owner, foreign, null]);
});
