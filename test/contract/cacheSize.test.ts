import { expect, test } from '@jest/globals';
import { LRUCache } from 'lru-cache';

import { atMost } from '../../contract/cacheSize.js';

test('limits a cache to the number of entries, and evicts the least recently used first', () => {
  const cache = new LRUCache<string, number>({ ...atMost(3) });
  for (const [value, name] of ['a', 'b', 'c'].entries()) cache.set(name, value);
  cache.get('a');
  cache.set('d', 3);
  expect([...cache.keys()].toSorted()).toEqual(['a', 'c', 'd']);
});

test('reserves no memory for entries in advance', () => {
  const count = 20;
  const before = process.memoryUsage().heapUsed;
  const caches = Array.from({ length: count }, () => new LRUCache<string, true>({ ...atMost(100_000), ttl: 1_000 }));
  // With reserved memory, each cache would take 4 MB.
  expect((process.memoryUsage().heapUsed - before) / count).toBeLessThan(1e6);
  expect(caches).toHaveLength(count);
});
