import { describe, expect, test } from '@jest/globals';

import { DEFAULT_INGEST_OPTIONS } from '../../contract/files/ingestOptions.js';
import { type Container, containerWork } from '../../contract/runs/containerWork.js';
import { pageFilter } from '../../contract/runs/scrapeSitemap.js';
import { normaliseUrl } from '../../contract/urls.js';

const none: Record<'urlPathsToInclude' | 'urlPathsToExclude' | 'urlsToScrape', string[]> = {
  urlPathsToInclude: [],
  urlPathsToExclude: [],
  urlsToScrape: [],
};
const matching = (options: Partial<typeof none>, urls: string[]) => urls.filter(pageFilter({ ...none, ...options }));

describe('pages of a request', () => {
  const urls = ['http://a.test/', 'http://a.test/docs/1', 'http://a.test/docs/old/2', 'http://a.test/blog/docs'];

  test('are all pages if the request has no lists', () => {
    expect(matching({}, urls)).toEqual(urls);
  });
  test('match include lists by the prefix of the path', () => {
    expect(matching({ urlPathsToInclude: ['/docs/'] }, urls)).toEqual([urls[1], urls[2]]);
  });
  test('are excluded even if they are included', () => {
    expect(matching({ urlPathsToInclude: ['/docs/'], urlPathsToExclude: ['/docs/old/'] }, urls)).toEqual([urls[1]]);
  });
  test('match paths without a leading slash and whole addresses', () => {
    expect(matching({ urlPathsToInclude: ['blog'] }, urls)).toEqual([urls[3]]);
    expect(matching({ urlPathsToInclude: ['http://a.test/docs/old'] }, urls)).toEqual([urls[2]]);
  });
  test.each([
    ['http://a.test/%C3%BCber-uns', ['/über-uns', 'über', '/%c3%bcber', 'HTTP://A.test:80/über']],
    ['http://a.test/%e6%97%a5/1', ['/日/', '/%E6%97%A5/', 'http://a.test/日']],
    ['http://a.test/my%20docs/1', ['/my docs', '/my%20docs']],
    ['http://a.test/docs/.well/1', ['/docs/.', '/docs/.well', 'http://A.test', 'http://a']],
    ['http://a.test/search?q=1', ['http://a.test/search?q', '/search']],
  ])('match prefixes in each equivalent spelling, also incomplete ones: %s', (url, prefixes) => {
    for (const prefix of prefixes) {
      expect(matching({ urlPathsToInclude: [prefix] }, [url])).toEqual([url]);
      expect(matching({ urlPathsToExclude: [prefix] }, [url])).toEqual([]);
    }
  });
  test.each(['/docs/.', '/docs/..', '/docs?', '/docs#', '//docs', 'http://b.test', 'http://[', '/%', '\ud800'])(
    'do not match the prefix %j',
    (prefix) => {
      expect(matching({ urlPathsToInclude: [prefix] }, urls)).toEqual([]);
    },
  );
  test('are those of urls_to_scrape that also match the other lists', () => {
    expect(matching({ urlsToScrape: ['http://a.test/', 'http://a.test/unknown'] }, urls)).toEqual(['http://a.test/']);
    expect(matching({ urlsToScrape: ['http://a.test/'], urlPathsToInclude: ['/docs/'] }, urls)).toEqual([]);
  });
});

describe('normalised addresses', () => {
  test.each([
    ['HTTP://Example.COM:80/a?b=C#d', 'http://example.com/a?b=C'],
    ['https://example.com:443', 'https://example.com/'],
    ['https://example.com:8443/x', 'https://example.com:8443/x'],
    [' http://example.com/a b ', 'http://example.com/a%20b'],
  ])('have one spelling: %s', (text, normal) => {
    expect(normaliseUrl(text)).toBe(normal);
  });
  test.each(['ftp://example.com/', 'example.com', 'http://user:pw@example.com/', 'javascript:alert(1)', ''])(
    'do not include %j',
    (text) => {
      expect(normaliseUrl(text)).toBeNull();
    },
  );
});

test('a container is read again with the stored address, tags and options; as a sitemap if no kind is stored', () => {
  const container: Container = {
    ...{ runKind: 'syncFeed', externalUrl: 'https://a.test/feed', externalFileId: 'id', sourceOptions: { a: 1 } },
    tags: [{ key: 'team', value: 'red' }],
  };
  const request = {
    url: 'https://a.test/feed',
    tags: { team: 'red' },
    ingest: DEFAULT_INGEST_OPTIONS,
    scrape: { a: 1 },
  };
  expect(containerWork(container, DEFAULT_INGEST_OPTIONS)).toEqual({ kind: 'syncFeed', request });
  expect(containerWork({ ...container, runKind: null, externalUrl: null }, DEFAULT_INGEST_OPTIONS)).toEqual({
    kind: 'scrapeSitemap',
    request: { ...request, url: 'id' },
  });
});
