import Joi from 'joi';

import { operation } from '../http/operation.js';
import { named } from '../schemas/reference.js';

/**
 * GET /auth/v1/access_token: exchanges an API key and a customer id for a pair of tokens. An unknown customer id
 * creates the end user.
 */
export const accessToken = operation({
  method: 'get',
  path: '/auth/v1/access_token',
  operationId: 'get_access_token_auth_v1_access_token_get',
  tag: 'Auth',
  auth: 'issuing',
  summary: 'Issues an access token for an end user, good for ten hours.',
  description: [],
  answer: named(
    'TokenResponse',
    Joi.object({ access_token: Joi.string().required(), refresh_token: Joi.string().required() }),
  ),
  async handle({ caller, deps }) {
    const { accessToken: access_token, refreshToken: refresh_token } = deps.tokens.issue(caller);
    return Promise.resolve({ access_token, refresh_token });
  },
});
