import { LRUCache } from 'lru-cache';

import type { Tenant } from '../users/accept.js';
import type { StoredChunk } from '../models/chunks.js';

/** Bytes of a chunk in addition to its text; metadata counts as text. */
const AROUND_BYTES = 400;

/**
 * Cache of recently found chunks, as stored. A published generation is never written again, and
 * ids are never reused: a reader that has checked the file's current generation may take the text from here.
 */
export interface TextCache {
  get(tenant: Tenant, key: string): StoredChunk | undefined;
  add(tenant: Tenant, chunks: readonly StoredChunk[]): void;
}

const bytesOf = ({ text, metadata }: StoredChunk): number =>
  AROUND_BYTES + 2 * (text.length + JSON.stringify(metadata).length);

/** The same text on its own: a part of a string keeps all of that in memory. */
const alone = (text: string): string => JSON.parse(JSON.stringify(text)) as string;

/** @param maxBytes of all chunks together; 0: none is kept */
export function createTextCache(maxBytes: number): TextCache {
  if (maxBytes === 0) return { get: () => undefined, add: () => undefined };
  const chunks = new LRUCache<string, StoredChunk>({ maxSize: maxBytes, sizeCalculation: bytesOf });
  const nameOf = ({ organizationId, userId }: Tenant, key: string): string => `${organizationId}:${userId}:${key}`;
  return {
    get: (tenant, key) => chunks.get(nameOf(tenant, key)),
    add(tenant, found) {
      for (const chunk of found) {
        const name = nameOf(tenant, chunk.key);
        if (!chunks.has(name)) chunks.set(name, { ...chunk, text: alone(chunk.text) });
      }
    },
  };
}
