import type { Model } from 'mongoose';

import { itemEnd, type ItemEnd, type SkipCause } from '../../contract/runs/ledger.js';
import { IN_PROGRESS_STATUSES } from '../../contract/files/statuses.js';
import type { DataSourceDoc } from '../models/dataSources.js';
import type { Session } from '../database/sequence.js';
import type { FileChanges } from './changes.js';
import { endEvaluations } from './evaluate.js';
import { finish, type FinishedSync, finishUnchanged, type UnchangedFile } from './finish.js';
import { type ContainerChange, moveContainer } from './moveContainer.js';
import type { FileDoc } from '../models/files.js';
import { recountPages } from './pageCounts.js';
import { type StartedFile, startFiles } from './start.js';
import { ATTEMPT_ENDED, type Change, type Transition, transition } from './transitions.js';

/** Files per write when a run is aborted. */
const ABORTED_AT_ONCE = 500;

/**
 * Changes of files, most by the run that owns them. Events are published only if their change is made. The filter of a
 * run's change contains the run's id, so a call after another run took the file over changes nothing.
 */
export interface FileCommands {
  /**
   * Sets queued and rate-limited files of the run to SYNCING. Files in progress are started again and keep their state.
   * Each gets a new generation. Skips delayed files, and files that belong to another run or have ended.
   */
  start(runId: number, fileIds: readonly number[]): Promise<StartedFile[]>;
  /** Publishes the new generation of files; returns the ids of the published files. */
  finish(syncs: readonly FinishedSync[]): Promise<number[]>;
  /** Ends a file in READY_TO_SYNC. Nothing was fetched, and the result of an earlier sync stays unchanged. */
  skipContent(runId: number, fileId: number): Promise<boolean>;
  /** Ends files whose content has not changed: sets READY and rewrites nothing. */
  finishUnchanged(files: readonly UnchangedFile[]): Promise<void>;
  /**
   * Stores the fetched content on the file, in the caller's transaction; null if the file no longer belongs to this
   * run.
   */
  setOriginal(runId: number, fileId: number, fetched: FetchedOriginal, session: Session): Promise<FileDoc | null>;
  /** Counts a crash of the document reader for this content. */
  recordCrash(runId: number, fileId: number, hash: string): Promise<void>;
  /**
   * Ends a file in SYNC_ERROR. Returns false if the run no longer owns the file.
   * @param isGone whether the file no longer exists at its source
   */
  fail(runId: number, fileId: number, message: string, end: ItemEnd, isGone?: boolean): Promise<boolean>;
  /** Queues a file again, for an attempt after `notBefore`. */
  requeue(runId: number, fileId: number, notBefore: Date, message: string): Promise<boolean>;
  /**
   * Sets RATE_LIMITED and queues the file for an attempt after `notBefore`. @param counted whether it counts as an
   * attempt
   */
  limit(runId: number, fileId: number, notBefore: Date, message: string, counted: boolean): Promise<boolean>;
  /** Delays a file until the user's limits allow it. */
  delay(runId: number, fileId: number, message: string): Promise<boolean>;
  /**
   * Defers a started file until its transcript or its recognized pages are ready; the start does not count as an
   * attempt. The file stays SYNCING, or becomes QUEUED_FOR_OCR if `ocrPages` names pages to recognize.
   */
  defer(runId: number, fileId: number, ocrPages: readonly number[] | null): Promise<void>;
  /** Counts the start of a file that was deferred for OCR, and returns it; null if it is no longer deferred. */
  beginOcr(runId: number, fileId: number): Promise<FileDoc | null>;
  /**
   * Undoes `start` or `beginOcr` of files without an outcome, for example after a cancellation or a shutdown: the
   * start does not count as an attempt. A file in OCR or under evaluation keeps its state. Others are queued again.
   */
  release(runId: number, fileIds: readonly number[]): Promise<void>;
  /** Records that the rows and points of older generations are deleted. */
  markCleanedUp(fileIds: readonly number[]): Promise<void>;
  /**
   * Ends every unfinished file of the run: a file under evaluation in READY, as before, all others in SYNC_ABORTED.
   * Recounts the pages of the run's container. Returns the number of aborted files. @param cause for the ledger
   */
  abortOpen(runId: number, message: string, cause: SkipCause): Promise<number>;
  /** Ends the queued files of a data source in SYNC_ABORTED, because its access was revoked. */
  abortQueuedOf(source: Pick<DataSourceDoc, '_id' | 'organizationId' | 'userId'>): Promise<void>;
  /** Changes an unfinished container: status, message, and fields to merge into file_metadata; null removes a field. */
  moveContainer(runId: number, fileId: number, change: ContainerChange): Promise<boolean>;
}

/** Fields that are known once a file was fetched. */
export type FetchedOriginal = Pick<FileDoc, 'original' | 'source' | 'name' | 'statistics' | 'sourceOptions'>;

export function createFileCommands(files: Model<FileDoc>, changes: FileChanges): FileCommands {
  const fileOf = (runId: number, fileId: number) => ({ owner: { runId }, where: { _id: fileId } });
  const aborted = (cause: SkipCause) => ({ ...ATTEMPT_ENDED, ended: itemEnd('aborted', 'queue', cause) });
  /** Ends files in SYNC_ABORTED, in batches. */
  const abort = async <N extends 'abort' | 'abortQueued'>(name: N, change: Change<N>): Promise<number> => {
    let total = 0;
    for (;;) {
      const count = await changes.changeSome(name, change, ABORTED_AT_ONCE);
      total += count;
      if (count < ABORTED_AT_ONCE) return total;
    }
  };
  /** Changes files without an event. */
  const update = async <N extends Transition>(name: N, change: Change<N>): Promise<boolean> => {
    const write = transition(name, change);
    return (await files.updateMany(write.filter, write.update)).matchedCount > 0;
  };
  return {
    start: (runId, fileIds) => startFiles(files, changes, runId, fileIds),
    finish: (syncs) => finish(files, changes, syncs),
    async skipContent(runId, fileId) {
      const set = { ...ATTEMPT_ENDED, ended: itemEnd('skipped', 'select', 'skip_file_processing') };
      return (await changes.changeOne('skipContent', { ...fileOf(runId, fileId), message: null, set })) !== null;
    },
    finishUnchanged: (all) => finishUnchanged(changes, all),
    setOriginal: (runId, fileId, fetched, session) =>
      files
        .findOneAndUpdate(
          { _id: fileId, runId, syncStatus: 'SYNCING' },
          { $set: { ...fetched, updatedAt: new Date() } },
          { returnDocument: 'after', session },
        )
        .lean()
        .exec(),
    async recordCrash(runId, fileId, hash) {
      const updated = await files.updateOne(
        { _id: fileId, runId, 'crashes.hash': hash },
        { $inc: { 'crashes.count': 1 } },
      );
      if (updated.matchedCount === 0)
        await files.updateOne({ _id: fileId, runId }, { $set: { crashes: { hash, count: 1 } } });
    },
    async fail(runId, fileId, message, ended, isGone = false) {
      const set = { ...ATTEMPT_ENDED, ended, goneBy: isGone ? runId : null };
      return (await changes.changeOne('fail', { ...fileOf(runId, fileId), message, set })) !== null;
    },
    async requeue(runId, fileId, notBefore, message) {
      // A file under evaluation stays in that state for its next attempt, without an event.
      const { matchedCount } = await files.updateOne(
        { _id: fileId, runId, syncStatus: 'EVALUATING_RESYNC' },
        { $set: { notBefore, unfinishedStarts: 0, updatedAt: new Date() }, $inc: { attempts: 1 } },
      );
      if (matchedCount > 0) return true;
      const set = { ...ATTEMPT_ENDED, notBefore };
      return update('requeue', { ...fileOf(runId, fileId), message, set, inc: { attempts: 1 } });
    },
    async limit(runId, fileId, notBefore, message, counted) {
      const set = { ...ATTEMPT_ENDED, notBefore };
      const change = { ...fileOf(runId, fileId), message, set, inc: { attempts: counted ? 1 : 0 } };
      return (await changes.changeOne('limit', change)) !== null;
    },
    async delay(runId, fileId, message) {
      const change = { ...fileOf(runId, fileId), message, set: ATTEMPT_ENDED };
      return (await changes.changeOne('delay', change, `limit:${runId}`)) !== null;
    },
    async defer(runId, fileId, ocrPages) {
      if (ocrPages !== null) {
        const set = { ocrJobStartedAt: new Date(), ocrPages: [...ocrPages] };
        await update('deferToOcr', { ...fileOf(runId, fileId), set });
      }
      await files.updateOne(
        { _id: fileId, runId, syncStatus: { $in: [...IN_PROGRESS_STATUSES] }, unfinishedStarts: { $gt: 0 } },
        { $inc: { unfinishedStarts: -1 } },
      );
    },
    beginOcr: (runId, fileId) =>
      files
        .findOneAndUpdate(
          { _id: fileId, runId, syncStatus: 'QUEUED_FOR_OCR' },
          { $inc: { unfinishedStarts: 1 } },
          { returnDocument: 'after' },
        )
        .lean()
        .exec(),
    async release(runId, fileIds) {
      const _id = { $in: [...fileIds] };
      const undone = { unfinishedStarts: -1 };
      await update('release', { owner: { runId }, where: { _id }, inc: undone });
      // These files keep their state, so that OCR and evaluations do not start again from the beginning.
      await files.updateMany(
        { _id, runId, syncStatus: { $in: ['QUEUED_FOR_OCR', 'EVALUATING_RESYNC'] }, unfinishedStarts: { $gt: 0 } },
        { $set: { updatedAt: new Date() }, $inc: undone },
      );
    },
    async markCleanedUp(fileIds) {
      await files.updateMany({ _id: { $in: fileIds } }, { $set: { cleanupPending: false } });
    },
    async abortOpen(runId, message, cause) {
      await endEvaluations(files, 'endEvaluation', { owner: { runId }, where: {} }, cause);
      const total = await abort('abort', { owner: { runId }, where: {}, message, set: aborted(cause) });
      await recountPages(files, runId);
      return total;
    },
    async abortQueuedOf(source) {
      const scope = { owner: source, where: { dataSourceId: source._id } };
      await endEvaluations(files, 'endEvaluationsOfSource', scope, 'source_revoked');
      const message =
        'Access to the data source was revoked before this file was synced. Connect the data source again, then resync.';
      await abort('abortQueued', { ...scope, message, set: aborted('source_revoked') });
    },
    moveContainer: (runId, fileId, change) => moveContainer(changes, runId, fileId, change),
  };
}
