import type { Model } from 'mongoose';

import { hotMs } from '../../contract/files/coldStorage.js';
import type { FileDoc } from '../models/files.js';
import type { Tenant } from '../users/accept.js';

/** Precision of the last use, in milliseconds. A file's record is updated at most once in this time. */
const PRECISION_MS = 3_600_000;
/** Time for which uses are collected before one write, in milliseconds. */
const WAIT_MS = 2_000;
/** Maximum number of collected files. Uses of further files are lost until the next write. */
const MAX_COLLECTED = 10_000;

type UsedFile = Pick<FileDoc, '_id' | 'organizationId' | 'userId' | 'supportsColdStorage' | 'lastUsedAt'>;

/**
 * Records when files were last used, with a precision of one hour, and only for files that cold storage may move.
 * Writes happen in the background, so a search never waits for them. A crash loses the uses of the last seconds.
 */
export interface LastUse {
  /** Records that a search returned chunks of these files. Returns at once. */
  record(files: readonly UsedFile[]): void;
  /** Writes the collected uses. */
  flush(): Promise<void>;
}

/** Returns one filter per tenant with the ids of its files. */
function byTenant(used: readonly (readonly [number, Tenant])[]) {
  const ids = new Map<string, Tenant & { _id: { $in: number[] } }>();
  for (const [id, tenant] of used) {
    const key = `${tenant.organizationId}:${tenant.userId}`;
    const filter = ids.get(key) ?? { ...tenant, _id: { $in: [] } };
    filter._id.$in.push(id);
    ids.set(key, filter);
  }
  return [...ids.values()];
}

export function createLastUse(files: Model<FileDoc>): LastUse {
  const collected = new Map<number, Tenant>();
  let timer: NodeJS.Timeout | null = null;
  const flush = async (): Promise<void> => {
    if (timer) clearTimeout(timer);
    timer = null;
    const used = [...collected];
    collected.clear();
    if (used.length === 0) return;
    const now = new Date();
    const threshold = new Date(now.getTime() - PRECISION_MS);
    const rows = await files
      .find(
        { $or: byTenant(used), supportsColdStorage: true },
        { organizationId: 1, userId: 1, hotStorageTimeToLive: 1, lastUsedAt: 1 },
      )
      .lean();
    const changes = rows.flatMap(({ _id, organizationId, userId, hotStorageTimeToLive, lastUsedAt }) => {
      if (lastUsedAt && lastUsedAt > threshold) return [];
      // The filter contains hotStorageTimeToLive: a request that changes it meanwhile also sets coolsAt, and this
      // update then does not apply.
      const filter = { _id, organizationId, userId, supportsColdStorage: true, hotStorageTimeToLive };
      const coolsAt = new Date(now.getTime() + hotMs(hotStorageTimeToLive));
      return [{ updateOne: { filter, update: { $set: { lastUsedAt: now, coolsAt } } } }];
    });
    if (changes.length > 0) await files.bulkWrite(changes, { ordered: false });
  };
  return {
    record(used) {
      const threshold = Date.now() - PRECISION_MS;
      for (const { _id, organizationId, userId, supportsColdStorage, lastUsedAt } of used) {
        if (!supportsColdStorage || (lastUsedAt && lastUsedAt.getTime() > threshold)) continue;
        if (collected.size < MAX_COLLECTED) collected.set(_id, { organizationId, userId });
      }
      if (collected.size === 0 || timer) return;
      // A failed write is not repeated: the next use of the file is recorded instead.
      timer = setTimeout(() => void flush().catch(() => undefined), WAIT_MS);
      timer.unref();
    },
    flush,
  };
}
