import { randomUUID } from 'node:crypto';
import Joi from 'joi';

import { workflowIds } from '../../contract/runs/workflowIds.js';
import { operation } from '../http/operation.js';
import { MAX_MEMBERS } from '../schemas/listing.js';
import { customerIds } from '../schemas/users.js';
import { named } from '../schemas/reference.js';
import { success } from '../schemas/answers.js';

/** Maximum number of runs started at once; the periodic sweep of the outbox starts the others. */
const STARTED_AT_ONCE = 10;

/**
 * POST /delete_users: marks end users as deleted, so that no request finds them; a run for each user erases its data.
 * Unknown ids are ignored.
 */
export const deleteUsers = operation({
  method: 'post',
  path: '/delete_users',
  operationId: 'delete_users_delete_users_post',
  tag: 'Users',
  auth: 'key',
  summary: 'Delete end users',
  description: [
    'Deletes end users with all of their data sources, files, chunks and vectors. From the response on, no caller finds them, and their access tokens return 401. A run for each user then erases the data; the webhook event ORGANIZATION_USER_DELETED reports the end of the run. Unknown ids are ignored. A later request with the same customer id creates a new, empty user. A request has at most 10,000 ids.',
  ],
  returns: '`success: true`: the end users can no longer call the service; a run for each erases its data.',
  createsWork: true,
  body: named(
    'DeleteUsersInput',
    Joi.object({
      customer_ids: customerIds()
        .max(MAX_MEMBERS)
        .required()
        .description(
          'Your ids of the users to delete, as in the header `customer-id`; at most 10,000. Unknown ids are ignored.',
        ),
    }).description('End users to delete with all of their data, by `customer-id`.'),
  ),
  answer: success,
  async handle({ caller: { organizationId }, body, deps: { store, unit } }) {
    const requestId = randomUUID();
    const runIds = await unit.transaction(async (session) => {
      const users = await store.users.markDeleted(organizationId, body.customer_ids, session);
      if (users.length === 0) return [];
      const firstRunId = await store.runs.nextId(users.length);
      const runs = users.map(({ _id: userId, customerId }, index) => {
        const owner = { organizationId, userId, customerId };
        const workflowId = workflowIds.deleteUser(userId);
        return [firstRunId + index, { kind: 'deleteUser', workflowId, owner, fileId: null, requestId }] as const;
      });
      await store.runs.acceptMany(new Map(runs), session);
      return runs.map(([runId]) => runId);
    });
    for (const runId of runIds.slice(0, STARTED_AT_ONCE)) unit.start(runId);
    return { success: true };
  },
});
