import Joi from 'joi';

import type { Store } from '../../store/connect.js';
import type { UserDoc } from '../../store/models/users.js';
import { notFound } from '../http/errors.js';
import { operation } from '../http/operation.js';
import { presentWholeUser } from '../presenters/user.js';
import { wholeUserRecord } from '../schemas/users.js';
import { named } from '../schemas/reference.js';

/** Returns the full record of a user. @throws HttpError 404 if there is none */
async function answer(store: Pick<Store, 'files' | 'organizations'>, user: UserDoc | null) {
  if (!user) throw notFound('user');
  const tenant = { organizationId: user.organizationId, userId: user._id };
  const [statistics, tags, organization] = await Promise.all([
    store.files.totals(tenant),
    store.files.uniqueTags(tenant),
    store.organizations.findRecord(user.organizationId),
  ]);
  return presentWholeUser(user, statistics, tags, organization);
}

/** POST /user: returns one end user by its customer id. */
export const user = operation({
  method: 'post',
  path: '/user',
  operationId: 'user_endpoint_user_post',
  tag: 'Users',
  auth: 'key',
  summary: 'Get an end user',
  description: [
    'Returns an end user with limits, features, and totals over its files. The totals are current and count files with content, without folders and parent files of scrapes. An unknown or deleted user returns 404. End users themselves call `GET /whoami`.',
  ],
  returns: 'The end user with its limits and features, and current totals over its files.',
  body: named(
    'UserRequestContent',
    Joi.object({
      customer_id: Joi.string()
        .allow('')
        .required()
        .description(
          'Your id of the end user, as in the header `customer-id` of its requests. An unknown one returns 404.',
        ),
    }).description('The end user to return.'),
  ),
  answer: wholeUserRecord,
  handle: async ({ caller: { organizationId }, body, deps: { store } }) =>
    answer(store, await store.users.findByCustomerId(organizationId, body.customer_id)),
});

/** GET /whoami: returns the calling end user. */
export const whoami = operation({
  method: 'get',
  path: '/whoami',
  operationId: 'me_endpoint_whoami_get',
  tag: 'Users',
  auth: 'reader',
  summary: 'Get the calling end user',
  description: [
    'Returns the end user that the access token or the header `customer-id` names, with limits, features, and totals over its files. Front ends use it to check a token and to show quotas. The totals are current and count files with content, without folders and parent files of scrapes.',
  ],
  returns: 'The calling end user with its limits and features, and current totals over its files.',
  answer: wholeUserRecord,
  handle: async ({ caller, deps: { store } }) => answer(store, await store.users.findRecord(caller)),
});
