import type { Model } from 'mongoose';

import type { BatchResult } from '../../contract/runs/orchestration.js';
import type { FileSyncStatus } from '../../contract/files/statuses.js';
import type { RunDoc } from '../models/runs.js';
import { RUN_INDEX } from '../models/fileIndexes.js';
import type { FileDoc } from '../models/files.js';
import { activeStatus } from './transitions.js';

export interface RunCounts {
  readonly total: number;
  readonly ready: number;
  readonly failed: number;
  readonly aborted: number;
  /** Files that are queued or in progress. */
  readonly open: number;
}

/** Reads the progress of a run's files. */
export interface RunProgress {
  /** Returns a file that a run has started and not finished; null if it is in another state. */
  findSyncing(runId: number, fileId: number): Promise<FileDoc | null>;
  /** Returns the published files among `of` whose older generations are not deleted yet. */
  filterNeedingCleanUp(of: readonly { readonly runId: number; readonly fileId: number }[]): Promise<FileDoc[]>;
  /** Returns the ids of the READY files of the runs. */
  listReady(runIds: readonly number[]): Promise<number[]>;
  /** Returns READY files of the runs whose older generations are not deleted yet. */
  listNeedingCleanUp(runIds: readonly number[], limit: number): Promise<FileDoc[]>;
  /** Returns the next SYNC_ABORTED files of a run, ordered by id, that may have rows of an unpublished attempt. */
  listAbortedAttempts(runId: number, afterId: number, limit: number): Promise<FileDoc[]>;
  /** Returns the next due files of the run, ordered by id. */
  listDue(runId: number, afterId: number, limit: number, now: Date): Promise<number[]>;
  /** Returns whether a limit delays files of the run. */
  hasDelayed(runId: number): Promise<boolean>;
  /**
   * Returns the earliest due time of the run's files that are queued or in progress: 1970 if a file has no due time;
   * null if there is no such file.
   */
  nextDueTime(runId: number): Promise<Date | null>;
  /** Counts the files of a batch by their current state. */
  outcomes(runId: number, fileIds: readonly number[]): Promise<BatchResult>;
  /** Counts the run's files by state, without its container. */
  countRun(runId: number): Promise<RunCounts>;
  /** Counts the files that the run has synced or tried to sync, without evaluated files that had not changed. */
  countSynced(run: Pick<RunDoc, '_id' | 'acceptedAt'>): Promise<number>;
  /** Returns whether the content of any feed entry of the run comes from its web page. */
  hasPageContent(runId: number): Promise<boolean>;
}

export function createRunProgress(files: Model<FileDoc>): RunProgress {
  return {
    findSyncing: (runId, fileId) => files.findOne({ _id: fileId, runId, syncStatus: 'SYNCING' }).lean().exec(),
    async filterNeedingCleanUp(of) {
      const owners = new Map(of.map(({ fileId, runId }) => [fileId, runId]));
      const found = await files.find({ _id: { $in: [...owners.keys()] }, cleanupPending: true }).lean();
      return found.filter(({ _id, runId }) => runId === owners.get(_id));
    },
    async listReady(runIds) {
      const ready = { runId: { $in: [...runIds] }, syncStatus: 'READY' } as const;
      return (await files.find(ready, { _id: 1 }).hint(RUN_INDEX).lean()).map(({ _id }) => _id);
    },
    listNeedingCleanUp: (runIds, limit) =>
      files
        .find({ runId: { $in: [...runIds] }, syncStatus: 'READY', cleanupPending: true })
        .hint(RUN_INDEX)
        .limit(limit)
        .lean()
        .exec(),
    listAbortedAttempts: (runId, afterId, limit) =>
      files
        .find({
          ...{ runId, syncStatus: 'SYNC_ABORTED', _id: { $gt: afterId } },
          $expr: { $gt: ['$lastGeneration', '$generation'] },
        })
        .sort({ _id: 1 })
        .hint(RUN_INDEX)
        .limit(limit)
        .lean()
        .exec(),
    async listDue(runId, afterId, limit, now) {
      const rows = await files
        .find(
          {
            runId,
            isContainer: false,
            syncStatus: activeStatus,
            _id: { $gt: afterId },
            $or: [{ notBefore: null }, { notBefore: { $lte: now } }],
          },
          { _id: 1 },
        )
        .sort({ _id: 1 })
        .limit(limit)
        .lean();
      return rows.map((row) => row._id);
    },
    async hasDelayed(runId) {
      return (await files.exists({ runId, syncStatus: 'DELAYED' })) !== null;
    },
    async nextDueTime(runId) {
      const row = await files
        .findOne({ runId, isContainer: false, syncStatus: activeStatus }, { notBefore: 1 })
        .sort({ notBefore: 1 })
        .lean();
      return row === null ? null : (row.notBefore ?? new Date(0));
    },
    async outcomes(runId, fileIds) {
      const rows = await files.find({ _id: { $in: [...fileIds] }, runId }, { syncStatus: 1 }).lean();
      const count = (...statuses: FileSyncStatus[]) => rows.filter((row) => statuses.includes(row.syncStatus)).length;
      return {
        ready: count('READY', 'READY_TO_SYNC'),
        failed: count('SYNC_ERROR', 'SYNC_ABORTED'),
        requeued: count('QUEUED_FOR_SYNC', 'RATE_LIMITED', 'SYNCING', 'QUEUED_FOR_OCR', 'EVALUATING_RESYNC', 'DELAYED'),
        superseded: fileIds.length - rows.length,
      };
    },
    async countRun(runId) {
      const rows = await files.aggregate<{ _id: FileSyncStatus; count: number }>([
        { $match: { runId, isContainer: false } },
        { $group: { _id: '$syncStatus', count: { $sum: 1 } } },
      ]);
      const countOf = (status: FileSyncStatus) => rows.find((row) => row._id === status)?.count ?? 0;
      const total = rows.reduce((sum, row) => sum + row.count, 0);
      const [ready, failed, aborted] = [
        countOf('READY') + countOf('READY_TO_SYNC'),
        countOf('SYNC_ERROR'),
        countOf('SYNC_ABORTED'),
      ];
      return { total, ready, failed, aborted, open: total - ready - failed - aborted };
    },
    countSynced: ({ _id: runId, acceptedAt }) =>
      files
        .countDocuments({
          runId,
          isContainer: false,
          $or: [{ lastSync: { $gte: acceptedAt } }, { syncStatus: { $in: ['SYNC_ERROR', 'SYNC_ABORTED'] } }],
        })
        .exec(),
    async hasPageContent(runId) {
      return (await files.exists({ runId, 'fileMetadata.content_from': 'page' })) !== null;
    },
  };
}
