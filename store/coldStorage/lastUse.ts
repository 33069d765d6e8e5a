import type { Model } from 'mongoose';

import { hotMs } from '../../contract/files/coldStorage.js';
import type { FileDoc } from '../models/files.js';
import type { Tenant } from '../users/accept.js';

/** How exactly the last use is known: a file is written at most so often. */
const COARSE_MS = 3_600_000;
/** Uses wait this long for company. */
const WAIT_MS = 2_000;
/** Files whose use waits at most: past that, uses of a burst are not noted until the next. */
const MAX_WAITING = 10_000;

type UsedFile = Pick<FileDoc, '_id' | 'organizationId' | 'userId' | 'supportsColdStorage' | 'lastUsedAt'>;

/**
 * When files were used last: only of those that cold storage concerns, to the hour, and behind the caller's back, so that
 * a search never waits for it. A process that dies loses the uses of its last seconds.
 */
export interface LastUse {
  /** A search has answered something of these. Returns at once. */
  note(files: readonly UsedFile[]): void;
  /** Writes down what was noted. */
  flush(): Promise<void>;
}

/** The files of each tenant, as conditions. */
function byTenant(used: readonly (readonly [number, Tenant])[]) {
  const ids = new Map<string, Tenant & { _id: { $in: number[] } }>();
  for (const [id, tenant] of used) {
    const key = `${tenant.organizationId}:${tenant.userId}`;
    const known = ids.get(key) ?? { ...tenant, _id: { $in: [] } };
    known._id.$in.push(id);
    ids.set(key, known);
  }
  return [...ids.values()];
}

export function createLastUse(files: Model<FileDoc>): LastUse {
  const waiting = new Map<number, Tenant>();
  let timer: NodeJS.Timeout | null = null;
  const flush = async (): Promise<void> => {
    if (timer) clearTimeout(timer);
    timer = null;
    const used = [...waiting];
    waiting.clear();
    if (used.length === 0) return;
    const now = new Date();
    const notSince = new Date(now.getTime() - COARSE_MS);
    const rows = await files
      .find(
        { $or: byTenant(used), supportsColdStorage: true },
        { organizationId: 1, userId: 1, hotStorageTimeToLive: 1, lastUsedAt: 1 },
      )
      .lean();
    const changes = rows.flatMap(({ _id, organizationId, userId, hotStorageTimeToLive, lastUsedAt }) => {
      if (lastUsedAt && lastUsedAt > notSince) return [];
      // The days in the filter: a concurrent change of the days recalculates the due time itself.
      const filter = { _id, organizationId, userId, supportsColdStorage: true, hotStorageTimeToLive };
      const coolsAt = new Date(now.getTime() + hotMs(hotStorageTimeToLive));
      return [{ updateOne: { filter, update: { $set: { lastUsedAt: now, coolsAt } } } }];
    });
    if (changes.length > 0) await files.bulkWrite(changes, { ordered: false });
  };
  return {
    note(used) {
      const notSince = Date.now() - COARSE_MS;
      for (const { _id, organizationId, userId, supportsColdStorage, lastUsedAt } of used) {
        if (!supportsColdStorage || (lastUsedAt && lastUsedAt.getTime() > notSince)) continue;
        if (waiting.size < MAX_WAITING) waiting.set(_id, { organizationId, userId });
      }
      if (waiting.size === 0 || timer) return;
      // A use that can't be written is noted at the next one.
      timer = setTimeout(() => void flush().catch(() => undefined), WAIT_MS);
      timer.unref();
    },
    flush,
  };
}
