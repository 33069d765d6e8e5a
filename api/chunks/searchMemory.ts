import { LRUCache } from 'lru-cache';

import { atMost } from '../../contract/cacheSize.js';
import type { SearchMemory } from '../http/deps.js';

/** Limits of each set: number of entries, and milliseconds for which an entry stays in it. */
const SET_LIMITS = { ...atMost(10_000), ttl: 60_000 };

/**
 * Creates the memory that the searches of one API process share: which users have files in several embedding spaces,
 * and for which users a search found too many outdated hits. See SearchMemory.
 */
export const createSearchMemory = (): SearchMemory => ({
  inSeveralSpaces: new LRUCache<string, true>(SET_LIMITS),
  withOutdatedHits: new LRUCache<string, true>(SET_LIMITS),
});
