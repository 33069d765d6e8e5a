import type { Model, mongo } from 'mongoose';

import type { Atomically, EventWriter } from '../events/events.js';
import type { Intents, Marked } from '../events/intents.js';
import type { FileDoc } from '../models/files.js';
import {
  type Change,
  type FilesEnded,
  reportEnded,
  type Transition,
  transition,
  transitionEvents,
} from './transitions.js';
import { updateRows } from '../database/updateRows.js';

/** A change of one file that the caller has read. */
export type ChangeOfFile<N extends Transition> = Change<N> & { readonly file: FileDoc };

/**
 * Writes transitions together with their events: a crash in between leaves both or neither. Files whose sync ends are
 * counted in the metrics; if the reply of a write is lost, its files are not counted.
 */
export interface FileChanges {
  /**
   * Changes one file, if it matches, and returns its old record; null if it does not match.
   * @param once idempotency key of the events: a later call with the same key changes the file, but writes no events
   */
  changeOne<N extends Transition>(name: N, change: Change<N>, once?: string): Promise<FileDoc | null>;
  /** Changes the first matching files, at most `limit`, and returns their number. */
  changeSome<N extends Transition>(name: N, change: Change<N>, limit: number): Promise<number>;
  /** Changes many files, each if it matches, in one round trip. Returns the ids of the changed files. */
  changeMany<N extends Transition>(name: N, changes: readonly ChangeOfFile<N>[]): Promise<number[]>;
  /** Changes many files, each if it matches, by a transition that has no event. */
  changeManyWithoutEvents<N extends Transition>(name: N, changes: readonly Change<N>[]): Promise<void>;
  /** Changes files in the same way, as far as they still match. Returns whether all of them matched. */
  changeAll<N extends Transition>(name: N, files: readonly FileDoc[], change: Change<N>): Promise<boolean>;
}

/**
 * Maximum number of marks stored per file. A mark is the id of a change (see `Intents`). It must survive later changes
 * until the events of its change are published.
 */
const MARKS_KEPT = 4;

/** Returns the part of an update that adds a mark. */
const addingMark = (mark: mongo.ObjectId) => ({ $push: { marks: { $each: [mark], $slice: -MARKS_KEPT } } });

/** Returns a function that finds the files with a mark. */
export const markedFiles =
  (files: Model<FileDoc>): Marked =>
  async (mark, fileIds) => {
    const rows = await files.find({ _id: { $in: [...fileIds] }, marks: mark }, { _id: 1 }).lean();
    return new Set(rows.map(({ _id }) => _id));
  };

export function createFileChanges(
  files: Model<FileDoc>,
  atomically: Atomically,
  events: EventWriter,
  intents: Intents,
  onFilesEnded: FilesEnded,
): FileChanges {
  const report = (name: Transition, count: number): void => reportEnded(name, count, onFilesEnded);
  return {
    async changeOne(name, change, once) {
      const { filter, update } = transition(name, change);
      const before = await atomically(async (session) => {
        const found = await files.findOneAndUpdate(filter, update, { session }).lean();
        if (found) await events.write(transitionEvents(name, [found], change), session, once);
        return found;
      });
      if (before) report(name, 1);
      return before;
    },
    async changeSome(name, change, limit) {
      const { filter, update } = transition(name, change);
      const changed = await atomically(async (session) => {
        const rows = await files.find(filter, null, { session }).sort({ _id: 1 }).limit(limit).lean();
        if (rows.length === 0) return 0;
        await files.updateMany({ _id: { $in: rows.map(({ _id }) => _id) } }, update, { session });
        await events.write(transitionEvents(name, rows, change), session);
        return rows.length;
      });
      report(name, changed);
      return changed;
    },
    async changeMany(name, changes) {
      if (changes.length === 0) return [];
      const ids = changes.map(({ file }) => file._id);
      let changed = ids;
      await intents.withPendingEvents(
        changes.flatMap((change) => transitionEvents(name, [change.file], change)),
        async (mark) => {
          const matched = await updateRows(
            files,
            changes.map((change) => {
              const { filter, update } = transition(name, change);
              return { filter, update: { ...update, ...addingMark(mark) } };
            }),
          );
          if (matched === changes.length) return 'all';
          // Rare: some files now belong to another run.
          const changedIds = await markedFiles(files)(mark, ids);
          changed = ids.filter((id) => changedIds.has(id));
          return changedIds;
        },
      );
      report(name, changed.length);
      return changed;
    },
    async changeManyWithoutEvents(name, changes) {
      const writes = changes.map((change) => transition(name, change));
      report(name, await updateRows(files, writes));
    },
    async changeAll(name, rows, change) {
      if (rows.length === 0) return true;
      const ids = rows.map(({ _id }) => _id);
      const { filter, update } = transition(name, change);
      let changed = rows.length;
      await intents.withPendingEvents(transitionEvents(name, rows, change), async (mark) => {
        const { matchedCount } = await files.updateMany(
          { ...filter, _id: { $in: ids } },
          { ...update, ...addingMark(mark) },
        );
        if (matchedCount === rows.length) return 'all';
        const changedIds = await markedFiles(files)(mark, ids);
        changed = changedIds.size;
        return changedIds;
      });
      report(name, changed);
      return changed === rows.length;
    },
  };
}
