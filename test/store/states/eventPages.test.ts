/** Pages of the feed of events: each event once and in order, for an organization and for each of its end users. */
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import type { Connection } from 'mongoose';

import type { NewEvent } from '../../../contract/events.js';
import { createEvents, type Events, type EventScope, ROWS_PER_ITERATION } from '../../../store/events/events.js';
import type { Intents } from '../../../store/events/intents.js';
import { eventModels } from '../../../store/models/events.js';
import { webhookModels } from '../../../store/models/webhooks.js';
import { dropDatabase, openDatabase, withoutTransaction } from './writes.js';

let connection: Connection;
let events: Events;
let organizationId = 0;
const settled: unknown[] = [];

beforeAll(async () => {
  connection = await openDatabase();
  const intents = { settle: (ids: unknown) => Promise.resolve(void settled.push(ids)) } as unknown as Intents;
  const { webhooks } = webhookModels(connection);
  events = createEvents(eventModels(connection), webhooks, intents, withoutTransaction, 1);
});
afterAll(() => dropDatabase(connection));
beforeEach(() => {
  organizationId += 1;
});

const eventsOf = (from: number, count: number, customerId = 'ada', of = organizationId): NewEvent[] =>
  Array.from({ length: count }, (_, nth) => ({
    ...{ kind: 'FILE_READY' as const, organizationId: of, customerId, objectId: String(from + nth), info: null },
  }));
const range = (first: number, last: number): number[] =>
  Array.from({ length: last - first + 1 }, (_, nth) => first + nth);

/** Reads all pages after a position, as a stream does. @returns the positions of each page */
async function pagesAfter(position: number, scope: EventScope): Promise<number[][]> {
  const upTo = await events.head(organizationId);
  const pages: number[][] = [];
  for (let after = position; after < upTo && pages.length < 20;) {
    const page = await events.page(scope, after, upTo);
    pages.push(page.events.map((event) => event.position));
    after = page.next;
  }
  return pages;
}

test('a page ends after 500 events, and the next one begins with the event after them', async () => {
  for (const from of [1, 301, 601]) {
    await events.write(eventsOf(from, 300), null);
    await events.number();
  }
  expect(await events.head(organizationId)).toBe(900);
  const pages = await pagesAfter(0, { organizationId });
  expect(pages.map(({ length }) => length)).toEqual([500, 400]);
  expect(pages.flat()).toEqual(range(1, 900));
  // From a position within a row.
  expect((await pagesAfter(450, { organizationId })).flat()).toEqual(range(451, 900));
  const found = await events.after(organizationId, 299, 3);
  expect(found.map(({ position, objectId }) => [position, objectId])).toEqual([
    [300, '300'],
    [301, '301'],
    [302, '302'],
  ]);
});

test('a page reads at most 200 writes, also if few of their events belong to its user', async () => {
  for (let nth = 1; nth <= 201; nth += 1) {
    const other = nth === 150 ? 'ben' : 'ada';
    await events.write([...eventsOf(2 * nth - 1, 1), ...eventsOf(2 * nth, 1, other)], null);
  }
  await events.number();
  const all = await pagesAfter(0, { organizationId });
  expect(all.flat()).toEqual(range(1, 402));
  expect(all).toHaveLength(2);
  const ofBen = { organizationId, customerId: 'ben' };
  expect(await pagesAfter(0, ofBen)).toEqual([[300], []]);
  expect((await events.page(ofBen, 0, 402)).next).toBe(400);
  // `next` is the end of the range, 402, so that the next page does not read the same rows again.
  expect(await events.page({ organizationId, customerId: '$ada' }, 400, 402)).toEqual({ events: [], next: 402 });
  expect((await events.page({ organizationId: organizationId + 500 }, 0, 7)).next).toBe(7);
});

test('numbering continues after earlier events of the organization, and wakes only its active webhooks', async () => {
  const { webhooks } = webhookModels(connection);
  const hook = { url: 'u', signingKey: {}, status: 'ACTIVE', cursor: 0, wake: null, wokenAt: new Date(0) };
  const state = { disabledAt: null, deletedAt: null, createdAt: new Date(0), updatedAt: new Date(0), organizationId };
  await webhooks.collection.insertMany([
    { ...hook, ...state, _id: 1 },
    { ...hook, ...state, _id: 2, disabledAt: new Date(0) },
    { ...hook, ...state, _id: 3, deletedAt: new Date(0) },
    { ...hook, ...state, _id: 4, organizationId: organizationId + 500 },
  ] as never);
  await events.write([...eventsOf(1, 2), ...eventsOf(1, 1, 'ada', organizationId + 600)], null);
  expect(await events.number()).toBe(2);
  await events.write(eventsOf(3, 3), null);
  expect([await events.number(), await events.number()]).toEqual([1, 0]);
  expect((await events.after(organizationId, 0, 10)).map(({ position }) => position)).toEqual(range(1, 5));
  expect(await events.head(organizationId + 600)).toBe(1);
  const woken = (await webhooks.find().sort({ _id: 1 }).lean()).map(({ wake, wokenAt }) => [wake, wokenAt]);
  expect(woken).toEqual([[5, null], ...Array.from({ length: 3 }, () => [null, new Date(0)])]);
});

test('writes that exceed the maximum of one numbering call are numbered by the next call', async () => {
  await Promise.all(Array.from({ length: ROWS_PER_ITERATION + 1 }, (_, nth) => events.write(eventsOf(nth, 1), null)));
  expect([await events.number(), await events.number(), await events.number()]).toEqual([ROWS_PER_ITERATION, 1, 0]);
  expect(await events.head(organizationId)).toBe(ROWS_PER_ITERATION + 1);
});

test('settle() of events calls settle() of intents (events not yet published) with the same file ids', async () => {
  await events.settle([7]);
  expect(settled).toEqual([[7]]);
});
