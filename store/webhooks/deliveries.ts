import type { Model } from 'mongoose';

import { type NumberedEvent, objectsOf } from '../../contract/events.js';
import type { DeliveryStatus } from '../../contract/webhooks.js';
import type { AttemptDoc, DeliveryDoc } from '../models/webhooks.js';
import { updateRows } from '../database/updateRows.js';

/** Maximum number of attempts stored per delivery; older ones are dropped. */
const ATTEMPTS_KEPT = 50;
/** Maximum number of deliveries that one request sends again. */
const REDELIVERED_AT_ONCE = 1000;
const DAY_MS = 24 * 60 * 60 * 1000;

/** State of an event's delivery to one receiver after a batch of deliveries. */
export interface DeliveryOutcome {
  readonly event: NumberedEvent;
  readonly status: DeliveryStatus;
  /** Failed attempts so far. */
  readonly tries: number;
  /** Time of the next attempt; null if the delivery waits for an earlier event of the same object, or has ended. */
  readonly nextTryAt: Date | null;
  /** The attempt of this batch; null if there was none. */
  readonly attempt: AttemptDoc | null;
}

export interface Deliveries {
  /** Returns the pending deliveries, in the order of the feed. */
  listPending(webhookId: number): Promise<DeliveryDoc[]>;
  /**
   * Returns the positions that already have a delivery, because an earlier batch was interrupted after it wrote them.
   */
  filterDelivered(webhookId: number, positions: readonly number[]): Promise<number[]>;
  /** Writes outcomes of new and existing deliveries. */
  record(webhook: { _id: number; organizationId: number }, outcomes: readonly DeliveryOutcome[]): Promise<void>;
  /** Returns deliveries, the latest first. */
  list(webhookId: number, page: { limit: number; offset: number }, status?: DeliveryStatus): Promise<DeliveryDoc[]>;
  count(webhookId: number, status?: DeliveryStatus): Promise<number>;
  /**
   * Queues ended deliveries again: those with the given positions; with null, all FAILED deliveries. Returns their
   * number, at most REDELIVERED_AT_ONCE.
   */
  requeue(webhookId: number, positions: readonly number[] | null): Promise<number>;
}

export function createDeliveries(deliveries: Model<DeliveryDoc>, keptDays: number): Deliveries {
  const deliveryQuery = (webhookId: number, status?: DeliveryStatus) => ({
    webhookId,
    ...(status === undefined ? {} : { status }),
  });
  return {
    listPending: (webhookId) =>
      deliveries.find(deliveryQuery(webhookId, 'PENDING')).sort({ position: 1 }).lean().exec(),
    async filterDelivered(webhookId, positions) {
      if (positions.length === 0) return [];
      const rows = await deliveries.find({ webhookId, position: { $in: [...positions] } }, { position: 1 }).lean();
      return rows.map(({ position }) => position);
    },
    async record({ _id: webhookId, organizationId }, outcomes) {
      if (outcomes.length === 0) return;
      const now = new Date();
      const expiresAt = new Date(now.getTime() + keptDays * DAY_MS);
      await updateRows(
        deliveries,
        outcomes.map(({ event: { position, ...event }, status, tries, nextTryAt, attempt }) => ({
          filter: { _id: `${webhookId}:${position}` },
          update: {
            $set: { status, tries, nextTryAt, expiresAt: status === 'PENDING' ? null : expiresAt },
            $setOnInsert: {
              webhookId,
              organizationId,
              position,
              event,
              objects: objectsOf(event),
              createdAt: now,
              ...(attempt ? {} : { attempts: [] }),
            },
            ...(attempt ? { $push: { attempts: { $each: [attempt], $slice: -ATTEMPTS_KEPT } } } : {}),
          },
          upsert: true,
        })),
      );
    },
    list: (webhookId, { limit, offset }, status) =>
      deliveries.find(deliveryQuery(webhookId, status)).sort({ position: -1 }).skip(offset).limit(limit).lean().exec(),
    count: (webhookId, status) => deliveries.countDocuments(deliveryQuery(webhookId, status)).exec(),
    async requeue(webhookId, positions) {
      const endedQuery =
        positions === null
          ? deliveryQuery(webhookId, 'FAILED')
          : { webhookId, position: { $in: [...positions] }, status: { $ne: 'PENDING' as const } };
      const rows = await deliveries
        .find(endedQuery, { _id: 1 })
        .sort({ position: 1 })
        .limit(REDELIVERED_AT_ONCE)
        .lean();
      const result = await deliveries.updateMany(
        { _id: { $in: rows.map(({ _id }) => _id) }, status: { $ne: 'PENDING' } },
        { $set: { status: 'PENDING', tries: 0, nextTryAt: null, expiresAt: null } },
      );
      return result.modifiedCount;
    },
  };
}
