import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { atMost } from '../../contract/cacheSize.js';
import type { Model } from 'mongoose';

import type { Tenant } from '../users/accept.js';
import type { UserDoc } from '../models/users.js';
import { ORDER_INDEXES } from '../models/fileIndexes.js';
import type { FileDoc } from '../models/files.js';

/**
 * Time without changes before sums of a user are cached, in milliseconds. If the clock of a process is slow, its change
 * may get an earlier updatedAt than the last change, and the cache would not detect it.
 */
const UNCHANGED_MS = 60_000;
/**
 * Time in milliseconds below which a sum is computed each time instead of being cached: checking for changes costs two
 * reads.
 */
const COSTLY_MS = 10;

/** Sums over all files of a user, cached while the files do not change. */
export interface SumCache<T extends object | number> {
  /** @param what distinguishes this sum from others of the same user */
  get(tenant: Tenant, what: unknown, compute: () => Promise<T>): Promise<T>;
}

/** Creates a cache of at most `maxSums` sums. */
export type CreateSumCache = <T extends object | number>(maxSums: number) => SumCache<T>;

/**
 * Caches sums over a user's files. Summing a hundred thousand files takes tens of milliseconds, and every page of a
 * list requests the same sum. Every visible change of a file sets its updatedAt, and every removal is counted on the
 * user, so a cached sum is valid while neither has changed. Sums of users whose files have just changed are not cached.
 */
export const createSumCaches =
  (files: Model<FileDoc>, users: Model<UserDoc>): CreateSumCache =>
  <T extends object | number>(maxSums: number) => {
    const sums = new LRUCache<string, { readonly state: string | null; readonly sum: T }>({ ...atMost(maxSums) });
    /** Returns a value that differs after every change; null while files are changing, and without files. */
    const stateOf = async ({ organizationId, userId }: Tenant): Promise<string | null> => {
      const [last, user] = await Promise.all([
        files
          .findOne({ organizationId, userId }, { updatedAt: 1 })
          .sort({ updatedAt: -1, _id: -1 })
          .hint(ORDER_INDEXES.updated_at)
          .lean(),
        users.findOne({ _id: userId, organizationId }, { filesRemoved: 1 }).lean(),
      ]);
      if (!last || Date.now() - last.updatedAt.getTime() < UNCHANGED_MS) return null;
      return `${last.updatedAt.getTime()}:${last._id}:${user?.filesRemoved ?? 0}`;
    };
    return {
      async get({ organizationId, userId }, what, compute) {
        const tenant = { organizationId, userId };
        const name = createHash('sha256')
          .update(JSON.stringify([organizationId, userId, what]))
          .digest('base64');
        const cached = sums.get(name);
        // The first request only records that the sum is costly; the second one caches it.
        if (!cached) {
          const begun = performance.now();
          const sum = (await compute()) as T;
          if (performance.now() - begun >= COSTLY_MS) sums.set(name, { state: null, sum });
          return sum;
        }
        const state = await stateOf(tenant);
        if (state === null) return compute();
        if (cached.state === state) return cached.sum;
        const sum = (await compute()) as T;
        // A change during the computation may or may not be included, so the sum is not cached.
        if ((await stateOf(tenant)) === state) sums.set(name, { state, sum });
        return sum;
      },
    };
  };
