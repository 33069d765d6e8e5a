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
 * Counts the files of a user or of one run that wait for their sync, or only the uploads among them. Returns at most
 * `limit`.
 */
export type CountQueued = (
  owner: { readonly organizationId: number; readonly userId: number } | { readonly runId: number },
  limit: number,
  onlyUploads?: boolean,
) => Promise<number>;

/** Limits the queue of each user, so that large runs do not delay small ones. */
export interface FileQueue {
  /**
   * Returns how many of the requested number of files of a run may be queued now; the caller marks the others DELAYED.
   * While less than half of the queue is in use, the user's files are counted at most once per second.
   */
  freeSlots(tenant: Tenant, runId: number, requested: number): Promise<number>;
  /**
   * Returns how many files that are uploaded one by one may be queued now. Each upload is a separate run, so all uploads
   * of a user share one minimum.
   */
  freeUploadSlots(tenant: Tenant, requested: number): Promise<number>;
}

/** @param maxQueued maximum number of queued files per user; 0: no limit */
export function createFileQueue(count: CountQueued, maxQueued: number): FileQueue {
  if (maxQueued === 0) {
    return {
      freeSlots: (_tenant, _runId, requested) => Promise.resolve(requested),
      freeUploadSlots: (_tenant, requested) => Promise.resolve(requested),
    };
  }
  const minQueued = Math.max(1, Math.min(MIN_QUEUED, Math.floor(maxQueued / 10)));
  const recentCounts = new LRUCache<number, number>({ ...atMost(USERS_CACHED), ttl: COUNT_LIFE_MS });
  /** @param countOwn counts, up to a limit, the queued files that share one minimum */
  const roomOf = async (
    { organizationId, userId }: Tenant,
    requested: number,
    countOwn: (limit: number) => Promise<number>,
  ): Promise<number> => {
    const recentCount = recentCounts.get(userId);
    if (recentCount !== undefined && recentCount + requested <= maxQueued / 2) {
      recentCounts.set(userId, recentCount + requested, { noUpdateTTL: true });
      return requested;
    }
    const queued = await count({ organizationId, userId }, maxQueued);
    let room = maxQueued - queued;
    if (room < requested) room = Math.max(room, minQueued - (await countOwn(minQueued)));
    const granted = Math.min(requested, room);
    recentCounts.set(userId, queued + granted);
    return granted;
  };
  return {
    freeSlots: (tenant, runId, requested) => roomOf(tenant, requested, (limit) => count({ runId }, limit)),
    freeUploadSlots: ({ organizationId, userId }, requested) =>
      roomOf({ organizationId, userId }, requested, (limit) => count({ organizationId, userId }, limit, true)),
  };
}
