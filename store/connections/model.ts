import { type Connection, type Model, Schema } from 'mongoose';

import {
  ATTEMPT_STATES,
  type AttemptState,
  type ConnectionOptions,
  type ConnectionWishes,
} from '../../contract/oauth.js';
import type { OAuthSource } from '../../contract/whiteLabel.js';
import type { SealedSecret } from '../secrets.js';

/** A connection by consent, from the address that was given out to the data source. Its secrets are sealed. */
export interface AttemptDoc {
  /** That of its run. */
  _id: number;
  organizationId: number;
  userId: number;
  customerId: string;
  service: OAuthSource;
  /** Of the random state that the provider hands back; null for one that begins connected. */
  stateHash?: string;
  state: AttemptState;
  clientId: string;
  redirectUri: string;
  facts: Record<string, string>;
  options: ConnectionOptions;
  wishes: ConnectionWishes;
  /** PKCE verifier, and the client's secret where it is this connection's own. */
  sealed: SealedSecret | null;
  /** What the person came back with. */
  sealedCode: SealedSecret | null;
  sealedGrant: SealedSecret | null;
  /** Whether its workflow has seen that the person is back. */
  isHeard: boolean;
  /** The record that a refusal is told of: one that is to be connected anew. */
  knownSourceId: number | null;
  dataSourceId: number | null;
  /** Runs that were accepted with the data source. */
  runIds: number[];
  /** Why it failed, for the person. */
  message: string | null;
  /** Of the random name of the page that goes on from here; absent before there is one. */
  pageHash?: string;
  pageExpiresAt: Date | null;
  /** Until then the person may come back. */
  expiresAt: Date;
  createdAt: Date;
  updatedAt: Date;
}

const nullable = <T>(type: T) => ({ type, default: null });
const mixed = { type: Schema.Types.Mixed, required: true } as const;

const attempt: Schema<AttemptDoc> = new Schema<AttemptDoc>(
  {
    _id: Number,
    organizationId: { type: Number, required: true },
    userId: { type: Number, required: true },
    customerId: { type: String, required: true },
    service: { type: String, required: true },
    stateHash: String,
    state: { type: String, enum: ATTEMPT_STATES, required: true },
    clientId: { type: String, default: '' },
    redirectUri: { type: String, default: '' },
    facts: mixed,
    options: mixed,
    wishes: mixed,
    sealed: nullable(Schema.Types.Mixed),
    sealedCode: nullable(Schema.Types.Mixed),
    sealedGrant: nullable(Schema.Types.Mixed),
    isHeard: { type: Boolean, default: false },
    knownSourceId: nullable(Number),
    dataSourceId: nullable(Number),
    runIds: { type: [Number], default: () => [] },
    message: nullable(String),
    pageHash: String,
    pageExpiresAt: nullable(Date),
    expiresAt: { type: Date, required: true },
    createdAt: { type: Date, required: true },
    updatedAt: { type: Date, required: true },
  },
  { versionKey: false, minimize: false },
);
// byState, byPage.
attempt.index({ stateHash: 1 }, { unique: true, partialFilterExpression: { stateHash: { $type: 'string' } } });
attempt.index({ pageHash: 1 }, { unique: true, partialFilterExpression: { pageHash: { $type: 'string' } } });
// What the sweep asks for each second: those whose workflow may not know that their person is back.
attempt.index({ state: 1, updatedAt: 1 }, { partialFilterExpression: { isHeard: false }, name: 'unheard' });
// removeAll.
attempt.index({ organizationId: 1, userId: 1 });
/** Looked at by nobody any more: a week after the last change. */
attempt.index({ updatedAt: 1 }, { expireAfterSeconds: 7 * 24 * 3_600, name: 'forgotten' });

export function attemptModel(connection: Connection): Model<AttemptDoc> {
  return connection.model<AttemptDoc>('connectionAttempts', attempt, 'connection_attempts');
}
