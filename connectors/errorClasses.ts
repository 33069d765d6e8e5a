import type { FaultKind } from '../contract/failures.js';

interface Row {
  readonly kind: FaultKind;
  /** What happened and what to do; it follows the name of the source. */
  readonly sentence: string;
}

/** Meanings of a refusal, independent of the source's format. Each connector maps its own errors to these. */
export const ERROR_CLASSES = {
  /** The grant or key is no longer valid: the user must connect again. */
  auth_revoked: {
    kind: 'access_revoked',
    sentence: 'no longer accepts the credentials of this connection. Connect the account again.',
  },
  /** The account may not read this item; it may read others. */
  forbidden_item: {
    kind: 'access_denied',
    sentence: 'does not let the connected account see this. Give it access there, then sync again.',
  },
  /** The item was deleted, or never existed. */
  not_found: { kind: 'not_found', sentence: 'has no such item for the connected account. It may have been deleted.' },
  /** The source cannot export the item in any readable format. */
  not_exportable: {
    kind: 'unsupported_type',
    sentence: 'cannot export this type of item in a readable format. Export it there, then upload the file.',
  },
  /** A cursor of the change feed has expired: the account is listed completely. */
  cursor_invalid: {
    kind: 'stale_cursor',
    sentence: 'no longer has the changes since the last sync. Everything is listed again.',
  },
  rate_limited: { kind: 'rate_limited', sentence: 'accepts no more requests of this account for now.' },
  server: {
    kind: 'server_error',
    sentence: 'failed. The request is retried automatically; if it keeps failing, see the status page of the source.',
  },
  /** Our request was invalid; the user of the account cannot correct that. */
  config: {
    kind: 'bad_response',
    sentence: 'rejected the request as invalid. Report this to the operator of this service.',
  },
  /** The source's API is not enabled for our OAuth client; only the operator can enable it. */
  api_disabled: {
    kind: 'not_configured',
    sentence: 'has not enabled its API for the OAuth client of this service. The operator must enable it there.',
  },
} as const satisfies Record<string, Row>;
export type ErrorClass = keyof typeof ERROR_CLASSES;

/** Returns the meaning of a status, if the source has no error code of its own. */
export function classOfStatus(status: number): ErrorClass {
  if (status === 401) return 'auth_revoked';
  if (status === 403 || status === 451) return 'forbidden_item';
  if (status === 404 || status === 410) return 'not_found';
  if (status === 429) return 'rate_limited';
  if (status >= 500 || status === 408) return 'server';
  return 'config';
}
