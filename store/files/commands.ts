import type { Model, QueryFilter } from 'mongoose';

import { hotMs } from '../../contract/coldStorage.js';
import type { EmbeddingModelId } from '../../contract/embeddingModels.js';
import { fileEvents, uploadEvent } from '../../contract/events.js';
import type { FeedReading } from '../../contract/feeds.js';
import { endedAs, type ItemCause, type ItemCost, type ItemEnd, type LeftCause } from '../../contract/ledger.js';
import {
  FINAL_FILE_STATUSES,
  type FileSyncStatus,
  UNDER_WAY_STATUSES,
  WAITING_FILE_STATUSES,
} from '../../contract/statuses.js';
import type { DataSourceDoc } from '../dataSources/model.js';
import type { Atomically, EventWriter } from '../events/events.js';
import type { Intents } from '../events/intents.js';
import type { Session } from '../sequence.js';
import { metadataFields } from './accept.js';
import { endLooks, keepLooked } from './evaluate.js';
import type { FileDoc, SyncedContent } from './model.js';
import { recountPages } from './pageCounts.js';
import { IN_MOTION, type StartedFile, startFiles } from './start.js';
import { createToldChanges } from './told.js';

/** How a sync ended well: the content that readers see from now on. */
export interface FinishedSync {
  readonly runId: number;
  /** As it was when the sync began. */
  readonly file: FileDoc;
  readonly content: SyncedContent;
  readonly name: string | null;
  /** The model of its vectors, which takes the place of the one that was asked for; absent: that one. */
  readonly model?: EmbeddingModelId;
  readonly fileMetadata: Record<string, unknown>;
  /** When the content says it was made; absent where it does not. */
  readonly sourceCreatedAt?: Date;
  /** The revision of the tags that the points carry: a file whose tags have changed is not flipped. */
  readonly tagsRevision: number | null;
  /** For the ledger. */
  readonly cost: ItemCost;
}

/** A file whose content is still the one it has, under the number that was given out for this try. */
export interface KeptFile {
  readonly runId: number;
  /** As it was when the sync began. */
  readonly file: FileDoc;
  readonly generation: number;
  /** Of finding that out. */
  readonly cost: ItemCost;
}

/** Files ended in one write when a run is aborted. */
const ABORTED_AT_ONCE = 500;

/**
 * Changes of files by the run that owns them, each with its event. Each is guarded by the run's id and the state it expects, so running it
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
  /** Gives a file the content that was fetched for it, in the transaction that makes it the file's; null when it is no longer this run's. */
  takeOriginal(runId: number, fileId: number, taken: TakenOriginal, session: Session): Promise<FileDoc | null>;
  /** Counts that a content has brought its reader down. */
  noteCrash(runId: number, fileId: number, hash: string): Promise<void>;
  /** Ends a file in SYNC_ERROR. @param isGone whether its source says that it is there no more. False when it is no longer this run's. */
  fail(runId: number, fileId: number, message: string, end: ItemEnd, isGone?: boolean): Promise<boolean>;
  /** Back into the queue, for a try after `notBefore`. */
  requeue(runId: number, fileId: number, notBefore: Date, message: string): Promise<boolean>;
  /** The same for a file that somebody's rate limit holds up: RATE_LIMITED. @param counted whether it was one of its tries */
  limit(runId: number, fileId: number, notBefore: Date, message: string, counted: boolean): Promise<boolean>;
  /** Holds a file back until there is room for it within the user's limits. */
  delay(runId: number, fileId: number, message: string): Promise<boolean>;
  /**
   * Puts a begun file aside until something else of it is made, and the start does not count. It stays SYNCING, or is
   * QUEUED_FOR_OCR where pages are given that are to be recognized.
   */
  putAside(runId: number, fileId: number, ocrPages: readonly number[] | null): Promise<void>;
  /** A file that was put aside for OCR, its start counted; null when it is no longer that. */
  beginOcr(runId: number, fileId: number): Promise<FileDoc | null>;
  /** Undoes `start` for files that were not brought to an end (cancelled or shut down): the start does not count. */
  release(runId: number, fileIds: readonly number[]): Promise<void>;
  /** The rows and points of older generations are gone. */
  cleaned(fileIds: readonly number[]): Promise<void>;
  /** Ends every open file of the run in SYNC_ABORTED, and has its container count its pages anew. @param cause for the ledger */
  abortOpen(runId: number, message: string, cause: LeftCause): Promise<number>;
  /** Ends the files of a data source that wait for their sync in SYNC_ABORTED: its access is gone. */
  abortQueuedOf(source: Pick<DataSourceDoc, '_id' | 'organizationId' | 'userId'>): Promise<void>;
  /** Moves a container that is in motion: status, message and facts to merge into file_metadata; null takes one out. */
  moveContainer(runId: number, fileId: number, change: ContainerChange): Promise<boolean>;
}

/** What is found out as a file is fetched. */
export type TakenOriginal = Pick<FileDoc, 'original' | 'source' | 'name' | 'statistics' | 'sourceOptions'>;

export interface ContainerChange {
  readonly status: FileSyncStatus;
  readonly message?: string | null;
  /** Why it fails. */
  readonly cause?: ItemCause;
  readonly facts?: Record<string, unknown>;
  readonly synced?: boolean;
  /** By a pass, which tells of what it has queued itself. */
  readonly isPass?: boolean;
  /** Kept for the next run; null forgets an earlier one. */
  readonly feedReading?: FeedReading | null;
  /** Where it is by now. */
  readonly externalUrl?: string;
  /** All its children are known and queued by now: that is told, once a run. */
  readonly discovered?: boolean;
}

/** What is true of a file whose try has come to an end, whatever the end. */
const rested = (syncStatus: FileSyncStatus, syncErrorMessage: string | null) => ({
  syncStatus,
  syncErrorMessage,
  unfinishedStarts: 0,
  notBefore: null,
  ocrPages: null,
  updatedAt: new Date(),
});

/** What a change of a container's status is told as. */
function containerEvents(before: FileDoc, change: ContainerChange) {
  const { status, message = null, discovered = false, isPass = false } = change;
  if (discovered) return fileEvents.discovered(before, isPass);
  if (status === before.syncStatus) return [];
  if (status === 'SYNCING') return fileEvents.syncing(before);
  if (status === 'READY') return fileEvents.ready(before);
  return status === 'SYNC_ERROR' ? fileEvents.failed(before, message) : [];
}

export function createFileCommands(
  files: Model<FileDoc>,
  atomically: Atomically,
  events: EventWriter,
  intents: Intents,
): FileCommands {
  const told = createToldChanges(files, atomically, events, intents);
  const open = { $nin: [...FINAL_FILE_STATUSES] };
  const underWay = { $in: [...UNDER_WAY_STATUSES] };
  /** Ends files in SYNC_ABORTED, some at a time. The filter must not match them afterwards. */
  const abort = async (filter: QueryFilter<FileDoc>, message: string, cause: LeftCause): Promise<number> => {
    let aborted = 0;
    for (;;) {
      const change = { $set: { ...rested('SYNC_ABORTED', message), ended: endedAs('aborted', 'queue', cause) } };
      const some = await told.some(filter, change, ABORTED_AT_ONCE, (rows) => fileEvents.aborted(rows, message));
      aborted += some;
      if (some < ABORTED_AT_ONCE) return aborted;
    }
  };
  return {
    start: (runId, fileIds) => startFiles(files, intents, runId, fileIds),
    async finish(syncs) {
      const now = new Date();
      const flipped = await told.many(
        syncs.map(({ runId, file, content, name, model, fileMetadata, sourceCreatedAt, tagsRevision, cost }) => ({
          // tagsRevision null also finds records without the field.
          filter: { _id: file._id, runId, syncStatus: underWay, lastGeneration: content.generation, tagsRevision },
          update: {
            $set: {
              ...content,
              ...(name === null ? {} : { name }),
              ...(model === undefined ? {} : { 'options.embeddingModel': model }),
              fileMetadata,
              ...(sourceCreatedAt ? { sourceCreatedAt } : {}),
              // Any earlier number may have left rows: an older content, or a try that died.
              cleanupPending: content.generation > 1,
              ...rested('READY', null),
              ended: { ...endedAs('ok', null, null), ...cost },
              attempts: 0,
              lastSync: now,
              restoredAt: null,
              // Its vectors are in Qdrant, whatever was done with those before.
              embeddingStorageStatus: 'HOT_STORAGE',
              coldCopy: null,
              ...(file.supportsColdStorage
                ? { coolsAt: new Date(now.getTime() + hotMs(file.hotStorageTimeToLive)) }
                : {}),
            },
          },
          events: fileEvents.ready(file),
        })),
      );
      if (flipped.length === syncs.length) return flipped;
      // An answer may have been lost: what was flipped by this very sync before counts as well.
      const rows = await files
        .find(
          { $or: syncs.map(({ file, content }) => ({ _id: file._id, generation: content.generation })) },
          { _id: 1 },
        )
        .lean();
      return rows.map((row) => row._id);
    },
    async shelve(runId, fileId) {
      const before = await told.one(
        { _id: fileId, runId, syncStatus: 'SYNCING' },
        {
          $set: {
            ...rested('READY_TO_SYNC', null),
            ended: endedAs('skipped', 'select', 'skip_file_processing'),
          },
        },
        (file) => fileEvents.skipped([file], 'skip_file_processing'),
      );
      return before !== null;
    },
    async keep(all) {
      const now = new Date();
      const isLookedAt = ({ file }: KeptFile): boolean => file.syncStatus === 'EVALUATING_RESYNC';
      await keepLooked(files, all.filter(isLookedAt));
      const kept = all.filter((one) => !isLookedAt(one));
      await told.many(
        kept.map(({ runId, file, generation, cost }) => ({
          filter: { _id: file._id, runId, syncStatus: underWay, lastGeneration: generation },
          update: {
            $set: {
              ...rested('READY', null),
              ended: { ...endedAs('skipped', 'fetch', 'unchanged'), ...cost },
              attempts: 0,
              lastSync: now,
              // It was listed before its content was compared.
              ...(file.listedVersion ? { version: file.listedVersion } : {}),
            },
          },
          events: fileEvents.ready(file),
        })),
      );
    },
    takeOriginal: (runId, fileId, taken, session) =>
      files
        .findOneAndUpdate(
          { _id: fileId, runId, syncStatus: 'SYNCING' },
          { $set: { ...taken, updatedAt: new Date() } },
          { returnDocument: 'after', session },
        )
        .lean<FileDoc | null>()
        .exec(),
    async noteCrash(runId, fileId, hash) {
      const known = await files.updateOne(
        { _id: fileId, runId, 'crashes.hash': hash },
        { $inc: { 'crashes.count': 1 } },
      );
      if (known.matchedCount === 0)
        await files.updateOne({ _id: fileId, runId }, { $set: { crashes: { hash, count: 1 } } });
    },
    async fail(runId, fileId, message, ended, isGone = false) {
      const before = await told.one(
        { _id: fileId, runId, syncStatus: open },
        { $set: { ...rested('SYNC_ERROR', message), ended, goneBy: isGone ? runId : null } },
        (file) => fileEvents.failed(file, message),
      );
      return before !== null;
    },
    async requeue(runId, fileId, notBefore, message) {
      // A look that failed is made again: nobody is told of either.
      const { matchedCount } = await files.updateOne(
        { _id: fileId, runId, syncStatus: 'EVALUATING_RESYNC' },
        { $set: { notBefore, unfinishedStarts: 0, updatedAt: new Date() }, $inc: { attempts: 1 } },
      );
      if (matchedCount > 0) return true;
      const before = await told.one(
        { _id: fileId, runId, syncStatus: underWay },
        { $set: { ...rested('QUEUED_FOR_SYNC', message), notBefore }, $inc: { attempts: 1 } },
        () => [],
      );
      return before !== null;
    },
    async limit(runId, fileId, notBefore, message, counted) {
      const before = await told.one(
        { _id: fileId, runId, syncStatus: underWay },
        { $set: { ...rested('RATE_LIMITED', message), notBefore }, $inc: { attempts: counted ? 1 : 0 } },
        (file) => fileEvents.rateLimited(file, message),
      );
      return before !== null;
    },
    async delay(runId, fileId, message) {
      const before = await told.one(
        { _id: fileId, runId, syncStatus: underWay },
        { $set: rested('DELAYED', message) },
        (file) => [uploadEvent('FILE_SYNC_LIMIT_REACHED', file)],
        `limit:${runId}`,
      );
      return before !== null;
    },
    async putAside(runId, fileId, ocrPages) {
      const begun = { _id: fileId, runId, syncStatus: underWay };
      if (ocrPages !== null) {
        const fields = { syncStatus: 'QUEUED_FOR_OCR', ocrJobStartedAt: new Date(), ocrPages: [...ocrPages] } as const;
        await files.updateOne({ ...begun, syncStatus: 'SYNCING' }, { $set: { ...fields, updatedAt: new Date() } });
      }
      await files.updateOne({ ...begun, unfinishedStarts: { $gt: 0 } }, { $inc: { unfinishedStarts: -1 } });
    },
    beginOcr: (runId, fileId) =>
      files
        .findOneAndUpdate(
          { _id: fileId, runId, syncStatus: 'QUEUED_FOR_OCR' },
          { $inc: { unfinishedStarts: 1 } },
          { returnDocument: 'after' },
        )
        .lean<FileDoc | null>()
        .exec(),
    async release(runId, fileIds) {
      const undone = { $inc: { unfinishedStarts: -1 } };
      const updatedAt = new Date();
      await files.updateMany(
        { _id: { $in: fileIds }, runId, syncStatus: 'SYNCING' },
        { $set: { syncStatus: 'QUEUED_FOR_SYNC', updatedAt }, ...undone },
      );
      // Those in OCR are not put back to where they are read from the beginning, nor are those that are looked at.
      await files.updateMany(
        { _id: { $in: fileIds }, runId, syncStatus: { $in: ['QUEUED_FOR_OCR', 'EVALUATING_RESYNC'] } },
        { $set: { updatedAt }, ...undone },
      );
    },
    async cleaned(fileIds) {
      await files.updateMany({ _id: { $in: fileIds } }, { $set: { cleanupPending: false } });
    },
    async abortOpen(runId, message, cause) {
      await endLooks(files, { runId }, cause);
      const aborted = await abort({ runId, syncStatus: open }, message, cause);
      await recountPages(files, runId);
      return aborted;
    },
    async abortQueuedOf({ _id, organizationId, userId }) {
      const cause = 'source_revoked';
      await endLooks(files, { organizationId, userId, dataSourceId: _id }, cause);
      await abort(
        { organizationId, userId, dataSourceId: _id, syncStatus: { $in: [...WAITING_FILE_STATUSES] } },
        'Access to the data source was revoked before this was synced. Connect it again, then resync.',
        cause,
      );
    },
    async moveContainer(runId, fileId, change) {
      const {
        status,
        message = null,
        cause = null,
        facts = {},
        synced = false,
        discovered = false,
        feedReading,
        externalUrl,
      } = change;
      const now = new Date();
      const gone = Object.entries(facts).flatMap(([name, value]) =>
        value === null ? [[`fileMetadata.${name}`, 1]] : [],
      );
      const before = await told.one(
        { _id: fileId, runId, isContainer: true, syncStatus: IN_MOTION },
        {
          $set: {
            syncStatus: status,
            syncErrorMessage: message,
            // The ledger has no line of it, but whoever looks for failures finds it by its cause.
            ended: status === 'SYNC_ERROR' ? endedAs('failed', null, cause) : null,
            updatedAt: now,
            ...(synced ? { lastSync: now } : {}),
            ...(feedReading === undefined ? {} : { feedReading }),
            ...(externalUrl === undefined ? {} : { externalUrl }),
            ...metadataFields(Object.fromEntries(Object.entries(facts).filter(([, value]) => value !== null))),
          },
          $unset: Object.fromEntries(gone),
        },
        (file) => containerEvents(file, change),
        discovered ? `discovered:${runId}` : undefined,
      );
      return before !== null;
    },
  };
}
