import { type Model, mongo } from 'mongoose';

import type { NewEvent } from '../../contract/events.js';
import { insertRows } from '../database/insertOnce.js';
import { INTENDED, type EventRowDoc, newRows } from '../models/events.js';
import { updateRows } from '../database/updateRows.js';

/** Age in milliseconds from which an intent counts as left by a crash. No write takes so long. */
const LEFT_OVER_MS = 15_000;

/** Returns which of the files carry a mark. */
export type Marked = (mark: mongo.ObjectId, fileIds: readonly number[]) => Promise<ReadonlySet<number>>;

/**
 * Writes events of many files without a transaction, which would cost more than the change. First a hidden row of
 * events is written. Then the change sets a mark on every file it reaches, and the row is published. After a crash in
 * between, the marks show which events to publish.
 */
export interface Intents {
  /**
   * @param events each about files that the change may reach
   * @param change returns which files it changed, all or some; each of them then has the mark
   */
  withPendingEvents(
    events: readonly NewEvent[],
    change: (mark: mongo.ObjectId) => Promise<'all' | ReadonlySet<number>>,
  ): Promise<void>;
  /**
   * Publishes events that a crash left hidden: those of the given files at once, others after a while. Call it before
   * writing other events of those files.
   */
  settle(fileIds?: readonly number[]): Promise<void>;
}

type StoredEvent = EventRowDoc['events'][number];
const idsOf = ({ objectId }: StoredEvent): string[] => [objectId ?? []].flat();

/** Returns the events with only those files that `isIncluded` accepts; events without such files are omitted. */
const about = (
  events: readonly StoredEvent[],
  isIncluded: (event: StoredEvent, id: string) => boolean,
): StoredEvent[] =>
  events.flatMap((event) => {
    const ids = idsOf(event).filter((id) => isIncluded(event, id));
    if (ids.length === 0) return [];
    return [{ ...event, objectId: typeof event.objectId === 'string' ? event.objectId : ids }];
  });

const markOf = ({ _id }: EventRowDoc): mongo.ObjectId => new mongo.ObjectId(_id.split(':')[0]);

export function createIntents(rows: Model<EventRowDoc>, marked: Marked, keptDays: number): Intents {
  /** Publishes a row; false if another process has settled it. */
  const publishRow = async ({ _id, events: known }: EventRowDoc, events: StoredEvent[]): Promise<boolean> => {
    const intended = { _id, last: INTENDED };
    if (events.length === 0) return (await rows.deleteOne(intended)).deletedCount === 1;
    const change = {
      $set: { last: null, ...(events === known ? {} : { events }) },
      $currentDate: { writtenAt: { $type: 'timestamp' } },
    };
    // Bypasses mongoose, whose schema has no type for MongoDB's timestamp.
    return (await updateRows(rows, [{ filter: intended, update: change }])) === 1;
  };

  /** Writes the remaining events after another process settled the row because it presumed this process dead. */
  const publishRest = async (row: EventRowDoc, events: readonly StoredEvent[]): Promise<void> => {
    const settled = await rows.findById(row._id).lean();
    const published = new Set(
      (settled?.events ?? []).flatMap((event) => idsOf(event).map((id) => `${event.kind} ${id}`)),
    );
    const rest = about(events, ({ kind }, id) => !published.has(`${kind} ${id}`));
    const { organizationId } = row;
    await insertRows(
      rows,
      newRows(
        rest.map((event) => ({ ...event, organizationId })),
        keptDays,
      ),
    );
  };

  return {
    async withPendingEvents(events, change) {
      const mark = new mongo.ObjectId();
      const intended = newRows(events, keptDays, mark.toHexString()).map((row) => ({ ...row, last: INTENDED }));
      if (intended.length > 0) await insertRows(rows, intended);
      const reached = await change(mark);
      for (const row of intended) {
        const own = reached === 'all' ? row.events : about(row.events, (_event, id) => reached.has(Number(id)));
        if (!(await publishRow(row, own))) await publishRest(row, own);
      }
    },
    async settle(fileIds) {
      const age = fileIds ? {} : { at: { $lt: new Date(Date.now() - LEFT_OVER_MS) } };
      const found = await rows.find({ last: INTENDED, ...age }).lean();
      const wanted = fileIds ? new Set(fileIds.map(String)) : null;
      for (const row of found) {
        const ids = row.events.flatMap(idsOf);
        if (wanted && !ids.some((id) => wanted.has(id))) continue;
        const reached = await marked(markOf(row), ids.map(Number));
        await publishRow(
          row,
          about(row.events, (_event, id) => reached.has(Number(id))),
        );
      }
    },
  };
}
