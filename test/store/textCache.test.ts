import { describe, expect, test } from '@jest/globals';

import { createTextCache } from '../../store/chunks/textCache.js';

const MINE = { organizationId: 1, userId: 2 };
const chunk = (fileId: number, text: string) => ({
  ...{ key: `${fileId}:1:0`, fileId, generation: 1, chunkIndex: 0 },
  ...{ text, tokens: 1, metadata: { page: 3 } },
});

describe('texts that searches found', () => {
  test('are given to their owner alone', () => {
    const cache = createTextCache(10_000);
    cache.keep(MINE, [chunk(7, 'half a pair \ud83d stays one')]);
    expect(cache.get(MINE, '7:1:0')).toEqual(chunk(7, 'half a pair \ud83d stays one'));
    expect(cache.get({ ...MINE, userId: 3 }, '7:1:0')).toBeUndefined();
    expect(cache.get({ ...MINE, organizationId: 3 }, '7:1:0')).toBeUndefined();
    expect(cache.get(MINE, '7:2:0')).toBeUndefined();
  });

  test('take no more than they may, those that rested longest go', () => {
    const cache = createTextCache(10_000);
    const chunks = Array.from({ length: 10 }, (_, index) => chunk(index, 'x'.repeat(1_000)));
    cache.keep(MINE, chunks);
    expect(chunks.map(({ key }) => cache.get(MINE, key) !== undefined)).toEqual(chunks.map((_, index) => index >= 6));
  });

  test('are not kept where there is no room for any', () => {
    const cache = createTextCache(0);
    cache.keep(MINE, [chunk(1, 'x')]);
    expect(cache.get(MINE, '1:1:0')).toBeUndefined();
  });
});
