import Joi from 'joi';

import { notFound } from '../http/errors.js';
import { operation } from '../http/operation.js';
import { integer } from '../schemas/fields.js';
import { endableGrant, endGrant } from './endGrant.js';

/** POST /revoke_access_token: the credentials are forgotten, and their source is asked to end them; files stay, but those still in the queue end SYNC_ABORTED. */
export const revokeAccessToken = operation({
  method: 'post',
  path: '/revoke_access_token',
  auth: 'user',
  summary: 'Forgets the credentials of a data source.',
  body: Joi.object({ data_source_id: integer().required() }),
  answer: Joi.object({ success: Joi.boolean().required() }),
  async handle({ caller, body, deps }) {
    const { store, unit } = deps;
    const source = await store.dataSources.find(caller, body.data_source_id);
    const grant = source && (await endableGrant(source, deps));
    const revoked = await unit.transaction(async (session) => {
      await store.quarantine.expire(caller, { dataSourceId: body.data_source_id }, session);
      return store.dataSources.revoke(caller, body.data_source_id, session);
    });
    if (!revoked) throw notFound('data source');
    // Also at a second call: the first one may have died before.
    await store.files.abortQueuedOf(revoked);
    // Not awaited: it is over here, whatever the source says.
    if (grant) void endGrant(revoked, grant, deps);
    return { success: true };
  },
});
