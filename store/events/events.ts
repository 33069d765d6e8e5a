import type { ClientSession, Model } from 'mongoose';

import type { NewEvent, NumberedEvent } from '../../contract/events.js';
import { insertRows } from '../database/insertOnce.js';
import type { Session } from '../database/sequence.js';
import type { WebhookDoc } from '../models/webhooks.js';
import type { Intents } from './intents.js';
import { type EventModels, type EventRowDoc, newRows } from '../models/events.js';
import { updateRows } from '../database/updateRows.js';

/** Runs work in one MongoDB transaction, and repeats it when MongoDB asks for it. */
export type Atomically = <T>(work: (session: ClientSession) => Promise<T>) => Promise<T>;

/** Maximum rows that one call of `number` numbers. */
export const ROWS_PER_ITERATION = 500;

export interface EventWriter {
  /**
   * Writes events. Call it with the session of the transaction that makes the change, so that both are stored or
   * neither, even after a crash. Events of several organizations may be mixed; one call is one insert.
   * @param once an idempotency key: a second call with the same key writes nothing. Use it when no stored state shows
   * that the events were already written
   */
  write(events: readonly NewEvent[], session: Session, once?: string): Promise<void>;
}

export interface Events extends EventWriter, Pick<Intents, 'settle'> {
  /** Returns events of an organization after a number, in order. Expired events are omitted. */
  after(organizationId: number, position: number, limit: number): Promise<NumberedEvent[]>;
  /** Returns the number of the organization's last event; 0 without any. All events up to it are visible. */
  head(organizationId: number): Promise<number>;
  /**
   * Returns events of an organization, or of one of its end users, after a number. Covers at least all events up to
   * `upTo`, unless the page is full. Reads at most PAGE_ROWS rows, even if few of their events belong to the user.
   * @param upTo at most `head`
   */
  page(scope: EventScope, position: number, upTo: number): Promise<EventPage>;
  /**
   * Numbers the written events, and marks the webhooks of their organizations as due. If the writers assigned the
   * numbers, events could become visible out of order, and a reader with a cursor would miss some. Concurrent calls are
   * safe: they conflict in the organization's counter, so each row is numbered once.
   * @returns the number of rows that it found without numbers
   */
  number(): Promise<number>;
}

/** The owner of events: an organization, or one of its end users. */
export interface EventScope {
  readonly organizationId: number;
  readonly customerId?: string;
}

export interface EventPage {
  readonly events: readonly NumberedEvent[];
  /** Number after which the next page begins. */
  readonly next: number;
}

/** Maximum rows per page of a stream. A row contains all events of one write, usually some dozens. */
const PAGE_ROWS = 200;
/** Maximum events per page of a stream. */
const PAGE_EVENTS = 500;

/** Thrown when another process has already numbered the same rows. */
class RowsTaken extends Error {}

interface PageRow {
  readonly events: readonly (EventRowDoc['events'][number] | null)[];
  readonly first: number;
  readonly last: number;
  readonly at: Date;
}

/** Creates the store of events and their numbers. MongoDB deletes events after `keptDays`. */
export function createEvents(
  { rows, feeds }: EventModels,
  webhooks: Model<WebhookDoc>,
  intents: Intents,
  atomically: Atomically,
  keptDays: number,
): Events {
  const numberRows = (organizationId: number, organizationRows: readonly EventRowDoc[]): Promise<void> =>
    atomically(async (session) => {
      const total = organizationRows.reduce((sum, { events }) => sum + events.length, 0);
      // The first write of the transaction, so that a concurrent call conflicts before it numbers any row.
      const feed = await feeds
        .findOneAndUpdate(
          { _id: organizationId },
          { $inc: { last: total } },
          { upsert: true, returnDocument: 'after', session },
        )
        .lean();
      let next = feed.last - total + 1;
      const matched = await updateRows(
        rows,
        organizationRows.map(({ _id, events }) => {
          const first = next;
          next += events.length;
          return { filter: { _id, last: null }, update: { $set: { first, last: next - 1 } } };
        }),
        session,
      );
      if (matched !== organizationRows.length) throw new RowsTaken();
      await webhooks.updateMany(
        { organizationId, deletedAt: null, disabledAt: null },
        { $set: { wake: feed.last, wokenAt: null } },
        { session },
      );
    });

  return {
    async write(events, session, once) {
      if (events.length === 0) return;
      let newEventRows = newRows(events, keptDays, once);
      if (once !== undefined) {
        const existing = await rows
          .find({ _id: { $in: newEventRows.map(({ _id }) => _id) } }, { _id: 1 }, { session })
          .lean();
        newEventRows = newEventRows.filter(({ _id }) => !existing.some((row) => row._id === _id));
      }
      if (newEventRows.length === 0) return;
      await insertRows(rows, newEventRows, session);
    },
    async after(organizationId, position, limit) {
      const found = await rows
        .find({ organizationId, last: { $gt: position } })
        .sort({ last: 1 })
        // Each row has at least one event.
        .limit(limit)
        .lean();
      return found
        .flatMap(({ events, first, at }) =>
          events.map((event, index) => ({ ...event, at, position: (first ?? 0) + index })),
        )
        .filter((event) => event.position > position)
        .slice(0, limit);
    },
    async head(organizationId) {
      const feed = await feeds.findById(organizationId, { last: 1 }).lean();
      return feed?.last ?? 0;
    },
    async page({ organizationId, customerId }, position, upTo) {
      // Other users' events become null: the position of an event in its row is part of its number.
      const ownEventOrNull = { $cond: [{ $eq: ['$$this.customerId', { $literal: customerId }] }, '$$this', null] };
      const hideOtherUsers = { $set: { events: { $map: { input: '$events', in: ownEventOrNull } } } };
      const found = await rows.aggregate<PageRow>([
        { $match: { organizationId, last: { $gt: position } } },
        { $sort: { last: 1 } },
        { $limit: PAGE_ROWS },
        ...(customerId === undefined ? [] : [hideOtherUsers]),
        { $project: { events: 1, first: 1, last: 1, at: 1 } },
      ]);
      const events = found
        .flatMap(({ events: rowEvents, first, at }) =>
          rowEvents.flatMap((event, index) => (event === null ? [] : [{ ...event, at, position: first + index }])),
        )
        .filter((event) => event.position > position);
      const end = found.at(-1)?.last ?? position;
      const next = found.length < PAGE_ROWS ? Math.max(end, upTo) : end;
      const pageEvents = events.slice(0, PAGE_EVENTS);
      return {
        events: pageEvents,
        next: pageEvents.length < events.length ? (pageEvents.at(-1)?.position ?? next) : next,
      };
    },
    settle: (fileIds) => intents.settle(fileIds),
    async number() {
      const unnumbered = await rows.find({ last: null }).sort({ writtenAt: 1 }).limit(ROWS_PER_ITERATION).lean();
      const byOrganization = new Map<number, EventRowDoc[]>();
      for (const row of unnumbered)
        byOrganization.set(row.organizationId, [...(byOrganization.get(row.organizationId) ?? []), row]);
      for (const [organizationId, organizationRows] of byOrganization) {
        await numberRows(organizationId, organizationRows).catch((error: unknown) => {
          if (!(error instanceof RowsTaken)) throw error;
        });
      }
      return unnumbered.length;
    },
  };
}
