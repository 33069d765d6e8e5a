import type { Connection, Model } from 'mongoose';

import type { PublishedEvent } from '../../contract/events.js';
import type { DeliveryStatus, WebhookStatus } from '../../contract/webhooks.js';
import type { SealedSecret } from '../secrets.js';
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
} from '../record.js';

/** A delivery that was refused and is sent again. */
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
  /** The signing key, sealed. */
  signingKey: required(json<SealedSecret>()),
  status: required(textOf<WebhookStatus>()),
  statusReason: byDefault(text, ''),
  /** Events up to this number have a delivery of their own. */
  cursor: required(number),
  /** There is something to do, as of this number; null when all is done. The workflow clears it. */
  wake: nullable(number),
  /** When its workflow was last told so. */
  wokenAt: nullable(date),
  /** The first of the deliveries that failed and are sent again; null or absent: there is none. */
  failing: optional(nullable(json<WebhookFailure>())),
  /** Since when nothing is sent, because the receiver answered that it is gone. */
  disabledAt: nullable(date),
  /** Set at once by a delete; the workflow then removes the rest. */
  deletedAt: nullable(date),
  createdAt: required(date),
  updatedAt: required(date),
};

/** A receiver of an organization's events. */
export interface WebhookDoc extends RecordOf<typeof WEBHOOK> {}

/** One try to deliver an event. */
export interface AttemptDoc {
  at: Date;
  ms: number;
  /** The receiver's answer; null when none came. */
  statusCode: number | null;
  /** Why it does not count as delivered; null when it does. */
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
  /** Failed tries since the event came, or since it was delivered again by request. */
  tries: byDefault(number, 0),
  nextTryAt: nullable(date),
  attempts: byDefault(json<AttemptDoc[]>(), () => []),
  createdAt: required(date),
  /** Forgotten after; null while it is on its way. */
  expiresAt: nullable(date),
};

/** An event on its way to one receiver. */
export interface DeliveryDoc extends RecordOf<typeof DELIVERY> {}

/** Of a number, not null, in the words that a partial index knows. */
export const ANY_NUMBER = { $gte: Number.MIN_SAFE_INTEGER };

const webhook = schemaOf<WebhookDoc>(WEBHOOK);
// At most three a piece are alive: every filter and order of a list is served by it.
webhook.index({ organizationId: 1, _id: 1 });
// toWake: receivers that have something to get.
webhook.index({ wokenAt: 1 }, { partialFilterExpression: { wake: ANY_NUMBER } });

const delivery = schemaOf<DeliveryDoc>(DELIVERY, { keepEmpty: true });
// pending, list and count, of a status.
delivery.index({ webhookId: 1, status: 1, position: 1 });
// list and count, of all statuses.
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
