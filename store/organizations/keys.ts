import type { Atomically } from '../events/events.js';
import type { Sequence, Session } from '../database/sequence.js';
import { hashOf, newApiKey } from './accept.js';
import type { ApiKeyDoc, OrganizationModels } from '../models/organizations.js';

export interface MadeKey {
  readonly id: number;
  readonly organizationId: number;
  /** The key. It is shown only once, because only its hash is stored. */
  readonly apiKey: string;
}

export type KeyRow = Pick<ApiKeyDoc, 'organizationId' | 'prefix' | 'createdAt' | 'revokedAt'> & { readonly id: number };

/** API keys, for operators. */
export interface ApiKeys {
  /** Creates a key; null if the organization does not exist. */
  create(organizationId: number): Promise<MadeKey | null>;
  /** @param organizationId null: keys of all organizations */
  list(organizationId: number | null): Promise<KeyRow[]>;
  /** Returns the id of a valid key; null for an unknown or revoked key. */
  idOf(key: string): Promise<number | null>;
  /** Returns which of the keys are valid. */
  validAmong(ids: readonly number[]): Promise<number[]>;
  /** Revokes a key and creates a new one, both or neither. Null if the key is not valid. */
  rotate(id: number): Promise<MadeKey | null>;
  /** @param evenLast whether the last valid key of an organization may be revoked */
  revoke(id: number, evenLast: boolean): Promise<'revoked' | 'unknown' | 'last'>;
}

export function createApiKeys(
  { apiKeys, organizations }: OrganizationModels,
  sequence: Sequence,
  atomically: Atomically,
): ApiKeys {
  const add = async (id: number, organizationId: number, session: Session): Promise<MadeKey> => {
    const apiKey = newApiKey();
    const row = { _id: id, organizationId, prefix: apiKey.slice(0, 8), hash: hashOf(apiKey) };
    await apiKeys.create([{ ...row, createdAt: new Date(), revokedAt: null }], { session });
    return { id, organizationId, apiKey };
  };
  const end = (id: number, session: Session) =>
    apiKeys.findOneAndUpdate({ _id: id, revokedAt: null }, { $set: { revokedAt: new Date() } }, { session }).lean();
  return {
    async create(organizationId) {
      if ((await organizations.exists({ _id: organizationId })) === null) return null;
      return add(await sequence.next('apiKey'), organizationId, null);
    },
    async list(organizationId) {
      const rows = await apiKeys
        .find(organizationId === null ? {} : { organizationId })
        .sort({ organizationId: 1, _id: 1 })
        .lean();
      return rows.map(({ _id: id, organizationId: owner, prefix, createdAt, revokedAt }) => ({
        ...{ id, organizationId: owner, prefix, createdAt, revokedAt },
      }));
    },
    async idOf(key) {
      return (await apiKeys.findOne({ hash: hashOf(key), revokedAt: null }, { _id: 1 }).lean())?._id ?? null;
    },
    async validAmong(ids) {
      const rows = await apiKeys.find({ _id: { $in: [...ids] }, revokedAt: null }, { _id: 1 }).lean();
      return rows.map(({ _id }) => _id);
    },
    async rotate(id) {
      const next = await sequence.next('apiKey');
      return atomically(async (session) => {
        const ended = await end(id, session);
        return ended && add(next, ended.organizationId, session);
      });
    },
    revoke: (id, evenLast) =>
      atomically(async (session) => {
        const ended = await end(id, session);
        if (!ended) return 'unknown';
        const { organizationId } = ended;
        // Concurrent revocations conflict in this row: MongoDB repeats the later one, which then no longer counts the
        // key that the other one revoked.
        await organizations.updateOne({ _id: organizationId }, { $currentDate: { updatedAt: true } }, { session });
        if (evenLast || (await apiKeys.countDocuments({ organizationId, revokedAt: null }, { session })) > 0)
          return 'revoked';
        await apiKeys.updateOne({ _id: id }, { $set: { revokedAt: null } }, { session });
        return 'last';
      }),
  };
}
