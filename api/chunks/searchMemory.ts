import { LRUCache } from 'lru-cache';

import { atMost } from '../../contract/cacheSize.js';
import type { SearchMemory } from '../http/deps.js';

/** Number of users per observation, and milliseconds for which it is kept. */
const OBSERVED = { ...atMost(10_000), ttl: 60_000 };

/** Creates the memory that the searches of one API process share. */
export const createSearchMemory = (): SearchMemory => ({
  scattered: new LRUCache<string, true>(OBSERVED),
  replacing: new LRUCache<string, true>(OBSERVED),
});
