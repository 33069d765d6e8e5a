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
  summary: 'Get an access token',
  description: [
    'Issues an access token with which a front end acts for one end user. Call it from your server, because it needs the API key. The user is named by the header `customer-id`; a new name creates the user. A token is valid for ten hours; request a new one with the API key when it is 401. `refresh_token` is accepted by no operation.',
  ],
  returns: 'A token for the end user.',
  answer: named(
    'TokenResponse',
    Joi.object({
      access_token: Joi.string()
        .required()
        .description('Credential for the header `Authorization: Token <access token>`, valid for ten hours.'),
      refresh_token: Joi.string()
        .required()
        .description(
          'Present for compatibility; no operation accepts it. Request a new access token with the API key.',
        ),
    }).description('Credentials of an end user.'),
  ),
  async handle({ caller, deps }) {
    const { accessToken: access_token, refreshToken: refresh_token } = deps.tokens.issue(caller);
    return Promise.resolve({ access_token, refresh_token });
  },
});
