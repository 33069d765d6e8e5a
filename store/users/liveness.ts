import { LRUCache } from 'lru-cache';

import { atMost } from '../../contract/cacheSize.js';

/**
 * Lifetime of a positive result in milliseconds. For this time, a user that another process deleted can still read its
 * remaining data.
 */
const LIVE_MS = 1_000;
/** Time in milliseconds for which a deletion blocks caching: longer than its transaction can take to commit. */
const DELETING_MS = 10_000;
const MAX_USERS = 100_000;

/** The owner of the data that a call reads, as in store/users/accept.ts. */
interface Tenant {
  readonly organizationId: number;
  readonly userId: number;
}

/** Cache of existing users, so that frequent requests of a user cost one query per second. */
export interface Liveness {
  /** @param read reads from the user's record whether the user exists */
  isLive(tenant: Tenant, read: () => Promise<boolean>): Promise<boolean>;
  /** Stops caching users whose deletion has started: this process rejects their requests once it is committed. */
  invalidate(tenants: readonly Tenant[]): void;
}

/** For reads only: writes check the user's record themselves. Only positive results are cached. */
export function createLiveness(liveMs = LIVE_MS): Liveness {
  const live = new LRUCache<string, true>({ ...atMost(MAX_USERS), ttl: liveMs });
  /** Users whose deletion has started: a query may find them until the deletion is committed. */
  const deleting = new LRUCache<string, true>({ ...atMost(MAX_USERS), ttl: DELETING_MS });
  const cacheKey = ({ organizationId, userId }: Tenant): string => `${organizationId}:${userId}`;
  return {
    async isLive(tenant, read) {
      const key = cacheKey(tenant);
      if (live.has(key)) return true;
      const found = await read();
      if (found && !deleting.has(key)) live.set(key, true);
      return found;
    },
    invalidate(tenants) {
      for (const tenant of tenants) {
        deleting.set(cacheKey(tenant), true);
        live.delete(cacheKey(tenant));
      }
    },
  };
}
