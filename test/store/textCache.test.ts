import { describe, expect, test } from '@jest/globals';

import { createTextCache } from '../../store/chunks/textCache.js';

const MINE = { organizationId: 1, userId: 2 };
const chunk = (fileId: number, text: string) => ({
  ...{ key: `${fileId}:1:0`, fileId, generation: 1, chunkIndex: 0 },
  ...{ text, tokens: 1, metadata: { page: 3 } },
});

describe('cache of texts of search results', () => {
  test('returns a text only to its owner', () => {
    const cache = createTextCache(10_000);
    cache.add(MINE, [chunk(7, 'half a pair \ud83d stays one')]);
    expect(cache.get(MINE, '7:1:0')).toEqual(chunk(7, 'half a pair \ud83d stays one'));
    expect(cache.get({ ...MINE, userId: 3 }, '7:1:0')).toBeUndefined();
    expect(cache.get({ ...MINE, organizationId: 3 }, '7:1:0')).toBeUndefined();
    expect(cache.get(MINE, '7:2:0')).toBeUndefined();
  });

  test('does not exceed its size, because it evicts the least recently used texts', () => {
    const cache = createTextCache(10_000);
    const chunks = Array.from({ length: 10 }, (_, index) => chunk(index, 'x'.repeat(1_000)));
    cache.add(MINE, chunks);
    expect(chunks.map(({ key }) => cache.get(MINE, key) !== undefined)).toEqual(chunks.map((_, index) => index >= 6));
  });

  test('with a size of zero stores nothing', () => {
    const cache = createTextCache(0);
    cache.add(MINE, [chunk(1, 'x')]);
    expect(cache.get(MINE, '1:1:0')).toBeUndefined();
  });
});
