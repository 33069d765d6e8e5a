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
  summary: 'Sends named deliveries once more, or all that were given up; starts a disabled webhook again.',
  description: [],
  body: named('RedeliverEventsRequest', Joi.object({ ids: orNull(Joi.array().items(integer()).max(1000), []) })),
  answer: named('RedeliveredEvents', Joi.object({ success: Joi.boolean().required(), count: integer().required() })),
  async handle(call) {
    const { _id } = await webhookOf(call);
    const { ids } = call.body;
    const count = await call.deps.store.deliveries.again(_id, ids.length > 0 ? ids : null);
    await call.deps.store.webhooks.call(_id);
    return { success: true, count };
  },
});
