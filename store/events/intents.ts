import { type Model, mongo } from 'mongoose';

import type { NewEvent } from '../../contract/events.js';
import { insertRows } from '../database/insertOnce.js';
import { type EventRowDoc, newRows } from '../models/events.js';
import { INTENDED } from '../models/hiddenRows.js';
import { updateRows } from '../database/updateRows.js';

/** Age in milliseconds from which a hidden row counts as left by a crashed process: no write takes so long. */
const LEFT_OVER_MS = 15_000;

/** Returns the ids of the files whose records contain a mark. */
export type Marked = (mark: mongo.ObjectId, fileIds: readonly number[]) => Promise<ReadonlySet<number>>;

/**
 * Writes events of many files without a transaction, which would cost more than the change. First a hidden row of
 * events is written. Then the change sets a mark on each changed file, and the row is published. After a crash between
 * these steps, the marks show which events to publish.
 */
export interface Intents {
  /**
   * @param events events of the files that may change
   * @param change sets the mark on each file that it changes; returns `all`, or the ids of the changed files
   */
  withPendingEvents(
    events: readonly NewEvent[],
    change: (mark: mongo.ObjectId) => Promise<'all' | ReadonlySet<number>>,
  ): Promise<void>;
  /**
   * Settles rows that a crash left hidden. With `fileIds`: every row that names one of these files. Without: every row
   * older than LEFT_OVER_MS. Of a row, the events of files that carry its mark are published; those of other files are
   * dropped, because the files were not changed. Call it before writing other events of the files.
   */
  settle(fileIds?: readonly number[]): Promise<void>;
}

type StoredEvent = EventRowDoc['events'][number];
const idsOf = ({ objectId }: StoredEvent): string[] => [objectId ?? []].flat();

/** Returns the events with only those files that `isIncluded` accepts; events without such files are omitted. */
const selectFiles = (
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
  const publishRow = async ({ _id, events: stored }: EventRowDoc, events: StoredEvent[]): Promise<boolean> => {
    const intended = { _id, last: INTENDED };
    if (events.length === 0) return (await rows.deleteOne(intended)).deletedCount === 1;
    const change = {
      $set: { last: null, ...(events === stored ? {} : { events }) },
      $currentDate: { writtenAt: { $type: 'timestamp' } },
    };
    // Bypasses mongoose, whose schema has no type for MongoDB's timestamp.
    return (await updateRows(rows, [{ filter: intended, update: change }])) === 1;
  };

  /**
   * Writes the events that another process did not publish. That process presumed this one dead and settled the row
   * before all files were changed.
   */
  const publishMissing = async (row: EventRowDoc, events: readonly StoredEvent[]): Promise<void> => {
    const settled = await rows.findById(row._id).lean();
    const published = new Set(
      (settled?.events ?? []).flatMap((event) => idsOf(event).map((id) => `${event.kind} ${id}`)),
    );
    const missing = selectFiles(events, ({ kind }, id) => !published.has(`${kind} ${id}`));
    const { organizationId } = row;
    await insertRows(
      rows,
      newRows(
        missing.map((event) => ({ ...event, organizationId })),
        keptDays,
      ),
    );
  };

  return {
    async withPendingEvents(events, change) {
      const mark = new mongo.ObjectId();
      const intended = newRows(events, keptDays, mark.toHexString()).map((row) => ({ ...row, last: INTENDED }));
      if (intended.length > 0) await insertRows(rows, intended);
      const changedIds = await change(mark);
      for (const row of intended) {
        const eventsToPublish =
          changedIds === 'all' ? row.events : selectFiles(row.events, (_event, id) => changedIds.has(Number(id)));
        if (!(await publishRow(row, eventsToPublish))) await publishMissing(row, eventsToPublish);
      }
    },
    async settle(fileIds) {
      const age = fileIds ? {} : { at: { $lt: new Date(Date.now() - LEFT_OVER_MS) } };
      const found = await rows.find({ last: INTENDED, ...age }).lean();
      const settledIds = fileIds ? new Set(fileIds.map(String)) : null;
      for (const row of found) {
        const ids = row.events.flatMap(idsOf);
        if (settledIds && !ids.some((id) => settledIds.has(id))) continue;
        const changedIds = await marked(markOf(row), ids.map(Number));
        await publishRow(
          row,
          selectFiles(row.events, (_event, id) => changedIds.has(Number(id))),
        );
      }
    },
  };
}
