import type { GuruCredentials } from '../../../connectors/guru/index.js';
import type { HandedOver } from '../../schemas/handedOver.js';
import { connectByToken } from '../connectByToken.js';

/** What the connector takes, of what was handed over at /integrations/connect. */
export const guruHandedOver = ({
  username = '',
  access_token: accessToken = '',
}: Omit<HandedOver, 'source'>): GuruCredentials => ({ username, accessToken });

/** POST /integrations/guru: connects a user of Guru. */
export const connectGuru = connectByToken({
  path: '/integrations/guru',
  summary: 'Connects Guru with a token.',
  type: 'GURU',
  fields: ['username', 'access_token'],
  credentialsOf: guruHandedOver,
});
