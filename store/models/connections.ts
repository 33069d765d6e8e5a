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
  /** That of its run. */
  _id: number,
  organizationId: required(number),
  userId: required(number),
  customerId: required(text),
  service: required(textOf<OAuthSource>()),
  /** Of the random state that the provider hands back; null for one that begins connected. */
  stateHash: optional(text),
  state: required(oneOf(ATTEMPT_STATES)),
  clientId: byDefault(text, ''),
  redirectUri: byDefault(text, ''),
  facts: required(json<Record<string, string>>()),
  options: required(json<ConnectionOptions>()),
  /** The requested actions, under the name of the field in stored data of 0.2.0. */
  wishes: required(json<ConnectionActions>()),
  /** PKCE verifier, and the client's secret where it is this connection's own. */
  sealed: nullable(json<SealedSecret>()),
  /** What the person came back with. */
  sealedCode: nullable(json<SealedSecret>()),
  sealedGrant: nullable(json<SealedSecret>()),
  /** Whether its workflow has seen that the person is back. */
  isAcknowledged: byDefault(flag, false),
  /** The data source that is to be reconnected: a refusal is reported for it. */
  knownSourceId: nullable(number),
  dataSourceId: nullable(number),
  /** Runs that were accepted with the data source. */
  runIds: list(number),
  /** Why it failed, for the person. */
  message: nullable(text),
  /** Hash of the random name of the page that continues from here; absent before there is one. */
  pageHash: optional(text),
  pageExpiresAt: nullable(date),
  /** Until then the person may come back. */
  expiresAt: required(date),
  createdAt: required(date),
  updatedAt: required(date),
};

/** A connection by consent, from the address that was given out to the data source. Its secrets are sealed. */
export interface AttemptDoc extends RecordOf<typeof ATTEMPT> {}

const attempt = schemaOf<AttemptDoc>(ATTEMPT, { keepEmpty: true });
// byState, byPage.
attempt.index({ stateHash: 1 }, { unique: true, partialFilterExpression: { stateHash: { $type: 'string' } } });
attempt.index({ pageHash: 1 }, { unique: true, partialFilterExpression: { pageHash: { $type: 'string' } } });
// What the sweep asks for each second: those whose workflow may not know that their person is back.
attempt.index(
  { state: 1, updatedAt: 1 },
  { partialFilterExpression: { isAcknowledged: false }, name: 'unacknowledged' },
);
// removeAll.
attempt.index({ organizationId: 1, userId: 1 });
/** Deleted a week after the last change. */
attempt.index({ updatedAt: 1 }, { expireAfterSeconds: 7 * 24 * 3_600, name: 'forgotten' });

export function attemptModel(connection: Connection): Model<AttemptDoc> {
  return connection.model<AttemptDoc>('connectionAttempts', attempt, 'connection_attempts');
}
