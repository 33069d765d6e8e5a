import mongoose from 'mongoose';

import { type ChunkCommands, createChunkCommands } from './chunks/commands.js';
import { type ChunkQueries, createChunkQueries } from './chunks/queries.js';
import { createTextCache } from './chunks/textCache.js';
import { type ColdCopies, createColdCopies } from './coldStorage/coldCopies.js';
import { type ColdFiles, createColdFiles } from './coldStorage/coldFiles.js';
import { createMoveClaims, type MoveClaims } from './coldStorage/claims.js';
import { createLastUse, type LastUse } from './coldStorage/lastUse.js';
import { createStorageChanges, type StorageChanges } from './coldStorage/modify.js';
import { createMoves, type Moves } from './coldStorage/moves.js';
import { type Connections, createConnections } from './connections/acceptConnection.js';
import { type Attempts, createAttempts } from './connections/attempts.js';
import { type FileStorageSettings, openBlobs } from './contents/openBlobs.js';
import { type Contents, createContents } from './contents/contents.js';
import { readDeploymentId, renewDeploymentId } from './deployment.js';
import { createDataSourceCommands, type DataSourceCommands } from './dataSources/commands.js';
import type { DataSourceDoc } from './models/dataSources.js';
import { createGrants } from './dataSources/grants.js';
import { createDataSourceListings, type DataSourceListings } from './dataSources/listings.js';
import { createDataSourceQueries, type DataSourceQueries } from './dataSources/queries.js';
import { type Atomically, createEvents, type Events } from './events/events.js';
import { createEndedSessions, type EndedSessions } from './endedSessions.js';
import { createIntents } from './events/intents.js';
import { createFileAncestors, type FileAncestors } from './files/ancestors.js';
import { createFileAcceptance, type FileAcceptance } from './files/accept.js';
import { createFileEvaluation, type FileEvaluation } from './files/evaluate.js';
import { createFileCommands, type FileCommands } from './files/commands.js';
import { createFileDeletion, type FileDeletion } from './files/deletion.js';
import { createFoundFiles, type FoundFiles } from './files/found.js';
import { createFileFailures, type FileFailures } from './files/failures.js';
import { createGonePages, type GonePages } from './files/gonePages.js';
import { createFileQueue } from './files/queue.js';
import { createFileChanges, markedFiles } from './files/changes.js';
import type { FilesEnded } from './files/transitions.js';
import { createNewContainers, type NewContainers } from './files/newContainers.js';
import { createFileQueries, type FileQueries } from './files/queries.js';
import { createFileReembedding, type FileReembedding } from './files/reembed.js';
import { rememberWhileUnchanged } from './files/remembered.js';
import { createFileRetry, type FileRetry } from './files/retry.js';
import { createRunProgress, type RunProgress } from './files/runProgress.js';
import { createFileSums, type FileSums } from './files/statistics.js';
import { createFileTags, type FileTags } from './files/tags.js';
import { createFrontier, type Frontier } from './frontier/frontier.js';
import type { GrantStore } from '../contract/accounts/oauth.js';
import { isOAuthSource } from '../contract/accounts/whiteLabel.js';
import type { HostRateLimits } from '../contract/sources/hostRateLimits.js';
import { UPLOAD_SOURCES } from '../contract/files/uploads.js';
import type { Backlog } from '../observability/backlog.js';
import type { Watch } from '../observability/watch.js';
import { createBacklogReader } from './overview/backlog.js';
import { createHostRateLimits } from './hostRateLimits.js';
import { createLimits, type Limits } from './limits.js';
import { createLedgerWriter, type LedgerWriter } from './ledger/ledger.js';
import { createLedgerQueries, type LedgerQueries } from './ledger/queries.js';
import { createLiveItems } from './ledger/live.js';
import { createIdempotency, type Idempotency } from './idempotency.js';
import { runMigrations } from './migrations/run.js';
import { type SchemaWatch, watchSchema } from './migrations/schemaWatch.js';
import { openModels } from './models/openModels.js';
import { createOverview, type Overview } from './overview/overview.js';
import { createOriginals, type Originals } from './originals/originals.js';
import { createTranscripts, type Transcripts } from './originals/transcripts.js';
import { type ApiKeys, createApiKeys } from './organizations/keys.js';
import { createOrganizations, type Organizations } from './organizations/accept.js';
import { createOrganizationRecords, type OrganizationRecords } from './organizations/records.js';
import { createItems, type Items } from './items/items.js';
import { createRunList, type RunList } from './runs/list.js';
import { createHeldRuns, type HeldRuns } from './runs/held.js';
import { createQuarantineClaims, type QuarantineClaims } from './quarantine/claims.js';
import { createQuarantine, type Quarantine } from './quarantine/quarantine.js';
import { createReconciliation, type Reconciliation } from './reconcile/reconcile.js';
import { createRecognizedPages, type RecognizedPages } from './recognizedPages/recognizedPages.js';
import { createRebuilds, type Rebuilds } from './reembeds/rebuilds.js';
import { createReembeds, type Reembeds } from './reembeds/reembeds.js';
import { createRuns, type Runs } from './runs/outbox.js';
import { createPasses, type Passes } from './runs/passes.js';
import { createPauses, type Pauses } from './runs/pauses.js';
import { createStalls, type Stalls } from './runs/stalls.js';
import { createLastErrors, type LastErrors } from './runs/lastErrors.js';
import { createRunRates, type RunRates } from './runs/rates.js';
import { createRunHistory, type RunHistory } from './runs/history.js';
import { createUploadStreams, type UploadStreams } from './runs/uploadStreams.js';
import { createSchedules, type Schedules } from './schedules/schedules.js';
import { checkSecretKey } from './secrets/secretKeyCheck.js';
import { createSecrets, type Secrets } from './secrets/secrets.js';
import { createSelections, type Selections } from './selections/selections.js';
import { createSequence } from './database/sequence.js';
import { createEmbeddingUsages, type EmbeddingUsages } from './usage/embeddingUsage.js';
import { createUserAcceptance, type UserAcceptance } from './users/accept.js';
import { createLiveness } from './users/liveness.js';
import { createUserRecords, type UserRecords } from './users/records.js';
import { timeLimits, transaction } from './database/patience.js';
import { createPointsCensus } from './vectors/census.js';
import { createVectorCache, type VectorCache } from './vectors/cache.js';
import { QDRANT_TIMEOUT_MS } from './vectors/reader.js';
import { createVectors, type Vectors, type VectorSettings } from './vectors/vectors.js';
import { createWorkerRecords, type Workers } from './workers/workers.js';
import { watchCommands } from './database/watchMongo.js';
import { createDeliveries, type Deliveries } from './webhooks/deliveries.js';
import { createWebhooks, type Webhooks } from './webhooks/webhooks.js';
import { createWhiteLabels, type WhiteLabels } from './whiteLabels/records.js';

export interface StoreSettings {
  readonly mongodbUri: string;
  /** Keys of SECRET_KEY: the first seals secrets, all open them. */
  readonly secretKeys: readonly { readonly id: string; readonly key: Buffer }[];
  readonly qdrant: VectorSettings;
  readonly files: FileStorageSettings & {
    /** Contents up to so many bytes are kept in MongoDB. */
    readonly rowBytes: number;
  };
  /** Bytes of memory for texts that searches found. */
  readonly textCacheBytes: number;
  /** Days that events and deliveries are kept. */
  readonly eventsKeptDays: number;
  /** Days for which ended runs are stored, with their ledger. */
  readonly ledgerLifeDays: number;
  /** Files of one user in the queue at most; 0: any number. */
  readonly maxQueuedFiles: number;
  /** Milliseconds between reads of the stored version of the records. */
  readonly schemaCheckMs: number;
  /** Observes calls to MongoDB and Qdrant; unset: calls are not observed. */
  readonly watch?: Watch | null;
  /** Called with the files whose sync this process ends; unset: they are not counted. */
  readonly onFilesEnded?: FilesEnded;
  /** Of the trace in which it is called; null or unset: of none. */
  readonly traceparent?: () => string | null;
  /**
   * Milliseconds after which a call to a store that does not answer fails. For the API, whose callers wait; null or
   * unset: the longer limits of each client, for workers.
   */
  readonly patienceMs?: number | null;
}

/** Where things rest: MongoDB, Qdrant and file storage behind one face. */
export interface Store {
  /** Id of the deployment whose records these are: 8 letters and digits, constant while processes run. */
  readonly deploymentId: string;
  /** Gives the deployment a new id, for processes that start from now on; returns it. */
  renewDeploymentId(): Promise<string>;
  /** Whether the records are from a newer version than this process. */
  readonly schema: SchemaWatch;
  readonly organizations: Organizations & OrganizationRecords;
  readonly apiKeys: ApiKeys;
  readonly users: UserAcceptance & UserRecords;
  readonly runs: Runs & RunList;
  readonly heldRuns: HeldRuns;
  readonly uploadStreams: UploadStreams;
  /** What runs did with their items. */
  readonly ledger: LedgerWriter & LedgerQueries;
  readonly dataSources: DataSourceQueries & DataSourceCommands & DataSourceListings;
  /** What is synced by itself, and when. */
  readonly schedules: Schedules;
  readonly passes: Passes;
  /** Runs with a bound of tokens. */
  readonly pauses: Pauses;
  /** Runs that make no progress although they have due work. */
  readonly stalls: Stalls;
  readonly lastErrors: LastErrors;
  readonly runRates: RunRates;
  /** Ended runs, for operators. */
  readonly runHistory: RunHistory;
  /** What was chosen of accounts, and what was deleted since. */
  readonly selections: Selections;
  /** Connections by consent. */
  readonly attempts: Attempts;
  readonly connections: Connections;
  /** What an account is called with: credentials in clear, or where its grant rests; null once access is revoked. */
  accountCredentials(source: DataSourceDoc): string | GrantStore | null;
  /** What connected accounts hold. */
  readonly items: Items;
  readonly files: FileQueries &
    FoundFiles &
    FileCommands &
    RunProgress &
    FileAcceptance &
    FileDeletion &
    FileSums &
    FileFailures &
    FileTags &
    FileAncestors &
    FileEvaluation &
    GonePages &
    FileReembedding &
    FileRetry;
  /** Scrapes, crawls and feeds of several requests, accepted at once. */
  readonly newContainers: NewContainers;
  readonly reembeds: Reembeds;
  /** Vectors made again from stored chunks, for operators. */
  readonly rebuilds: Rebuilds;
  readonly chunks: ChunkQueries & ChunkCommands;
  readonly vectors: Vectors;
  readonly vectorCache: VectorCache;
  readonly embeddingUsage: EmbeddingUsages;
  readonly contents: Contents;
  readonly coldCopies: ColdCopies;
  readonly moves: Moves & MoveClaims & StorageChanges;
  /** Files that vanished at their source and may be restored. */
  readonly quarantine: Quarantine & QuarantineClaims;
  readonly coldFiles: ColdFiles;
  readonly lastUse: LastUse;
  readonly originals: Originals;
  readonly recognizedPages: RecognizedPages;
  readonly transcripts: Transcripts;
  readonly hostRateLimits: HostRateLimits;
  readonly limits: Limits;
  readonly frontier: Frontier;
  readonly idempotency: Idempotency;
  readonly secrets: Secrets;
  readonly whiteLabels: WhiteLabels;
  readonly overview: Overview;
  readonly endedSessions: EndedSessions;
  /** Heartbeats of the worker processes. */
  readonly workers: Workers;
  readonly events: Events;
  readonly webhooks: Webhooks;
  readonly deliveries: Deliveries;
  /** The full comparison of records with the contents of all stores. */
  readonly reconciliation: Reconciliation;
  /** How the work of the whole service stands. Takes longer the more files there are. */
  backlog(): Promise<Backlog>;
  /** Runs `work` in one MongoDB transaction, again when MongoDB asks for it. */
  readonly transaction: Atomically;
  /** Resolves when MongoDB answers. */
  pingMongo(): Promise<void>;
  close(): Promise<void>;
}

/** Reads of the version that an older process gets before a migration begins. */
const MIGRATION_GRACE = 2;

/** Connects, migrates and makes indexes. @throws when MongoDB can't be reached or its data is from a newer version */
export async function connectStore(settings: StoreSettings): Promise<Store> {
  const { watch = null, patienceMs = null, onFilesEnded = () => undefined } = settings;
  const connection = await mongoose
    .createConnection(settings.mongodbUri, {
      autoIndex: false,
      maxPoolSize: 50,
      monitorCommands: watch !== null,
      ...timeLimits(patienceMs),
    })
    .asPromise();
  if (watch) watchCommands(connection, watch);
  const closing = async (error: unknown): Promise<never> => {
    // An open connection would keep a command line from ending.
    await connection.close();
    throw error;
  };
  await runMigrations(connection, MIGRATION_GRACE * settings.schemaCheckMs).catch(closing);
  const secrets = createSecrets(settings.secretKeys);
  await checkSecretKey(connection, secrets).catch(closing);
  const schema = watchSchema(connection, settings.schemaCheckMs);
  const deploymentId = await readDeploymentId(connection);
  const sequence = createSequence(connection);
  const models = await openModels(connection);
  const { files, segments, users, runs, dataSources, organizations, events: eventRows } = models;
  const vectorCache = createVectorCache(connection);
  await vectorCache.createIndexes();
  const embeddingUsage = createEmbeddingUsages(connection);
  await embeddingUsage.createIndexes();
  const hostRateLimits = createHostRateLimits(connection);
  await hostRateLimits.createIndexes();
  const endedSessions = createEndedSessions(connection);
  await endedSessions.createIndexes();
  const workers = createWorkerRecords(connection);
  await workers.createIndexes();
  const stalls = createStalls(runs, files);
  const idempotency = createIdempotency(connection, secrets);
  await idempotency.createIndexes();
  const remember = rememberWhileUnchanged(files, users);
  const fileQueries = createFileQueries(files, remember);
  const atomically: Atomically = (work) => transaction(connection, work, patienceMs);
  const { webhooks, deliveries } = models.webhooks;
  const intents = createIntents(eventRows.rows, markedFiles(files), settings.eventsKeptDays);
  const events = createEvents(eventRows, webhooks, intents, atomically, settings.eventsKeptDays);
  const queue = createFileQueue((whose, limit, onlySent = false) => {
    const sent = onlySent ? { parentId: null, source: { $in: [...UPLOAD_SOURCES] } } : {};
    return files
      .countDocuments({ ...whose, ...sent, syncStatus: 'QUEUED_FOR_SYNC' })
      .limit(limit)
      .exec();
  }, settings.maxQueuedFiles);
  const vectors = createVectors(settings.qdrant, watch, patienceMs ?? QDRANT_TIMEOUT_MS);
  const points = createPointsCensus(settings.qdrant);
  const lastUse = createLastUse(files);
  const dataSourceQueries = createDataSourceQueries(dataSources, secrets);
  const grants = createGrants(dataSources, secrets);
  const whiteLabelRecords = createWhiteLabels(models.whiteLabels, sequence, secrets);
  const live = createLiveItems(files, models.reembeds);
  const ledger = createLedgerWriter(models.ledger, files, runs, live, settings.ledgerLifeDays);
  const runCommands = createRuns({
    ...{ runs, sequence, atomically, events, ledger },
    traceparent: settings.traceparent,
  });
  const schedules = createSchedules({
    schedules: models.schedules,
    dataSources,
    files,
    users,
    organizations: organizations.organizations,
  });
  const dataSourceCommands = createDataSourceCommands(dataSources, sequence, events, secrets, schedules);
  const selections = createSelections(models);
  const liveness = createLiveness();
  const blobs = await openBlobs(settings.files, patienceMs);
  const fileChanges = createFileChanges(files, atomically, events, intents, onFilesEnded);
  const fileCommands = createFileCommands(files, fileChanges);
  const fileSums = createFileSums(files, remember);
  const chunks = {
    ...createChunkQueries(segments, fileQueries, createTextCache(settings.textCacheBytes)),
    ...createChunkCommands(segments),
  };
  const originals = createOriginals(models.originals, blobs, sequence, settings.files.rowBytes);
  return {
    deploymentId,
    renewDeploymentId: () => renewDeploymentId(connection),
    schema,
    organizations: {
      ...createOrganizations(organizations, sequence),
      ...createOrganizationRecords(organizations.organizations),
    },
    apiKeys: createApiKeys(organizations, sequence, atomically),
    users: { ...createUserAcceptance(users, sequence, liveness), ...createUserRecords(users, liveness) },
    runs: {
      ...runCommands,
      ...createRunList(runs, models.ledger, async (scope, fileId) => {
        const file = await files.findOne({ ...scope, _id: fileId }, { runId: 1 }).lean();
        return file?.runId ?? null;
      }),
    },
    ledger: { ...ledger, ...createLedgerQueries(models.ledger, runs, live) },
    uploadStreams: createUploadStreams({
      ...{ runs, files, atomically, events, ledger },
      finishOne: ({ _id }, counts) => runCommands.finish(_id, 'finished', counts),
    }),
    heldRuns: createHeldRuns(runs, files, queue, atomically),
    dataSources: {
      ...dataSourceQueries,
      ...dataSourceCommands,
      ...createDataSourceListings(dataSources, events, atomically),
    },
    schedules,
    passes: createPasses(runs),
    pauses: createPauses(runs),
    stalls,
    lastErrors: createLastErrors(runs),
    runRates: createRunRates(runs),
    runHistory: createRunHistory(runs),
    selections,
    attempts: createAttempts(models.attempts, secrets),
    connections: createConnections(dataSourceCommands, runCommands, selections),
    accountCredentials(source) {
      const { type, organizationId, sealedCredentials } = source;
      if (!isOAuthSource(type)) return dataSourceQueries.credentialsOf(source);
      return sealedCredentials === null
        ? null
        : grants.keeperOf(source, () => whiteLabelRecords.client(organizationId, type));
    },
    items: createItems(models.items, files, sequence),
    files: {
      ...fileQueries,
      ...createFoundFiles(files),
      ...fileCommands,
      ...createFileEvaluation(files, fileChanges),
      ...createGonePages(files),
      ...createRunProgress(files),
      ...createFileAcceptance({ files, sequence, events, intents, queue, deleted: selections, ledger }),
      ...createFileDeletion({ files, users, queries: fileQueries, atomically, events, ledger }),
      ...fileSums,
      ...createFileFailures(files),
      ...createFileTags(files),
      ...createFileReembedding(files, fileQueries),
      ...createFileRetry(files, ledger),
      ...createFileAncestors(files),
    },
    newContainers: createNewContainers(files, runs, events, atomically),
    reembeds: createReembeds(models.reembeds),
    chunks,
    contents: createContents(models.contents, blobs, settings.files.rowBytes),
    coldCopies: createColdCopies(blobs),
    moves: {
      ...createMoves(files, atomically, events),
      ...createMoveClaims(files, runs, fileQueries),
      ...createStorageChanges(files, events, fileQueries),
    },
    quarantine: {
      ...createQuarantine(models.quarantined, files, users, atomically, events),
      ...createQuarantineClaims(models.quarantined, runs),
    },
    coldFiles: createColdFiles(files, fileQueries),
    lastUse,
    originals,
    recognizedPages: createRecognizedPages(models.recognizedPages),
    transcripts: createTranscripts(models.originals),
    vectors,
    reconciliation: createReconciliation({
      ...{ models, blobs, vectors, chunks, originals, files: fileCommands, sums: fileSums },
      points,
    }),
    rebuilds: createRebuilds({
      ...{ files, users, runs, reembeds: models.reembeds, points, outbox: runCommands, atomically },
    }),
    vectorCache,
    embeddingUsage,
    hostRateLimits,
    limits: createLimits({
      users,
      organizations: organizations.organizations,
      files,
      queue,
      transaction: atomically,
    }),
    frontier: createFrontier(models.crawlPages),
    idempotency,
    secrets,
    whiteLabels: whiteLabelRecords,
    endedSessions,
    workers,
    overview: createOverview({
      ...{ dataSources, schedules: models.schedules, runs, files, users, vectors },
      quarantined: models.quarantined,
    }),
    events,
    webhooks: createWebhooks(webhooks, deliveries, eventRows.feeds, { sequence, secrets }),
    deliveries: createDeliveries(deliveries, settings.eventsKeptDays),
    backlog: createBacklogReader({ files, runs, events: eventRows.rows, webhooks, stalls, workers }),
    transaction: atomically,
    async pingMongo() {
      await connection.db?.admin().ping();
    },
    async close() {
      schema.stop();
      // Unsaved counts must not delay the exit.
      await Promise.all([embeddingUsage, lastUse].map((one) => one.flush().catch(() => undefined)));
      await connection.close();
    },
  };
}
