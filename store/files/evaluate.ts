import type { Model } from 'mongoose';

import { fileEvents } from '../../contract/events.js';
import { endedAs, type ItemCost, type LeftCause } from '../../contract/ledger.js';
import { BEING_DELETED } from '../../contract/reembed.js';
import type { FileSyncStatus } from '../../contract/statuses.js';
import type { DataSourceDoc } from '../dataSources/model.js';
import type { Intents } from '../events/intents.js';
import type { Tenant } from '../users/accept.js';
import type { FileDoc } from './model.js';
import { leaving, markedFiles } from './told.js';

const EVALUATING = 'EVALUATING_RESYNC' as const satisfies FileSyncStatus;
/** At rest, and to be tried again by a pass. A record without content (READY_TO_SYNC) waits for its person. */
const TRIED_AGAIN: readonly FileSyncStatus[] = ['READY', 'SYNC_ERROR', 'SYNC_ABORTED'];

/** What a pass needs to know of a file that it meets. */
export type MetFile = Pick<FileDoc, '_id' | 'syncStatus' | 'syncErrorMessage' | 'generation' | 'requestId'>;

/** What a pass says of a file that it meets. */
interface Look {
  readonly runId: number;
  readonly requestId: string;
  readonly version?: string | null;
  readonly workflowOf: (fileId: number) => string;
}

/** A file that was looked at and has not changed, under the number that was given out for it. */
interface LookedFile {
  readonly runId: number;
  readonly file: Pick<FileDoc, '_id' | 'listedVersion' | 'keptRequestId'>;
  readonly generation: number;
  readonly cost: ItemCost;
}

/** Files that a pass looks at: their content stays as it is, and nothing is told, until it turns out to have changed. */
export interface FileEvaluation {
  /** The containers in a data source. */
  containersOf(tenant: Tenant, dataSourceId: number, limit: number): Promise<number[]>;
  /** Whether anything of a data source was not brought to its end. */
  anyUnsynced(source: Pick<DataSourceDoc, '_id' | 'organizationId' | 'userId'>): Promise<boolean>;
  /** The content of files has changed: they are synced from here on, and that is told. */
  beginChanged(runId: number, fileIds: readonly number[]): Promise<void>;
  /** A file can't be looked at: it is as it was. */
  endLook(runId: number, fileId: number): Promise<void>;
}

/** What is true of a file that was looked at and is as it was; its request is again the one that it had. */
const asItWas = (requestId: string | null) => ({
  syncStatus: 'READY' as const,
  requestId,
  syncErrorMessage: null,
  attempts: 0,
  unfinishedStarts: 0,
  notBefore: null,
  updatedAt: new Date(),
});

/** A look that came to no end: the file is as it was. */
const notLooked = (cause: LeftCause) => [
  { $set: { ...asItWas('$keptRequestId'), ended: { $literal: endedAs('aborted', 'queue', cause) } } },
];

/** Ends the looks of a run, or at a data source, that were not brought to their end: the files are as they were. */
export async function endLooks(
  files: Model<FileDoc>,
  whose:
    | { readonly runId: number }
    | { readonly organizationId: number; readonly userId: number; readonly dataSourceId: number },
  cause: LeftCause,
): Promise<void> {
  const asBefore = notLooked(cause);
  await files.updateMany({ ...whose, syncStatus: EVALUATING }, asBefore, { updatePipeline: true });
}

/** Ends looks at files that have not changed. Nothing is told, and their last sync is the one that was. */
export async function keepLooked(files: Model<FileDoc>, kept: readonly LookedFile[]): Promise<void> {
  if (kept.length === 0) return;
  await files.collection.bulkWrite(
    kept.map(({ runId, file, generation, cost }) => ({
      updateOne: {
        filter: { _id: file._id, runId, syncStatus: EVALUATING, lastGeneration: generation } as object,
        // It was listed before its content was compared.
        update: {
          $set: {
            ...asItWas(file.keptRequestId ?? null),
            ended: { ...endedAs('skipped', 'fetch', 'unchanged'), ...cost },
            // It is at its source.
            restoredAt: null,
            ...(file.listedVersion ? { version: file.listedVersion } : {}),
          },
        },
      },
    })),
    { ordered: false },
  );
}

/**
 * Has a pass look at files that are known, with their own options and tags. What has content is EVALUATING_RESYNC until
 * it is compared; what failed is queued; what is in motion, or without content at somebody's wish, is left alone.
 */
export async function lookAtKnown(
  files: Model<FileDoc>,
  { organizationId, userId }: Tenant,
  met: readonly { readonly request: Look; readonly file: MetFile; readonly inTurn: boolean }[],
  now: Date,
): Promise<void> {
  const open = met.filter(
    ({ file }) => TRIED_AGAIN.includes(file.syncStatus) && file.syncErrorMessage !== BEING_DELETED,
  );
  if (open.length === 0) return;
  await files.collection.bulkWrite(
    open.map(({ request, file, inTurn }) => {
      const { _id, syncStatus, generation } = file;
      const queued = inTurn ? 'QUEUED_FOR_SYNC' : 'DELAYED';
      return {
        updateOne: {
          filter: { _id, organizationId, userId, syncStatus, generation } as object,
          update: {
            $set: {
              syncStatus: syncStatus === 'READY' && generation > 0 ? EVALUATING : queued,
              syncErrorMessage: null,
              // What is told of it from here on is told of the pass.
              requestId: request.requestId,
              keptRequestId: file.requestId,
              runId: request.runId,
              workflowId: request.workflowOf(_id),
              ended: null,
              listedVersion: request.version ?? null,
              attempts: 0,
              unfinishedStarts: 0,
              notBefore: null,
              updatedAt: now,
            },
          },
        },
      };
    }),
    { ordered: false },
  );
}

export function createFileEvaluation(files: Model<FileDoc>, intents: Intents): FileEvaluation {
  return {
    async containersOf({ organizationId, userId }, dataSourceId, limit) {
      const rows = await files
        .find({ organizationId, userId, isContainer: true, dataSourceId }, { _id: 1 })
        .sort({ _id: 1 })
        .limit(limit)
        .lean();
      return rows.map(({ _id }) => _id);
    },
    async anyUnsynced({ _id: dataSourceId, organizationId, userId }) {
      const syncStatus = { $in: ['SYNC_ERROR', 'SYNC_ABORTED'] as const };
      return (await files.exists({ organizationId, userId, syncStatus, dataSourceId })) !== null;
    },
    async endLook(runId, fileId) {
      const mine = { _id: fileId, runId, syncStatus: EVALUATING };
      await files.updateOne(mine, notLooked('source_revoked'), { updatePipeline: true });
    },
    async beginChanged(runId, fileIds) {
      const query = { _id: { $in: [...fileIds] }, runId, syncStatus: EVALUATING };
      const rows = await files.find(query).lean<FileDoc[]>();
      if (rows.length === 0) return;
      await intents.around(rows.flatMap(fileEvents.syncing), async (mark) => {
        const change = { $set: { syncStatus: 'SYNCING' as const, updatedAt: new Date() }, ...leaving(mark) };
        const { matchedCount } = await files.updateMany(query, change);
        return matchedCount === rows.length ? 'all' : markedFiles(files)(mark, fileIds);
      });
    },
  };
}
