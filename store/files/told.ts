import type { Model, mongo, QueryFilter, UpdateQuery } from 'mongoose';

import type { NewEvent } from '../../contract/events.js';
import type { Atomically, EventWriter } from '../events/events.js';
import type { Intents, Marked } from '../events/intents.js';
import type { FileDoc } from './model.js';

/** A change of one file with what it is told as. */
export interface ToldChange {
  readonly filter: { readonly _id: number } & Record<string, unknown>;
  readonly update: Record<string, unknown>;
  /** What to tell when the filter matched. */
  readonly events: readonly NewEvent[];
}

export interface ToldChanges {
  /** Changes one file, if it matches; answers it as it was before. */
  one(
    filter: QueryFilter<FileDoc>,
    update: UpdateQuery<FileDoc>,
    eventsOf: (before: FileDoc) => readonly NewEvent[],
    once?: string,
  ): Promise<FileDoc | null>;
  /** Changes the first of those that match, at most `limit`; answers how many. */
  some(
    filter: QueryFilter<FileDoc>,
    update: UpdateQuery<FileDoc>,
    limit: number,
    eventsOf: (before: readonly FileDoc[]) => readonly NewEvent[],
  ): Promise<number>;
  /** Changes many, each if it matches; answers the ids of those changed. No more round trips for many than for one. */
  many(changes: readonly ToldChange[]): Promise<number[]>;
}

/** Marks of a file that are kept: enough to outlast whatever comes before a death is settled. */
const MARKS_KEPT = 4;

/** The part of an update by which it leaves its mark. */
export const leaving = (mark: mongo.ObjectId) => ({ $push: { marks: { $each: [mark], $slice: -MARKS_KEPT } } });

/** Which of some files a change has reached. */
export const markedFiles =
  (files: Model<FileDoc>): Marked =>
  async (mark, fileIds) => {
    const rows = await files.find({ _id: { $in: [...fileIds] }, marks: mark }, { _id: 1 }).lean();
    return new Set(rows.map(({ _id }) => _id));
  };

/** Changes of files with the events that tell of them: a death in between leaves both or neither. */
export function createToldChanges(
  files: Model<FileDoc>,
  atomically: Atomically,
  events: EventWriter,
  intents: Intents,
): ToldChanges {
  return {
    one: (filter, update, eventsOf, once) =>
      atomically(async (session) => {
        const before = await files.findOneAndUpdate(filter, update, { session }).lean<FileDoc | null>();
        if (before) await events.write(eventsOf(before), session, once);
        return before;
      }),
    some: (filter, update, limit, eventsOf) =>
      atomically(async (session) => {
        const rows = await files.find(filter, null, { session }).sort({ _id: 1 }).limit(limit).lean<FileDoc[]>();
        if (rows.length === 0) return 0;
        await files.updateMany({ _id: { $in: rows.map(({ _id }) => _id) } }, update, { session });
        await events.write(eventsOf(rows), session);
        return rows.length;
      }),
    async many(changes) {
      if (changes.length === 0) return [];
      const all = changes.map(({ filter }) => filter._id);
      let changed = all;
      await intents.around(
        changes.flatMap((change) => change.events),
        async (mark) => {
          // Past mongoose's schema: casting what our own code just built costs more than the write.
          const { matchedCount } = await files.collection.bulkWrite(
            changes.map(({ filter, update }) => ({
              updateOne: { filter: { ...filter } as object, update: { ...update, ...leaving(mark) } as object },
            })),
            { ordered: false },
          );
          if (matchedCount === changes.length) return 'all';
          // Seldom: some belong to another run by now.
          const reached = await markedFiles(files)(mark, all);
          changed = all.filter((id) => reached.has(id));
          return reached;
        },
      );
      return changed;
    },
  };
}
