import mongoose, { type ClientSession, type Connection, type Model } from 'mongoose';

import { type ChunkCommands, createChunkCommands } from './chunks/commands.js';
import { segmentModel } from './chunks/model.js';
import { type ChunkQueries, createChunkQueries } from './chunks/queries.js';
import { type Blobs, createFolderBlobs, type S3Settings } from './contents/blobs.js';
import { type Contents, createContents } from './contents/contents.js';
import { contentModel } from './contents/model.js';
import { type Atomically, createEvents, type Events } from './events/events.js';
import { createIntents } from './events/intents.js';
import { eventModels } from './events/model.js';
import { createFileAcceptance, type FileAcceptance } from './files/accept.js';
import { createFileCommands, type FileCommands } from './files/commands.js';
import { createFileDeletion, type FileDeletion } from './files/deletion.js';
import { fileModel } from './files/model.js';
import { markedFiles } from './files/told.js';
import { createFileQueries, type FileQueries } from './files/queries.js';
import type { HostTurns } from '../contract/hostTurns.js';
import { createHostTurns } from './hostTurns.js';
import { runMigrations } from './migrations/run.js';
import { createOrganizations, type Organizations } from './organizations/accept.js';
import { organizationModels } from './organizations/model.js';
import { runModel } from './runs/model.js';
import { createRuns, type Runs } from './runs/outbox.js';
import { createSecrets, type Secrets } from './secrets.js';
import { createSequence } from './sequence.js';
import { createUsers, type Users } from './users/accept.js';
import { userModel } from './users/model.js';
import { createVectorCache, type VectorCache } from './vectors/cache.js';
import { createVectors, type Vectors } from './vectors/vectors.js';
import { createDeliveries, type Deliveries } from './webhooks/deliveries.js';
import { webhookModels } from './webhooks/model.js';
import { createWebhooks, type Webhooks } from './webhooks/webhooks.js';

export interface StoreSettings {
  readonly mongodbUri: string;
  /** Keys of SECRET_KEY: the first seals secrets, all open them. */
  readonly secretKeys: readonly { readonly id: string; readonly key: Buffer }[];
  readonly qdrant: { readonly url: string; readonly apiKey: string | null; readonly prefix: string };
  readonly files: {
    readonly dir: string;
    readonly s3: S3Settings | null;
    /** Contents up to so many bytes are kept in MongoDB. */
    readonly rowBytes: number;
  };
  /** Days that events and deliveries are kept. */
  readonly eventsKeptDays: number;
}

/** Where things rest: MongoDB, Qdrant and file storage behind one face. */
export interface Store {
  readonly organizations: Organizations;
  readonly users: Users;
  readonly runs: Runs;
  readonly files: FileQueries & FileCommands & FileAcceptance & FileDeletion;
  readonly chunks: ChunkQueries & ChunkCommands;
  readonly vectors: Vectors;
  readonly vectorCache: VectorCache;
  readonly contents: Contents;
  readonly hostTurns: HostTurns;
  readonly secrets: Secrets;
  readonly events: Events;
  readonly webhooks: Webhooks;
  readonly deliveries: Deliveries;
  /** Runs `work` in one MongoDB transaction, again when MongoDB asks for it. */
  readonly transaction: Atomically;
  /** Resolves when MongoDB answers. */
  pingMongo(): Promise<void>;
  close(): Promise<void>;
}

async function transaction<T>(connection: Connection, work: (session: ClientSession) => Promise<T>): Promise<T> {
  return connection.transaction((session) => work(session)) as Promise<T>;
}

/** The bucket's library is large: it is loaded only where a bucket is set. */
async function openS3(settings: S3Settings): Promise<Blobs> {
  const { createS3Blobs } = await import('./contents/s3Blobs.js');
  return createS3Blobs(settings);
}

/** Connects, migrates and makes indexes. @throws when MongoDB can't be reached or its data is from a newer version */
export async function connectStore(settings: StoreSettings): Promise<Store> {
  const connection = await mongoose
    .createConnection(settings.mongodbUri, { autoIndex: false, serverSelectionTimeoutMS: 15_000, maxPoolSize: 50 })
    .asPromise();
  await runMigrations(connection);
  const sequence = createSequence(connection);
  const [files, segments, contents, users, runs] = [
    fileModel(connection),
    segmentModel(connection),
    contentModel(connection),
    userModel(connection),
    runModel(connection),
  ];
  const organizations = organizationModels(connection);
  await Promise.all(
    [files, segments, contents, users, runs, organizations.organizations, organizations.apiKeys].map((model) =>
      model.createIndexes(),
    ),
  );
  const eventRows = eventModels(connection);
  const webhookRows = webhookModels(connection);
  await Promise.all(
    [...Object.values(eventRows), ...Object.values(webhookRows)].map((model: Model<never>) => model.createIndexes()),
  );
  const vectorCache = createVectorCache(connection);
  await vectorCache.createIndexes();
  const hostTurns = createHostTurns(connection);
  await hostTurns.createIndexes();
  const fileQueries = createFileQueries(files);
  const atomically: Atomically = (work) => transaction(connection, work);
  const secrets = createSecrets(settings.secretKeys);
  const { webhooks, deliveries } = webhookRows;
  const intents = createIntents(eventRows.rows, markedFiles(files), settings.eventsKeptDays);
  const events = createEvents(eventRows, webhooks, intents, atomically, settings.eventsKeptDays);
  const blobs = settings.files.s3 ? await openS3(settings.files.s3) : createFolderBlobs(settings.files.dir);
  return {
    organizations: createOrganizations(organizations, sequence),
    users: createUsers(users, sequence),
    runs: createRuns(runs, sequence, atomically, events),
    files: {
      ...fileQueries,
      ...createFileCommands(files, atomically, events, intents),
      ...createFileAcceptance(files, sequence, events, intents),
      ...createFileDeletion(files, atomically, events),
    },
    chunks: { ...createChunkQueries(segments, fileQueries), ...createChunkCommands(segments) },
    contents: createContents(contents, blobs, settings.files.rowBytes),
    vectors: createVectors(settings.qdrant),
    vectorCache,
    hostTurns,
    secrets,
    events,
    webhooks: createWebhooks(webhooks, deliveries, eventRows.feeds, { sequence, secrets, atomically }),
    deliveries: createDeliveries(deliveries, settings.eventsKeptDays),
    transaction: atomically,
    async pingMongo() {
      await connection.db?.admin().ping();
    },
    close: () => connection.close(),
  };
}
