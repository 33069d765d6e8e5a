import type { GitBookCredentials } from '../../../connectors/gitbook/index.js';
import type { HandedOver } from '../../schemas/handedOver.js';
import { connectByToken } from '../connectByToken.js';

/** Converts the fields of /integrations/connect into the connector's credentials. */
export const gitBookHandedOver = (given: HandedOver): GitBookCredentials => ({
  organization: given['organization_name'] ?? '',
  accessToken: given['access_token'] ?? '',
});

/** POST /integrations/gitbook: connects an organization of GitBook. */
export const connectGitBook = connectByToken({
  path: '/integrations/gitbook',
  operationId: 'gitbook_connect_integrations_gitbook_post',
  tag: 'Integrations',
  summary: 'Connects GitBook with a token.',
  description: [],
  requestName: 'GitbookConnectRequest',
  type: 'GITBOOK',
  fields: ['organization', 'access_token'],
  credentialsOf: ({ organization, access_token: accessToken }): GitBookCredentials => ({ organization, accessToken }),
});
