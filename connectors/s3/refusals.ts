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
};

/** Returns the error code of a refusal; null without one. */
export const codeOf = ({ body }: Refusal): string | null =>
  (typeof body === 'string' ? /<Code>(\w{1,100})<\/Code>/.exec(body)?.[1] : undefined) ?? null;

export const classify = (refusal: Refusal): ErrorClass | null => CODES[codeOf(refusal) ?? ''] ?? null;

/** Returns the region that a refusal redirects to; null for other refusals. */
export function regionIn(refusal: Refusal): string | null {
  const { status, headers, body } = refusal;
  const hasUnsearched = status === 301 || status === 307 || codeOf(refusal) === 'AuthorizationHeaderMalformed';
  if (!hasUnsearched) return null;
  const named = typeof body === 'string' ? /<Region>([^<]*)<\/Region>/.exec(body)?.[1] : undefined;
  const region = headers['x-amz-bucket-region'] ?? named ?? '';
  // The region becomes part of a host name.
  return /^[a-z]{2}[a-z0-9-]{1,40}$/.test(region) ? region : null;
}
