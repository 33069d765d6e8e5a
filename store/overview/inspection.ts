import { QdrantClient } from '@qdrant/js-client-rest';
import mongoose, { type Connection } from 'mongoose';

import { type FileSyncStatus, FINAL_FILE_STATUSES } from '../../contract/files/statuses.js';
import { signingKeyPlace } from '../../contract/webhooks.js';
import { findDeploymentId } from '../deployment.js';
import { schemaVersionOf } from '../migrations/run.js';
import { openCredentials } from '../dataSources/credentials.js';
import { type DataSourceDoc, dataSourceModel } from '../models/dataSources.js';
import { fileModel } from '../models/files.js';
import { type RunDoc, runModel } from '../models/runs.js';
import { createStalls, type Stalls } from '../runs/stalls.js';
import type { Secrets } from '../secrets/secrets.js';
import { clientOptions } from '../vectors/address.js';
import { isOfDeployment } from '../vectors/collection.js';
import { brokenCollections } from '../vectors/probe.js';
import type { VectorSettings } from '../vectors/vectors.js';
import { createWorkerRecords, type Workers } from '../workers/workers.js';
import { type WebhookDoc, webhookModels } from '../models/webhooks.js';
import { type WhiteLabelDoc, whiteLabelModel } from '../models/whiteLabels.js';
import { openClientSecret } from '../whiteLabels/records.js';

export interface UnfinishedFiles {
  readonly runId: number | null;
  readonly files: number;
  readonly example: number;
  /** The run; null if it does not exist or has ended. */
  readonly run: RunDoc | null;
}

/** Reads MongoDB without changing anything: it creates no collections or indexes and migrates no records. */
export interface Inspection {
  server(): Promise<{
    readonly version: string;
    /** Null: the server is not in a replica set, so it has no transactions. */
    readonly replicaSet: string | null;
    readonly clock: Date;
    /** Version of the records; null if there are none yet. */
    readonly schema: number | null;
    /** Null before the first start. */
    readonly deploymentId: string | null;
  }>;
  /**
   * Tries to decrypt the credentials of data sources, the secrets of organizations' OAuth clients and the signing keys
   * of webhooks. Skips secrets of connection attempts and of stored responses, which are stored for a week at most.
   */
  openSecrets(
    secrets: Secrets,
  ): Promise<{ readonly opened: number; readonly broken: number; readonly why: string | null }>;
  /** Counts unfinished files by run, for the `limit` runs with the most unfinished files. */
  unfinishedFiles(limit: number): Promise<UnfinishedFiles[]>;
  /**
   * Counts runs that were accepted before a time and are not in Temporal yet. Excludes held runs, whose files were
   * uploaded while the user's queue was full, and uploads that the shared workflow of a user ingests.
   */
  unstarted(before: Date): Promise<number>;
  failingWebhooks(limit: number): Promise<WebhookDoc[]>;
  /**
   * Returns data sources without access, in error, or with held deletions: a listing missed so many files that none is
   * deleted without an approval.
   */
  failingSources(limit: number): Promise<DataSourceDoc[]>;
  readonly stalls: Stalls;
  readonly workers: Pick<Workers, 'list'>;
  close(): Promise<void>;
}

const TIME_LIMIT_MS = 5_000;
const FAR_AWAY = new Date('9000-01-01');

/** @throws when MongoDB does not answer within the time limit */
export async function inspectMongodb(uri: string): Promise<Inspection> {
  const connection = await mongoose
    .createConnection(uri, { autoIndex: false, autoCreate: false, serverSelectionTimeoutMS: TIME_LIMIT_MS })
    .asPromise();
  return inspectionOf(connection);
}

function inspectionOf(connection: Connection): Inspection {
  const dataSources = dataSourceModel(connection);
  const files = fileModel(connection);
  const runs = runModel(connection);
  const { webhooks } = webhookModels(connection);
  const whiteLabels = whiteLabelModel(connection);
  return {
    async server() {
      const admin = connection.getClient().db('admin');
      const [{ version }, { setName, localTime }] = await Promise.all([
        admin.command({ buildInfo: 1 }),
        admin.command({ hello: 1 }),
      ]);
      const [schema, deploymentId] = await Promise.all([schemaVersionOf(connection), findDeploymentId(connection)]);
      return {
        version: String(version),
        replicaSet: (setName as string | undefined) ?? null,
        clock: localTime as Date,
        schema,
        deploymentId,
      };
    },
    async openSecrets(secrets) {
      const count = { opened: 0, broken: 0, why: null as string | null };
      const tryTo = (open: () => unknown): void => {
        try {
          open();
          count.opened += 1;
        } catch (error) {
          count.broken += 1;
          count.why ??= (error as Error).message;
        }
      };
      const withCredentials = dataSources.find(
        { sealedCredentials: { $ne: null } },
        { organizationId: 1, sealedCredentials: 1 },
      );
      for await (const source of withCredentials.lean().cursor())
        tryTo(() => openCredentials(secrets, source as DataSourceDoc));
      for await (const row of whiteLabels.find({}, { organizationId: 1, secrets: 1 }).lean().cursor())
        for (const [field, sealed] of Object.entries((row as WhiteLabelDoc).secrets))
          tryTo(() => openClientSecret(secrets, row as WhiteLabelDoc, field, sealed));
      for await (const row of webhooks.find({ deletedAt: null }).lean().cursor()) {
        const { _id, organizationId, signingKey } = row as WebhookDoc;
        tryTo(() => secrets.open(signingKeyPlace(organizationId, _id), signingKey));
      }
      return count;
    },
    async unfinishedFiles(limit) {
      const unfinished = { $nin: [...FINAL_FILE_STATUSES] satisfies FileSyncStatus[] };
      const groups = await files.aggregate<{ _id: number | null; files: number; example: number }>([
        { $match: { syncStatus: unfinished } },
        { $group: { _id: '$runId', files: { $sum: 1 }, example: { $min: '$_id' } } },
        { $sort: { files: -1 } },
        { $limit: limit },
      ]);
      const ids = groups.flatMap(({ _id }) => _id ?? []);
      const open = await runs.find({ _id: { $in: ids }, finishedAt: null }).lean();
      return groups.map(({ _id: runId, files: number, example }) => ({
        ...{ runId, files: number, example },
        run: open.find((run) => run._id === runId) ?? null,
      }));
    },
    unstarted: (before) =>
      // Held runs and uploads in a shared workflow have a due time in the far future.
      runs.countDocuments({ startedAt: null, nextTryAt: { $lt: FAR_AWAY }, acceptedAt: { $lt: before } }).exec(),
    failingWebhooks: (limit) =>
      webhooks
        .find({
          deletedAt: null,
          $or: [{ disabledAt: { $ne: null } }, { status: 'FLAGGED' }, { failing: { $ne: null } }],
        })
        .sort({ _id: 1 })
        .limit(limit)
        .lean()
        .exec(),
    failingSources: (limit) =>
      dataSources
        .find({
          $or: [{ revokedAccess: true }, { syncStatus: 'SYNC_ERROR' }, { 'metadata.deletions_held': { $gt: 0 } }],
        })
        .sort({ updatedAt: -1 })
        .limit(limit)
        .lean()
        .exec(),
    stalls: createStalls(runs, files),
    workers: createWorkerRecords(connection),
    close: () => connection.close(),
  };
}

/** Returns Qdrant's version and collections. @throws when it does not answer */
export async function inspectQdrant({ prefix, ...address }: Pick<VectorSettings, 'url' | 'apiKey' | 'prefix'>) {
  const client = new QdrantClient({ ...clientOptions(address), timeout: TIME_LIMIT_MS });
  const [{ version }, { collections }] = await Promise.all([client.versionInfo(), client.getCollections()]);
  const serviceCollections = collections.map(({ name }) => name).filter((name) => isOfDeployment(name, prefix));
  const states = await Promise.all(
    serviceCollections.map(async (name) => ({ name, status: (await client.getCollection(name)).status as string })),
  );
  return { version, collections: states, broken: await brokenCollections(client, serviceCollections) };
}
