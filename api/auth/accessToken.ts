import Joi from 'joi';

import { TOKEN_SCOPES } from '../http/identity/tokens.js';
import { operation } from '../http/operation.js';
import { integer } from '../schemas/fields.js';
import { named } from '../schemas/reference.js';

/**
 * Limits of a token's lifetime in seconds: a minute and 90 days. There is a maximum because a single token cannot be
 * revoked. It becomes invalid early only if its user is deleted, or if the key that signed it is removed from
 * SECRET_KEY.
 */
const [MIN_LIFETIME_S, MAX_LIFETIME_S] = [60, 90 * 24 * 3600];

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
    'Issues an access token with which a front end acts for one end user. Call it from your server, because it needs the API key. The header `customer-id` is your id of the user; an unknown one creates the user. A token is valid for ten hours unless `expires_in` requests another lifetime; request a new one with the API key when it returns 401. `scope` limits what the token permits. The response has a `refresh_token` for compatibility, but no operation accepts it.',
  ],
  returns: 'Access token of the end user, valid for ten hours, or for the seconds in `expires_in` of the request.',
  query: Joi.object({
    scope: Joi.string()
      .valid(...TOKEN_SCOPES)
      .description(
        '`read`: requests that change something return 403. `read write`: all requests are permitted, also by AI agents that use the token at `/mcp`. Absent: as `read write`, but agents may only read.',
      ),
    expires_in: integer()
      .min(MIN_LIFETIME_S)
      .max(MAX_LIFETIME_S)
      .description('Lifetime of the token in seconds, at most 90 days. Absent: ten hours.'),
  }),
  answer: named(
    'TokenResponse',
    Joi.object({
      access_token: Joi.string()
        .required()
        .description(
          'Credential for the header `Authorization: Token <access token>`, valid for ten hours, or for the seconds in `expires_in` of the request.',
        ),
      refresh_token: Joi.string()
        .required()
        .description(
          'Present for compatibility; no operation accepts it. Request a new access token with the API key.',
        ),
    }).description('Access token of an end user, for requests of your front end.'),
  ),
  async handle({ caller, query: { scope, expires_in: seconds }, deps }) {
    const { accessToken: access_token, refreshToken: refresh_token } = deps.tokens.issue(caller, {
      ...(scope === undefined ? {} : { scope }),
      ...(seconds === undefined ? {} : { lifeMs: seconds * 1000 }),
    });
    return Promise.resolve({ access_token, refresh_token });
  },
});
