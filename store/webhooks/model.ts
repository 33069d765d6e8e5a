import { type Connection, type Model, Schema } from 'mongoose';

import type { ToldEvent } from '../../contract/events.js';
import type { DeliveryStatus, WebhookStatus } from '../../contract/webhooks.js';
import type { SealedSecret } from '../secrets.js';

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

/** A receiver of an organization's events. */
export interface WebhookDoc {
  _id: number;
  organizationId: number;
  url: string;
  /** The signing key, sealed. */
  signingKey: SealedSecret;
  status: WebhookStatus;
  statusReason: string;
  /** Events up to this number have a delivery of their own. */
  cursor: number;
  /** There is something to do, as of this number; null when all is done. The workflow clears it. */
  wake: number | null;
  /** When its workflow was last told so. */
  wokenAt: Date | null;
  /** The first of the deliveries that failed and are sent again; null or absent: there is none. */
  failing?: WebhookFailure | null;
  /** Since when nothing is sent, because the receiver answered that it is gone. */
  disabledAt: Date | null;
  /** Set at once by a delete; the workflow then removes the rest. */
  deletedAt: Date | null;
  createdAt: Date;
  updatedAt: Date;
}

/** One try to deliver an event. */
export interface AttemptDoc {
  at: Date;
  ms: number;
  /** The receiver's answer; null when none came. */
  statusCode: number | null;
  /** Why it does not count as delivered; null when it does. */
  error: string | null;
}

/** An event on its way to one receiver. */
export interface DeliveryDoc {
  /** `webhook:position` */
  _id: string;
  webhookId: number;
  organizationId: number;
  position: number;
  event: ToldEvent;
  objects: string[];
  status: DeliveryStatus;
  /** Failed tries since the event came, or since it was delivered again by request. */
  tries: number;
  nextTryAt: Date | null;
  attempts: AttemptDoc[];
  createdAt: Date;
  /** Forgotten after; null while it is on its way. */
  expiresAt: Date | null;
}

/** Of a number, not null, in the words that a partial index knows. */
export const ANY_NUMBER = { $gte: Number.MIN_SAFE_INTEGER };

const nullable = <T>(type: T) => ({ type, default: null });

const webhook: Schema<WebhookDoc> = new Schema<WebhookDoc>(
  {
    _id: Number,
    organizationId: { type: Number, required: true },
    url: { type: String, required: true },
    signingKey: { type: Schema.Types.Mixed, required: true },
    status: { type: String, required: true },
    statusReason: { type: String, default: '' },
    cursor: { type: Number, required: true },
    wake: nullable(Number),
    wokenAt: nullable(Date),
    failing: { type: Schema.Types.Mixed, default: null },
    disabledAt: nullable(Date),
    deletedAt: nullable(Date),
    createdAt: { type: Date, required: true },
    updatedAt: { type: Date, required: true },
  },
  { versionKey: false },
);
// At most three a piece are alive: every filter and order of a list is served by it.
webhook.index({ organizationId: 1, _id: 1 });
// toWake: receivers that have something to get.
webhook.index({ wokenAt: 1 }, { partialFilterExpression: { wake: ANY_NUMBER } });

const delivery: Schema<DeliveryDoc> = new Schema<DeliveryDoc>(
  {
    _id: String,
    webhookId: { type: Number, required: true },
    organizationId: { type: Number, required: true },
    position: { type: Number, required: true },
    event: { type: Schema.Types.Mixed, required: true },
    objects: [String],
    status: { type: String, required: true },
    tries: { type: Number, default: 0 },
    nextTryAt: nullable(Date),
    attempts: { type: Schema.Types.Mixed, default: () => [] },
    createdAt: { type: Date, required: true },
    expiresAt: nullable(Date),
  },
  { versionKey: false, minimize: false },
);
// pending, list and count, of a status.
delivery.index({ webhookId: 1, status: 1, position: 1 });
// list and count, of all statuses.
delivery.index({ webhookId: 1, position: 1 });
delivery.index({ expiresAt: 1 }, { expireAfterSeconds: 0 });

export interface WebhookModels {
  webhooks: Model<WebhookDoc>;
  deliveries: Model<DeliveryDoc>;
}

export function webhookModels(connection: Connection): WebhookModels {
  return {
    webhooks: connection.model<WebhookDoc>('webhooks', webhook, 'webhooks'),
    deliveries: connection.model<DeliveryDoc>('webhookDeliveries', delivery, 'webhook_deliveries'),
  };
}
