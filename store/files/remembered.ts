import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { atMost } from '../../contract/cacheSize.js';
import type { Model } from 'mongoose';

import type { Tenant } from '../users/accept.js';
import type { UserDoc } from '../models/users.js';
import { ORDER_INDEXES } from '../models/fileIndexes.js';
import type { FileDoc } from '../models/files.js';

/** A user whose files changed less long ago may have a change under way, stamped by a clock that is a little behind. */
const REST_MS = 60_000;
/** What is summed faster is summed each time: to look whether anything has changed costs two reads. */
const COSTLY_MS = 10;

/** Sums over all of a user's files, computed once for as long as the files stay as they are. */
export interface Remembered<T extends object | number> {
  /** @param what tells this sum from others of the same user */
  of(tenant: Tenant, what: unknown, compute: () => Promise<T>): Promise<T>;
}

/** Remembers sums of users at rest. */
export type Remember = <T extends object | number>(most: number) => Remembered<T>;

/**
 * A hundred thousand files are summed in tens of milliseconds, and a reader who turns pages asks for the same sum each
 * time. Every change that a list can show moves the file's updatedAt, and every removal is counted on its user: while
 * neither has moved since a sum was computed, it is still the sum. Nothing is remembered of users whose files have
 * just changed.
 */
export const rememberWhileUnchanged =
  (files: Model<FileDoc>, users: Model<UserDoc>): Remember =>
  <T extends object | number>(most: number) => {
    const sums = new LRUCache<string, { readonly state: string | null; readonly sum: T }>({ ...atMost(most) });
    /** What moves with every change; null while files are changing, and without files. */
    const stateOf = async ({ organizationId, userId }: Tenant): Promise<string | null> => {
      const [last, user] = await Promise.all([
        files
          .findOne({ organizationId, userId }, { updatedAt: 1 })
          .sort({ updatedAt: -1, _id: -1 })
          .hint(ORDER_INDEXES.updated_at)
          .lean(),
        users.findOne({ _id: userId, organizationId }, { filesRemoved: 1 }).lean(),
      ]);
      if (!last || Date.now() - last.updatedAt.getTime() < REST_MS) return null;
      return `${last.updatedAt.getTime()}:${last._id}:${user?.filesRemoved ?? 0}`;
    };
    return {
      async of({ organizationId, userId }, what, compute) {
        const tenant = { organizationId, userId };
        const name = createHash('sha256')
          .update(JSON.stringify([organizationId, userId, what]))
          .digest('base64');
        const known = sums.get(name);
        // Remembered from the second time on.
        if (!known) {
          const begun = performance.now();
          const sum = (await compute()) as T;
          if (performance.now() - begun >= COSTLY_MS) sums.set(name, { state: null, sum });
          return sum;
        }
        const state = await stateOf(tenant);
        if (state === null) return compute();
        if (known.state === state) return known.sum;
        const sum = (await compute()) as T;
        // What changed while it was summed may be in it or not.
        if ((await stateOf(tenant)) === state) sums.set(name, { state, sum });
        return sum;
      },
    };
  };
