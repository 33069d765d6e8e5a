import Joi from 'joi';

import { notFound } from '../http/errors.js';
import { operation } from '../http/operation.js';
import { integer } from '../schemas/fields.js';

/** POST /revoke_access_token: the credentials are forgotten; files stay, but those still in the queue end SYNC_ABORTED. */
export const revokeAccessToken = operation<'user', { data_source_id: number }>({
  method: 'post',
  path: '/revoke_access_token',
  auth: 'user',
  summary: 'Forgets the credentials of a data source.',
  body: Joi.object({ data_source_id: integer().required() }),
  answer: Joi.object({ success: Joi.boolean().required() }),
  async handle({ caller, body, deps: { store } }) {
    const revoked = await store.transaction((session) =>
      store.dataSources.revoke(caller, body.data_source_id, session),
    );
    if (!revoked) throw notFound('data source');
    // Also at a second call: the first one may have died before.
    await store.files.abortQueuedOf(revoked);
    return { success: true };
  },
});
