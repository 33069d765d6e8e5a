import { expect, jest, test } from '@jest/globals';

import { createSourceCache } from '../../connectors/sourceCache.js';
import { waitFor } from '../support/waitFor.js';

test('requests a value once, and returns it to later calls until it is deleted', async () => {
  const cache = createSourceCache();
  const find = jest.fn(() => Promise.resolve('us-east-1'));
  expect([await cache.getOrFind('bucket', find), await cache.getOrFind('bucket', find)]).toEqual([
    'us-east-1',
    'us-east-1',
  ]);
  expect(find).toHaveBeenCalledTimes(1);
  cache.delete('bucket');
  await cache.getOrFind('bucket', find);
  expect(find).toHaveBeenCalledTimes(2);
});

test('caches an empty string, but no failure', async () => {
  const cache = createSourceCache();
  const find = jest.fn<() => Promise<string>>().mockRejectedValueOnce(new Error('away')).mockResolvedValue('');
  await expect(cache.getOrFind('name', find)).rejects.toThrow('away');
  expect([await cache.getOrFind('name', find), await cache.getOrFind('name', find)]).toEqual(['', '']);
  expect(find).toHaveBeenCalledTimes(2);
});

test('removes the least recently used value above its limit, and shares no value with another cache', () => {
  const [cache, other] = [createSourceCache({ maxEntries: 2 }), createSourceCache({ maxEntries: 2 })];
  for (const key of ['a', 'b']) cache.set(key, key);
  expect(cache.get('a')).toBe('a');
  cache.set('c', 'c');
  expect(['a', 'b', 'c'].map((key) => cache.get(key))).toEqual(['a', undefined, 'c']);
  expect(other.get('c')).toBeUndefined();
});

test('removes a value after its lifetime, but never without a lifetime', async () => {
  const [short, unlimited] = [createSourceCache({ lifeMs: 20 }), createSourceCache({ lifeMs: null })];
  for (const cache of [short, unlimited]) cache.set('a', 'a');
  await waitFor(
    () => short.get('a'),
    (value) => value === undefined,
  );
  expect(unlimited.get('a')).toBe('a');
});
