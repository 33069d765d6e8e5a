import type { GuruCredentials } from '../../../connectors/guru/index.js';
import type { HandedOver } from '../../schemas/handedOver.js';
import { connectByToken } from '../connectByToken.js';

/** Converts the fields of /integrations/connect into the connector's credentials. */
export const guruHandedOver = ({
  username = '',
  access_token: accessToken = '',
}: Omit<HandedOver, 'source'>): GuruCredentials => ({ username, accessToken });

/** POST /integrations/guru: connects a user of Guru. */
export const connectGuru = connectByToken({
  path: '/integrations/guru',
  operationId: 'guru_connect_integrations_guru_post',
  tag: 'Integrations',
  summary: 'Connects Guru with a token.',
  description: [],
  requestName: 'GuruConnectRequest',
  type: 'GURU',
  fields: ['username', 'access_token'],
  credentialsOf: guruHandedOver,
});
