import { randomUUID } from 'node:crypto';
import { type Connection, type Model, mongo } from 'mongoose';

import type { NewEvent, PublishedEvent } from '../../contract/events.js';
import {
  byDefault,
  date,
  json,
  nullable,
  number,
  type RecordOf,
  required,
  schemaOf,
  text,
} from '../database/record.js';
import { INTENDED } from './hiddenRows.js';

const EVENT_ROW = {
  _id: text,
  organizationId: required(number),
  events: required(json<Omit<PublishedEvent, 'at'>[]>()),
  at: required(date),
  /** Time of MongoDB's own clock, set at the insert, so that the order depends on one clock only. */
  writtenAt: json<mongo.Timestamp>(),
  /**
   * Numbers of the row's first and last event; null before they are assigned. `last` is INTENDED in a hidden row: its
   * events are published only if the change that they report was written.
   */
  first: nullable(number),
  last: nullable(number),
  expiresAt: required(date),
};

/**
 * Events of one organization that were written together, in one row: the events of a batch of files cost one insert.
 */
export interface EventRowDoc extends RecordOf<typeof EVENT_ROW> {}

const FEED = {
  _id: number,
  last: byDefault(number, 0),
  /** Number of all webhooks added so far. Its update serializes concurrent additions. */
  webhooksAdded: byDefault(number, 0),
};

/** The counter of an organization's feed. */
export interface FeedDoc extends RecordOf<typeof FEED> {}

const row = schemaOf<EventRowDoc>(EVENT_ROW, { keepEmpty: true });
// Used by `number`: rows that are not numbered yet.
row.index({ writtenAt: 1 }, { partialFilterExpression: { last: null } });
// Used by `settle`: hidden rows whose process crashed.
row.index({ at: 1 }, { partialFilterExpression: { last: INTENDED } });
// Used by `after`: the feed of an organization.
row.index({ organizationId: 1, last: 1 });
row.index({ expiresAt: 1 }, { expireAfterSeconds: 0 });

const feed = schemaOf<FeedDoc>(FEED);

export interface EventModels {
  rows: Model<EventRowDoc>;
  feeds: Model<FeedDoc>;
}

/** Registers the mongoose models of events. */
export function eventModels(connection: Connection): EventModels {
  return {
    rows: connection.model<EventRowDoc>('events', row, 'events'),
    feeds: connection.model<FeedDoc>('eventFeeds', feed, 'event_feeds'),
  };
}

const DAY_MS = 24 * 60 * 60 * 1000;

/** Returns event rows to insert, one per organization. @param name prefix of their ids */
export function newRows(events: readonly NewEvent[], keptDays: number, name: string = randomUUID()): EventRowDoc[] {
  const byOrganization = new Map<number, NewEvent[]>();
  for (const event of events)
    byOrganization.set(event.organizationId, [...(byOrganization.get(event.organizationId) ?? []), event]);
  const at = new Date();
  return [...byOrganization].map(([organizationId, organizationEvents]) => ({
    _id: `${name}:${organizationId}`,
    organizationId,
    events: organizationEvents.map(({ kind, customerId, objectId, info, workflowId }) => ({
      ...{ kind, customerId, objectId, info },
      ...(workflowId ? { workflowId } : {}),
    })),
    at,
    // MongoDB replaces an empty timestamp with its current time.
    writtenAt: new mongo.Timestamp(0n),
    first: null,
    last: null,
    expiresAt: new Date(at.getTime() + keptDays * DAY_MS),
  }));
}
