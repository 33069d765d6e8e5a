import Joi from 'joi';

import { ORDER_DIRECTIONS } from '../../contract/fileFilters.js';
import { WEBHOOK_ORDERS } from '../../contract/webhooks.js';
import { operation } from '../http/operation.js';
import { presentWebhook } from '../presenters/webhook.js';
import { listOf } from '../schemas/answers.js';
import { integer, orNull } from '../schemas/fields.js';
import { pagination, toPage } from '../schemas/listing.js';
import { webhookFields } from '../schemas/webhooks.js';

/** POST /webhooks: lists the organization's webhooks without their keys. */
export const listWebhooks = operation({
  method: 'post',
  path: '/webhooks',
  operationId: 'webhook_urls_webhooks_post',
  tag: 'Webhooks',
  auth: 'key',
  summary: "Lists the organization's webhooks.",
  description: '',
  body: Joi.object({
    filters: Joi.object({ ids: orNull(Joi.array().items(integer()).max(1000), []) }).default({ ids: [] }),
    order_by: Joi.string()
      .valid(...WEBHOOK_ORDERS)
      .default('updated_at'),
    order_dir: Joi.string()
      .valid(...ORDER_DIRECTIONS)
      .default('asc'),
    pagination: pagination(),
  }),
  answer: listOf(Joi.object(webhookFields)),
  async handle({ caller: { organizationId }, body, deps: { store } }) {
    const { ids } = body.filters;
    const page = toPage(body.pagination);
    const [found, count] = await Promise.all([
      store.webhooks.list(organizationId, { ids, orderBy: body.order_by, orderDir: body.order_dir, page }),
      store.webhooks.count(organizationId, ids, page.startingId),
    ]);
    return { results: found.map(presentWebhook), count };
  },
});
