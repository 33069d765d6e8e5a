import type { GitBookCredentials } from '../../../connectors/gitbook/index.js';
import type { HandedOver } from '../../schemas/handedOver.js';
import { connectByToken } from '../connectByToken.js';

/** What the connector takes, of what was handed over at /integrations/connect. */
export const gitBookHandedOver = (given: HandedOver): GitBookCredentials => ({
  organization: given['organization_name'] ?? '',
  accessToken: given['access_token'] ?? '',
});

/** POST /integrations/gitbook: connects an organization of GitBook. */
export const connectGitBook = connectByToken({
  path: '/integrations/gitbook',
  summary: 'Connects GitBook with a token.',
  type: 'GITBOOK',
  fields: ['organization', 'access_token'],
  credentialsOf: ({ organization, access_token: accessToken }): GitBookCredentials => ({ organization, accessToken }),
});
