import type { Model } from 'mongoose';

import { itemEnd, type ItemCost, type SkipCause } from '../../contract/runs/ledger.js';
import { BEING_DELETED } from '../../contract/runs/reembed.js';
import type { FileSyncStatus } from '../../contract/files/statuses.js';
import type { DataSourceDoc } from '../models/dataSources.js';
import type { Tenant } from '../users/accept.js';
import type { FileChanges } from './changes.js';
import type { FileDoc } from '../models/files.js';
import { type Change, RESET_BY_NEW_SYNC, transition, TRANSITIONS } from './transitions.js';
import { updateRows } from '../database/updateRows.js';

/** Fields of a file that a scheduled sync needs when it lists the file. */
export type ListedFile = Pick<FileDoc, '_id' | 'syncStatus' | 'syncErrorMessage' | 'generation' | 'requestId'>;

/** Fields that a scheduled sync sets on a file that it lists. */
interface SyncOfListedFile {
  readonly runId: number;
  readonly requestId: string;
  readonly version?: string | null;
  readonly workflowOf: (fileId: number) => string;
}

/** A file that was compared and has not changed, with the generation that this attempt reserved. */
interface EvaluatedFile {
  readonly runId: number;
  readonly file: Pick<FileDoc, '_id' | 'listedVersion' | 'keptRequestId'>;
  readonly generation: number;
  readonly cost: ItemCost;
}

/**
 * Files whose stored content a scheduled sync compares with the source. Until a change is found, their content stays,
 * and events are written only for rate limits and failures.
 */
export interface FileEvaluation {
  /** Returns the containers of a data source. */
  containersOf(tenant: Tenant, dataSourceId: number, limit: number): Promise<number[]>;
  /** Returns whether the last sync of any file of a data source failed or was aborted. */
  hasUnsynced(source: Pick<DataSourceDoc, '_id' | 'organizationId' | 'userId'>): Promise<boolean>;
  /** Starts the sync of files whose content has changed, with its events. */
  startChanged(runId: number, fileIds: readonly number[]): Promise<void>;
  /** Restores the state of a file that cannot be compared. */
  endEvaluation(runId: number, fileId: number): Promise<void>;
}

/** Returns the fields of an unchanged file, which belongs to its earlier request again. */
const unchangedFields = (requestId: string | null) => ({ ...RESET_BY_NEW_SYNC, requestId });

/** Ends evaluations that were not completed, and restores the earlier state of the files. */
export async function endEvaluations<N extends 'endEvaluation' | 'endEvaluationsOfSource'>(
  files: Model<FileDoc>,
  name: N,
  whose: Pick<Change<N>, 'owner' | 'where'>,
  cause: SkipCause,
): Promise<void> {
  const ended = { $literal: itemEnd('aborted', 'queue', cause) };
  // A pipeline, because the request id comes from another field of the record.
  const { filter, update } = transition(name, {
    ...whose,
    message: null,
    set: { ...unchangedFields('$keptRequestId'), ended },
  });
  await files.updateMany(filter, [update], { updatePipeline: true });
}

/** Ends evaluations of unchanged files. Writes no events and does not change their last sync. */
export const keepEvaluated = (changes: FileChanges, kept: readonly EvaluatedFile[]): Promise<void> =>
  changes.changeManyWithoutEvents(
    'keepEvaluated',
    kept.map(({ runId, file, generation, cost }) => ({
      owner: { runId },
      where: { _id: file._id, lastGeneration: generation },
      message: null,
      set: {
        ...unchangedFields(file.keptRequestId ?? null),
        ended: { ...itemEnd('skipped', 'fetch', 'unchanged'), ...cost },
        // The file exists at its source. After a restore from quarantine, this lets later syncs delete it if missing.
        restoredAt: null,
        // The listing reported this version before the content was compared.
        ...(file.listedVersion ? { version: file.listedVersion } : {}),
      },
    })),
  );

/**
 * Returns whether a scheduled sync takes over a file that it lists. It does not take over unfinished files, files that
 * are being deleted, and files whose content was skipped or deleted on request.
 */
export const isTakenBySchedule = ({ syncStatus, syncErrorMessage }: ListedFile): boolean =>
  syncErrorMessage !== BEING_DELETED &&
  (TRANSITIONS.scheduledQueue.from as readonly FileSyncStatus[]).includes(syncStatus);

/**
 * Assigns existing files to a scheduled sync, with their own options and tags. A READY file with content is
 * EVALUATING_RESYNC until it is compared. Any other is queued, or DELAYED if it does not fit into the user's queue.
 * @param listed files for which `isTakenBySchedule` returns true; those whose state has changed since are skipped
 */
export async function queueKnownFiles(
  files: Model<FileDoc>,
  { organizationId, userId }: Tenant,
  listed: readonly { readonly request: SyncOfListedFile; readonly file: ListedFile; readonly fitsQueue: boolean }[],
  now: Date,
): Promise<void> {
  await updateRows(
    files,
    listed.map(({ request, file, fitsQueue }) => {
      const { _id, syncStatus, generation } = file;
      const isComparable = syncStatus === 'READY' && generation > 0;
      return transition(isComparable ? 'scheduledEvaluate' : fitsQueue ? 'scheduledQueue' : 'scheduledDelay', {
        owner: { organizationId, userId },
        where: { _id, generation },
        seen: syncStatus,
        message: null,
        set: {
          // From now on, events of the file have the request id of the scheduled sync.
          requestId: request.requestId,
          keptRequestId: file.requestId,
          runId: request.runId,
          workflowId: request.workflowOf(_id),
          listedVersion: request.version ?? null,
          ...RESET_BY_NEW_SYNC,
          updatedAt: now,
        },
      });
    }),
  );
}

export function createFileEvaluation(files: Model<FileDoc>, changes: FileChanges): FileEvaluation {
  return {
    async containersOf({ organizationId, userId }, dataSourceId, limit) {
      const rows = await files
        .find({ organizationId, userId, isContainer: true, dataSourceId }, { _id: 1 })
        .sort({ _id: 1 })
        .limit(limit)
        .lean();
      return rows.map(({ _id }) => _id);
    },
    async hasUnsynced({ _id: dataSourceId, organizationId, userId }) {
      const syncStatus = { $in: ['SYNC_ERROR', 'SYNC_ABORTED'] as const };
      return (await files.exists({ organizationId, userId, syncStatus, dataSourceId })) !== null;
    },
    endEvaluation: (runId, fileId) =>
      endEvaluations(files, 'endEvaluation', { owner: { runId }, where: { _id: fileId } }, 'source_revoked'),
    async startChanged(runId, fileIds) {
      const rows = await files.find({ _id: { $in: [...fileIds] }, runId, syncStatus: 'EVALUATING_RESYNC' }).lean();
      await changes.changeAll('startChanged', rows, { owner: { runId }, where: {} });
    },
  };
}
