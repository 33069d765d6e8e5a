import { createHash, randomBytes } from 'node:crypto';

import type { Sequence } from '../database/sequence.js';
import type { OrganizationModels } from '../models/organizations.js';

/** Returns the stored form of a key. */
export const hashOf = (key: string): string => createHash('sha256').update(key).digest('hex');

/** The organization to which the key in the setting API_KEY is added. */
const FIRST_ORGANIZATION = 1;

/** Creates an API key: 24 random bytes, with a prefix that people and secret scanners recognize. */
export function newApiKey(): string {
  return `alk_${randomBytes(24).toString('base64url')}`;
}

export interface Organizations {
  /** Returns the organization that owns the key; null for an unknown or revoked one. */
  organizationOfKey(key: string): Promise<number | null>;
  /** Creates an organization and its first key. The key is shown only here. */
  create(name: string): Promise<{ organizationId: number; apiKey: string }>;
  /**
   * Ensures that organization 1 exists, and adds `key` to its keys unless the key is already stored: a revoked key stays
   * revoked. Safe to run at every start.
   */
  ensureFirst(key: string): Promise<void>;
}

export function createOrganizations(models: OrganizationModels, sequence: Sequence): Organizations {
  const addKey = async (organizationId: number, key: string): Promise<void> => {
    const _id = await sequence.next('apiKey');
    const newKey = { _id, organizationId, prefix: key.slice(0, 8), createdAt: new Date(), revokedAt: null };
    await models.apiKeys.updateOne({ hash: hashOf(key) }, { $setOnInsert: newKey }, { upsert: true });
  };
  return {
    async organizationOfKey(key) {
      const row = await models.apiKeys.findOne({ hash: hashOf(key), revokedAt: null }).lean();
      return row?.organizationId ?? null;
    },
    async create(name) {
      await sequence.reserve('organization', FIRST_ORGANIZATION);
      const organizationId = await sequence.next('organization');
      await models.organizations.create({ _id: organizationId, name, createdAt: new Date() });
      const apiKey = newApiKey();
      await addKey(organizationId, apiKey);
      return { organizationId, apiKey };
    },
    async ensureFirst(key) {
      await sequence.reserve('organization', FIRST_ORGANIZATION);
      await models.organizations.updateOne(
        { _id: FIRST_ORGANIZATION },
        { $setOnInsert: { name: 'default', createdAt: new Date() } },
        { upsert: true },
      );
      const owner = await models.apiKeys.findOne({ hash: hashOf(key) }).lean();
      if (owner === null) await addKey(FIRST_ORGANIZATION, key);
    },
  };
}
