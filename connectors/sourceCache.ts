import { LRUCache } from 'lru-cache';

import { atMost } from '../contract/cacheSize.js';

/** Limits of a source's cache. */
export interface SourceCacheLimits {
  /** Maximum number of values. Unset: 10,000. */
  readonly maxEntries?: number;
  /** Lifetime of a value in milliseconds; null: unlimited. Unset: ten minutes. */
  readonly lifeMs?: number | null;
}

/**
 * Values of a source that its calls need repeatedly, cached for all its accounts in one process. The connector chooses
 * the keys: for values that only some tokens may read, the key contains a hash of the token.
 */
export interface SourceCache {
  /** Returns the value with a key, which has the type it was stored with; undefined if it is not cached. */
  get(key: string): unknown;
  set(key: string, value: object | string): void;
  /** Returns a cached value; its lifetime is not extended. Otherwise finds and stores it. */
  getOrFind<Value extends object | string>(key: string, find: () => Promise<Value>): Promise<Value>;
  delete(key: string): void;
}

export function createSourceCache({ maxEntries = 10_000, lifeMs = 600_000 }: SourceCacheLimits = {}): SourceCache {
  const entries = new LRUCache<string, object | string>({
    ...atMost(maxEntries),
    ...(lifeMs === null ? {} : { ttl: lifeMs }),
  });
  return {
    get: (key) => entries.get(key),
    set: (key, value) => void entries.set(key, value),
    async getOrFind<Value extends object | string>(key: string, find: () => Promise<Value>) {
      const cached = entries.get(key) as Value | undefined;
      if (cached !== undefined) return cached;
      const found = await find();
      entries.set(key, found);
      return found;
    },
    delete: (key) => void entries.delete(key),
  };
}
