/** Deliveries of webhooks: which are listed, recorded and sent again, and how many webhooks an organization may have. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Connection, Model } from 'mongoose';

import type { NumberedEvent } from '../../../contract/events.js';
import { MAX_WEBHOOKS } from '../../../contract/webhooks.js';
import { createSequence } from '../../../store/database/sequence.js';
import { eventModels } from '../../../store/models/events.js';
import { type DeliveryDoc, webhookModels } from '../../../store/models/webhooks.js';
import { createSecrets } from '../../../store/secrets/secrets.js';
import { createDeliveries, type Deliveries, type DeliveryOutcome } from '../../../store/webhooks/deliveries.js';
import { createWebhooks } from '../../../store/webhooks/webhooks.js';
import { AHEAD, dropDatabase, openDatabase } from './writes.js';

const HOOK = { _id: 5, organizationId: 1 };
const KEPT_DAYS = 3;
const DAY_MS = 24 * 3_600_000;

let connection: Connection;
let rows: Model<DeliveryDoc>;
let deliveries: Deliveries;
beforeAll(async () => {
  connection = await openDatabase();
  rows = webhookModels(connection).deliveries;
  deliveries = createDeliveries(rows, KEPT_DAYS);
});
afterAll(() => dropDatabase(connection));

const outcomeAt = (position: number, fields: Partial<DeliveryOutcome> = {}): DeliveryOutcome => ({
  event: {
    ...{ position, kind: 'FILE_READY', customerId: 'ada', objectId: `f${position}`, info: null },
    at: new Date(0),
  } as NumberedEvent,
  ...{ status: 'PENDING', tries: 0, nextTryAt: null, attempt: null },
  ...fields,
});
const attempt = (ms: number) => ({ at: new Date(ms), ms, statusCode: 500, error: 'failed' });
const positions = (found: readonly DeliveryDoc[]): number[] => found.map(({ position }) => position);

test('list() returns deliveries of a webhook, the latest event first; listPending() the earliest first', async () => {
  const failed = { status: 'FAILED', tries: 2 } as const;
  const delivered = { status: 'DELIVERED' } as const;
  await deliveries.record(HOOK, [
    ...[outcomeAt(3), outcomeAt(1), outcomeAt(2, failed)],
    ...[outcomeAt(4, delivered), outcomeAt(5, failed)],
  ]);
  await deliveries.record({ ...HOOK, _id: 6 }, [outcomeAt(1), outcomeAt(9, failed)]);
  expect(positions(await deliveries.listPending(5))).toEqual([1, 3]);
  const page = { limit: 2, offset: 1 };
  expect(positions(await deliveries.list(5, page))).toEqual([4, 3]);
  expect(positions(await deliveries.list(5, { limit: 9, offset: 0 }, 'FAILED'))).toEqual([5, 2]);
  expect([await deliveries.count(5), await deliveries.count(5, 'FAILED'), await deliveries.count(6)]).toEqual([
    5, 2, 2,
  ]);
  expect((await deliveries.filterDelivered(5, [2, 4, 9])).toSorted((a, b) => a - b)).toEqual([2, 4]);
  expect(await deliveries.filterDelivered(5, [])).toEqual([]);
  // Only ended deliveries are queued again: those with the given positions, or all that failed.
  expect(await deliveries.requeue(5, [1, 4, 9])).toBe(1);
  expect(await deliveries.requeue(5, null)).toBe(2);
  expect(await deliveries.requeue(5, null)).toBe(0);
  expect(await deliveries.count(5, 'PENDING')).toBe(5);
  expect(await rows.findById('5:2').lean()).toMatchObject({ tries: 0, nextTryAt: null, expiresAt: null });
  expect(await deliveries.count(6, 'FAILED')).toBe(1);
});

test('a delivery keeps its event and its last 50 attempts, and its days of retention begin when it ends', async () => {
  const retried = { tries: 1, nextTryAt: AHEAD } as const;
  await deliveries.record(HOOK, [outcomeAt(20)]);
  expect(await rows.findById('5:20').lean()).toMatchObject({ attempts: [], expiresAt: null, objects: ['FILE:f20'] });
  for (let ms = 1; ms <= 51; ms += 1)
    await deliveries.record(HOOK, [outcomeAt(20, { ...retried, attempt: attempt(ms) })]);
  const pending = await rows.findById('5:20').lean();
  expect(pending).toMatchObject({ ...retried, status: 'PENDING', organizationId: 1, event: { objectId: 'f20' } });
  expect(pending!.attempts.map(({ ms }) => ms)).toEqual(Array.from({ length: 50 }, (_, nth) => nth + 2));
  const before = Date.now();
  await deliveries.record(HOOK, [outcomeAt(20, { status: 'DELIVERED', tries: 1 })]);
  const ended = await rows.findById('5:20').lean();
  expect(ended!.attempts).toHaveLength(50);
  expect(ended!.expiresAt!.getTime()).toBeGreaterThanOrEqual(before + KEPT_DAYS * DAY_MS);
  expect(ended!.expiresAt!.getTime()).toBeLessThanOrEqual(Date.now() + KEPT_DAYS * DAY_MS);
});

test('one request sends at most 1,000 deliveries again, the oldest first', async () => {
  const failed = Array.from({ length: 1_001 }, (_, nth) => outcomeAt(nth + 1, { status: 'FAILED' }));
  await deliveries.record({ ...HOOK, _id: 7 }, failed.toReversed());
  expect(await deliveries.requeue(7, null)).toBe(1_000);
  expect(positions(await deliveries.list(7, { limit: 5, offset: 0 }, 'FAILED'))).toEqual([1_001]);
});

test('an organization has at most three webhooks, each of which begins after the last event', async () => {
  const { webhooks: hooks } = webhookModels(connection);
  const { feeds } = eventModels(connection);
  const secrets = createSecrets([{ id: 'k1', key: Buffer.alloc(32, 1) }]);
  const webhooks = createWebhooks(hooks, rows, feeds, { sequence: createSequence(connection), secrets });
  const add = (organizationId: number, url: string) =>
    webhooks.add(organizationId, url, `key of ${url}`, null as never);
  await feeds.create({ _id: 1, last: 42, webhooksAdded: 0 });
  const added = [];
  for (let nth = 1; nth <= MAX_WEBHOOKS; nth += 1) added.push(await add(1, `u${nth}`));
  expect(added).toMatchObject([{ url: 'u1', cursor: 42 }, { url: 'u2' }, { url: 'u3', wake: null, status: 'ACTIVE' }]);
  expect(await add(1, 'u4')).toBeNull();
  expect(await add(2, 'other')).toMatchObject({ cursor: 0 });
  // A deleted webhook does not count.
  const [first, second] = added.map((hook) => hook!._id);
  expect(await webhooks.remove(1, first!)).toBe(true);
  expect([await webhooks.findInOrganization(1, first!), await webhooks.findInOrganization(2, second!)]).toEqual([
    ...[null, null],
  ]);
  const again = await add(1, 'u5');
  expect(again).not.toBeNull();
  expect(webhooks.signingKeyOf((await webhooks.find(again!._id))!)).toBe('key of u5');
  expect([
    await webhooks.count(1, [], 0),
    await webhooks.count(1, [second!], 0),
    await webhooks.count(1, [], second!),
  ]).toEqual([...[3, 1, 2]]);
  // The erasure of a webhook deletes its deliveries, and no others.
  await deliveries.record({ _id: first!, organizationId: 1 }, [outcomeAt(1)]);
  const others = await rows.countDocuments({ webhookId: { $ne: first! } });
  await webhooks.erase(first!);
  expect([await webhooks.find(first!), await rows.countDocuments()]).toEqual([null, others]);
});
