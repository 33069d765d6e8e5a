import Joi from 'joi';

import { operation } from '../http/operation.js';
import { presentUser } from '../presenters/user.js';
import { integer, nullable, orNull } from '../schemas/fields.js';
import { MAX_MEMBERS, pagination, toPage } from '../schemas/listing.js';
import { customerIds, userRecord } from '../schemas/users.js';
import { named } from '../schemas/reference.js';
import { orderDirection } from '../schemas/enums.js';

const ORDERS = { created_at: 'createdAt', updated_at: 'updatedAt' } as const;

/** POST /list_users: lists the organization's end users; deleted ones only if carbon_user_ids names them. */
export const listUsers = operation({
  method: 'post',
  path: '/list_users',
  operationId: 'list_users_endpoint_list_users_post',
  tag: 'Users',
  auth: 'key',
  summary: 'List end users',
  description: [
    'Lists end users of the organization, by default the newest first. Deleted users are listed only if `carbon_user_ids` names them. `POST /user` returns the totals over all files of one user, such as their size. The number of all matches is counted only with `include_count`. A page has at most 10,000 users.',
  ],
  returns: 'One page of end users; with `include_count` also the number of all that match.',
  body: named(
    'ListUsersRequest',
    Joi.object({
      filters: named(
        'ListUsersFilters',
        Joi.object({
          customer_ids: orNull(customerIds().max(MAX_MEMBERS)).description(
            'Only users with one of these `customer-id` values; at most 10,000. Null or empty: users with any `customer-id`.',
          ),
          carbon_user_ids: orNull(Joi.array().items(integer()).max(MAX_MEMBERS)).description(
            'Only users with one of these values of `id`, deleted ones too; at most 10,000. Null or empty: users with any `id` that are not deleted.',
          ),
        }).description(
          'Which end users to list: by `customer-id`, by `id`, or both. A user has to meet every filter that is set.',
        ),
      )
        .default({})
        .description('Only end users that match these filters. `{}` selects every end user that is not deleted.'),
      order_by: named(
        'ListUsersOrderByTypes',
        Joi.string()
          .valid('created_at', 'updated_at')
          .description(
            '`created_at`: when the user was created, at the first request with its `customer-id`. `updated_at`: when its record last changed. Equal times are sorted by id.',
          ),
      )
        .default('created_at')
        .description('Time by which users are sorted: creation (`created_at`) or last change (`updated_at`).'),
      order_dir: orderDirection().default('desc').description('`desc`: the newest first; `asc`: the oldest first.'),
      pagination: pagination(),
      include_count: Joi.boolean()
        .default(false)
        .description('`true`: the response has the number of all matching users.'),
    }).description('Which end users to list, in which order and page. `{}` lists the newest 10.'),
  ),
  answer: named(
    'UserListResponse',
    Joi.object({
      users: Joi.array()
        .items(userRecord)
        .required()
        .description('Matching end users of this page, in the requested order; empty after the last page.'),
      count: nullable(integer())
        .required()
        .description('Number of all matching users; null unless `include_count` is set.'),
    }).description('One page of end users, and on request the number of all matches.'),
  ),
  async handle({ caller: { organizationId }, body, deps: { store } }) {
    const { customer_ids, carbon_user_ids } = body.filters;
    const listing = {
      ...(customer_ids ? { customerIds: customer_ids } : {}),
      ...(carbon_user_ids ? { userIds: carbon_user_ids } : {}),
      orderBy: ORDERS[body.order_by],
      orderDir: body.order_dir,
      page: toPage(body.pagination),
    };
    const [users, count] = await Promise.all([
      store.users.list(organizationId, listing),
      body.include_count ? store.users.count(organizationId, listing) : null,
    ]);
    return { users: users.map(presentUser), count };
  },
});
