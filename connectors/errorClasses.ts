import type { FaultKind } from '../contract/failures.js';

interface Row {
  readonly kind: FaultKind;
  /** What happened and what to do; the name of the source goes before it. */
  readonly sentence: string;
}

/** What an answer of a source means for us, whatever its wire says: each connector maps its own shapes to these. */
export const ERROR_CLASSES = {
  /** The connection is over: its user must connect again. */
  auth_revoked: {
    kind: 'access_revoked',
    sentence: 'no longer takes the credentials of this connection. Connect the account again.',
  },
  /** This one item is not for us; others may be. */
  forbidden_item: {
    kind: 'access_denied',
    sentence: 'does not let the connected account see this. Give it access there, then sync again.',
  },
  /** It was deleted, or never was. */
  not_found: { kind: 'not_found', sentence: 'has no such item for the connected account. It may have been deleted.' },
  /** There is nothing of it that could be had as a file. */
  not_exportable: {
    kind: 'unsupported_type',
    sentence: 'gives this kind of thing out in no form that can be read. Export it there, then upload the file.',
  },
  /** A point of its change feed is too old: what the account holds is listed whole. */
  cursor_invalid: {
    kind: 'stale_cursor',
    sentence: 'no longer has the changes since the last sync. Everything is listed again.',
  },
  rate_limited: { kind: 'rate_limited', sentence: 'takes no more requests of this account for now.' },
  server: {
    kind: 'server_error',
    sentence: 'failed. It is tried again by itself; if it stays, look at its status page.',
  },
  /** Our request was wrong: nothing that the user of the account can mend. */
  config: {
    kind: 'bad_response',
    sentence: 'did not understand the request. Tell the operator of this service.',
  },
} as const satisfies Record<string, Row>;
export type ErrorClass = keyof typeof ERROR_CLASSES;

/** What a status means where the source has no words of its own for it. */
export function classOfStatus(status: number): ErrorClass {
  if (status === 401) return 'auth_revoked';
  if (status === 403 || status === 451) return 'forbidden_item';
  if (status === 404 || status === 410) return 'not_found';
  if (status === 429) return 'rate_limited';
  if (status >= 500 || status === 408) return 'server';
  return 'config';
}
