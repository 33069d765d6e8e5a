import type { GuruCredentials } from '../../../connectors/guru/index.js';
import type { SuppliedCredentials } from '../../schemas/suppliedCredentials.js';
import { AFTER_CONNECTING } from '../connectAccount.js';
import { connectByToken } from '../connectByToken.js';

/** Converts the fields of /integrations/connect into the connector's credentials. */
export const guruSupplied = ({
  username = '',
  access_token: accessToken = '',
}: Omit<SuppliedCredentials, 'source'>): GuruCredentials => ({ username, accessToken });

/** POST /integrations/guru: connects a user of Guru. */
export const connectGuru = connectByToken({
  path: '/integrations/guru',
  operationId: 'guru_connect_integrations_guru_post',
  tag: 'Integrations',
  summary: 'Connect Guru with a token',
  description: [
    `Connects a user of Guru with a user token. ${AFTER_CONNECTING}

By default the collections, folders and cards are listed. The event \`DATA_SOURCE_READY\` is sent after a complete listing. Files are created by \`POST /integrations/files/sync\` only: \`sync_files_on_connection\` has no effect here.`,
  ],
  returns: '`success: true`: Guru accepted the token, and the account is stored. Its listing may still be in progress.',
  of: 'a user of Guru',
  requestName: 'GuruConnectRequest',
  type: 'GURU',
  fields: {
    username: 'E-mail address of the Guru user who created the token.',
    access_token: 'User token of Guru, created by the user in `username`. It is stored encrypted and never returned.',
  },
  credentialsOf: guruSupplied,
});
