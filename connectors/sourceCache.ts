import { LRUCache } from 'lru-cache';

import { atMost } from '../contract/cacheSize.js';

/** Limits of a source's cache. */
export interface SourceCacheLimits {
  /** Maximum number of values. Unset: 10,000. */
  readonly most?: number;
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
  set(key: string, fact: object | string): void;
  /** Returns a cached value; its lifetime is not extended. Otherwise finds and stores it. */
  getOrFind<Fact extends object | string>(key: string, find: () => Promise<Fact>): Promise<Fact>;
  delete(key: string): void;
}

export function createSourceCache({ most = 10_000, lifeMs = 600_000 }: SourceCacheLimits = {}): SourceCache {
  const facts = new LRUCache<string, object | string>({ ...atMost(most), ...(lifeMs === null ? {} : { ttl: lifeMs }) });
  return {
    get: (key) => facts.get(key),
    set: (key, fact) => void facts.set(key, fact),
    async getOrFind<Fact extends object | string>(key: string, find: () => Promise<Fact>) {
      const known = facts.get(key) as Fact | undefined;
      if (known !== undefined) return known;
      const found = await find();
      facts.set(key, found);
      return found;
    },
    delete: (key) => void facts.delete(key),
  };
}
