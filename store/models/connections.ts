import type { Connection, Model } from 'mongoose';

import { ATTEMPT_STATES, type ConnectionOptions, type ConnectionActions } from '../../contract/accounts/oauth.js';
import type { OAuthSource } from '../../contract/accounts/whiteLabel.js';
import type { SealedSecret } from '../secrets/secrets.js';
import {
  byDefault,
  date,
  flag,
  json,
  list,
  nullable,
  number,
  oneOf,
  optional,
  type RecordOf,
  required,
  schemaOf,
  text,
  textOf,
} from '../database/record.js';

const ATTEMPT = {
  /** Id of the run of the attempt. */
  _id: number,
  organizationId: required(number),
  userId: required(number),
  customerId: required(text),
  service: required(textOf<OAuthSource>()),
  /**
   * Hash of the random state that the provider returns. Absent without a consent: the account is already connected, and
   * the user only continues on the page.
   */
  stateHash: optional(text),
  state: required(oneOf(ATTEMPT_STATES)),
  clientId: byDefault(text, ''),
  redirectUri: byDefault(text, ''),
  facts: required(json<Record<string, string>>()),
  options: required(json<ConnectionOptions>()),
  /** What happens after the account is connected. */
  actions: required(json<ConnectionActions>()),
  /** PKCE verifier, and the client's secret if the client belongs to this connection only. */
  sealed: nullable(json<SealedSecret>()),
  /** The encrypted authorization code with which the user returned. */
  sealedCode: nullable(json<SealedSecret>()),
  sealedGrant: nullable(json<SealedSecret>()),
  /** Whether the workflow of the attempt was notified of the user's return. */
  isAcknowledged: byDefault(flag, false),
  /** The data source that is reconnected; null for a new account. A refusal by the user is recorded at this source. */
  knownSourceId: nullable(number),
  dataSourceId: nullable(number),
  /** Runs that were accepted with the data source. */
  runIds: list(number),
  /** Cause of a failure, shown to the user. */
  message: nullable(text),
  /** Hash of the random name of the page on which the user continues; absent before the page exists. */
  pageHash: optional(text),
  pageExpiresAt: nullable(date),
  /** Time until which the user may return. */
  expiresAt: required(date),
  createdAt: required(date),
  updatedAt: required(date),
};

/**
 * An attempt to connect an account with the user's consent, from the creation of the authorization URL until the data
 * source is stored. The secrets are encrypted.
 */
export interface AttemptDoc extends RecordOf<typeof ATTEMPT> {}

const attempt = schemaOf<AttemptDoc>(ATTEMPT, { keepEmpty: true });
// Used by `findByState` and `findByPage`.
attempt.index({ stateHash: 1 }, { unique: true, partialFilterExpression: { stateHash: { $type: 'string' } } });
attempt.index({ pageHash: 1 }, { unique: true, partialFilterExpression: { pageHash: { $type: 'string' } } });
// Query of the sweeper, once per second: attempts whose workflow may have missed the user's return.
attempt.index(
  { state: 1, updatedAt: 1 },
  { partialFilterExpression: { isAcknowledged: false }, name: 'unacknowledged' },
);
// Used by `removeAll`.
attempt.index({ organizationId: 1, userId: 1 });
// MongoDB deletes the row a week after the last change: the maximum of CONSENT_LIFE_S and CONNECT_PAGE_LIFE_S.
attempt.index({ updatedAt: 1 }, { expireAfterSeconds: 7 * 24 * 3_600, name: 'forgotten' });

export function attemptModel(connection: Connection): Model<AttemptDoc> {
  return connection.model<AttemptDoc>('connectionAttempts', attempt, 'connection_attempts');
}
