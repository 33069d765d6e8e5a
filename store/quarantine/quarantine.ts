import type { ClientSession, Model } from 'mongoose';

import { fileEvents } from '../../contract/events.js';
import { itemEnd } from '../../contract/runs/ledger.js';
import { FINAL_FILE_STATUSES, type FileSyncStatus } from '../../contract/files/statuses.js';
import type { Atomically, EventWriter } from '../events/events.js';
import type { ColdCopy, FileDoc } from '../models/files.js';
import { stateOf, transitionEvents } from '../files/transitions.js';
import type { RunDoc } from '../models/runs.js';
import type { Tenant } from '../users/accept.js';
import type { UserDoc } from '../models/users.js';
import type { QuarantinedDoc } from '../models/quarantine.js';
import { insertRows } from '../database/insertOnce.js';

/** Message of a file that is restored without vectors. */
const LOST = 'The vectors of this file can no longer be read from file storage. Resync it to compute them again.';
const UNREAD = 'The file was deleted at its source before it was synced. Resync to try again.';

/** A file that is restored. */
export interface RestoredFile {
  readonly row: QuarantinedDoc;
  /** Whether the vectors were restored: to cold storage if they were there before, otherwise to Qdrant. */
  readonly isWhole: boolean;
}

/**
 * Moves files that no longer exist at their source into quarantine, and restores or deletes them. Each step is safe to
 * repeat.
 */
export interface Quarantine {
  /** Moves file records to quarantine and writes FILE_DELETED events, in one transaction. */
  moveIn(run: RunDoc, ids: readonly number[], keptUntil: Date): Promise<void>;
  /** Returns the files that a run has claimed. */
  listClaimed(run: Tenant & { readonly _id: number }, limit: number): Promise<QuarantinedDoc[]>;
  /** Returns the rows that still have the state and the run with which they were read. */
  filterUnchanged(rows: readonly QuarantinedDoc[]): Promise<QuarantinedDoc[]>;
  /** Stores where the vectors of a `leaving` file are, unless an earlier attempt did; returns the stored location. */
  saveCopy(row: QuarantinedDoc, copy: ColdCopy | null): Promise<ColdCopy | null>;
  /**
   * Sets `leaving` files to `kept`. Call it after their vectors, if they have any, are in file storage, and their
   * points are deleted.
   */
  markKept(rows: readonly QuarantinedDoc[]): Promise<void>;
  /** Returns which of the files have a successor: a file with the same external id that was created meanwhile. */
  findReplaced(rows: readonly QuarantinedDoc[]): Promise<Set<number>>;
  /** Restores files and writes events. */
  restore(run: RunDoc, returned: readonly RestoredFile[]): Promise<void>;
  /** Sets files that cannot be restored back to `kept`. */
  cancelRestore(rows: readonly QuarantinedDoc[]): Promise<void>;
  /** Deletes the rows of files that are restored or erased. */
  deleteRows(rows: readonly QuarantinedDoc[]): Promise<void>;
  /** Returns which of the files are in quarantine. */
  filterQuarantined(tenant: Tenant, ids: readonly number[]): Promise<Set<number>>;
}

const isSettled = ({ syncStatus }: FileDoc): boolean =>
  (FINAL_FILE_STATUSES as readonly FileSyncStatus[]).includes(syncStatus);
/** Returns whether a file was in cold storage. A restore then returns it to cold storage. */
export const wasCold = ({ file }: Pick<QuarantinedDoc, 'file'>): boolean =>
  file.embeddingStorageStatus === 'COLD_STORAGE';

/**
 * Returns the fields that set a file to a final state if it is unfinished, or failed because it was missing at its
 * source.
 */
function finalStateOf(file: FileDoc): Partial<FileDoc> {
  // Whether the last sync failed because the item was missing at its source. A restore does not keep this failure.
  const isGone = file.syncStatus === 'SYNC_ERROR' && Boolean(file.goneBy);
  if (isSettled(file) && !isGone) return {};
  const evaluated = file.syncStatus === 'EVALUATING_RESYNC' ? { requestId: file.keptRequestId ?? null } : {};
  return file.generation > 0
    ? { ...stateOf('restore'), syncErrorMessage: null, ...evaluated }
    : { ...stateOf('restoreUnread'), syncErrorMessage: UNREAD };
}

/** Returns the record of a restored file. */
function recordOf(
  { row, isWhole }: RestoredFile,
  { _id: runId, workflowId }: Pick<RunDoc, '_id' | 'workflowId'>,
  now: Date,
): FileDoc {
  const { file, copy } = row;
  const ended = itemEnd('failed', 'store', 'vectors_lost');
  const lost = isWhole ? {} : { ...stateOf('restoreFailed'), syncErrorMessage: LOST, processedAs: null, ended };
  const isCold = wasCold(row) || !isWhole;
  return {
    ...file,
    ...finalStateOf(file),
    ...lost,
    embeddingStorageStatus: isCold ? 'COLD_STORAGE' : 'HOT_STORAGE',
    coldCopy: isCold ? copy : null,
    move: null,
    runId,
    workflowId,
    notBefore: null,
    goneBy: null,
    restoredAt: now,
    updatedAt: now,
  };
}

const identityOf = ({ organizationId, userId, source, externalFileId, accountId }: FileDoc) => ({
  ...{ organizationId, userId, source },
  ...{ externalFileId, accountId },
});
const idsOf = (rows: readonly QuarantinedDoc[]) => ({ $in: rows.map(({ _id }) => _id) });

export function createQuarantine(
  quarantined: Model<QuarantinedDoc>,
  files: Model<FileDoc>,
  users: Model<UserDoc>,
  atomically: Atomically,
  events: EventWriter,
): Quarantine {
  const findReplacedIds = async (
    rows: readonly QuarantinedDoc[],
    session: ClientSession | null,
  ): Promise<Set<number>> => {
    const found = await Promise.all(
      rows.map(async ({ _id, file }) => ({ _id, is: await files.exists(identityOf(file)).session(session) })),
    );
    return new Set(found.flatMap(({ _id, is }) => (is === null ? [] : [_id])));
  };
  return {
    async moveIn({ _id: runId, workflowId, organizationId, userId }, ids, keptUntil) {
      const filesToMove = { organizationId, userId, _id: { $in: [...ids] } };
      await atomically(async (session) => {
        const rows = await files.find(filesToMove, null, { session }).sort({ _id: 1 }).lean();
        if (rows.length === 0) return;
        const now = new Date();
        await insertRows(
          quarantined,
          rows.map((file) => ({
            _id: file._id,
            ...{ organizationId, userId, customerId: file.customerId },
            // The record of an attachment names no data source, but it is restored and erased with its account's files.
            ...{ dataSourceId: file.dataSourceId ?? file.accountId, parentId: file.parentId },
            ...({ state: 'leaving', missedBy: runId, runId, quarantinedAt: now, keptUntil, copy: null } as const),
            file,
          })),
          session,
        );
        await files.deleteMany({ ...filesToMove, _id: { $in: rows.map(({ _id }) => _id) } }, { session });
        await users.updateOne({ _id: userId, organizationId }, { $inc: { filesRemoved: 1 } }, { session });
        await events.write(
          rows.flatMap((file) => fileEvents.deleted({ ...file, workflowId })),
          session,
        );
      });
    },
    listClaimed: ({ _id: runId, organizationId, userId }, limit) =>
      quarantined
        .find({ organizationId, userId, runId, state: { $ne: 'kept' } })
        .sort({ _id: 1 })
        .limit(limit)
        .lean()
        .exec(),
    async filterUnchanged(rows) {
      const current = await quarantined.find({ _id: idsOf(rows) }, { state: 1, runId: 1 }).lean();
      const currentStates = new Map(current.map(({ _id, state, runId }) => [_id, `${state} ${runId}`]));
      return rows.filter(({ _id, state, runId }) => currentStates.get(_id) === `${state} ${runId}`);
    },
    async saveCopy({ _id, runId }, copy) {
      if (copy) await quarantined.updateOne({ _id, runId, state: 'leaving', copy: null }, { $set: { copy } });
      const row = await quarantined.findById(_id, { copy: 1 }).lean();
      return row?.copy ?? null;
    },
    async markKept(rows) {
      await quarantined.updateMany({ _id: idsOf(rows), state: 'leaving' }, { $set: { state: 'kept' } });
    },
    findReplaced: (rows) => findReplacedIds(rows, null),
    async restore(run, returned) {
      const { _id: runId, requestId } = run;
      if (returned.length === 0) return;
      await atomically(async (session) => {
        const ids = returned.map(({ row }) => row._id);
        const claimedQuery = { _id: { $in: ids }, runId, state: 'returning' as const };
        const claimedIds = new Set(
          (await quarantined.find(claimedQuery, { _id: 1 }, { session }).lean()).map(({ _id }) => _id),
        );
        const now = new Date();
        const records = returned.filter(({ row }) => claimedIds.has(row._id)).map((one) => recordOf(one, run, now));
        if (records.length === 0) return;
        await insertRows(files, records, session);
        await quarantined.updateMany(claimedQuery, { $set: { state: 'tidying' } }, { session });
        // A restored record keeps the request id of its last sync. The events of the restore get the request id of the
        // restore, because the last sync has written its own events already.
        const ready = records.flatMap((file) => (file.syncStatus === 'READY' ? [{ ...file, requestId }] : []));
        await events.write(transitionEvents('restore', ready, {}), session);
      });
    },
    async cancelRestore(rows) {
      await quarantined.updateMany({ _id: idsOf(rows), state: 'returning' }, { $set: { state: 'kept' } });
    },
    async deleteRows(rows) {
      await quarantined.deleteMany({ _id: idsOf(rows), state: { $in: ['tidying', 'erasing'] } });
    },
    async filterQuarantined({ organizationId, userId }, ids) {
      const rows = await quarantined.find({ organizationId, userId, _id: { $in: [...ids] } }, { _id: 1 }).lean();
      return new Set(rows.map(({ _id }) => _id));
    },
  };
}
