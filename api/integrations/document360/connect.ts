import type { Document360Credentials } from '../../../connectors/document360/index.js';
import { AFTER_CONNECTING } from '../connectAccount.js';
import { connectByToken } from '../connectByToken.js';

/** POST /integrations/document360: connects a project of Document360. */
export const connectDocument360 = connectByToken({
  path: '/integrations/document360',
  operationId: 'document360_connect_integrations_document360_post',
  tag: 'Integrations',
  summary: 'Connect Document360 with a token',
  description: [
    `Connects a project of Document360 with its API token. ${AFTER_CONNECTING}

By default its workspaces, categories and articles are listed. The event \`DATA_SOURCE_READY\` is sent after a complete listing. Files are created by \`POST /integrations/files/sync\` only: \`sync_files_on_connection\` has no effect here.`,
  ],
  returns:
    '`success: true`: Document360 accepted the token, and the account is stored. Its listing may still be in progress.',
  of: 'a project of Document360',
  requestName: 'Document360ConnectRequest',
  type: 'DOCUMENT360',
  fields: {
    account_email:
      'E-mail address of the account in Document360. A request with the same address, for a token of the same project, updates the data source instead of creating another.',
    access_token: 'API token of the project in Document360. It is stored encrypted.',
  },
  credentialsOf: ({ account_email: accountEmail, access_token: accessToken }): Document360Credentials => ({
    accountEmail,
    accessToken,
  }),
});
