import type { Model, QueryFilter } from 'mongoose';

import { DAY_MS, hotMs } from '../../contract/files/coldStorage.js';
import { fileEvents } from '../../contract/events.js';
import { itemEnd } from '../../contract/runs/ledger.js';
import type { Atomically, EventWriter } from '../events/events.js';
import { TAKEN_OVER } from '../files/deletion.js';
import type { ColdCopy, FileDoc } from '../models/files.js';
import { transition, transitionEvents } from '../files/transitions.js';
import type { Tenant } from '../users/accept.js';
import { updateRows } from '../database/updateRows.js';

/** One attempt of a run to move some files. Its token guards every write; the next attempt replaces the token. */
export interface MoveAttempt extends Tenant {
  readonly runId: number;
  readonly token: string;
  /** Request id of the events. */
  readonly requestId: string;
  readonly workflowId: string;
}

/** State of a file at the time when its vectors were copied. The move completes only if it has not changed since. */
export type MovedFile = Pick<FileDoc, '_id' | 'generation' | 'tagsRevision'>;

/** Changes of the records of files that a run moves. Each is safe to repeat. */
export interface Moves {
  /** Sets the attempt's token on the run's files, except those that are being deleted, and returns the files. */
  beginAttempt(by: MoveAttempt, ids: readonly number[]): Promise<FileDoc[]>;
  /**
   * Records that the vectors are in file storage. False if the file no longer belongs to this attempt, or its content
   * has changed since the vectors were read.
   */
  saveCopy(by: MoveAttempt, file: MovedFile, copy: ColdCopy): Promise<boolean>;
  /**
   * Sets COLD_STORAGE and writes events; returns the ids. Skips files that were used or synced meanwhile, or whose cold
   * storage was disabled.
   */
  markCold(by: MoveAttempt, copied: readonly MovedFile[]): Promise<number[]>;
  /**
   * Sets HOT_STORAGE and writes events; returns the ids. Skips files whose content or tags have changed since they were
   * read.
   */
  markHot(by: MoveAttempt, copied: readonly MovedFile[]): Promise<number[]>;
  /** Restores the previous storage status of files whose move did not complete. */
  revert(by: MoveAttempt, ids: readonly number[]): Promise<void>;
  /** Postpones the move of a file to the next day, because Qdrant does not have all of its points. */
  postponeMove(by: MoveAttempt, id: number): Promise<void>;
  /** Sets SYNC_ERROR because the stored vectors are lost. A resync creates them again. */
  markVectorsLost(by: MoveAttempt, id: number, message: string): Promise<void>;
  /** Releases the files from the move. Call it after their obsolete points and copies are deleted. */
  release(by: MoveAttempt, ids: readonly number[]): Promise<void>;
}

/** A change of the storage of files whose vectors were copied. */
interface Move {
  readonly when: QueryFilter<FileDoc>;
  /** Returns whether a file has not changed since its vectors were read. */
  isSame(file: FileDoc, movedFile: MovedFile): boolean;
  change(file: FileDoc): Partial<FileDoc>;
  readonly kind: 'MOVED_TO_COLD_STORAGE' | 'MOVED_TO_HOT_STORAGE';
}

export function createMoves(files: Model<FileDoc>, atomically: Atomically, events: EventWriter): Moves {
  const ofAttempt = ({ organizationId, userId, runId, token }: MoveAttempt, ids: readonly number[]) => ({
    organizationId,
    userId,
    _id: { $in: [...ids] },
    'move.runId': runId,
    'move.token': token,
  });
  /** Updates, in one transaction, the files that have not changed since their vectors were copied. */
  const markMoved = (
    by: MoveAttempt,
    copied: readonly MovedFile[],
    { when, isSame, change, kind }: Move,
  ): Promise<number[]> => {
    if (copied.length === 0) return Promise.resolve([]);
    const copiedById = new Map(copied.map((file) => [file._id, file]));
    return atomically(async (session) => {
      const rows = await files.find({ ...ofAttempt(by, [...copiedById.keys()]), ...when }, null, { session }).lean();
      const unchanged = rows.filter((row) => {
        const file = copiedById.get(row._id);
        return file !== undefined && row.generation === file.generation && isSame(row, file);
      });
      if (unchanged.length === 0) return [];
      await updateRows(
        files,
        unchanged.map((row) => ({
          filter: { _id: row._id },
          update: { $set: { ...change(row), updatedAt: new Date() } },
        })),
        session,
      );
      await events.write(fileEvents.stored(kind, unchanged, by.requestId, by.workflowId), session);
      return unchanged.map((row) => row._id);
    });
  };
  return {
    async beginAttempt(by, ids) {
      const { organizationId, userId, runId, token } = by;
      await files.updateMany(
        { organizationId, userId, _id: { $in: [...ids] }, 'move.runId': runId, $nor: [TAKEN_OVER] },
        { $set: { 'move.token': token } },
      );
      return files.find(ofAttempt(by, ids)).sort({ _id: 1 }).lean();
    },
    async saveCopy(by, { _id, generation }, coldCopy) {
      const { matchedCount } = await files.updateOne(
        { ...ofAttempt(by, [_id]), embeddingStorageStatus: 'HOT_TO_COLD', generation },
        { $set: { coldCopy } },
      );
      return matchedCount === 1;
    },
    markCold: (by, copied) =>
      markMoved(by, copied, {
        when: {
          embeddingStorageStatus: 'HOT_TO_COLD',
          syncStatus: 'READY',
          supportsColdStorage: true,
          coolsAt: { $lte: new Date() },
        },
        isSame: (row) => row.coldCopy?.generation === row.generation,
        change: () => ({ embeddingStorageStatus: 'COLD_STORAGE' }),
        kind: 'MOVED_TO_COLD_STORAGE',
      }),
    markHot: (by, copied) =>
      markMoved(by, copied, {
        when: { embeddingStorageStatus: 'COLD_TO_HOT' },
        isSame: (row, file) => (row.tagsRevision ?? null) === (file.tagsRevision ?? null),
        change: (row) => ({
          embeddingStorageStatus: 'HOT_STORAGE',
          coolsAt: row.supportsColdStorage ? new Date(Date.now() + hotMs(row.hotStorageTimeToLive)) : null,
        }),
        kind: 'MOVED_TO_HOT_STORAGE',
      }),
    async revert(by, ids) {
      const query = ofAttempt(by, ids);
      const updatedAt = new Date();
      await files.updateMany(
        { ...query, embeddingStorageStatus: 'HOT_TO_COLD' },
        { $set: { embeddingStorageStatus: 'HOT_STORAGE', coldCopy: null, updatedAt } },
      );
      await files.updateMany(
        { ...query, embeddingStorageStatus: 'COLD_TO_HOT' },
        { $set: { embeddingStorageStatus: 'COLD_STORAGE', updatedAt } },
      );
    },
    async postponeMove(by, id) {
      await files.updateOne(ofAttempt(by, [id]), { $set: { coolsAt: new Date(Date.now() + DAY_MS) } });
    },
    async markVectorsLost(by, id, message) {
      const { filter, update } = transition('loseVectors', {
        owner: by,
        where: { ...ofAttempt(by, [id]), syncErrorMessage: { $ne: message } },
        message,
        set: { processedAs: null, ended: itemEnd('failed', 'store', 'vectors_lost') },
      });
      await atomically(async (session) => {
        const before = await files.findOneAndUpdate(filter, update, { session }).lean();
        if (!before) return;
        const file = { ...before, workflowId: by.workflowId };
        await events.write(transitionEvents('loseVectors', [file], { message }), session);
      });
    },
    async release(by, ids) {
      const query = ofAttempt(by, ids);
      await files.updateMany({ ...query, embeddingStorageStatus: 'HOT_STORAGE' }, { $set: { coldCopy: null } });
      await files.updateMany(query, { $set: { move: null } });
    },
  };
}
