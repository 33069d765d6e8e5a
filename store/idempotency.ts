import type { Connection, Model } from 'mongoose';

import type { SealedSecret, Secrets } from './secrets/secrets.js';
import type { Session } from './database/sequence.js';
import { date, json, nullable, number, type RecordOf, required, schemaOf, text } from './database/record.js';

type InTransaction = NonNullable<Session>;

/** One use of an Idempotency-Key: its owner and its route. */
export interface KeyUse {
  readonly organizationId: number;
  /** Null for operations that act for the organization. */
  readonly userId: number | null;
  readonly route: string;
  readonly key: string;
}

const KEY = {
  organizationId: required(number),
  userId: nullable(number),
  route: required(text),
  key: required(text),
  /** Hash of the request. */
  fingerprint: required(text),
  /** The encrypted response. It is encrypted as a whole, because it may contain a secret that is shown only once. */
  answer: nullable(json<SealedSecret>()),
  expiresAt: required(date),
};

interface KeyDoc extends RecordOf<typeof KEY> {}

export interface Idempotency {
  /**
   * Returns fingerprint and response of an earlier request with the key; null if there was none in the last 24 hours.
   */
  find(use: KeyUse): Promise<{ fingerprint: string; answer: string } | null>;
  /**
   * Reserves the key, in the transaction that does the work. False if another request with the key is in progress or
   * just ended.
   */
  claim(use: KeyUse, fingerprint: string, session: InTransaction): Promise<boolean>;
  /** Stores the response, in the same transaction. */
  saveAnswer(use: KeyUse, answer: string, session: InTransaction): Promise<void>;
}

const LIFE_MS = 24 * 60 * 60 * 1000;

/** MongoDB's error codes if another request wrote the key: not committed yet (112), and committed (11000). */
const TAKEN_CODES: readonly unknown[] = [112, 11000];
const isTaken = (error: unknown): boolean =>
  typeof error === 'object' && error !== null && 'code' in error && TAKEN_CODES.includes(error.code);

const secretContext = ({ organizationId, userId, route, key }: KeyUse) => ({
  organizationId,
  record: `idempotency:${userId}:${route}:${key}`,
  field: 'answer',
});

export function createIdempotency(
  connection: Connection,
  secrets: Secrets,
): Idempotency & { createIndexes(): Promise<void> } {
  const keys = keyModel(connection);
  return {
    async find(use) {
      // MongoDB removes expired rows only once a minute.
      const row = await keys.findOne({ ...use, expiresAt: { $gt: new Date() } }).lean();
      return row?.answer
        ? { fingerprint: row.fingerprint, answer: secrets.open(secretContext(use), row.answer) }
        : null;
    },
    async claim(use, fingerprint, session) {
      const now = Date.now();
      const row: KeyDoc = { ...use, fingerprint, answer: null, expiresAt: new Date(now + LIFE_MS) };
      try {
        await keys.replaceOne({ ...use, expiresAt: { $lte: new Date(now) } }, row, { upsert: true, session });
        return true;
      } catch (error) {
        if (isTaken(error)) return false;
        throw error;
      }
    },
    async saveAnswer(use, answer, session) {
      await keys.updateOne(use, { $set: { answer: secrets.seal(secretContext(use), answer) } }, { session });
    },
    createIndexes: () => keys.createIndexes(),
  };
}

function keyModel(connection: Connection): Model<KeyDoc> {
  const schema = schemaOf<KeyDoc>(KEY);
  schema.index({ organizationId: 1, userId: 1, route: 1, key: 1 }, { unique: true });
  schema.index({ expiresAt: 1 }, { expireAfterSeconds: 0 });
  return connection.model<KeyDoc>('idempotencyKeys', schema, 'idempotencyKeys');
}
