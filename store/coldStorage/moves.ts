import type { Model, QueryFilter } from 'mongoose';

import { DAY_MS, hotMs } from '../../contract/files/coldStorage.js';
import { fileEvents } from '../../contract/events.js';
import { endedAs } from '../../contract/runs/ledger.js';
import type { Atomically, EventWriter } from '../events/events.js';
import { TAKEN_OVER } from '../files/deletion.js';
import type { ColdCopy, FileDoc } from '../models/files.js';
import { transition, transitionEvents } from '../files/transitions.js';
import type { Tenant } from '../users/accept.js';
import { updateRows } from '../database/updateRows.js';

/** One try of a run to move some files. Whatever it writes is guarded by its token, which the next try takes away. */
export interface MoveTry extends Tenant {
  readonly runId: number;
  readonly token: string;
  /** Request id of the events. */
  readonly requestId: string;
  readonly workflowId: string;
}

/** A file when its vectors were copied: the move is completed only if it has not changed since. */
export type CarriedFile = Pick<FileDoc, '_id' | 'generation' | 'tagsRevision'>;

/** Changes of the records of files that a run moves. Each is safe to repeat. */
export interface Moves {
  /** Makes the files this try's, as far as they are the run's and are not being deleted, and answers them. */
  take(by: MoveTry, ids: readonly number[]): Promise<FileDoc[]>;
  /** The vectors are in file storage; false when the file is no longer this try's, or has other content. */
  noteCopy(by: MoveTry, file: CarriedFile, copy: ColdCopy): Promise<boolean>;
  /**
   * Sets COLD_STORAGE and writes events; returns the ids. Files are left out that were used or synced meanwhile, or that
   * should no longer move.
   */
  markCold(by: MoveTry, carried: readonly CarriedFile[]): Promise<number[]>;
  /** Sets HOT_STORAGE and writes events; returns the ids. Files with other content or tags are left out. */
  markHot(by: MoveTry, carried: readonly CarriedFile[]): Promise<number[]>;
  /** Files that were not flipped are where they were. */
  stepBack(by: MoveTry, ids: readonly number[]): Promise<void>;
  /** Not before tomorrow: something of the file is not as it should be. */
  putOff(by: MoveTry, id: number): Promise<void>;
  /** The stored vectors are lost: sets SYNC_ERROR; a resync makes the vectors again. */
  lost(by: MoveTry, id: number, message: string): Promise<void>;
  /** Releases the files from the move. Call it after the clean-up. */
  release(by: MoveTry, ids: readonly number[]): Promise<void>;
}

/** A change of the storage of files whose vectors were carried over. */
interface Move {
  readonly when: QueryFilter<FileDoc>;
  /** Returns whether a file has not changed since its vectors were read. */
  isSame(file: FileDoc, carriedFile: CarriedFile): boolean;
  change(file: FileDoc): Partial<FileDoc>;
  readonly kind: 'MOVED_TO_COLD_STORAGE' | 'MOVED_TO_HOT_STORAGE';
}

export function createMoves(files: Model<FileDoc>, atomically: Atomically, events: EventWriter): Moves {
  const own = ({ organizationId, userId, runId, token }: MoveTry, ids: readonly number[]) => ({
    organizationId,
    userId,
    _id: { $in: [...ids] },
    'move.runId': runId,
    'move.token': token,
  });
  /** Finds and changes, in one update, the files that have not changed since. */
  const markMoved = (
    by: MoveTry,
    carried: readonly CarriedFile[],
    { when, isSame, change, kind }: Move,
  ): Promise<number[]> => {
    if (carried.length === 0) return Promise.resolve([]);
    const known = new Map(carried.map((file) => [file._id, file]));
    return atomically(async (session) => {
      const rows = await files.find({ ...own(by, [...known.keys()]), ...when }, null, { session }).lean();
      const same = rows.filter((row) => {
        const file = known.get(row._id);
        return file !== undefined && row.generation === file.generation && isSame(row, file);
      });
      if (same.length === 0) return [];
      await updateRows(
        files,
        same.map((row) => ({
          filter: { _id: row._id },
          update: { $set: { ...change(row), updatedAt: new Date() } },
        })),
        session,
      );
      await events.write(fileEvents.stored(kind, same, by.requestId, by.workflowId), session);
      return same.map((row) => row._id);
    });
  };
  return {
    async take(by, ids) {
      const { organizationId, userId, runId, token } = by;
      await files.updateMany(
        { organizationId, userId, _id: { $in: [...ids] }, 'move.runId': runId, $nor: [TAKEN_OVER] },
        { $set: { 'move.token': token } },
      );
      return files.find(own(by, ids)).sort({ _id: 1 }).lean();
    },
    async noteCopy(by, { _id, generation }, coldCopy) {
      const { matchedCount } = await files.updateOne(
        { ...own(by, [_id]), embeddingStorageStatus: 'HOT_TO_COLD', generation },
        { $set: { coldCopy } },
      );
      return matchedCount === 1;
    },
    markCold: (by, carried) =>
      markMoved(by, carried, {
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
    markHot: (by, carried) =>
      markMoved(by, carried, {
        when: { embeddingStorageStatus: 'COLD_TO_HOT' },
        isSame: (row, file) => (row.tagsRevision ?? null) === (file.tagsRevision ?? null),
        change: (row) => ({
          embeddingStorageStatus: 'HOT_STORAGE',
          coolsAt: row.supportsColdStorage ? new Date(Date.now() + hotMs(row.hotStorageTimeToLive)) : null,
        }),
        kind: 'MOVED_TO_HOT_STORAGE',
      }),
    async stepBack(by, ids) {
      const mine = own(by, ids);
      const updatedAt = new Date();
      await files.updateMany(
        { ...mine, embeddingStorageStatus: 'HOT_TO_COLD' },
        { $set: { embeddingStorageStatus: 'HOT_STORAGE', coldCopy: null, updatedAt } },
      );
      await files.updateMany(
        { ...mine, embeddingStorageStatus: 'COLD_TO_HOT' },
        { $set: { embeddingStorageStatus: 'COLD_STORAGE', updatedAt } },
      );
    },
    async putOff(by, id) {
      await files.updateOne(own(by, [id]), { $set: { coolsAt: new Date(Date.now() + DAY_MS) } });
    },
    async lost(by, id, message) {
      const { filter, update } = transition('loseVectors', {
        owner: by,
        where: { ...own(by, [id]), syncErrorMessage: { $ne: message } },
        message,
        set: { processedAs: null, ended: endedAs('failed', 'store', 'vectors_lost') },
      });
      await atomically(async (session) => {
        const before = await files.findOneAndUpdate(filter, update, { session }).lean();
        if (!before) return;
        const file = { ...before, workflowId: by.workflowId };
        await events.write(transitionEvents('loseVectors', [file], { message }), session);
      });
    },
    async release(by, ids) {
      const mine = own(by, ids);
      await files.updateMany({ ...mine, embeddingStorageStatus: 'HOT_STORAGE' }, { $set: { coldCopy: null } });
      await files.updateMany(mine, { $set: { move: null } });
    },
  };
}
