/** Checks which states of a record a write changes. */
import { randomUUID } from 'node:crypto';
import { expect } from '@jest/globals';
import mongoose, { type Connection, type Model } from 'mongoose';

import { testEngines } from '../../support/engines.js';
import { everyRow } from '../../support/everyRow.js';

export const ADA = { organizationId: 1, userId: 7, customerId: 'ada' };
/** Tenants that share the organization, or the user id, with ADA. */
export const STRANGERS = [
  { ...ADA, userId: 8 },
  { ...ADA, organizationId: 2 },
];
const HOUR_MS = 3_600_000;
/** Times around now, because MongoDB deletes rows that have expired. */
export const NOW = new Date();
export const [AGO, AHEAD] = [new Date(NOW.getTime() - HOUR_MS), new Date(NOW.getTime() + HOUR_MS)] as const;

/** Runs work without a transaction. */
export const withoutTransaction = (<T>(work: (session: null) => Promise<T>): Promise<T> => work(null)) as never;
export const sorted = (names: string): string[] => names.split(' ').filter(Boolean).toSorted();

/** Opens a database of its own. The caller creates the models, and the indexes that its queries name. */
export const openDatabase = (): Promise<Connection> =>
  mongoose.createConnection(testEngines().mongodbUri, { dbName: `states-${randomUUID()}` }).asPromise();
export async function dropDatabase(connection: Connection): Promise<void> {
  await connection.dropDatabase();
  await connection.close();
}

interface Numbered {
  readonly _id: number;
}

/** Reads all rows of a collection, as text by id. */
export const readRows = async <Row>(model: Model<Row>): Promise<ReadonlyMap<number, string>> =>
  new Map((await model.find().lean<(Row & Numbered)[]>()).map((row) => [row._id, JSON.stringify(row)]));

/**
 * Calls a write once for each row and returns the names of the rows that it changed. A write that returns a boolean must
 * return whether it changed the row. No call may change another row.
 * @param ids the rows by name
 */
export async function changedBy<Row>(
  model: Model<Row>,
  ids: ReadonlyMap<string, number>,
  call: (id: number, row: Row & Numbered) => Promise<unknown>,
): Promise<string[]> {
  const changes: string[] = [];
  const rows = new Map((await model.find().lean<(Row & Numbered)[]>()).map((row) => [row._id, row]));
  let before = await readRows(model);
  for (const [name, id] of ids) {
    const result = await call(id, rows.get(id)!);
    const after = await readRows(model);
    const isChanged = after.get(id) !== before.get(id);
    if (isChanged) changes.push(name);
    if (typeof result === 'boolean') expect([name, result]).toEqual([name, isChanged]);
    for (const [other, text] of before) if (other !== id) expect(after.get(other)).toBe(text);
    before = after;
  }
  return changes;
}

/** Calls a write once for each row, and checks that no row has changed. */
export async function expectNoChange<Row>(
  model: Model<Row>,
  call: (id: number, row: Row & Numbered) => Promise<unknown>,
): Promise<void> {
  const rows = await model.find().lean<(Row & Numbered)[]>();
  const before = await readRows(model);
  for (const row of rows) await call(row._id, row);
  expect(await readRows(model)).toEqual(before);
}

let lastId = 0;
/** Replaces the rows of a collection by one in each state, and returns their ids by state. */
export async function seed<Row>(
  model: Model<Row>,
  common: (id: number) => object,
  states: Readonly<Record<string, object>>,
): Promise<ReadonlyMap<string, number>> {
  await model.deleteMany({});
  const ids = new Map(Object.keys(states).map((name) => [name, (lastId += 1)]));
  await model.collection.insertMany([...ids].map(([name, _id]) => ({ ...common(_id), ...states[name], _id })) as never);
  return ids;
}

export type Write<Row> = readonly [
  name: string,
  call: (id: number, row: Row & Numbered, tenant: typeof ADA) => Promise<unknown>,
  /** The states that it changes. */
  changed: string,
  /** Whether the write is limited to the tenant that it receives; other writes are limited to a run or a record. */
  isOfTenant?: 'tenant',
];

/** Checks each write for the owner and, if it receives the tenant, for strangers, for whom it changes nothing. */
export async function checkWrites<Row>(
  model: Model<Row>,
  fresh: () => Promise<ReadonlyMap<string, number>>,
  writes: readonly Write<Row>[],
): Promise<void> {
  await everyRow(
    writes,
    ([name]) => name,
    async ([, call, changed, isOfTenant]) => {
      expect((await changedBy(model, await fresh(), (id, row) => call(id, row, ADA))).toSorted()).toEqual(
        sorted(changed),
      );
      if (!isOfTenant) return;
      await fresh();
      for (const stranger of STRANGERS) await expectNoChange(model, (id, row) => call(id, row, stranger));
    },
  );
}
