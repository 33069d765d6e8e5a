import type { Refusal } from '../accountClient.js';
import type { ErrorClass } from '../errorClasses.js';

/** Error codes (`<Error><Code>…`) whose meaning differs from their status. */
const CODES: Readonly<Record<string, ErrorClass>> = {
  InvalidAccessKeyId: 'auth_revoked',
  SignatureDoesNotMatch: 'auth_revoked',
  ExpiredToken: 'auth_revoked',
  InvalidToken: 'auth_revoked',
  SlowDown: 'rate_limited',
  RequestLimitExceeded: 'rate_limited',
  TooManyRequests: 'rate_limited',
  RequestTimeout: 'server',
  // Our clock differs from the store's, or the request took minutes to arrive.
  RequestTimeTooSkewed: 'server',
  // The object is archived: it must be restored first.
  InvalidObjectState: 'not_exportable',
  InvalidBucketName: 'not_found',
  KeyTooLongError: 'not_found',
};
/** An object with a customer-provided key (SSE-C), which the request lacks. This refusal has no code of its own. */
const CUSTOMER_PROVIDED_KEY = /<Code>InvalidRequest<\/Code>.*stored using a form of Server Side Encryption/s;

/** Returns the error code of a refusal; null without one. */
export const codeOf = ({ body }: Refusal): string | null =>
  (typeof body === 'string' ? /<Code>(\w{1,100})<\/Code>/.exec(body)?.[1] : undefined) ?? null;

export const classify = (refusal: Refusal): ErrorClass | null =>
  CODES[codeOf(refusal) ?? ''] ??
  (typeof refusal.body === 'string' && CUSTOMER_PROVIDED_KEY.test(refusal.body) ? 'not_exportable' : null);

/** Returns the region that a refusal redirects to; null for other refusals. */
export function regionIn(refusal: Refusal): string | null {
  const { status, headers, body } = refusal;
  const isRedirect = status === 301 || status === 307 || codeOf(refusal) === 'AuthorizationHeaderMalformed';
  if (!isRedirect) return null;
  const regionInBody = typeof body === 'string' ? /<Region>([^<]*)<\/Region>/.exec(body)?.[1] : undefined;
  const region = headers['x-amz-bucket-region'] ?? regionInBody ?? '';
  // The region becomes part of a host name.
  return /^[a-z]{2}[a-z0-9-]{1,40}$/.test(region) ? region : null;
}
