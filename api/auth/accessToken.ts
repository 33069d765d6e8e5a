import Joi from 'joi';

import { operation } from '../http/operation.js';

/**
 * GET /auth/v1/access_token: exchanges an API key and a customer id for a pair of tokens. An unknown customer id
 * creates the end user.
 */
export const accessToken = operation({
  method: 'get',
  path: '/auth/v1/access_token',
  auth: 'issuing',
  summary: 'Issues an access token for an end user, good for ten hours.',
  answer: Joi.object({ access_token: Joi.string().required(), refresh_token: Joi.string().required() }),
  async handle({ caller, deps }) {
    const { accessToken: access_token, refreshToken: refresh_token } = deps.tokens.issue(caller);
    return Promise.resolve({ access_token, refresh_token });
  },
});
