import type { GrantStore } from '../contract/accounts/oauth.js';
import { isOAuthSource } from '../contract/accounts/whiteLabel.js';
import { createMoveClaims } from './coldStorage/claims.js';
import { createColdCopies } from './coldStorage/coldCopies.js';
import { createColdFiles } from './coldStorage/coldFiles.js';
import { createLastUse } from './coldStorage/lastUse.js';
import { createStorageChanges } from './coldStorage/modify.js';
import { createMoves } from './coldStorage/moves.js';
import { createConnections } from './connections/acceptConnection.js';
import { createAttempts } from './connections/attempts.js';
import { createContents } from './contents/contents.js';
import { createDataSourceCommands } from './dataSources/commands.js';
import { createGrants } from './dataSources/grants.js';
import { createDataSourceListings } from './dataSources/listings.js';
import { createDataSourceQueries } from './dataSources/queries.js';
import { createEndedSessions } from './endedSessions.js';
import { createFileAcceptance } from './files/accept.js';
import { createFileAncestors } from './files/ancestors.js';
import { createFileCommands } from './files/commands.js';
import { createFileDeletion } from './files/deletion.js';
import { createFileEvaluation } from './files/evaluate.js';
import { createFileFailures } from './files/failures.js';
import { createHitFiles } from './files/hitFiles.js';
import { createMissingPages } from './files/missingPages.js';
import { createFileReembedding } from './files/reembed.js';
import { createFileRetry } from './files/retry.js';
import { createRunProgress } from './files/runProgress.js';
import { createFileSums } from './files/statistics.js';
import { createFileTags } from './files/tags.js';
import { createHostRateLimits } from './hostRateLimits.js';
import { createIdempotency } from './idempotency.js';
import { createItems } from './items/items.js';
import { createLedgerQueries } from './ledger/queries.js';
import type { DataSourceDoc } from './models/dataSources.js';
import { createOrganizations } from './organizations/accept.js';
import { createApiKeys } from './organizations/keys.js';
import { createOrganizationRecords } from './organizations/records.js';
import { createOriginals } from './originals/originals.js';
import { createTranscripts } from './originals/transcripts.js';
import { createQuarantineClaims } from './quarantine/claims.js';
import { createQuarantine } from './quarantine/quarantine.js';
import { createRecognizedPages } from './recognizedPages/recognizedPages.js';
import { createHeldRuns } from './runs/held.js';
import { createRunHistory } from './runs/history.js';
import { createLastErrors } from './runs/lastErrors.js';
import { createRunList } from './runs/list.js';
import { createScheduledSyncs } from './runs/scheduledSyncs.js';
import { createPauses } from './runs/pauses.js';
import { createRunRates } from './runs/rates.js';
import { createStalls } from './runs/stalls.js';
import { createUploadStreams } from './runs/uploadStreams.js';
import { createSiteBlocks } from './siteBlocks/siteBlocks.js';
import { createEmbeddingUsages } from './usage/embeddingUsage.js';
import { createUserAcceptance } from './users/accept.js';
import { createLiveness } from './users/liveness.js';
import { createUserRecords } from './users/records.js';
import { createVectorCache } from './vectors/cache.js';
import { createWhiteLabels } from './whiteLabels/records.js';
import { createWorkerRecords } from './workers/workers.js';
import type { StoreBase } from './openBase.js';

/** Opens the collections that need no other collection. */
export async function openIndependentCollections({ connection, secrets }: StoreBase) {
  const collections = {
    vectorCache: createVectorCache(connection),
    embeddingUsage: createEmbeddingUsages(connection),
    hostRateLimits: createHostRateLimits(connection),
    endedSessions: createEndedSessions(connection),
    workers: createWorkerRecords(connection),
    idempotency: createIdempotency(connection, secrets),
  };
  for (const collection of Object.values(collections)) await collection.createIndexes();
  return collections;
}

/** Creates the functions that read and write files. */
export function fileRecords({
  models,
  sequence,
  atomically,
  intents,
  events,
  queue,
  ledger,
  createSumCache,
  fileQueries,
  changes,
  selections,
}: StoreBase) {
  const { files, users } = models;
  return {
    ...fileQueries,
    ...createHitFiles(files),
    ...createFileCommands(files, changes),
    ...createFileEvaluation(files, changes),
    ...createMissingPages(files),
    ...createRunProgress(files),
    ...createFileAcceptance({ files, sequence, events, intents, queue, deleted: selections, ledger }),
    ...createFileDeletion({ files, users, queries: fileQueries, atomically, events, ledger }),
    ...createFileSums(files, createSumCache),
    ...createFileFailures(files),
    ...createFileTags(files),
    ...createFileReembedding(files, fileQueries),
    ...createFileRetry(files, ledger),
    ...createFileAncestors(files),
  };
}

/** Creates the functions that read and write runs, and what is derived from runs. */
export function runRecords({ models, atomically, events, queue, live, ledger, runCommands }: StoreBase) {
  const { runs, files } = models;
  return {
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
    scheduledSyncs: createScheduledSyncs(runs),
    pauses: createPauses(runs),
    stalls: createStalls(runs, files),
    lastErrors: createLastErrors(runs),
    runRates: createRunRates(runs),
    runHistory: createRunHistory(runs),
  };
}

/** Creates the functions that read and write connected accounts. */
export function accountRecords({
  models,
  sequence,
  secrets,
  atomically,
  events,
  schedules,
  selections,
  runCommands,
}: StoreBase) {
  const { dataSources, files } = models;
  const queries = createDataSourceQueries(dataSources, secrets);
  const commands = createDataSourceCommands(dataSources, sequence, events, secrets, schedules);
  const grants = createGrants(dataSources, secrets);
  const whiteLabels = createWhiteLabels(models.whiteLabels, sequence, secrets);
  return {
    dataSources: { ...queries, ...commands, ...createDataSourceListings(dataSources, events, atomically) },
    schedules,
    selections,
    attempts: createAttempts(models.attempts, secrets),
    connections: createConnections(commands, runCommands, selections),
    accountCredentials(source: DataSourceDoc): string | GrantStore | null {
      const { type, organizationId, sealedCredentials } = source;
      if (!isOAuthSource(type)) return queries.credentialsOf(source);
      return sealedCredentials === null
        ? null
        : grants.grantStoreOf(source, () => whiteLabels.client(organizationId, type));
    },
    items: createItems(models.items, files, sequence),
    whiteLabels,
  };
}

/**
 * Creates the functions that read and write contents in MongoDB and file storage, cold copies of vectors, moves between
 * hot and cold storage, and the quarantine.
 * @param rowBytes maximum number of bytes of a content that MongoDB stores
 */
export function contentRecords(
  { models, sequence, atomically, events, fileQueries, blobs }: StoreBase,
  rowBytes: number,
) {
  const { files, users, runs } = models;
  return {
    contents: createContents(models.contents, blobs, rowBytes),
    originals: createOriginals(models.originals, blobs, sequence, rowBytes),
    recognizedPages: createRecognizedPages(models.recognizedPages),
    siteBlocks: createSiteBlocks(models.siteBlocks),
    transcripts: createTranscripts(models.originals),
    coldCopies: createColdCopies(blobs),
    moves: {
      ...createMoves(files, atomically, events),
      ...createMoveClaims(files, runs, fileQueries),
      ...createStorageChanges(files, events, fileQueries),
    },
    coldFiles: createColdFiles(files, fileQueries),
    lastUse: createLastUse(files),
    quarantine: {
      ...createQuarantine(models.quarantined, files, users, atomically, events),
      ...createQuarantineClaims(models.quarantined, runs),
    },
  };
}

/** Creates the functions that read and write organizations and their users. */
export function organizationRecords({ models, sequence, atomically }: StoreBase) {
  const { organizations, users } = models;
  const liveness = createLiveness();
  return {
    organizations: {
      ...createOrganizations(organizations, sequence),
      ...createOrganizationRecords(organizations.organizations),
    },
    apiKeys: createApiKeys(organizations, sequence, atomically),
    users: { ...createUserAcceptance(users, sequence, liveness), ...createUserRecords(users, liveness) },
  };
}
