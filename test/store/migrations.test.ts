import { randomUUID } from 'node:crypto';
import mongoose from 'mongoose';
import { afterEach, beforeEach, expect, test } from '@jest/globals';

import { type Migration, refuseNewerSchema, runMigrations, SCHEMA_VERSION } from '../../store/migrations/run.js';
import { testEngines } from '../support/engines.js';

interface MetaRow {
  _id: string;
  version?: number;
  target?: number;
}

let uri: string;
let connection: mongoose.Connection;

beforeEach(async () => {
  const url = new URL(testEngines().mongodbUri);
  url.pathname = `/migrations-${randomUUID().slice(0, 8)}`;
  uri = url.href;
  connection = await mongoose.createConnection(uri).asPromise();
});
afterEach(async () => {
  await connection.dropDatabase();
  await connection.close();
});

const meta = () => connection.collection<MetaRow>('meta');
const schemaRow = () => meta().findOne({ _id: 'schema' });
const setVersion = (version: number) => meta().insertOne({ _id: 'schema', version });

/** Migrations that note what they find of the version, by the version they lead to. */
function noting(...versions: number[]) {
  const ran: unknown[] = [];
  const note: (to: number) => Migration = (to) => async () => {
    const row = await schemaRow();
    ran.push({ to, version: row?.version, target: row?.target });
  };
  return { ran, migrations: Object.fromEntries(versions.map((to) => [to, note(to)])) };
}

test('new data has the version of this code, and no migration runs', async () => {
  const { ran, migrations } = noting(1, 2, 3);
  await runMigrations(connection, 0, { version: 3, migrations });
  expect([ran, await schemaRow()]).toEqual([[], { _id: 'schema', version: 3 }]);
});

test('older data is announced first and brought on version by version, once', async () => {
  await setVersion(2);
  const { ran, migrations } = noting(2, 3, 5);
  for (let start = 0; start < 2; start += 1) await runMigrations(connection, 0, { version: 5, migrations });
  expect(ran).toEqual([
    { to: 3, version: 2, target: 5 },
    { to: 5, version: 4, target: 5 },
  ]);
  expect(await schemaRow()).toEqual({ _id: 'schema', version: 5, target: 5 });
});

test('a migration that fails runs again at the next start, and those before it do not', async () => {
  await setVersion(1);
  const { ran, migrations } = noting(2, 3);
  const failing = { ...migrations, 3: () => Promise.reject(new Error('the disk is full')) };
  await expect(runMigrations(connection, 0, { version: 3, migrations: failing })).rejects.toThrow('the disk is full');
  expect(await schemaRow()).toMatchObject({ version: 2, target: 3 });
  await runMigrations(connection, 0, { version: 3, migrations });
  expect(ran).toMatchObject([{ to: 2 }, { to: 3 }]);
});

test.each([{ version: SCHEMA_VERSION + 1 }, { version: SCHEMA_VERSION, target: SCHEMA_VERSION + 1 }])(
  'data of a newer version (%j) is refused, and left as it is',
  async (row) => {
    await meta().insertOne({ _id: 'schema', ...row });
    await expect(runMigrations(connection, 0)).rejects.toThrow('newer version of Allotrope');
    await expect(refuseNewerSchema(uri)).rejects.toThrow('newer version of Allotrope');
    expect(await schemaRow()).toEqual({ _id: 'schema', ...row });
  },
);
