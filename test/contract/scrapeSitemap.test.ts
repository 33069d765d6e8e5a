import { describe, expect, test } from '@jest/globals';

import { pageFilter } from '../../contract/scrapeSitemap.js';
import { normaliseUrl } from '../../contract/urls.js';

const none: Record<'urlPathsToInclude' | 'urlPathsToExclude' | 'urlsToScrape', string[]> = {
  urlPathsToInclude: [],
  urlPathsToExclude: [],
  urlsToScrape: [],
};
const kept = (options: Partial<typeof none>, urls: string[]) => urls.filter(pageFilter({ ...none, ...options }));

describe('which pages a request is about', () => {
  const urls = ['http://a.test/', 'http://a.test/docs/1', 'http://a.test/docs/old/2', 'http://a.test/blog/docs'];

  test('without lists, all', () => {
    expect(kept({}, urls)).toEqual(urls);
  });
  test('include takes prefixes of the path', () => {
    expect(kept({ urlPathsToInclude: ['/docs/'] }, urls)).toEqual([urls[1], urls[2]]);
  });
  test('exclude wins over include', () => {
    expect(kept({ urlPathsToInclude: ['/docs/'], urlPathsToExclude: ['/docs/old/'] }, urls)).toEqual([urls[1]]);
  });
  test('a missing leading slash and a whole address are understood', () => {
    expect(kept({ urlPathsToInclude: ['blog'] }, urls)).toEqual([urls[3]]);
    expect(kept({ urlPathsToInclude: ['http://a.test/docs/old'] }, urls)).toEqual([urls[2]]);
  });
  test('urls_to_scrape is a subset, and the other lists still hold', () => {
    expect(kept({ urlsToScrape: ['http://a.test/', 'http://a.test/unknown'] }, urls)).toEqual(['http://a.test/']);
    expect(kept({ urlsToScrape: ['http://a.test/'], urlPathsToInclude: ['/docs/'] }, urls)).toEqual([]);
  });
});

describe('one spelling per address', () => {
  test.each([
    ['HTTP://Example.COM:80/a?b=C#d', 'http://example.com/a?b=C'],
    ['https://example.com:443', 'https://example.com/'],
    ['https://example.com:8443/x', 'https://example.com:8443/x'],
    [' http://example.com/a b ', 'http://example.com/a%20b'],
  ])('%s', (text, normal) => {
    expect(normaliseUrl(text)).toBe(normal);
  });
  test.each(['ftp://example.com/', 'example.com', 'http://user:pw@example.com/', 'javascript:alert(1)', ''])(
    '%j is none',
    (text) => {
      expect(normaliseUrl(text)).toBeNull();
    },
  );
});
