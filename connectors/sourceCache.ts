import { LRUCache } from 'lru-cache';

import { atMost } from '../contract/cacheSize.js';

/** Limits of a source's cache. */
export interface SourceCacheLimits {
  /** Maximum number of facts. Unset: 10,000. */
  readonly most?: number;
  /** Life of a fact in milliseconds; null: without end. Unset: ten minutes. */
  readonly lifeMs?: number | null;
}

/**
 * Facts of a source that its calls need again and again, cached for all its accounts in one process. The connector
 * chooses the keys: facts that only some tokens may read have a hash of the token in their key.
 */
export interface SourceCache {
  /** Returns the fact with a key, which has the type it was stored with; undefined if it is not cached. */
  get(key: string): unknown;
  set(key: string, fact: object | string): void;
  /** Returns a cached fact; its life is not extended. Otherwise finds and stores it. */
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
