import type { GrantStore } from '../contract/accounts/oauth.js';
import type { HostRateLimits } from '../contract/sources/hostRateLimits.js';
import type { Backlog } from '../observability/backlog.js';
import { type ChunkCommands, createChunkCommands } from './chunks/commands.js';
import { type ChunkQueries, createChunkQueries } from './chunks/queries.js';
import { createTextCache } from './chunks/textCache.js';
import type { MoveClaims } from './coldStorage/claims.js';
import type { ColdCopies } from './coldStorage/coldCopies.js';
import type { ColdFiles } from './coldStorage/coldFiles.js';
import type { LastUse } from './coldStorage/lastUse.js';
import type { StorageChanges } from './coldStorage/modify.js';
import type { Moves } from './coldStorage/moves.js';
import type { Connections } from './connections/acceptConnection.js';
import type { Attempts } from './connections/attempts.js';
import type { Contents } from './contents/contents.js';
import type { DataSourceCommands } from './dataSources/commands.js';
import type { DataSourceListings } from './dataSources/listings.js';
import type { DataSourceQueries } from './dataSources/queries.js';
import { readDeploymentId, renewDeploymentId } from './deployment.js';
import type { EndedSessions } from './endedSessions.js';
import type { Atomically, Events } from './events/events.js';
import type { FileAcceptance } from './files/accept.js';
import type { FileAncestors } from './files/ancestors.js';
import type { FileCommands } from './files/commands.js';
import type { FileDeletion } from './files/deletion.js';
import type { FileEvaluation } from './files/evaluate.js';
import type { FileFailures } from './files/failures.js';
import type { HitFiles } from './files/hitFiles.js';
import type { MissingPages } from './files/missingPages.js';
import { createNewContainers, type NewContainers } from './files/newContainers.js';
import type { FileQueries } from './files/queries.js';
import type { FileReembedding } from './files/reembed.js';
import type { FileRetry } from './files/retry.js';
import type { RunProgress } from './files/runProgress.js';
import type { FileSums } from './files/statistics.js';
import type { FileTags } from './files/tags.js';
import { createFrontier, type Frontier } from './frontier/frontier.js';
import type { Idempotency } from './idempotency.js';
import type { Items } from './items/items.js';
import type { LedgerWriter } from './ledger/ledger.js';
import type { LedgerQueries } from './ledger/queries.js';
import { createLimits, type Limits } from './limits.js';
import { type SchemaWatch, watchSchema } from './migrations/schemaWatch.js';
import type { DataSourceDoc } from './models/dataSources.js';
import type { Organizations } from './organizations/accept.js';
import type { ApiKeys } from './organizations/keys.js';
import type { OrganizationRecords } from './organizations/records.js';
import type { Originals } from './originals/originals.js';
import type { Transcripts } from './originals/transcripts.js';
import { createBacklogReader } from './overview/backlog.js';
import { createOverview, type Overview } from './overview/overview.js';
import type { QuarantineClaims } from './quarantine/claims.js';
import type { Quarantine } from './quarantine/quarantine.js';
import type { RecognizedPages } from './recognizedPages/recognizedPages.js';
import { createReconciliation, type Reconciliation } from './reconcile/reconcile.js';
import { createRebuilds, type Rebuilds } from './reembeds/rebuilds.js';
import { createReembeds, type Reembeds } from './reembeds/reembeds.js';
import type { HeldRuns } from './runs/held.js';
import type { RunHistory } from './runs/history.js';
import type { LastErrors } from './runs/lastErrors.js';
import type { RunList } from './runs/list.js';
import type { Runs } from './runs/outbox.js';
import type { ScheduledSyncs } from './runs/scheduledSyncs.js';
import type { Pauses } from './runs/pauses.js';
import type { RunRates } from './runs/rates.js';
import type { Stalls } from './runs/stalls.js';
import type { UploadStreams } from './runs/uploadStreams.js';
import type { Schedules } from './schedules/schedules.js';
import type { Secrets } from './secrets/secrets.js';
import type { Selections } from './selections/selections.js';
import type { SiteBlocks } from './siteBlocks/siteBlocks.js';
import type { EmbeddingUsages } from './usage/embeddingUsage.js';
import type { UserAcceptance } from './users/accept.js';
import type { UserRecords } from './users/records.js';
import type { VectorCache } from './vectors/cache.js';
import { createPointsCensus } from './vectors/census.js';
import { QDRANT_TIMEOUT_MS } from './vectors/reader.js';
import { createVectors, type Vectors } from './vectors/vectors.js';
import { createDeliveries, type Deliveries } from './webhooks/deliveries.js';
import { createWebhooks, type Webhooks } from './webhooks/webhooks.js';
import type { WhiteLabels } from './whiteLabels/records.js';
import type { Workers } from './workers/workers.js';
import { openBase } from './openBase.js';
import { openMongo } from './openMongo.js';
import {
  accountRecords,
  contentRecords,
  organizationRecords,
  fileRecords,
  openIndependentCollections,
  runRecords,
} from './records.js';
import type { StoreSettings } from './storeSettings.js';

/** All stored data: MongoDB, Qdrant and file storage behind one interface. */
export interface Store {
  /** Id of the deployment that owns the records: 8 letters and digits, constant while processes run. */
  readonly deploymentId: string;
  /** Sets and returns a new id of the deployment. Processes that start afterwards use it. */
  renewDeploymentId(): Promise<string>;
  /** Whether the records are from a newer version than this process. */
  readonly schema: SchemaWatch;
  readonly organizations: Organizations & OrganizationRecords;
  readonly apiKeys: ApiKeys;
  readonly users: UserAcceptance & UserRecords;
  readonly runs: Runs & RunList;
  readonly heldRuns: HeldRuns;
  readonly uploadStreams: UploadStreams;
  /** The result of each item of each run. */
  readonly ledger: LedgerWriter & LedgerQueries;
  readonly dataSources: DataSourceQueries & DataSourceCommands & DataSourceListings;
  /** Automatic syncs and their intervals. */
  readonly schedules: Schedules;
  readonly scheduledSyncs: ScheduledSyncs;
  /** Tokens that runs with a token limit have used, and the pauses of runs that reached it. */
  readonly pauses: Pauses;
  /** Runs that make no progress although they have due work. */
  readonly stalls: Stalls;
  readonly lastErrors: LastErrors;
  readonly runRates: RunRates;
  /** The latest runs of a data source, active and ended. */
  readonly runHistory: RunHistory;
  /** Items that scheduled syncs add, and files that they skip because a caller deleted them. */
  readonly selections: Selections;
  /** Connections that wait for a user's consent (OAuth). */
  readonly attempts: Attempts;
  readonly connections: Connections;
  /** Returns the decrypted credentials of an account, or the store of its OAuth grant; null if access is revoked. */
  accountCredentials(source: DataSourceDoc): string | GrantStore | null;
  /** Listed items of connected accounts. */
  readonly items: Items;
  readonly files: FileQueries &
    HitFiles &
    FileCommands &
    RunProgress &
    FileAcceptance &
    FileDeletion &
    FileSums &
    FileFailures &
    FileTags &
    FileAncestors &
    FileEvaluation &
    MissingPages &
    FileReembedding &
    FileRetry;
  /** Accepts new scrapes, crawls and feeds of concurrent requests together, in one transaction. */
  readonly newContainers: NewContainers;
  readonly reembeds: Reembeds;
  /** Rebuilds of vectors from stored chunks, for operators. */
  readonly rebuilds: Rebuilds;
  readonly chunks: ChunkQueries & ChunkCommands;
  readonly vectors: Vectors;
  readonly vectorCache: VectorCache;
  readonly embeddingUsage: EmbeddingUsages;
  readonly contents: Contents;
  readonly coldCopies: ColdCopies;
  readonly moves: Moves & MoveClaims & StorageChanges;
  /** Files that were deleted at their source and can be restored. */
  readonly quarantine: Quarantine & QuarantineClaims;
  readonly coldFiles: ColdFiles;
  readonly lastUse: LastUse;
  readonly originals: Originals;
  readonly recognizedPages: RecognizedPages;
  readonly siteBlocks: SiteBlocks;
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
  /** Counts the pending work of the whole service. The time grows with the number of files. */
  backlog(): Promise<Backlog>;
  /** Runs `work` in a MongoDB transaction, and repeats it if MongoDB asks for that. */
  readonly transaction: Atomically;
  /** Resolves if MongoDB answers. */
  pingMongo(): Promise<void>;
  close(): Promise<void>;
}

/** Connects, migrates and creates indexes. @throws if MongoDB cannot be reached or its data is from a newer version */
export async function connectStore(settings: StoreSettings): Promise<Store> {
  const { watch = null, timeLimitMs = null } = settings;
  const mongo = await openMongo(settings);
  const { connection, secrets } = mongo;
  const schema = watchSchema(connection, settings.schemaCheckMs);
  const deploymentId = await readDeploymentId(connection);
  const base = await openBase(settings, mongo);
  const { models, sequence, atomically, events, queue, fileQueries, blobs, runCommands } = base;
  const { files, segments, users, runs, organizations } = models;
  const { webhooks, deliveries } = models.webhooks;
  const independentCollections = await openIndependentCollections(base);
  const fileStore = fileRecords(base);
  const runStore = runRecords(base);
  const contentStore = contentRecords(base, settings.files.rowBytes);
  const vectors = createVectors(settings.qdrant, watch, timeLimitMs ?? QDRANT_TIMEOUT_MS);
  const points = createPointsCensus(settings.qdrant);
  const chunks = {
    ...createChunkQueries(segments, fileQueries, createTextCache(settings.textCacheBytes)),
    ...createChunkCommands(segments),
  };
  return {
    deploymentId,
    renewDeploymentId: () => renewDeploymentId(connection),
    schema,
    ...organizationRecords(base),
    ...accountRecords(base),
    ...runStore,
    ...contentStore,
    ...independentCollections,
    files: fileStore,
    newContainers: createNewContainers(files, runs, events, atomically),
    reembeds: createReembeds(models.reembeds),
    chunks,
    vectors,
    reconciliation: createReconciliation({
      ...{ models, blobs, vectors, chunks, originals: contentStore.originals, files: fileStore, sums: fileStore },
      points,
    }),
    rebuilds: createRebuilds({
      ...{ files, users, runs, reembeds: models.reembeds, points, outbox: runCommands, atomically },
    }),
    limits: createLimits({
      users,
      organizations: organizations.organizations,
      files,
      queue,
      transaction: atomically,
    }),
    frontier: createFrontier(models.crawlPages),
    secrets,
    overview: createOverview({
      ...{ dataSources: models.dataSources, schedules: models.schedules, runs, files, users, vectors },
      quarantined: models.quarantined,
    }),
    events,
    webhooks: createWebhooks(webhooks, deliveries, models.events.feeds, { sequence, secrets }),
    deliveries: createDeliveries(deliveries, settings.eventsKeptDays),
    backlog: createBacklogReader({
      ...{ files, runs, events: models.events.rows, webhooks },
      ...{ stalls: runStore.stalls, workers: independentCollections.workers },
    }),
    transaction: atomically,
    async pingMongo() {
      await connection.db?.admin().ping();
    },
    async close() {
      schema.stop();
      // A failed flush must not prevent the exit: it loses only counts of embedding usage and last uses of files.
      await Promise.all(
        [independentCollections.embeddingUsage, contentStore.lastUse].map((writer) =>
          writer.flush().catch(() => undefined),
        ),
      );
      await connection.close();
    },
  };
}
