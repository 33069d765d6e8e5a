import { randomUUID } from 'node:crypto';
import type { Model } from 'mongoose';

import type { GrantStore, OAuthClient, StoredGrant } from '../../contract/accounts/oauth.js';
import type { Secrets } from '../secrets/secrets.js';
import { openCredentials, sealCredentials } from './credentials.js';
import type { DataSourceDoc } from '../models/dataSources.js';

/** Stores the OAuth grants of data sources. */
export interface Grants {
  /** @param ownClient returns the organization's own client for the source; null if it has none */
  grantStoreOf(
    source: Pick<DataSourceDoc, '_id' | 'organizationId'>,
    ownClient: () => Promise<OAuthClient | null>,
  ): GrantStore;
}

/**
 * The ciphertext of a grant is also its version, because each encryption gives another ciphertext. A claim
 * reserves the refresh of a grant for one process. It is written before the provider is called, and expires if that
 * process crashes.
 */
export function createGrants(dataSources: Model<DataSourceDoc>, secrets: Secrets): Grants {
  return {
    grantStoreOf({ _id, organizationId }, ownClient) {
      const key = { _id, organizationId };
      return {
        ownClient,
        async read() {
          const row = await dataSources.findOne(key).lean();
          const opened = row && openCredentials(secrets, row);
          if (!row || opened === null || row.sealedCredentials === null) return null;
          return { grant: JSON.parse(opened) as StoredGrant, version: row.sealedCredentials };
        },
        async claim(version, lifeMs) {
          const now = new Date();
          const id = randomUUID();
          const claimed = await dataSources.updateOne(
            {
              ...key,
              sealedCredentials: version,
              $or: [{ refreshClaim: null }, { 'refreshClaim.until': { $lte: now } }],
            },
            { $set: { refreshClaim: { id, until: new Date(now.getTime() + lifeMs) } } },
          );
          return claimed.modifiedCount === 1 ? id : null;
        },
        async save(claim, version, grant) {
          const sealed = sealCredentials(secrets, key, JSON.stringify(grant));
          const saved = await dataSources.updateOne(
            { ...key, sealedCredentials: version, 'refreshClaim.id': claim },
            { $set: { sealedCredentials: sealed, refreshClaim: null } },
          );
          return saved.modifiedCount === 1 ? sealed : null;
        },
        async release(claim) {
          await dataSources.updateOne({ ...key, 'refreshClaim.id': claim }, { $set: { refreshClaim: null } });
        },
      };
    },
  };
}
