import { LRUCache } from 'lru-cache';

import { atMost } from '../../contract/cacheSize.js';
import type { Tenant } from '../users/accept.js';

/**
 * Minimum number of files that a run may queue even if the queue is full, so that no run waits for the end of another
 * run.
 */
const MIN_QUEUED = 200;
/** Time in milliseconds for which a count is reused while the queue is far from full. */
const COUNT_LIFE_MS = 1_000;
const USERS_CACHED = 10_000;

/**
 * Counts files that wait for their sync: of a user or of one run; all, or uploads only. Counts at maxQueued up to the
 * limit.
 */
export type CountQueued = (
  owner: { readonly organizationId: number; readonly userId: number } | { readonly runId: number },
  limit: number,
  onlySent?: boolean,
) => Promise<number>;

/** Limits the queue of each user, so that large runs do not delay small ones. */
export interface FileQueue {
  /**
   * Returns how many of the wanted files of a run may be queued now; the others are DELAYED until the queue has room.
   * While less than half of the queue is in use, the user's files are counted at maxQueued once per second.
   */
  freeSlots(tenant: Tenant, runId: number, wanted: number): Promise<number>;
  /**
   * Returns how many files that are uploaded one by one may be queued now. Each of them is a run of its own, so all
   * uploads of a user share one minimum.
   */
  freeUploadSlots(tenant: Tenant, wanted: number): Promise<number>;
}

/** @param maxQueued maximum number of queued files per user; 0: no limit */
export function createFileQueue(count: CountQueued, maxQueued: number): FileQueue {
  if (maxQueued === 0) {
    return {
      freeSlots: (_tenant, _runId, wanted) => Promise.resolve(wanted),
      freeUploadSlots: (_tenant, wanted) => Promise.resolve(wanted),
    };
  }
  const minQueued = Math.max(1, Math.min(MIN_QUEUED, Math.floor(maxQueued / 10)));
  const recentCounts = new LRUCache<number, number>({ ...atMost(USERS_CACHED), ttl: COUNT_LIFE_MS });
  /** @param countOwn counts, up to a limit, the queued files that share one minimum */
  const roomOf = async (
    { organizationId, userId }: Tenant,
    wanted: number,
    countOwn: (limit: number) => Promise<number>,
  ): Promise<number> => {
    const known = recentCounts.get(userId);
    if (known !== undefined && known + wanted <= maxQueued / 2) {
      recentCounts.set(userId, known + wanted, { noUpdateTTL: true });
      return wanted;
    }
    const queued = await count({ organizationId, userId }, maxQueued);
    let room = maxQueued - queued;
    if (room < wanted) room = Math.max(room, minQueued - (await countOwn(minQueued)));
    const granted = Math.min(wanted, room);
    recentCounts.set(userId, queued + granted);
    return granted;
  };
  return {
    freeSlots: (tenant, runId, wanted) => roomOf(tenant, wanted, (limit) => count({ runId }, limit)),
    freeUploadSlots: ({ organizationId, userId }, wanted) =>
      roomOf({ organizationId, userId }, wanted, (limit) => count({ organizationId, userId }, limit, true)),
  };
}
