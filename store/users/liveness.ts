import { LRUCache } from 'lru-cache';

import { atMost } from '../../contract/cacheSize.js';

/** A user whom another process has just deleted may read what is left of its own for so long. */
const KNOWN_MS = 1_000;
/** Longer than a deletion that is under way can take to be seen by all. */
const DELETING_MS = 10_000;
const MAX_KNOWN = 100_000;

/** Whose data a call reads, as store/users/accept.ts has it. */
interface Tenant {
  readonly organizationId: number;
  readonly userId: number;
}

/** Users who were found to live a moment ago, so that a caller who asks again and again costs one look a second. */
export interface Liveness {
  /** @param look whether the user lives, by its record */
  isLive(tenant: Tenant, look: () => Promise<boolean>): Promise<boolean>;
  /** These are being deleted: in this process that is known as soon as it is so. */
  forget(tenants: readonly Tenant[]): void;
}

/** For reads only: writes check the user's record themselves. Only positive results are cached. */
export function createLiveness(knownMs = KNOWN_MS): Liveness {
  const live = new LRUCache<string, true>({ ...atMost(MAX_KNOWN), ttl: knownMs });
  /** Whose deletion has begun: a look may see them alive until it is committed. */
  const deleting = new LRUCache<string, true>({ ...atMost(MAX_KNOWN), ttl: DELETING_MS });
  const nameOf = ({ organizationId, userId }: Tenant): string => `${organizationId}:${userId}`;
  return {
    async isLive(tenant, look) {
      const name = nameOf(tenant);
      if (live.has(name)) return true;
      const found = await look();
      if (found && !deleting.has(name)) live.set(name, true);
      return found;
    },
    forget(tenants) {
      for (const tenant of tenants) {
        deleting.set(nameOf(tenant), true);
        live.delete(nameOf(tenant));
      }
    },
  };
}
