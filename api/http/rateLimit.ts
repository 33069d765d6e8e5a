import { LRUCache } from 'lru-cache';

import { HttpError } from './errors.js';
import type { KeyCaller, UserCaller } from './operation.js';

/** Requests a minute; 0 is no limit. */
export interface RateLimits {
  readonly perUser: number;
  readonly perOrganization: number;
}

interface Bucket {
  tokens: number;
  filledAt: number;
}

/** Buckets kept; the one that rested longest goes first, and would be nearly full by then. */
const MAX_BUCKETS = 100_000;
const MINUTE_MS = 60_000;

/**
 * Counts requests in buckets that fill evenly: a caller may spend a minute's worth at once. Each API process counts for
 * itself.
 * @returns lets a caller's request through, or throws HttpError 429 with the seconds to wait
 */
export function createRateLimiter(
  { perUser, perOrganization }: RateLimits,
  now: () => number = Date.now,
): (caller: UserCaller | KeyCaller | null) => void {
  const buckets = new LRUCache<string, Bucket>({ max: MAX_BUCKETS });
  const filled = (name: string, limit: number): Bucket => {
    const known = buckets.get(name) ?? { tokens: limit, filledAt: now() };
    const tokens = Math.min(limit, known.tokens + ((now() - known.filledAt) / MINUTE_MS) * limit);
    const bucket = { tokens, filledAt: now() };
    buckets.set(name, bucket);
    return bucket;
  };
  return (caller) => {
    if (caller === null) return;
    const organization = { limit: perOrganization, name: `o${caller.organizationId}` };
    const user = 'userId' in caller ? [{ limit: perUser, name: `u${caller.userId}` }] : [];
    const asked = [organization, ...user]
      .filter(({ limit }) => limit > 0)
      .map(({ limit, name }) => ({ limit, bucket: filled(name, limit) }));
    // A request that is refused by one bucket takes nothing from another.
    for (const { limit, bucket } of asked) {
      if (bucket.tokens >= 1) continue;
      const seconds = Math.ceil(((1 - bucket.tokens) / limit) * (MINUTE_MS / 1000));
      throw new HttpError(429, `More than ${limit} requests a minute. Try again in ${seconds} s.`, seconds);
    }
    for (const { bucket } of asked) bucket.tokens -= 1;
  };
}
