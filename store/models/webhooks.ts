import type { Connection, Model } from 'mongoose';

import type { PublishedEvent } from '../../contract/events.js';
import type { DeliveryStatus, WebhookStatus } from '../../contract/webhooks.js';
import type { SealedSecret } from '../secrets/secrets.js';
import {
  byDefault,
  date,
  json,
  list,
  nullable,
  number,
  optional,
  type RecordOf,
  required,
  schemaOf,
  text,
  textOf,
} from '../database/record.js';

/** A failed delivery that will be retried. */
export interface WebhookFailure {
  /** Kind of the event. */
  readonly event: string;
  /** Failed attempts so far. */
  readonly tries: number;
  readonly error: string;
  readonly at: Date;
  readonly nextTryAt: Date | null;
}

const WEBHOOK = {
  _id: number,
  organizationId: required(number),
  url: required(text),
  /** The signing key, encrypted. */
  signingKey: required(json<SealedSecret>()),
  status: required(textOf<WebhookStatus>()),
  statusReason: byDefault(text, ''),
  /**
   * Number of an event: the later events of the feed are still to be read. Each event up to it has a delivery row,
   * which expires, or is older than the webhook.
   */
  cursor: required(number),
  /**
   * Set when work is pending: number of the organization's last event, 0 after the deletion, or a unique negative
   * number after a redelivery. The workflow sets it to null, unless it has changed during the work.
   */
  wake: nullable(number),
  /** Time of the last signal to its workflow. */
  wokenAt: nullable(date),
  /** The first failed delivery that will be retried; null or absent: there is none. */
  failing: optional(nullable(json<WebhookFailure>())),
  /** Time since when sending is disabled, because the receiver answered 410. */
  disabledAt: nullable(date),
  /** Set by the request that deletes the webhook. The workflow then deletes the remaining rows. */
  deletedAt: nullable(date),
  createdAt: required(date),
  updatedAt: required(date),
};

/** A receiver of an organization's events. */
export interface WebhookDoc extends RecordOf<typeof WEBHOOK> {}

/** One attempt to deliver an event. */
export interface AttemptDoc {
  at: Date;
  ms: number;
  /** Status of the receiver's answer; null if there was none. */
  statusCode: number | null;
  /** Reason why the event does not count as delivered; null if it does. */
  error: string | null;
}

const DELIVERY = {
  /** `webhook:position` */
  _id: text,
  webhookId: required(number),
  organizationId: required(number),
  position: required(number),
  event: required(json<PublishedEvent>()),
  objects: list(text),
  status: required(textOf<DeliveryStatus>()),
  /** Failed attempts since the event, or since the last redelivery that a caller requested. */
  tries: byDefault(number, 0),
  nextTryAt: nullable(date),
  attempts: byDefault(json<AttemptDoc[]>(), () => []),
  createdAt: required(date),
  /** Time at which MongoDB deletes the row; null while the delivery is pending. */
  expiresAt: nullable(date),
};

/** The delivery of an event to one receiver. */
export interface DeliveryDoc extends RecordOf<typeof DELIVERY> {}

/** Matches any number, but not null, in a form that a partial index supports. */
export const ANY_NUMBER = { $gte: Number.MIN_SAFE_INTEGER };

const webhook = schemaOf<WebhookDoc>(WEBHOOK);
// Each organization has at most three webhooks, so this index serves every filter and order of a list.
webhook.index({ organizationId: 1, _id: 1 });
// Used by `listUnsignalled`: receivers with pending work.
webhook.index({ wokenAt: 1 }, { partialFilterExpression: { wake: ANY_NUMBER } });

const delivery = schemaOf<DeliveryDoc>(DELIVERY, { keepEmpty: true });
// Used by `listPending`, and by `list` and `count` for one status.
delivery.index({ webhookId: 1, status: 1, position: 1 });
// Used by `list` and `count` for all statuses.
delivery.index({ webhookId: 1, position: 1 });
delivery.index({ expiresAt: 1 }, { expireAfterSeconds: 0 });

export interface WebhookModels {
  webhooks: Model<WebhookDoc>;
  deliveries: Model<DeliveryDoc>;
}

/** Registers the mongoose models of webhooks and deliveries. */
export function webhookModels(connection: Connection): WebhookModels {
  return {
    webhooks: connection.model<WebhookDoc>('webhooks', webhook, 'webhooks'),
    deliveries: connection.model<DeliveryDoc>('webhookDeliveries', delivery, 'webhook_deliveries'),
  };
}
