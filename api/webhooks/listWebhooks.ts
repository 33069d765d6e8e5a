import Joi from 'joi';

import { WEBHOOK_ORDERS } from '../../contract/webhooks.js';
import { operation } from '../http/operation.js';
import { presentWebhook } from '../presenters/webhook.js';
import { listOf } from '../schemas/answers.js';
import { integer, orNull } from '../schemas/fields.js';
import { pagination, toPage } from '../schemas/listing.js';
import { webhookFields } from '../schemas/webhooks.js';
import { named } from '../schemas/reference.js';
import { orderDirection } from '../schemas/enums.js';

/** POST /webhooks: lists the organization's webhooks without their keys. */
export const listWebhooks = operation({
  method: 'post',
  path: '/webhooks',
  operationId: 'webhook_urls_webhooks_post',
  tag: 'Webhooks',
  auth: 'key',
  summary: 'List webhooks',
  description: [
    'Lists webhooks of the organization with their state, without signing keys. A webhook is `FLAGGED` after all attempts of a delivery failed (by default seven) or the receiver returned 410; `status_reason` says why. Except after 410, it still receives later events, and is `ACTIVE` after the next success. After 410, `POST /webhooks/{webhook_id}/redeliver` starts it again.',
  ],
  returns: 'One page of webhooks without their signing keys, and the number of all that match.',
  body: named(
    'WebhookQueryInput',
    Joi.object({
      filters: named(
        'WebhookFilters',
        Joi.object({
          ids: orNull(Joi.array().items(integer()).max(1000), []).description(
            'Only webhooks with one of these values of `id`; at most 1,000. Null or empty: all.',
          ),
        }).description('Which webhooks to list, by `id`. Without `ids`, all webhooks of the organization are listed.'),
      )
        .default({ ids: [] })
        .description('Only webhooks that match these filters. `{}` selects all of the organization.'),
      order_by: named(
        'WebhookOrderByColumns',
        Joi.string()
          .valid(...WEBHOOK_ORDERS)
          .description(
            '`created_at`: when the webhook was added. `updated_at`: when its status last changed. Equal times are sorted by id.',
          ),
      )
        .default('updated_at')
        .description(
          'Time by which webhooks are sorted: addition (`created_at`), or last change of the status (`updated_at`).',
        ),
      order_dir: orderDirection().default('asc').description('`asc`: the oldest first; `desc`: the newest first.'),
      pagination: pagination(),
    }).description('Which webhooks to list, in which order and page. `{}` lists the first 10.'),
  ),
  answer: listOf(
    'WebhookQueryResponse',
    named(
      'WebhookNoKey',
      Joi.object(webhookFields).description('URL that receives events, as lists return it: without the signing key.'),
    ),
    'webhooks',
  ),
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
