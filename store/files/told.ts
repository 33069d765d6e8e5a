import type { ClientSession, Model, QueryFilter, UpdateQuery } from 'mongoose';

import type { NewEvent } from '../../contract/events.js';
import type { Atomically, EventWriter } from '../events/events.js';
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

/** Some of the changes did not match. */
class NotAll extends Error {}

/** Changes of files and the events that tell of them, in one transaction: a death in between leaves both or neither. */
export function createToldChanges(files: Model<FileDoc>, atomically: Atomically, events: EventWriter): ToldChanges {
  const apply = async (changes: readonly ToldChange[], session: ClientSession): Promise<void> => {
    if (changes.length === 0) return;
    // Past mongoose's schema: casting what our own code just built costs more than the write.
    const { matchedCount } = await files.collection.bulkWrite(
      changes.map(({ filter, update }) => ({ updateOne: { filter: { ...filter } as object, update } })),
      { ordered: false, session },
    );
    if (matchedCount !== changes.length) throw new NotAll();
    await events.write(
      changes.flatMap((change) => change.events),
      session,
    );
  };
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
      try {
        await atomically((session) => apply(changes, session));
        return all;
      } catch (error) {
        if (!(error instanceof NotAll)) throw error;
      }
      // Seldom: some belong to another run by now. Asked first, so that only what happens is told.
      return atomically(async (session) => {
        const rows = await files
          .find({ $or: changes.map(({ filter }) => filter) } as QueryFilter<FileDoc>, { _id: 1 }, { session })
          .lean();
        const mine = new Set(rows.map(({ _id }) => _id));
        await apply(
          changes.filter(({ filter }) => mine.has(filter._id)),
          session,
        );
        return [...mine];
      });
    },
  };
}
