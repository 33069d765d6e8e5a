import { LRUCache } from 'lru-cache';

import { atMost } from '../../contract/cacheSize.js';
import { HttpError } from './errors.js';

/** Requests a minute; 0 is no limit. */
export interface RateLimits {
  readonly perUser: number;
  readonly perOrganization: number;
}

/** Who asks: an organization's key, or one of its end users. */
interface RequestCaller {
  readonly organizationId: number;
  readonly userId?: number;
}

interface Bucket {
  tokens: number;
  filledAt: number;
}

/** Buckets kept; the one that rested longest goes first, and would be nearly full by then. */
const MAX_BUCKETS = 100_000;
const MINUTE_MS = 60_000;

/**
 * Buckets that fill evenly: a minute's worth may be spent at once. Not `rate-limiter-flexible`: it counts in fixed windows.
 */
function createBuckets(now: () => number) {
  const buckets = new LRUCache<string, Bucket>({ ...atMost(MAX_BUCKETS) });
  const filled = (name: string, limit: number): Bucket => {
    const known = buckets.get(name) ?? { tokens: limit, filledAt: now() };
    const tokens = Math.min(limit, known.tokens + ((now() - known.filledAt) / MINUTE_MS) * limit);
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

/** Counts what somebody does who is known by no more than a name. Each API process counts for itself. */
export interface NameLimiter {
  /** Lets it through, or throws HttpError 429 with the seconds to wait. */
  admit(name: string): void;
  /** What was let through counts for nothing. */
  forgive(name: string): void;
}

/** @param limit a minute */
export function createNameLimiter(limit: number, now: () => number = Date.now): NameLimiter {
  const filled = createBuckets(now);
  return {
    admit(name) {
      const bucket = filled(name, limit);
      if (bucket.tokens < 1) throw refused(limit, bucket);
      bucket.tokens -= 1;
    },
    forgive(name) {
      filled(name, limit).tokens += 1;
    },
  };
}

/**
 * Counts requests of callers. Each API process counts for itself.
 * @returns lets a caller's request through, or throws HttpError 429 with the seconds to wait
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
    const asked = [organization, ...user]
      .filter(({ limit }) => limit > 0)
      .map(({ limit, name }) => ({ limit, bucket: filled(name, limit) }));
    // A request that is refused by one bucket takes nothing from another.
    for (const { limit, bucket } of asked) {
      if (bucket.tokens < 1) throw refused(limit, bucket);
    }
    for (const { bucket } of asked) bucket.tokens -= 1;
  };
}
