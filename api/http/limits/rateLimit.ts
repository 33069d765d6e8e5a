import { LRUCache } from 'lru-cache';

import { atMost } from '../../../contract/cacheSize.js';
import { HttpError } from '../errors.js';

/** Requests per minute; 0 means unlimited. */
export interface RateLimits {
  readonly perUser: number;
  readonly perOrganization: number;
}

/** The caller: an organization's key, or one of its end users. */
interface RequestCaller {
  readonly organizationId: number;
  readonly userId?: number;
}

interface Bucket {
  tokens: number;
  filledAt: number;
}

/** Maximum number of buckets. The least recently used bucket is dropped first, since it has refilled the longest. */
const MAX_BUCKETS = 100_000;
const MINUTE_MS = 60_000;

/**
 * Creates token buckets that refill continuously, up to the limit of a minute. `rate-limiter-flexible` is not used: it
 * counts in fixed windows.
 * @returns a function that returns the bucket of a name, refilled up to now
 */
function createBuckets(now: () => number) {
  const buckets = new LRUCache<string, Bucket>({ ...atMost(MAX_BUCKETS) });
  const filled = (name: string, limit: number): Bucket => {
    const stored = buckets.get(name) ?? { tokens: limit, filledAt: now() };
    const tokens = Math.min(limit, stored.tokens + ((now() - stored.filledAt) / MINUTE_MS) * limit);
    const bucket = { tokens, filledAt: now() };
    buckets.set(name, bucket);
    return bucket;
  };
  return filled;
}

const refused = (limit: number, { tokens }: Bucket): HttpError => {
  const seconds = Math.ceil(((1 - tokens) / limit) * (MINUTE_MS / 1000));
  return new HttpError(429, `More than ${limit} requests a minute. Try again in ${seconds} s.`, seconds);
};

/** Limits requests by name, for callers without an account. Each API process counts separately. */
export interface NameLimiter {
  /** Accepts a request, or throws HttpError 429 with the seconds to wait. */
  admit(name: string): void;
  /** Refunds an accepted request. */
  refund(name: string): void;
}

/** @param limit requests per minute */
export function createNameLimiter(limit: number, now: () => number = Date.now): NameLimiter {
  const filled = createBuckets(now);
  return {
    admit(name) {
      const bucket = filled(name, limit);
      if (bucket.tokens < 1) throw refused(limit, bucket);
      bucket.tokens -= 1;
    },
    refund(name) {
      filled(name, limit).tokens += 1;
    },
  };
}

/**
 * Limits requests per caller. Each API process counts separately.
 * @returns a function that accepts a caller's request, or throws HttpError 429 with the seconds to wait
 */
export function createRateLimiter(
  { perUser, perOrganization }: RateLimits,
  now: () => number = Date.now,
): (caller: RequestCaller | null) => void {
  const filled = createBuckets(now);
  return (caller) => {
    if (caller === null) return;
    const organization = { limit: perOrganization, name: `o${caller.organizationId}` };
    const user = 'userId' in caller ? [{ limit: perUser, name: `u${caller.userId}` }] : [];
    const checked = [organization, ...user]
      .filter(({ limit }) => limit > 0)
      .map(({ limit, name }) => ({ limit, bucket: filled(name, limit) }));
    // A request rejected by one bucket takes nothing from another.
    for (const { limit, bucket } of checked) {
      if (bucket.tokens < 1) throw refused(limit, bucket);
    }
    for (const { bucket } of checked) bucket.tokens -= 1;
  };
}
