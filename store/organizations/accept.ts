import { createHash, randomBytes } from 'node:crypto';

import type { Sequence } from '../sequence.js';
import type { OrganizationModels } from './model.js';

const hashOf = (key: string): string => createHash('sha256').update(key).digest('hex');

/** A new API key: 24 random bytes, with a prefix that tells people and scanners what it is. */
export function newApiKey(): string {
  return `alk_${randomBytes(24).toString('base64url')}`;
}

export interface Organizations {
  /** The organization that owns the key; null for an unknown or revoked one. */
  organizationOfKey(key: string): Promise<number | null>;
  /** Makes an organization and its first key, which is never shown again. */
  create(name: string): Promise<{ organizationId: number; apiKey: string }>;
  /** Makes sure that organization 1 exists and that `key` is one of its keys. Safe to run at every start. */
  ensureFirst(key: string): Promise<void>;
}

export function createOrganizations(models: OrganizationModels, sequence: Sequence): Organizations {
  const addKey = async (organizationId: number, key: string): Promise<void> => {
    const _id = await sequence.take('apiKey');
    const fresh = { _id, organizationId, prefix: key.slice(0, 8), createdAt: new Date(), revokedAt: null };
    await models.apiKeys.updateOne({ hash: hashOf(key) }, { $setOnInsert: fresh }, { upsert: true });
  };
  return {
    async organizationOfKey(key) {
      const row = await models.apiKeys.findOne({ hash: hashOf(key), revokedAt: null }).lean();
      return row?.organizationId ?? null;
    },
    async create(name) {
      const organizationId = await sequence.take('organization');
      await models.organizations.create({ _id: organizationId, name, createdAt: new Date() });
      const apiKey = newApiKey();
      await addKey(organizationId, apiKey);
      return { organizationId, apiKey };
    },
    async ensureFirst(key) {
      const known = await models.organizations.exists({ _id: 1 });
      if (!known) {
        const first = await sequence.take('organization');
        // Two processes may start at once: the one that did not get number 1 waits for nothing, the other makes it.
        if (first === 1) await models.organizations.create({ _id: 1, name: 'default', createdAt: new Date() });
      }
      const owner = await models.apiKeys.findOne({ hash: hashOf(key) }).lean();
      if (owner === null) await addKey(1, key);
    },
  };
}
