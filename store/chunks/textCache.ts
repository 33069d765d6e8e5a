import { LRUCache } from 'lru-cache';

import type { Tenant } from '../users/accept.js';
import type { StoredChunk } from '../models/chunks.js';

/** Approximate size of a cached chunk without its text, in bytes. Metadata counts as text. */
const OVERHEAD_BYTES = 400;

/**
 * Cache of recently read chunks. A published generation never changes and ids are never reused, so a reader that has
 * checked the file's current generation may use the cached text.
 */
export interface TextCache {
  get(tenant: Tenant, key: string): StoredChunk | undefined;
  add(tenant: Tenant, chunks: readonly StoredChunk[]): void;
}

const bytesOf = ({ text, metadata }: StoredChunk): number =>
  OVERHEAD_BYTES + 2 * (text.length + JSON.stringify(metadata).length);

/** Returns a copy of a text. A substring would keep the whole original string in memory. */
const copyOf = (text: string): string => JSON.parse(JSON.stringify(text)) as string;

/** @param maxBytes maximum size of all chunks together; 0 disables the cache */
export function createTextCache(maxBytes: number): TextCache {
  if (maxBytes === 0) return { get: () => undefined, add: () => undefined };
  const chunks = new LRUCache<string, StoredChunk>({ maxSize: maxBytes, sizeCalculation: bytesOf });
  const cacheKey = ({ organizationId, userId }: Tenant, key: string): string => `${organizationId}:${userId}:${key}`;
  return {
    get: (tenant, key) => chunks.get(cacheKey(tenant, key)),
    add(tenant, found) {
      for (const chunk of found) {
        const cachedUnder = cacheKey(tenant, chunk.key);
        if (!chunks.has(cachedUnder)) chunks.set(cachedUnder, { ...chunk, text: copyOf(chunk.text) });
      }
    },
  };
}
