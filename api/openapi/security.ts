import type { AuthScheme } from '../http/operation.js';
import type { Json } from './types.js';

const USER = { apiKey: [], customerId: [] };

/** Security requirements of operations by who may call them. */
export const SECURITY: Readonly<Record<Exclude<AuthScheme, 'issuing'>, readonly Json[]>> = {
  user: [{ accessToken: [] }, USER],
  reader: [{ accessToken: [] }, USER],
  key: [{ apiKey: [] }],
  operator: [{ apiKey: [] }],
  either: [{ accessToken: [] }, USER, { apiKey: [] }],
  open: [],
};

const header = (name: string, description: string): Json => ({ type: 'apiKey', in: 'header', name, description });

/** `components.securitySchemes`. */
export const SECURITY_SCHEMES: Json = {
  accessToken: header(
    'authorization',
    '`Token <access token>`, from `GET /auth/v1/access_token`. It acts for one end user and expires after ten hours, or the requested `expires_in`. Browsers may hold it.',
  ),
  apiKey: header(
    'authorization',
    '`Bearer <API key>`. It acts for the organization; with `customer-id`, for one of its end users. Keep it on your servers.',
  ),
  customerId: header(
    'customer-id',
    'Your id of the end user, such as its key in your own database, sent with an API key. An unknown id creates the end user.',
  ),
};
