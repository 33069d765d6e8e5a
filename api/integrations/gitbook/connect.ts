import type { GitBookCredentials } from '../../../connectors/gitbook/index.js';
import type { SuppliedCredentials } from '../../schemas/suppliedCredentials.js';
import { AFTER_CONNECTING } from '../connectAccount.js';
import { connectByToken } from '../connectByToken.js';

/** Converts the fields of /integrations/connect into the connector's credentials. */
export const gitBookSupplied = (supplied: SuppliedCredentials): GitBookCredentials => ({
  organization: supplied['organization_name'] ?? '',
  accessToken: supplied['access_token'] ?? '',
});

/** POST /integrations/gitbook: connects an organization of GitBook. */
export const connectGitBook = connectByToken({
  path: '/integrations/gitbook',
  operationId: 'gitbook_connect_integrations_gitbook_post',
  tag: 'Integrations',
  summary: 'Connect GitBook with a token',
  description: [
    `Connects an organization of GitBook with the API token of a user. ${AFTER_CONNECTING}

By default all spaces are listed, and all their pages are synced. The event \`DATA_SOURCE_READY\` is sent after a complete listing. With \`sync_files_on_connection: false\`, no page is synced until you call \`POST /integrations/gitbook/sync\`.`,
  ],
  returns:
    '`success: true`: GitBook accepted the token, and the account is stored. Its listing and sync may still be in progress.',
  of: 'an organization of GitBook',
  requestName: 'GitbookConnectRequest',
  type: 'GITBOOK',
  fields: {
    organization: 'Id of the GitBook organization whose spaces are connected.',
    access_token: 'API token of a GitBook user who can read the organization. It is stored encrypted.',
  },
  credentialsOf: ({ organization, access_token: accessToken }): GitBookCredentials => ({ organization, accessToken }),
});
