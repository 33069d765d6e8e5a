import Joi from 'joi';

import { notFound } from '../http/errors.js';
import { operation } from '../http/operation.js';
import { integer } from '../schemas/fields.js';
import { revocableGrant, endGrant } from './endGrant.js';
import { named } from '../schemas/reference.js';
import { success } from '../schemas/answers.js';

/**
 * POST /revoke_access_token: deletes the credentials, and revokes their grant at sources that support it. Files stay,
 * but queued ones end as SYNC_ABORTED, and quarantined ones are erased.
 */
export const revokeAccessToken = operation({
  method: 'post',
  path: '/revoke_access_token',
  operationId: 'revoke_access_token_revoke_access_token_post',
  tag: 'Data Sources',
  auth: 'user',
  summary: 'Revoke access to a data source',
  description: [
    'Deletes the credentials of a data source and stops its syncs. Google and Slack then receive a request to revoke their grant, unless the same account is connected as another data source.\n\nIts files stay and can be searched; queued ones end as SYNC_ABORTED. Its quarantined files are erased. The event REVOKE reports it, and `revoked_access` of the record becomes `true`. Connect the account again to sync it. Repeating the request is safe.',
  ],
  returns: '`success: true`: the credentials are deleted, and syncs of the account stop.',
  body: named(
    'RevokeAccessTokenInput',
    Joi.object({
      data_source_id: integer()
        .required()
        .description('The connected account to revoke, by `id` of `POST /user_data_sources`.'),
    }).description('The connected account whose credentials are deleted. Its files stay.'),
  ),
  answer: success,
  async handle({ caller, body, deps }) {
    const { store, unit } = deps;
    const source = await store.dataSources.find(caller, body.data_source_id);
    const grant = source && (await revocableGrant(source, deps));
    const revoked = await unit.transaction(async (session) => {
      await store.quarantine.expire(caller, { dataSourceId: body.data_source_id }, session);
      return store.dataSources.revoke(caller, body.data_source_id, session);
    });
    if (!revoked) throw notFound('data source');
    // Also in a repeated call: the API may have crashed in the first one after the commit, before it aborted the files.
    await store.files.abortQueuedOf(revoked);
    // Not awaited: the access has ended here, whatever the source responds.
    if (grant) void endGrant(revoked, grant, deps);
    return { success: true };
  },
});
