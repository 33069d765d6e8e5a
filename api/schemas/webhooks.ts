import Joi from 'joi';

import { EVENT_KINDS } from '../../contract/events.js';
import { DELIVERY_STATUSES, WEBHOOK_STATUSES } from '../../contract/webhooks.js';
import { integer, nullable, strings, timestamp } from './fields.js';
import { named } from './reference.js';
import { anyInformation } from './webhookPayloads.js';

const text = () => Joi.string().allow('');

export const webhookFields = {
  id: integer()
    .required()
    .description('Id of the webhook, for `webhook_id` in paths such as `POST /webhooks/{webhook_id}/redeliver`.'),
  organization_id: integer()
    .required()
    .description('`id` of the organization whose events are sent, as `GET /organization` returns it.'),
  url: text().required().description('Address to which events are sent by POST, as `POST /add_webhook` set it.'),
  status: named(
    'WebhookStatus',
    Joi.string()
      .valid(...WEBHOOK_STATUSES)
      .description(
        '`ACTIVE`: deliveries succeed, or none has finally failed yet. `FLAGGED`: all attempts of a delivery failed (by default seven), or the receiver returned 410. A flagged webhook still receives later events, except after 410.',
      ),
  )
    .required()
    .description(
      '`FLAGGED` after all attempts of a delivery failed (by default seven) or the receiver returned 410. The next success makes it `ACTIVE` again.',
    ),
  status_reason: text()
    .required()
    .description(
      'Why the webhook is `FLAGGED`, such as the last response of the receiver; empty while it is `ACTIVE`.',
    ),
  created_at: timestamp()
    .required()
    .description('When `POST /add_webhook` added it, in UTC. It receives only events from then on.'),
  updated_at: timestamp()
    .required()
    .description(
      'When `status` or `status_reason` last changed, in UTC. A delivery that changes neither leaves it unchanged.',
    ),
};

/** Fields of an event, as the feed of events and the list of deliveries return it. */
export const eventFields = {
  webhook_type: named(
    'WebhookType',
    Joi.string()
      .valid(...Object.keys(EVENT_KINDS))
      .description(
        'Type of an event, such as `FILE_READY`. The `webhooks` section of this OpenAPI document explains each type.',
      ),
  )
    .required()
    .description('What happened, such as `FILE_READY`. It determines the fields of `obj`.'),
  obj: named(
    'EventObject',
    Joi.object({
      object_type: Joi.string()
        .required()
        .description('Kind of the record that `object_id` identifies, such as `FILE`.'),
      object_id: nullable(Joi.alternatives(text(), strings()))
        .required()
        .description(
          'Id of the record as text, such as `17`. For `FILE_LIST`, a list of such ids. Null if the event is about the organization as a whole.',
        ),
      additional_information: Joi.alternatives(anyInformation, Joi.string().valid('null'))
        .required()
        .description(
          'Details of the event by name, or the text `null` if it has none. Booleans and numbers are sent as texts, such as `True` or `3`.',
        ),
    }).description('Type and id of the record that an event is about, with details of the event.'),
  )
    .required()
    .description(
      'Type and id of the file, account, request or user that the event is about, with details of the event.',
    ),
  customer_id: text()
    .required()
    .description(
      'The `customer-id` of the end user, your id of that user. Empty for events about the whole organization.',
    ),
  timestamp: Joi.string()
    .required()
    .description('When the event occurred, not when it is sent: seconds since 1970, as text.'),
  workflow_id: nullable(Joi.string())
    .required()
    .description(
      'Id of the Temporal workflow that caused the event, by which the operator finds it in Temporal. Null if there is none.',
    ),
  workflow_url: nullable(Joi.string())
    .required()
    .description(
      "Address of the workflow `workflow_id` in Temporal's Web UI. Null if there is no workflow, or if the server setting `TEMPORAL_UI_URL` is not set.",
    ),
};

/** Returns the schema of the state of a delivery. */
export const deliveryStatus = () =>
  named(
    'WebhookDeliveryStatus',
    Joi.string()
      .valid(...DELIVERY_STATUSES)
      .description(
        '`PENDING`: waits for its first or next attempt. `DELIVERED`: the receiver responded with 2xx. `FAILED`: all attempts failed (by default seven), or the receiver returned 410.',
      ),
  );

export const deliveryRecord = named(
  'WebhookDelivery',
  Joi.object({
    id: integer()
      .required()
      .description(
        'Id of the delivery, for `ids` of `POST /webhooks/{webhook_id}/redeliver`. It equals the `cursor` of the event in `GET /events`.',
      ),
    event_id: Joi.string().required().description('Id of the event: the header `webhook-id` of its deliveries.'),
    ...eventFields,
    status: deliveryStatus()
      .required()
      .description(
        'Whether the receiver has the event: `DELIVERED`, still to be sent (`PENDING`), or not sent again after its last attempt failed (`FAILED`).',
      ),
    next_attempt_at: nullable(timestamp())
      .required()
      .description(
        'When a failed delivery is repeated. Null: it is due now, waits for an earlier event of its object, or is finished.',
      ),
    attempts: Joi.array()
      .items(
        named(
          'DeliveryAttempt',
          Joi.object({
            at: timestamp()
              .required()
              .description('Time (UTC) at which the request was sent to the receiver, not the time of the event.'),
            duration_ms: integer()
              .required()
              .description(
                'Time in milliseconds from the request until the response or the error, limited by WEBHOOK_TIMEOUT_MS.',
              ),
            status_code: nullable(integer())
              .required()
              .description('HTTP status of the response; null if none arrived.'),
            error: nullable(text())
              .required()
              .description(
                'Why the attempt failed, as a sentence: for example the HTTP status of the response, or a timeout. Null if it succeeded.',
              ),
          }).description('One POST request to the receiver, with its time, duration and status or error.'),
        ),
      )
      .required()
      .description('Requests that were made, oldest first; the last 50 are kept.'),
    created_at: timestamp()
      .required()
      .description(
        'When the event was queued for this webhook, in UTC. It waits while an earlier event of the same object is pending.',
      ),
  }).description('Delivery of an event to one webhook, with all attempts to send it.'),
);
