import Joi from 'joi';

import { operation } from '../http/operation.js';
import { presentWhiteLabel } from '../presenters/whiteLabel.js';
import { listOf } from '../schemas/answers.js';
import { integer, orNull } from '../schemas/fields.js';
import { MAX_MEMBERS, pagination, toPage } from '../schemas/listing.js';
import { whiteLabelRecord } from '../schemas/whiteLabel.js';
import { named } from '../schemas/reference.js';
import { orderDirection, oauthSource } from '../schemas/enums.js';

const ORDERS = { created_at: 'createdAt', data_source_type: 'dataSourceType' } as const;

/** POST /white_label/list: lists the organization's OAuth clients without their secrets. */
export const listWhiteLabels = operation({
  method: 'post',
  path: '/white_label/list',
  operationId: 'list_white_labels_white_label_list_post',
  tag: 'White Label',
  auth: 'key',
  summary: 'List OAuth clients',
  description: [
    "Lists the organization's own OAuth clients, at most one for each source. Secrets are not returned: `has_client_secret` and `has_api_key` say whether they are stored. Sources that are not listed use the client of the operator (OAUTH_CLIENTS), if there is one.",
  ],
  returns: 'One page of OAuth clients without their secrets, and the number of all that match.',
  errors: { 404: null },
  body: named(
    'ListWhiteLabelRequest',
    Joi.object({
      filters: named(
        'WhiteLabelFilters',
        Joi.object({
          ids: orNull(Joi.array().items(integer()).max(MAX_MEMBERS), []).description(
            'Only clients with these values of `id`, at most 10,000. Empty or null: all.',
          ),
          data_source_type: orNull(Joi.array().items(oauthSource()), []).description(
            'Only clients whose `data_source_type` is in the list. Empty or null: all.',
          ),
        }).description(
          'Which OAuth clients to list: by `id`, by source, or both. A client has to meet every filter that is set.',
        ),
      )
        .default({ ids: [], data_source_type: [] })
        .description('Only OAuth clients that match these filters. `{}` selects all of the organization.'),
      order_by: named(
        'WhiteLabelOrderByColumns',
        Joi.string()
          .valid('created_at', 'data_source_type')
          .description(
            '`created_at`: when a client of the source was first stored. `data_source_type`: name of the source, A to Z. Equal values are sorted by id.',
          ),
      )
        .default('created_at')
        .description('`created_at`: sorts by time of creation. `data_source_type`: sorts by the name of the source.'),
      order_dir: orderDirection()
        .default('asc')
        .description('`asc`: the oldest, or A to Z, first; `desc`: the reverse.'),
      pagination: pagination(),
    }).description('Which OAuth clients to list, in which order and page. `{}` lists the first 10.'),
  ),
  answer: listOf('WhiteLabels', whiteLabelRecord, 'OAuth clients'),
  async handle({ caller: { organizationId }, body, deps: { store } }) {
    const listing = {
      ids: body.filters.ids,
      types: body.filters.data_source_type,
      orderBy: ORDERS[body.order_by],
      orderDir: body.order_dir,
      page: toPage(body.pagination),
    };
    const [rows, count] = await Promise.all([
      store.whiteLabels.list(organizationId, listing),
      store.whiteLabels.count(organizationId, listing),
    ]);
    return { results: rows.map(presentWhiteLabel), count };
  },
});
