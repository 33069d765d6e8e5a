import { createHash, randomBytes } from 'node:crypto';
import type { Model } from 'mongoose';

import {
  type AttemptState,
  OPEN_ATTEMPT_STATES,
  type RequestToken,
  type StoredGrant,
} from '../../contract/accounts/oauth.js';
import type { SealedSecret, SecretContext, Secrets } from '../secrets/secrets.js';
import type { Session } from '../database/sequence.js';
import type { Tenant } from '../users/accept.js';
import type { AttemptDoc } from '../models/connections.js';

/** Secrets of an attempt that are stored when it begins. */
export interface AttemptSecrets {
  readonly verifier: string;
  /** Null unless the attempt uses an OAuth client of its own. */
  readonly clientSecret: string | null;
  /** OAuth 1.0a only. */
  readonly requestToken?: RequestToken | null;
}

/** Fields of a new attempt. */
export type NewAttempt = Pick<
  AttemptDoc,
  | '_id'
  | 'organizationId'
  | 'userId'
  | 'customerId'
  | 'service'
  | 'clientId'
  | 'redirectUri'
  | 'facts'
  | 'options'
  | 'actions'
  | 'knownSourceId'
  | 'expiresAt'
>;

/** Further changes of an attempt, in addition to its state. */
export type AttemptChange = Partial<Pick<AttemptDoc, 'message' | 'dataSourceId' | 'runIds'>>;

/**
 * Attempts to connect an account, which need the user's consent at the provider. Each change of state is a
 * compare-and-set, so it is safe to repeat.
 */
export interface Attempts {
  /** Returns a random `state` parameter, which the provider returns to the callback. */
  newState(): string;
  /** Inserts an attempt that waits for the user's consent. @param state only its hash is stored */
  begin(attempt: NewAttempt, state: string, secrets: AttemptSecrets, session: Session): Promise<void>;
  /**
   * Inserts an attempt for an account that is already connected, and creates the page on which the user selects or
   * syncs items of the account.
   * @returns the name of the page in its URL
   */
  beginConnected(attempt: NewAttempt & { dataSourceId: number }, session: Session): Promise<string>;
  find(id: number): Promise<AttemptDoc | null>;
  findByState(state: string): Promise<AttemptDoc | null>;
  /** Returns the attempt of a page; null if the page has expired or does not exist. */
  findByPage(name: string): Promise<AttemptDoc | null>;
  secretsOf(attempt: AttemptDoc): AttemptSecrets;
  codeOf(attempt: AttemptDoc): string | null;
  grantOf(attempt: AttemptDoc): StoredGrant | null;
  /**
   * Records that the user returned, with a code or null after a refusal. False if this is already recorded or the
   * attempt has expired.
   */
  recordReturn(id: number, code: string | null, session?: Session): Promise<boolean>;
  /** Returns attempts whose user returned before a time and whose workflow has not acknowledged it. */
  listUnacknowledged(before: Date, limit: number): Promise<AttemptDoc[]>;
  acknowledge(id: number): Promise<void>;
  /** Stores the tokens. False if the attempt has ended meanwhile. */
  saveGrant(id: number, grant: StoredGrant): Promise<boolean>;
  /** Changes the state. False if the attempt is in none of the states `from`. */
  changeState(
    id: number,
    from: readonly AttemptState[],
    to: AttemptState,
    change?: AttemptChange,
    session?: Session,
  ): Promise<boolean>;
  /**
   * Creates the name of the page on which the user selects items after the consent, valid until a time; null if the
   * attempt already has one.
   */
  createPage(id: number, until: Date): Promise<string | null>;
  removeAll(tenant: Tenant): Promise<void>;
}

const hashOf = (text: string): string => createHash('sha256').update(text).digest('base64url');
const newName = (): string => randomBytes(32).toString('base64url');
const secretContext = (
  { _id, organizationId }: Pick<AttemptDoc, '_id' | 'organizationId'>,
  field: string,
): SecretContext => ({
  organizationId,
  record: `connection_attempt:${_id}`,
  field,
});

export function createAttempts(attempts: Model<AttemptDoc>, secrets: Secrets): Attempts {
  const insert = async (
    row: Omit<
      AttemptDoc,
      'createdAt' | 'updatedAt' | 'sealedCode' | 'sealedGrant' | 'isAcknowledged' | 'runIds' | 'message'
    >,
    session: Session,
  ) => {
    const now = new Date();
    await attempts.create([{ ...row, createdAt: now, updatedAt: now }], { session });
  };
  const open = (attempt: AttemptDoc, field: string, sealed: SealedSecret | null): string | null =>
    sealed === null ? null : secrets.open(secretContext(attempt, field), sealed);
  /** Removes the secrets of an ended attempt. */
  const clearedSecrets = { sealed: null, sealedCode: null, sealedGrant: null };
  const isOpen = (state: AttemptState): boolean => (OPEN_ATTEMPT_STATES as readonly string[]).includes(state);

  return {
    newState: newName,
    async begin(attempt, state, attemptSecrets, session) {
      const sealed = secrets.seal(secretContext(attempt, 'secrets'), JSON.stringify(attemptSecrets));
      const row = { ...attempt, state: 'waiting', stateHash: hashOf(state), sealed } as const;
      await insert({ ...row, dataSourceId: null, pageExpiresAt: null }, session);
    },
    async beginConnected(attempt, session) {
      const name = newName();
      const page = { pageHash: hashOf(name), pageExpiresAt: attempt.expiresAt };
      await insert({ ...attempt, ...page, state: 'connected', sealed: null }, session);
      return name;
    },
    find: (id) => attempts.findById(id).lean().exec(),
    findByState: (state) =>
      attempts
        .findOne({ stateHash: hashOf(state) })
        .lean()
        .exec(),
    findByPage: (name) =>
      attempts
        .findOne({ pageHash: hashOf(name), pageExpiresAt: { $gt: new Date() } })
        .lean()
        .exec(),
    secretsOf(attempt) {
      const opened = open(attempt, 'secrets', attempt.sealed);
      return opened === null ? { verifier: '', clientSecret: null } : (JSON.parse(opened) as AttemptSecrets);
    },
    codeOf: (attempt) => open(attempt, 'code', attempt.sealedCode),
    grantOf(attempt) {
      const opened = open(attempt, 'grant', attempt.sealedGrant);
      return opened === null ? null : (JSON.parse(opened) as StoredGrant);
    },
    async recordReturn(id, code, session = null) {
      const attempt = await attempts.findById(id).session(session).lean();
      if (!attempt) return false;
      const now = new Date();
      const sealedCode = code === null ? null : secrets.seal(secretContext(attempt, 'code'), code);
      const updated = await attempts
        .updateOne(
          { _id: id, state: 'waiting', expiresAt: { $gt: now } },
          {
            $set: {
              ...(code === null ? clearedSecrets : {}),
              state: code === null ? 'denied' : 'returned',
              sealedCode,
              updatedAt: now,
            },
          },
        )
        .session(session);
      return updated.modifiedCount === 1;
    },
    listUnacknowledged: (before, limit) =>
      attempts
        .find({ state: { $in: ['returned', 'denied'] }, isAcknowledged: false, updatedAt: { $lt: before } })
        .limit(limit)
        .lean()
        .exec(),
    async acknowledge(id) {
      await attempts.updateOne({ _id: id }, { $set: { isAcknowledged: true } });
    },
    async saveGrant(id, grant) {
      const attempt = await attempts.findById(id).lean();
      if (!attempt) return false;
      const sealedGrant = secrets.seal(secretContext(attempt, 'grant'), JSON.stringify(grant));
      const updated = await attempts.updateOne(
        { _id: id, state: 'exchanging' },
        { $set: { state: 'granted', sealedGrant, sealed: null, sealedCode: null, updatedAt: new Date() } },
      );
      return updated.modifiedCount === 1;
    },
    async changeState(id, from, to, change = {}, session = null) {
      const updated = await attempts
        .updateOne(
          { _id: id, state: { $in: from } },
          { $set: { ...change, ...(isOpen(to) ? {} : clearedSecrets), state: to, updatedAt: new Date() } },
        )
        .session(session);
      return updated.modifiedCount === 1;
    },
    async createPage(id, until) {
      const name = newName();
      const page = { pageHash: hashOf(name), pageExpiresAt: until };
      const { modifiedCount } = await attempts.updateOne({ _id: id, pageHash: { $exists: false } }, { $set: page });
      return modifiedCount === 1 ? name : null;
    },
    async removeAll({ organizationId, userId }) {
      await attempts.deleteMany({ organizationId, userId });
    },
  };
}
