import { setTimeout as sleep } from 'node:timers/promises';
import { type Connection, createConnection } from 'mongoose';

import { StartError } from '../../contract/startError.js';
import { number, optional, type RecordOf, schemaOf, textOf } from '../database/record.js';
import { migrateFieldNames } from './fieldNames.js';
import type { Migration } from './migration.js';

/** Migrations by the version to which each leads. The data of release 0.2.0 has version 1. */
const MIGRATIONS: Readonly<Record<number, Migration>> = { 2: migrateFieldNames };

/** The version of the records that this code reads and writes. */
export const SCHEMA_VERSION = 2;

const META = {
  _id: textOf<'schema'>(),
  version: number,
  /** Version that a migration leads to, written before it begins. */
  target: optional(number),
};

interface MetaDoc extends RecordOf<typeof META> {}

/** Returns the stored version of the records; null before the first start. */
export async function schemaVersionOf(connection: Connection): Promise<number | null> {
  return (await connection.collection<MetaDoc>('meta').findOne({ _id: 'schema' }))?.version ?? null;
}

const newestOf = ({ version, target = 0 }: MetaDoc): number => Math.max(version, target);

/** Returns the version of the records, or of the migration in progress; 0 before the first start. */
export async function newestSchema(connection: Connection): Promise<number> {
  const row = await connection.collection<MetaDoc>('meta').findOne({ _id: 'schema' });
  return row === null ? 0 : newestOf(row);
}

const newerSchema = (version: number): StartError =>
  new StartError(
    `The data is from a newer version of Allotrope (records ${version}, this version reads ${SCHEMA_VERSION}). Start the newer version again, or restore a backup.`,
  );

/**
 * Checks the version of the records and changes nothing.
 * @throws StartError when they are from a newer version
 */
export async function refuseNewerSchema(uri: string): Promise<void> {
  const connection = await createConnection(uri, { autoIndex: false, serverSelectionTimeoutMS: 15_000 }).asPromise();
  try {
    const version = await newestSchema(connection);
    if (version > SCHEMA_VERSION) throw newerSchema(version);
  } finally {
    await connection.close();
  }
}

/**
 * Migrates the records to this version before any process reads them. A migration is announced first, so that running
 * processes of an older version stop writing (schemaWatch.ts).
 * @param graceMs milliseconds between the announcement and the first migration
 * @param to target version and its migrations; only tests pass their own
 * @throws StartError when the data is from a newer version
 */
export async function runMigrations(
  connection: Connection,
  graceMs: number,
  { version: newest, migrations } = { version: SCHEMA_VERSION, migrations: MIGRATIONS },
): Promise<void> {
  const meta = connection.model<MetaDoc>('meta', schemaOf<MetaDoc>(META), 'meta');
  const row = await meta
    .findByIdAndUpdate('schema', { $setOnInsert: { version: newest } }, { upsert: true, returnDocument: 'after' })
    .lean();
  if (newestOf(row) > newest) throw newerSchema(newestOf(row));
  if (row.version < newest) {
    await meta.updateOne({ _id: 'schema' }, { $max: { target: newest } });
    await sleep(graceMs);
  }
  for (let version = row.version + 1; version <= newest; version += 1) {
    await migrations[version]?.(connection);
    await meta.updateOne({ _id: 'schema' }, { $max: { version } });
  }
}
