/**
 * Rows of schedules. A change of settings marks rows. A process claims a marked row, updates its schedule in Temporal,
 * and records that schedule in `applied`; or it postpones the row.
 */
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import type { Connection, Model } from 'mongoose';

import { scheduleIds } from '../../../contract/runs/workflowIds.js';
import { type ScheduleDoc, scheduleModel } from '../../../store/models/schedules.js';
import { createSchedules, type Schedules } from '../../../store/schedules/schedules.js';
import { ADA, AGO, AHEAD, dropDatabase, openDatabase, STRANGERS } from './writes.js';

const [SOURCE, SITE] = [scheduleIds.source(40), scheduleIds.container(5)];
const BEN = { organizationId: 1, userId: 8, customerId: 'ben' };
const LEASE_MS = 60_000;

let connection: Connection;
let rows: Model<ScheduleDoc>;
let schedules: Schedules;
beforeAll(async () => {
  connection = await openDatabase();
  rows = scheduleModel(connection);
  schedules = createSchedules({ schedules: rows } as never);
});
beforeEach(() => rows.deleteMany({}));
afterAll(() => dropDatabase(connection));

const find = async (id: string): Promise<ScheduleDoc> => (await schedules.find(id))!;
/** Inserts rows whose schedules Temporal has, and that no change has marked. */
const insert = (fields: Readonly<Record<string, Partial<ScheduleDoc>>>) =>
  rows.collection.insertMany(
    Object.entries(fields).map(([_id, row]) => ({
      ...{ ...ADA, _id, dataSourceId: null, fileId: null, version: 1, marked: false, claimedUntil: null },
      ...{ applied: 'DAILY', ...row },
    })) as never,
  );
const marked = async (): Promise<string[]> =>
  (await rows.find({ marked: true }).sort({ _id: 1 }).lean()).map(({ _id }) => _id);

test('a connected account and an enabled site get a row, a site that was never enabled gets none', async () => {
  await schedules.markSource(ADA, 40, null);
  await schedules.markContainer(ADA, 5, true, null);
  await schedules.markContainer(ADA, 6, false, null);
  const common = { ...ADA, version: 1, marked: true, claimedUntil: null, applied: null };
  expect(await find(SOURCE)).toMatchObject({ ...common, dataSourceId: 40, fileId: null });
  expect(await find(SITE)).toMatchObject({ ...common, dataSourceId: null, fileId: 5 });
  expect(await rows.countDocuments()).toBe(2);
  // A later request marks the row again, whether it enables or disables the syncs, and keeps what Temporal has.
  await rows.updateMany({}, { $set: { marked: false, applied: 'DAILY' } });
  await schedules.markContainer(ADA, 5, false, null);
  await schedules.markSource(ADA, 40, null);
  expect([await find(SITE), await find(SOURCE)]).toMatchObject(
    Array.from({ length: 2 }, () => ({ version: 2, marked: true, applied: 'DAILY' })),
  );
});

test('new settings of users mark their rows, and those of an organization the rows of all its users', async () => {
  await insert({ a: {}, b: BEN, c: { organizationId: 2 } });
  await schedules.markUsers(1, ['ada'], null);
  expect(await marked()).toEqual(['a']);
  await rows.updateMany({}, { $set: { marked: false } });
  await schedules.markOrganization(1, null);
  const claimed = [await schedules.claim(LEASE_MS), await schedules.claim(LEASE_MS), await schedules.claim(LEASE_MS)];
  expect(new Set(claimed.map((row) => row?._id ?? null))).toEqual(new Set(['a', 'b', null]));
  // The row of the organization is kept for the next change, and is not claimed again.
  expect(await marked()).toEqual(['a', 'b']);
  await schedules.markOrganization(1, null);
  expect(await marked()).toEqual(['a', 'b', 'organization:1']);
  // The change is applied at once, although the first lease of the row has not ended.
  await rows.updateMany({ userId: { $gt: 0 } }, { $set: { marked: false, claimedUntil: null } });
  expect(['a', 'b']).toContain((await schedules.claim(LEASE_MS))?._id);
});

test('a marked row is claimed by one process at a time, until its lease ends or it is postponed', async () => {
  await insert({ due: { marked: true }, unmarked: {}, leased: { marked: true, claimedUntil: AHEAD } });
  const before = Date.now();
  const claimed = (await schedules.claim(LEASE_MS))!;
  expect(claimed._id).toBe('due');
  expect(claimed.claimedUntil!.getTime()).toBeGreaterThanOrEqual(before + LEASE_MS);
  expect(claimed.claimedUntil!.getTime()).toBeLessThanOrEqual(Date.now() + LEASE_MS);
  expect(await schedules.claim(LEASE_MS)).toBeNull();
  await schedules.postpone(claimed, AGO);
  expect((await schedules.claim(LEASE_MS))!._id).toBe('due');
  await schedules.postpone(claimed, AHEAD);
  expect(await schedules.claim(LEASE_MS)).toBeNull();
});

test('the applied schedule is unsure while Temporal is updated, and after a difference was found', async () => {
  await insert({ one: { applied: null }, two: {}, three: {} });
  await schedules.markApplying(await find('one'));
  expect(await schedules.findApplied(['one', 'two', 'missing'])).toEqual(
    new Map([
      ['one', 'unsure'],
      ['two', 'DAILY'],
    ]),
  );
  await schedules.markDirty(['two', 'missing']);
  expect(await find('two')).toMatchObject({ marked: true, version: 2, applied: 'unsure' });
  expect(await find('three')).toMatchObject({ marked: false, version: 1, applied: 'DAILY' });
  // The lease ends when Temporal has the schedule.
  const claimed = (await schedules.claim(LEASE_MS))!;
  expect(await schedules.markApplied(claimed, 'WEEKLY')).toBe(true);
  expect(await find('two')).toMatchObject({ marked: false, claimedUntil: null, applied: 'WEEKLY' });
});

test('rows are listed by id if Temporal has their schedule, and by user', async () => {
  const site = (fileId: number, fields: object = {}) => ({ [scheduleIds.container(fileId)]: { fileId, ...fields } });
  await insert({ a: {}, b: { applied: null }, c: BEN, d: {}, ...site(5), ...site(6, BEN), ...site(7) });
  expect(await schedules.listApplied('', 2)).toEqual(['a', SITE]);
  expect([await schedules.listApplied('aa', 9), await schedules.listApplied('c', 9)]).toEqual([
    ...[[...[5, 6, 7].map(scheduleIds.container), 'c', 'd'], ['d']],
  ]);
  expect((await schedules.listOfUser(BEN, 9)).toSorted()).toEqual(['c', scheduleIds.container(6)].toSorted());
  expect(await schedules.listOfUser(ADA, 1)).toHaveLength(1);
  expect(await schedules.filterScheduledContainers(ADA, [5, 6, 8])).toEqual([5]);
  for (const stranger of STRANGERS.slice(1)) {
    expect(await schedules.filterScheduledContainers(stranger, [5])).toEqual([]);
    expect(await schedules.listOfUser(stranger, 9)).toEqual([]);
  }
  await schedules.remove(['a', SITE]);
  expect((await rows.find().lean()).map(({ _id }) => _id)).not.toContain('a');
  expect(await rows.countDocuments()).toBe(5);
});
