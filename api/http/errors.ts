/** One problem in a 422: its location, message and type. */
export interface ValidationDetail {
  readonly loc: readonly (string | number)[];
  readonly msg: string;
  readonly type: string;
}

/**
 * An error response. `detail` is plain text that says what the caller can do, or a list of validation errors.
 */
export class HttpError extends Error {
  readonly status: number;
  readonly detail: string | readonly ValidationDetail[];
  /** Value of the header Retry-After. */
  readonly retryAfterSeconds: number | null;

  constructor(status: number, detail: string | readonly ValidationDetail[], retryAfterSeconds: number | null = null) {
    super(typeof detail === 'string' ? detail : 'validation failed');
    this.status = status;
    this.detail = detail;
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

export const unauthorized = (): HttpError =>
  new HttpError(
    401,
    'The credentials are absent, unknown or expired. Send `Authorization: Token <access token>` or `Authorization: Bearer <API key>`.',
  );
/**
 * Returns the error for an access token that is sent as an API key. It depends only on the prefix of the text, not on
 * whether the token is valid.
 */
export const tokenAsKey = (): HttpError =>
  new HttpError(
    401,
    'The credentials begin like an access token, but were sent as an API key. Send `Authorization: Token <access token>`, or an API key after `Bearer`.',
  );
/**
 * Returns the error for an API key that is sent as an access token. It depends only on the prefix of the text; no key
 * is looked up.
 */
export const keyAsToken = (): HttpError =>
  new HttpError(
    401,
    'The credentials are not an access token. Send an API key as `Authorization: Bearer <API key>` with the header `customer-id`, or get a token from GET /auth/v1/access_token.',
  );
/** Returns the error for an agent whose access token is unknown or has expired. */
export const expiredToken = (): HttpError =>
  new HttpError(
    401,
    'The access token is unknown or has expired. Get a new one from the backend of the application that issued it.',
  );
/** Returns the error for an agent that sends no access token. */
export const noAgentToken = (): HttpError =>
  new HttpError(
    401,
    'Send `Authorization: Bearer <user access token>`. The backend of the application issues it; API keys are not accepted here.',
  );
/** Returns the error for a token with the scope `read` and an operation that writes. */
export const readOnly = (): HttpError =>
  new HttpError(
    403,
    'This access token has the scope `read`, and the operation writes. Use a token with the scope `read write`.',
  );
export const forbidden = (): HttpError => new HttpError(403, 'This operation takes an API key, not an access token.');
export const notFound = (what: string): HttpError => new HttpError(404, `No such ${what}.`);
export const invalid = (loc: ValidationDetail['loc'], msg: string, type: string): HttpError =>
  new HttpError(422, [{ loc, msg, type }]);
