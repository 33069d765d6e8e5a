import type { Model } from 'mongoose';

import { MAX_WEBHOOKS, type WebhookListing, signingKeyPlace } from '../../contract/webhooks.js';
import type { FeedDoc } from '../models/events.js';
import type { Secrets } from '../secrets/secrets.js';
import type { Sequence, Session } from '../database/sequence.js';
import { ANY_NUMBER, type DeliveryDoc, type WebhookDoc, type WebhookFailure } from '../models/webhooks.js';

/** State of a webhook after a batch of deliveries. */
export interface WebhookProgress {
  /** Every event up to this number has a delivery. */
  readonly cursor: number;
  /**
   * The last relevant outcome: a successful delivery, or the reason why a delivery was given up; null if there was
   * neither.
   */
  readonly outcome: { readonly status: 'ACTIVE' } | { readonly status: 'FLAGGED'; readonly reason: string } | null;
  /** The first failed delivery that will be retried; null if there is none. */
  readonly failing: WebhookFailure | null;
  /** Whether the receiver answered 410 (Gone). */
  readonly disabled: boolean;
  /** The value of `wake` at the start of the batch, if no work is left; otherwise null. */
  readonly done: number | null;
}

export interface Webhooks {
  /** Adds a receiver of future events; null if the organization has the maximum number of them. */
  add(
    organizationId: number,
    url: string,
    signingKey: string,
    session: NonNullable<Session>,
  ): Promise<WebhookDoc | null>;
  list(organizationId: number, listing: WebhookListing): Promise<WebhookDoc[]>;
  count(organizationId: number, ids: readonly number[], startingId: number): Promise<number>;
  /** Returns the webhook of the organization, unless it is deleted; otherwise null. */
  findInOrganization(organizationId: number, webhookId: number): Promise<WebhookDoc | null>;
  /** Marks the webhook as deleted; its workflow deletes the remaining rows. False if the webhook does not exist. */
  remove(organizationId: number, webhookId: number): Promise<boolean>;
  /** Returns a webhook in any state, even a deleted one. For its workflow. */
  find(webhookId: number): Promise<WebhookDoc | null>;
  signingKeyOf(webhook: WebhookDoc): string;
  saveProgress(webhookId: number, progress: WebhookProgress): Promise<void>;
  /** Deletes the remaining rows of a deleted webhook. */
  erase(webhookId: number): Promise<void>;
  /**
   * Enables a webhook if it was disabled, and marks it as due, so that its workflow is signalled without a new event.
   */
  enableAndWake(webhookId: number): Promise<void>;
  /** Returns webhooks with pending work whose workflow was not signalled since a time. */
  listUnsignalled(wokenBefore: Date, limit: number): Promise<WebhookDoc[]>;
  /** Records that the workflow of the webhook was signalled, unless `wake` has changed since it was read. */
  acknowledgeWake(webhookId: number, wake: number | null): Promise<void>;
}

export function createWebhooks(
  webhooks: Model<WebhookDoc>,
  deliveries: Model<DeliveryDoc>,
  feeds: Model<FeedDoc>,
  { sequence, secrets }: { sequence: Sequence; secrets: Secrets },
): Webhooks {
  const existingQuery = (organizationId: number, ids: readonly number[], startingId = 0) => ({
    organizationId,
    deletedAt: null,
    _id: { ...(ids.length > 0 ? { $in: [...ids] } : {}), $gt: startingId },
  });
  return {
    async add(organizationId, url, signingKey, session) {
      const _id = await sequence.next('webhook');
      // Concurrent requests conflict in this row, so that the second one counts the first.
      const feed = await feeds
        .findOneAndUpdate(
          { _id: organizationId },
          { $inc: { webhooksAdded: 1 }, $setOnInsert: { last: 0 } },
          { upsert: true, returnDocument: 'after', session },
        )
        .lean();
      const existing = await webhooks.countDocuments({ organizationId, deletedAt: null }, { session });
      if (existing >= MAX_WEBHOOKS) return null;
      const now = new Date();
      const webhook: WebhookDoc = {
        _id,
        organizationId,
        url,
        signingKey: secrets.seal(signingKeyPlace(organizationId, _id), signingKey),
        status: 'ACTIVE',
        statusReason: '',
        cursor: feed.last,
        wake: null,
        wokenAt: null,
        disabledAt: null,
        deletedAt: null,
        createdAt: now,
        updatedAt: now,
      };
      await webhooks.insertMany([webhook], { session });
      return webhook;
    },
    async list(organizationId, { ids, orderBy, orderDir, page }) {
      const field = orderBy === 'created_at' ? 'createdAt' : 'updatedAt';
      return webhooks
        .find(existingQuery(organizationId, ids, page.startingId))
        .sort({ [field]: orderDir, _id: orderDir })
        .skip(page.offset)
        .limit(page.limit)
        .lean();
    },
    count: (organizationId, ids, startingId) =>
      webhooks.countDocuments(existingQuery(organizationId, ids, startingId)).exec(),
    findInOrganization: (organizationId, webhookId) =>
      webhooks
        .findOne(existingQuery(organizationId, [webhookId]))
        .lean()
        .exec(),
    async remove(organizationId, webhookId) {
      const now = new Date();
      const result = await webhooks.updateOne(existingQuery(organizationId, [webhookId]), {
        $set: { deletedAt: now, updatedAt: now, wake: 0, wokenAt: null },
      });
      return result.matchedCount === 1;
    },
    find: (webhookId) => webhooks.findById(webhookId).lean().exec(),
    signingKeyOf: ({ _id, organizationId, signingKey }) =>
      secrets.open(signingKeyPlace(organizationId, _id), signingKey),
    async saveProgress(webhookId, { cursor, outcome, failing, disabled, done }) {
      await webhooks.updateOne({ _id: webhookId }, { $max: { cursor }, $set: { failing } });
      if (outcome) {
        const statusReason = outcome.status === 'FLAGGED' ? outcome.reason : '';
        const now = new Date();
        await webhooks.updateOne(
          {
            _id: webhookId,
            $or: [
              { status: { $ne: outcome.status } },
              { statusReason: { $ne: statusReason } },
              // A redelivery enables a disabled webhook and keeps its status. If the receiver answers 410 again, status
              // and reason are the same, but the webhook must be disabled again.
              ...(disabled ? [{ disabledAt: null }] : []),
            ],
          },
          { $set: { status: outcome.status, statusReason, updatedAt: now, ...(disabled ? { disabledAt: now } : {}) } },
        );
      }
      if (done !== null) await webhooks.updateOne({ _id: webhookId, wake: done }, { $set: { wake: null } });
    },
    async erase(webhookId) {
      await deliveries.deleteMany({ webhookId });
      await webhooks.deleteOne({ _id: webhookId, deletedAt: { $ne: null } });
    },
    async enableAndWake(webhookId) {
      // A unique value, so that a batch that is just ending does not clear it.
      await webhooks.updateOne({ _id: webhookId }, { $set: { wake: -Date.now(), wokenAt: null, disabledAt: null } });
    },
    listUnsignalled: (wokenBefore, limit) =>
      webhooks
        .find({ wake: ANY_NUMBER, $or: [{ wokenAt: null }, { wokenAt: { $lt: wokenBefore } }] })
        .limit(limit)
        .lean()
        .exec(),
    async acknowledgeWake(webhookId, wake) {
      await webhooks.updateOne({ _id: webhookId, wake }, { $set: { wokenAt: new Date() } });
    },
  };
}
