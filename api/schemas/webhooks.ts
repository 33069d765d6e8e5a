import Joi from 'joi';

import { EVENT_KINDS } from '../../contract/events.js';
import { DELIVERY_STATUSES, WEBHOOK_STATUSES } from '../../contract/webhooks.js';
import { integer, nullable, strings, timestamp } from './fields.js';
import { named } from './reference.js';

const text = () => Joi.string().allow('');

export const webhookFields = {
  id: integer().required(),
  organization_id: integer().required(),
  url: text().required(),
  status: named('WebhookStatus', Joi.string().valid(...WEBHOOK_STATUSES)).required(),
  status_reason: text().required(),
  created_at: timestamp().required(),
  updated_at: timestamp().required(),
};

const items = Joi.array().items(Joi.object({ external_id: text().required(), name: text().required() }));
const info = Joi.object({ items }).pattern(Joi.string(), nullable(text()));

/** The inner document of a delivery. */
export const eventFields = {
  webhook_type: named('WebhookType', Joi.string().valid(...Object.keys(EVENT_KINDS))).required(),
  obj: named(
    'EventObject',
    Joi.object({
      object_type: Joi.string().required(),
      object_id: nullable(Joi.alternatives(text(), strings())).required(),
      additional_information: Joi.alternatives(info, Joi.string().valid('null')).required(),
    }),
  ).required(),
  customer_id: text().required(),
  timestamp: Joi.string().required(),
  workflow_id: nullable(Joi.string()).required(),
  workflow_url: nullable(Joi.string()).required(),
};

export const deliveryStatus = () => named('WebhookDeliveryStatus', Joi.string().valid(...DELIVERY_STATUSES));

export const deliveryRecord = named(
  'WebhookDelivery',
  Joi.object({
    id: integer().required(),
    event_id: Joi.string().required(),
    ...eventFields,
    status: deliveryStatus().required(),
    next_attempt_at: nullable(timestamp()).required(),
    attempts: Joi.array()
      .items(
        named(
          'DeliveryAttempt',
          Joi.object({
            at: timestamp().required(),
            duration_ms: integer().required(),
            status_code: nullable(integer()).required(),
            error: nullable(text()).required(),
          }),
        ),
      )
      .required(),
    created_at: timestamp().required(),
  }),
);
