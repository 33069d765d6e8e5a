import { setTimeout as sleep } from 'node:timers/promises';
import { type Connection, createConnection, Schema } from 'mongoose';

import { StartError } from '../../contract/startError.js';
import { WEB_SOURCES } from '../../contract/sources.js';
import { MAX_ATTACHMENT_DEPTH } from '../../contract/uploads.js';
import { DAY_MS, DEFAULT_HOT_DAYS, MOST_HOT_DAYS } from '../../contract/coldStorage.js';

/**
 * What brings records of the version before to this one. Each may run several times, and at once in several
 * processes: they begin together.
 */
const MIGRATIONS: Readonly<Record<number, (connection: Connection) => Promise<void>>> = {
  // The name of a deleted user can be given to a new one: the unique index of names gives way to one that lets it.
  2: (connection) => dropIndex(connection, 'users', 'organizationId_1_customerId_1'),
  3: beginDays,
  // Two accounts of a user may call two things the same.
  4: async (connection) => {
    await nameAccounts(connection);
    await dropIndex(connection, 'files', 'organizationId_1_userId_1_source_1_externalFileId_1');
  },
  5: async (connection) => {
    await adoptSchedules(connection);
    await adoptSelections(connection);
  },
  // Two indexes became partial under the same name, which MongoDB refuses; no query needs the others.
  6: async (connection) => {
    const tenant = 'organizationId_1_userId_1';
    const replaced = ['tagPairs_1__id_1', 'isContainer_1__id_1', 'syncStatus_1_source_1_numChunks_1'];
    for (const name of [...replaced, 'options.embeddingModel_1_vectorSpace_1_numChunks_1'])
      await dropIndex(connection, 'files', `${tenant}_${name}`);
    for (const name of ['ofSource', `${tenant}__id_1`]) await dropIndex(connection, 'runs', name);
  },
};

/** Files that were sent before there was cold storage: their days begin now. */
async function beginDays(connection: Connection): Promise<void> {
  const days = { $min: [{ $ifNull: ['$hotStorageTimeToLive', DEFAULT_HOT_DAYS] }, MOST_HOT_DAYS] };
  await connection
    .collection('files')
    .updateMany({ supportsColdStorage: true, coolsAt: null }, [
      { $set: { coolsAt: { $add: ['$$NOW', { $multiply: [days, DAY_MS] }] } } },
    ]);
}

/** Files of a data source, and what came out of them, say within which account their external ids are one. */
async function nameAccounts(connection: Connection): Promise<void> {
  const files = connection.collection('files');
  await files.updateMany({ dataSourceId: { $gt: 0 }, accountId: null }, [{ $set: { accountId: '$dataSourceId' } }]);
  // Of the web nothing lies in an account.
  const inside = { parentId: { $gt: 0 }, accountId: null, source: { $nin: [...WEB_SOURCES] } };
  for (let depth = 0; depth < MAX_ATTACHMENT_DEPTH; depth += 1)
    await files
      .aggregate([
        { $match: inside },
        { $lookup: { from: 'files', localField: 'parentId', foreignField: '_id', as: 'parent' } },
        { $project: { accountId: { $first: '$parent.accountId' } } },
        { $match: { accountId: { $gt: 0 } } },
        { $merge: { into: 'files', on: '_id', whenMatched: 'merge', whenNotMatched: 'discard' } },
      ])
      .toArray();
}

/** What was there before anything was synced by itself has its row from now on. */
async function adoptSchedules(connection: Connection): Promise<void> {
  const adopt = async (collection: string, prefix: string, match: object, ids: object): Promise<void> => {
    const _id = { $concat: [prefix, { $toString: '$_id' }] };
    const owner = { organizationId: 1, userId: 1, customerId: 1 };
    const looked = { version: { $literal: 1 }, marked: { $literal: true }, claimedUntil: null, applied: null };
    await connection
      .collection(collection)
      .aggregate([
        { $match: match },
        { $set: { ...looked, ...ids } },
        { $project: { ...owner, dataSourceId: 1, fileId: 1, version: 1, marked: 1, claimedUntil: 1, applied: 1, _id } },
        { $merge: { into: 'schedules', on: '_id', whenMatched: 'keepExisting', whenNotMatched: 'insert' } },
      ])
      .toArray();
  };
  await adopt('dataSources', 'auto-sync:', {}, { dataSourceId: '$_id', fileId: null });
  const isScheduled = { isContainer: true, enableAutoSync: true };
  await adopt('files', 'auto-scrape:', isScheduled, { dataSourceId: null, fileId: '$_id' });
}

/** Of what was selected before, files are all that is known: each was selected by itself. */
async function adoptSelections(connection: Connection): Promise<void> {
  // By it, MongoDB knows what is there already.
  const named = { key: { dataSourceId: 1, externalId: 1 }, name: 'dataSourceId_1_externalId_1', unique: true } as const;
  await connection.collection('selections').createIndexes([named]);
  await connection
    .collection('files')
    .aggregate([
      { $match: { dataSourceId: { $gt: 0 }, isContainer: false, parentId: null } },
      {
        $project: {
          ...{ _id: 0, organizationId: 1, userId: 1, dataSourceId: 1, externalId: '$externalFileId' },
          ...{
            tags: { $literal: {} },
            ingest: '$options',
            optionsKey: { $literal: 'adopted' },
            chosenAt: '$createdAt',
          },
        },
      },
      {
        $merge: {
          into: 'selections',
          on: ['dataSourceId', 'externalId'],
          whenMatched: 'keepExisting',
          whenNotMatched: 'insert',
        },
      },
    ])
    .toArray();
}

/** The version of the records that this code reads and writes. */
export const SCHEMA_VERSION = 6;

const GONE = ['NamespaceNotFound', 'IndexNotFound'];

async function dropIndex(connection: Connection, collection: string, name: string): Promise<void> {
  try {
    await connection.collection(collection).dropIndex(name);
  } catch (error) {
    const codeName = typeof error === 'object' && error !== null && 'codeName' in error ? error.codeName : null;
    if (typeof codeName !== 'string' || !GONE.includes(codeName)) throw error;
  }
}

interface MetaDoc {
  _id: 'schema';
  version: number;
  /** Version that a migration leads to, written before it begins. */
  target?: number;
}

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
 * Brings the records to this version before anything reads them. A migration is announced first, so that running
 * processes of an older version stop writing (schemaWatch.ts).
 * @param graceMs milliseconds between the announcement and the first migration
 * @throws StartError when the data is from a newer version
 */
export async function runMigrations(connection: Connection, graceMs: number): Promise<void> {
  const meta = connection.model<MetaDoc>(
    'meta',
    new Schema<MetaDoc>({ _id: String, version: Number, target: Number }, { versionKey: false }),
    'meta',
  );
  const row = await meta
    .findByIdAndUpdate(
      'schema',
      { $setOnInsert: { version: SCHEMA_VERSION } },
      { upsert: true, returnDocument: 'after' },
    )
    .lean();
  if (newestOf(row) > SCHEMA_VERSION) throw newerSchema(newestOf(row));
  if (row.version < SCHEMA_VERSION) {
    await meta.updateOne({ _id: 'schema' }, { $max: { target: SCHEMA_VERSION } });
    await sleep(graceMs);
  }
  for (let version = row.version + 1; version <= SCHEMA_VERSION; version += 1) {
    await MIGRATIONS[version]?.(connection);
    await meta.updateOne({ _id: 'schema' }, { $max: { version } });
  }
}
