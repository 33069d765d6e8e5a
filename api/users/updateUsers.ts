import Joi from 'joi';

import { notFound } from '../http/errors.js';
import { operation } from '../http/operation.js';
import { changesAutoSync, toLimits, toSources, userSettings } from '../schemas/limits.js';
import { customerIds } from '../schemas/users.js';
import { named } from '../schemas/reference.js';
import { success } from '../schemas/answers.js';

/** Maximum number of users per call. */
const MAX_USERS = 100;

/**
 * POST /update_users: changes limits and automatically synced sources of users. If one id is unknown, no user is
 * changed.
 */
export const updateUsers = operation({
  method: 'post',
  path: '/update_users',
  operationId: 'update_users_update_users_post',
  tag: 'Users',
  auth: 'key',
  summary: 'Update end users',
  description: [
    'Sets limits and automatically synced sources of up to 100 end users; these values replace those of the organization. Null and absent fields change nothing. If one customer id is unknown, the response is 404 and no user is changed. Lower limits delete nothing: beyond `max_files` and `max_characters`, further files wait as `DELAYED`. Schedules of automatic syncs are changed shortly after the response.',
  ],
  returns: '`success: true`: all named end users have the new values.',
  body: named(
    'UpdateUsersInput',
    Joi.object({
      customer_ids: customerIds()
        .max(MAX_USERS)
        .required()
        .description(
          'Your ids of the users to change, as in the header `customer-id`; at most 100. If one is unknown, the response is 404 and no user is changed.',
        ),
      ...userSettings(),
    }).description('End users to change, and their new limits and automatic syncs.'),
  ),
  answer: success,
  async handle({ caller: { organizationId }, body, deps: { store, unit } }) {
    const sources = toSources(body);
    const change = { customLimits: toLimits(body), ...(sources ? { autoSyncSources: sources } : {}) };
    const areKnown = await unit.transaction(async (session) => {
      const areUpdated = await store.users.update(organizationId, body.customer_ids, change, session);
      if (areUpdated && changesAutoSync(body))
        await store.schedules.markUsers(organizationId, body.customer_ids, session);
      return areUpdated;
    });
    if (!areKnown) throw notFound('user');
    return { success: true };
  },
});
