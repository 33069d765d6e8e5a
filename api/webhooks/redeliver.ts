import Joi from 'joi';

import { operation } from '../http/operation.js';
import { integer, orNull } from '../schemas/fields.js';
import { webhookOf } from './webhookOf.js';
import { named } from '../schemas/reference.js';

/** POST /webhooks/{webhook_id}/redeliver: repeats finished deliveries and enables a disabled webhook. */
export const redeliver = operation({
  method: 'post',
  path: '/webhooks/{webhook_id}/redeliver',
  operationId: 'redeliver_webhook_events',
  tag: 'Webhooks',
  auth: 'key',
  summary: 'Repeat deliveries',
  description: [
    'Queues finished deliveries of a webhook again: the named ones, or without `ids` all failed ones. It also enables a webhook whose receiver had answered 410. A repeated delivery has the same `webhook-id` and body as before, and may use all attempts again. Up to 1,000 deliveries are queued per request; pending ones are not changed. Their progress is in `GET /webhooks/{webhook_id}/deliveries`.',
  ],
  returns: 'Number of deliveries that are queued again; they are not sent yet.',
  body: named(
    'RedeliverEventsRequest',
    Joi.object({
      ids: orNull(Joi.array().items(integer()).max(1000), []).description(
        'Deliveries to repeat: values of `id` of finished ones, as `GET /webhooks/{webhook_id}/deliveries` lists them; at most 1,000. Null or empty: all failed ones.',
      ),
    }).description('Deliveries to repeat, by id. Without ids: all failed ones.'),
  ),
  answer: named(
    'RedeliveredEvents',
    Joi.object({
      success: Joi.boolean().required().description('Always `true`: the deliveries are queued, but not sent yet.'),
      count: integer()
        .required()
        .description('Number of deliveries that were queued again, at most 1,000. `0`: none matches.'),
    }).description('Number of deliveries that a request queued again. They are not sent yet.'),
  ),
  async handle(call) {
    const { _id } = await webhookOf(call);
    const { ids } = call.body;
    const count = await call.deps.store.deliveries.requeue(_id, ids.length > 0 ? ids : null);
    await call.deps.store.webhooks.enableAndWake(_id);
    return { success: true, count };
  },
});
