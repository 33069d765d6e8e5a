import { randomUUID } from 'node:crypto';
import mongoose from 'mongoose';
import { afterEach, beforeEach, expect, test } from '@jest/globals';

import type { Migration } from '../../store/migrations/migration.js';
import { refuseNewerSchema, runMigrations, SCHEMA_VERSION } from '../../store/migrations/run.js';
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

/** Returns migrations by target version, which record the versions that they find. */
function recordingMigrations(...versions: number[]) {
  const ran: unknown[] = [];
  const note: (to: number) => Migration = (to) => async () => {
    const row = await schemaRow();
    ran.push({ to, version: row?.version, target: row?.target });
  };
  return { ran, migrations: Object.fromEntries(versions.map((to) => [to, note(to)])) };
}

test('new data gets the version of this code, and no migration runs', async () => {
  const { ran, migrations } = recordingMigrations(1, 2, 3);
  await runMigrations(connection, 0, { version: 3, migrations });
  expect([ran, await schemaRow()]).toEqual([[], { _id: 'schema', version: 3 }]);
});

test('older data is first marked with the target version, then migrated version by version, each once', async () => {
  await setVersion(2);
  const { ran, migrations } = recordingMigrations(2, 3, 5);
  for (let start = 0; start < 2; start += 1) await runMigrations(connection, 0, { version: 5, migrations });
  expect(ran).toEqual([
    { to: 3, version: 2, target: 5 },
    { to: 5, version: 4, target: 5 },
  ]);
  expect(await schemaRow()).toEqual({ _id: 'schema', version: 5, target: 5 });
});

test('a failed migration runs again at the next start, and earlier ones do not', async () => {
  await setVersion(1);
  const { ran, migrations } = recordingMigrations(2, 3);
  const failing = { ...migrations, 3: () => Promise.reject(new Error('the disk is full')) };
  await expect(runMigrations(connection, 0, { version: 3, migrations: failing })).rejects.toThrow('the disk is full');
  expect(await schemaRow()).toMatchObject({ version: 2, target: 3 });
  await runMigrations(connection, 0, { version: 3, migrations });
  expect(ran).toMatchObject([{ to: 2 }, { to: 3 }]);
});

test.each([{ version: SCHEMA_VERSION + 1 }, { version: SCHEMA_VERSION, target: SCHEMA_VERSION + 1 }])(
  'refuses data of a newer version (%j) without changing it',
  async (row) => {
    await meta().insertOne({ _id: 'schema', ...row });
    await expect(runMigrations(connection, 0)).rejects.toThrow('newer version of Allotrope');
    await expect(refuseNewerSchema(uri)).rejects.toThrow('newer version of Allotrope');
    expect(await schemaRow()).toEqual({ _id: 'schema', ...row });
  },
);
