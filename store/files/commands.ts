import type { Model } from 'mongoose';

import type { BatchResult } from '../../contract/orchestration.js';
import { FINAL_FILE_STATUSES, type FileSyncStatus, WAITING_FILE_STATUSES } from '../../contract/statuses.js';
import type { DataSourceDoc } from '../dataSources/model.js';
import { metadataFields } from './accept.js';
import type { FileDoc, SyncedContent } from './model.js';

/** A file that a batch has begun: the record, with the generation number that this sync writes under. */
export interface StartedFile {
  readonly file: FileDoc;
  readonly generation: number;
}

/** How a sync ended well: the content that readers see from now on. */
export interface FinishedSync {
  readonly runId: number;
  readonly fileId: number;
  readonly content: SyncedContent;
  readonly name: string | null;
  readonly fileMetadata: Record<string, unknown>;
  /** The revision of the tags that the points carry: a file whose tags have changed is not flipped. */
  readonly tagsRevision: number | null;
}

/** A file whose content is still the one it has, under the number that was given out for this try. */
export interface KeptFile {
  readonly runId: number;
  readonly fileId: number;
  readonly generation: number;
}

export interface RunCounts {
  readonly total: number;
  readonly ready: number;
  readonly failed: number;
  readonly aborted: number;
  /** Not at rest yet. */
  readonly open: number;
}

/**
 * Changes of files by the run that owns them. Each is guarded by the run's id and the state it expects, so running it
 * twice, or after another run took the file over, changes nothing.
 */
export interface FileCommands {
  /** Puts the run's files into SYNCING and gives each a fresh generation. Files that are not this run's, or done, are left out. */
  start(runId: number, fileIds: readonly number[]): Promise<StartedFile[]>;
  /** Flips files to their new generation; answers the ids that were flipped. */
  finish(syncs: readonly FinishedSync[]): Promise<number[]>;
  /** Ends a file in READY_TO_SYNC: nothing was fetched, and nothing of an earlier sync is touched. */
  shelve(runId: number, fileId: number): Promise<boolean>;
  /** Ends files whose content is still the one they have: READY, nothing rewritten. */
  keep(files: readonly KeptFile[]): Promise<void>;
  /** Ends a file in SYNC_ERROR. False when it is no longer this run's. */
  fail(runId: number, fileId: number, message: string): Promise<boolean>;
  /** Back into the queue, for a try after `notBefore`. */
  requeue(runId: number, fileId: number, notBefore: Date, message: string): Promise<boolean>;
  /** Holds a file back until there is room for it within the user's limits. */
  delay(runId: number, fileId: number, message: string): Promise<boolean>;
  /** Undoes `start` for files that were not brought to an end (cancelled or shut down): the start does not count. */
  release(runId: number, fileIds: readonly number[]): Promise<void>;
  /** Files of the run that were flipped and whose older generations were not deleted yet. */
  needingCleanUp(runId: number, fileIds: readonly number[]): Promise<FileDoc[]>;
  /** The rows and points of older generations are gone. */
  cleaned(fileIds: readonly number[]): Promise<void>;
  /** Ends every open file of the run in SYNC_ABORTED. */
  abortOpen(runId: number, message: string): Promise<number>;
  /** Ends the files of a data source that wait for their sync in SYNC_ABORTED: its access is gone. */
  abortQueuedOf(source: Pick<DataSourceDoc, '_id' | 'organizationId' | 'userId'>): Promise<void>;
  /** The next files of the run that are due, by id. */
  due(runId: number, afterId: number, limit: number, now: Date): Promise<number[]>;
  /** Whether a limit holds files of the run back. */
  hasDelayed(runId: number): Promise<boolean>;
  /** When the first of the run's queued files is due; null when none waits. */
  nextDue(runId: number): Promise<Date | null>;
  /** How the files of a batch stand now. */
  outcomes(runId: number, fileIds: readonly number[]): Promise<BatchResult>;
  /** How the run's files stand, its container left out. */
  countRun(runId: number): Promise<RunCounts>;
  /** Moves a container that is in motion: status, message and facts to merge into file_metadata; null takes one out. */
  moveContainer(
    runId: number,
    fileId: number,
    change: { status: FileSyncStatus; message?: string | null; facts?: Record<string, unknown>; synced?: boolean },
  ): Promise<boolean>;
}

/** What is true of a file whose try has come to an end, whatever the end. */
const rested = (syncStatus: FileSyncStatus, syncErrorMessage: string | null) => ({
  syncStatus,
  syncErrorMessage,
  unfinishedStarts: 0,
  notBefore: null,
  updatedAt: new Date(),
});

export function createFileCommands(files: Model<FileDoc>): FileCommands {
  const open = { $nin: [...FINAL_FILE_STATUSES] };
  const inMotion = { $in: ['QUEUED_FOR_SYNC', 'SYNCING'] satisfies FileSyncStatus[] };
  return {
    async start(runId, fileIds) {
      const mine = { _id: { $in: [...fileIds] }, runId, syncStatus: inMotion };
      await files.updateMany(mine, {
        $set: { syncStatus: 'SYNCING', updatedAt: new Date() },
        $inc: { lastGeneration: 1, unfinishedStarts: 1 },
      });
      const rows = await files
        .find({ ...mine, syncStatus: 'SYNCING' })
        .sort({ _id: 1 })
        .lean<FileDoc[]>();
      return rows.map((file) => ({ file, generation: file.lastGeneration }));
    },
    async finish(syncs) {
      if (syncs.length === 0) return [];
      const now = new Date();
      const guard = ({ runId, fileId, content, tagsRevision }: FinishedSync) => ({
        _id: fileId,
        runId,
        syncStatus: 'SYNCING' as const,
        lastGeneration: content.generation,
        // Null also finds records without the field.
        tagsRevision,
      });
      // Past mongoose's schema: casting what our own code just built costs more than the write.
      const result = await files.collection.bulkWrite(
        syncs.map((sync) => ({
          updateOne: {
            filter: guard(sync) as object,
            update: {
              $set: {
                ...sync.content,
                ...(sync.name === null ? {} : { name: sync.name }),
                fileMetadata: sync.fileMetadata,
                // Any earlier number may have left rows: an older content, or a try that died.
                cleanupPending: sync.content.generation > 1,
                syncStatus: 'READY' as const,
                syncErrorMessage: null,
                attempts: 0,
                unfinishedStarts: 0,
                notBefore: null,
                lastSync: now,
                updatedAt: now,
              },
            },
          },
        })),
        { ordered: false },
      );
      if (result.matchedCount === syncs.length) return syncs.map((sync) => sync.fileId);
      const flipped = await files
        .find(
          { $or: syncs.map(({ fileId, content }) => ({ _id: fileId, generation: content.generation })) },
          { _id: 1 },
        )
        .lean();
      return flipped.map((row) => row._id);
    },
    async shelve(runId, fileId) {
      const result = await files.updateOne(
        { _id: fileId, runId, syncStatus: 'SYNCING' },
        { $set: rested('READY_TO_SYNC', null) },
      );
      return result.matchedCount === 1;
    },
    async keep(kept) {
      if (kept.length === 0) return;
      const now = new Date();
      await files.collection.bulkWrite(
        kept.map(({ runId, fileId, generation }) => ({
          updateOne: {
            filter: { _id: fileId, runId, syncStatus: 'SYNCING', lastGeneration: generation } as object,
            update: { $set: { ...rested('READY', null), attempts: 0, lastSync: now } },
          },
        })),
        { ordered: false },
      );
    },
    async fail(runId, fileId, message) {
      const result = await files.updateOne(
        { _id: fileId, runId, syncStatus: open },
        { $set: rested('SYNC_ERROR', message) },
      );
      return result.matchedCount === 1;
    },
    async requeue(runId, fileId, notBefore, message) {
      const result = await files.updateOne(
        { _id: fileId, runId, syncStatus: 'SYNCING' },
        {
          $set: { ...rested('QUEUED_FOR_SYNC', message), notBefore },
          $inc: { attempts: 1 },
        },
      );
      return result.matchedCount === 1;
    },
    async delay(runId, fileId, message) {
      const result = await files.updateOne(
        { _id: fileId, runId, syncStatus: 'SYNCING' },
        { $set: rested('DELAYED', message) },
      );
      return result.matchedCount === 1;
    },
    async release(runId, fileIds) {
      await files.updateMany(
        { _id: { $in: fileIds }, runId, syncStatus: 'SYNCING' },
        { $set: { syncStatus: 'QUEUED_FOR_SYNC', updatedAt: new Date() }, $inc: { unfinishedStarts: -1 } },
      );
    },
    async needingCleanUp(runId, fileIds) {
      return files.find({ _id: { $in: [...fileIds] }, runId, cleanupPending: true }).lean<FileDoc[]>();
    },
    async cleaned(fileIds) {
      await files.updateMany({ _id: { $in: fileIds } }, { $set: { cleanupPending: false } });
    },
    async abortOpen(runId, message) {
      const result = await files.updateMany({ runId, syncStatus: open }, { $set: rested('SYNC_ABORTED', message) });
      return result.modifiedCount;
    },
    async abortQueuedOf({ _id, organizationId, userId }) {
      const message = 'Access to the data source was revoked before this was synced. Connect it again, then resync.';
      await files.updateMany(
        { organizationId, userId, dataSourceId: _id, syncStatus: { $in: [...WAITING_FILE_STATUSES] } },
        { $set: rested('SYNC_ABORTED', message) },
      );
    },
    async due(runId, afterId, limit, now) {
      const rows = await files
        .find(
          {
            runId,
            isContainer: false,
            syncStatus: inMotion,
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
    async nextDue(runId) {
      const row = await files
        .findOne({ runId, isContainer: false, syncStatus: inMotion }, { notBefore: 1 })
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
        requeued: count('QUEUED_FOR_SYNC', 'SYNCING', 'DELAYED'),
        superseded: fileIds.length - rows.length,
      };
    },
    async countRun(runId) {
      const rows = await files.aggregate<{ _id: FileSyncStatus; count: number }>([
        { $match: { runId, isContainer: false } },
        { $group: { _id: '$syncStatus', count: { $sum: 1 } } },
      ]);
      const of = (status: FileSyncStatus) => rows.find((row) => row._id === status)?.count ?? 0;
      const total = rows.reduce((sum, row) => sum + row.count, 0);
      const [ready, failed, aborted] = [of('READY') + of('READY_TO_SYNC'), of('SYNC_ERROR'), of('SYNC_ABORTED')];
      return { total, ready, failed, aborted, open: total - ready - failed - aborted };
    },
    async moveContainer(runId, fileId, { status, message = null, facts = {}, synced = false }) {
      const now = new Date();
      const gone = Object.entries(facts).flatMap(([name, value]) =>
        value === null ? [[`fileMetadata.${name}`, 1]] : [],
      );
      const result = await files.updateOne(
        { _id: fileId, runId, isContainer: true, syncStatus: inMotion },
        {
          $set: {
            syncStatus: status,
            syncErrorMessage: message,
            updatedAt: now,
            ...(synced ? { lastSync: now } : {}),
            ...metadataFields(Object.fromEntries(Object.entries(facts).filter(([, value]) => value !== null))),
          },
          $unset: Object.fromEntries(gone),
        },
      );
      return result.matchedCount === 1;
    },
  };
}
