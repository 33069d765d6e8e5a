import Joi from 'joi';

import { MAX_PAGE_LIMIT } from '../../contract/files/fileFilters.js';
import { operation } from '../http/operation.js';
import { presentDelivery } from '../presenters/webhook.js';
import { listOf } from '../schemas/answers.js';
import { integer } from '../schemas/fields.js';
import { deliveryRecord, deliveryStatus } from '../schemas/webhooks.js';
import { webhookOf } from './webhookOf.js';

/** GET /webhooks/{webhook_id}/deliveries: lists finished and pending deliveries of a webhook, with every attempt. */
export const listDeliveries = operation({
  method: 'get',
  path: '/webhooks/{webhook_id}/deliveries',
  operationId: 'list_webhook_deliveries',
  tag: 'Webhooks',
  auth: 'key',
  summary: 'List deliveries',
  description: [
    'Lists finished and pending deliveries to a webhook with their attempts, the latest event first. Use it to find out why a receiver did not get an event: each attempt has the status of the response, or the error. Finished deliveries are kept for `EVENTS_KEPT_DAYS`. Failed ones can be sent again with `POST /webhooks/{webhook_id}/redeliver`.',
  ],
  returns: 'One page of deliveries with their attempts, latest event first, and the number of all that match.',
  query: Joi.object({
    limit: integer()
      .min(1)
      .max(MAX_PAGE_LIMIT)
      .default(100)
      .description('Maximum number of deliveries in the response. `count` has the number of all that match.'),
    offset: integer()
      .min(0)
      .default(0)
      .description('Number of matching deliveries to skip, counted from the latest event.'),
    status: deliveryStatus().description(
      'Only deliveries with this status: `PENDING`, `DELIVERED` or `FAILED`. Absent: all.',
    ),
  }),
  answer: listOf('WebhookDeliveries', deliveryRecord, 'deliveries'),
  async handle(call) {
    const { _id } = await webhookOf(call);
    const { status, ...page } = call.query;
    const { deliveries } = call.deps.store;
    const [found, count] = await Promise.all([deliveries.list(_id, page, status), deliveries.count(_id, status)]);
    return { results: found.map((delivery) => presentDelivery(delivery, call.deps.workflowLink)), count };
  },
});
