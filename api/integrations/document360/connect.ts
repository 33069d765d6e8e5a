import type { Document360Credentials } from '../../../connectors/document360/index.js';
import { connectByToken } from '../connectByToken.js';

/** POST /integrations/document360: connects a project of Document360. */
export const connectDocument360 = connectByToken({
  path: '/integrations/document360',
  operationId: 'document360_connect_integrations_document360_post',
  tag: 'Integrations',
  summary: 'Connects Document360 with a token.',
  description: [],
  requestName: 'Document360ConnectRequest',
  type: 'DOCUMENT360',
  fields: ['account_email', 'access_token'],
  credentialsOf: ({ account_email: accountEmail, access_token: accessToken }): Document360Credentials => ({
    accountEmail,
    accessToken,
  }),
});
