import { expect, test } from '@jest/globals';
import { LRUCache } from 'lru-cache';

import { atMost } from '../../contract/cacheSize.js';

test('a cache holds so many entries, and the one that rested longest goes first', () => {
  const cache = new LRUCache<string, number>({ ...atMost(3) });
  for (const [value, name] of ['a', 'b', 'c'].entries()) cache.set(name, value);
  cache.get('a');
  cache.set('d', 3);
  expect([...cache.keys()].toSorted()).toEqual(['a', 'c', 'd']);
});

test('no room is reserved before there are entries', () => {
  const count = 20;
  const before = process.memoryUsage().heapUsed;
  const caches = Array.from({ length: count }, () => new LRUCache<string, true>({ ...atMost(100_000), ttl: 1_000 }));
  // Reserved it would be 4 MB each.
  expect((process.memoryUsage().heapUsed - before) / count).toBeLessThan(1e6);
  expect(caches).toHaveLength(count);
});
