import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';

import type { FileRecord } from '../../contract/files/records.js';
import { linkedPage, startLinkedSite } from '../emulators/linkedSite.js';
import { type Site, startSite } from '../emulators/site.js';
import { readStoredState } from '../support/storedState.js';
import { waitFor } from '../support/waitFor.js';
import { startService, type TestService } from '../support/service.js';
import type { TestUser } from '../support/client.js';
import { thoroughly } from '../support/thorough.js';

let service: TestService;
let user: TestUser;
let site: Site;
let customers = 0;

beforeAll(async () => {
  service = await startService({ ALLOWED_PRIVATE_HOSTS: '127.0.0.1,localhost' });
});
afterAll(() => service.close());
beforeEach(async () => {
  customers += 1;
  user = await service.user(`crawler ${customers}`);
});
afterEach(() => site.close());

/** Links of each page of a small site: to pages of all depths, to fragments, pictures and other sites. */
const TREE = {
  '/': ['/a', '/b', '#top', 'https://elsewhere.invalid/'],
  '/a': ['/', 'a/one', '/a/two#part'],
  '/b': ['/a', '/b/one'],
  '/a/one': ['/deep'],
  '/a/two': [],
  '/b/one': ['/deep', '/picture.png'],
  '/deep': ['/deeper'],
  '/deeper': ['/'],
};

async function crawl(body: Record<string, unknown>, crawler = user): Promise<FileRecord> {
  const { status, body: answer } = await crawler.post<FileRecord[]>('/web_scrape', [body]);
  expect({ status, parents: answer.length }).toEqual({ status: 200, parents: 1 });
  return crawler.settled(answer[0]!.id);
}
const pathsOf = (files: readonly FileRecord[]): string[] =>
  files.map(({ external_url }) => external_url?.replace(site.origin, '') ?? '').toSorted();
const childPaths = async (parent: FileRecord): Promise<string[]> => pathsOf(await user.children(parent.id));

describe('site of linked pages', () => {
  beforeEach(async () => {
    site = await startLinkedSite(TREE);
  });

  test('becomes a parent with a file for each linked page, each fetched once', async () => {
    const { body } = await user.post<FileRecord[]>('/web_scrape', [{ url: site.origin, tags: { team: 'docs' } }]);
    const [accepted] = body;
    expect(accepted).toMatchObject({
      source: 'WEB_SCRAPE',
      sync_status: 'QUEUED_FOR_SYNC',
      external_url: site.url('/'),
      parent_id: null,
      tags: { team: 'docs' },
      file_metadata: { max_pages_to_scrape: 100, recursion_depth: 3 },
    });
    const parent = await user.settled(accepted!.id);
    const counts = { pages_total: 7, pages_ready: 7, pages_failed: 0, pages_aborted: 0 };
    expect(parent).toMatchObject({ sync_status: 'READY', file_metadata: { ...counts, max_pages_to_scrape: 100 } });
    const children = await user.children(parent.id);
    expect(pathsOf(children)).toEqual(['/', '/a', '/a/one', '/a/two', '/b', '/b/one', '/deep']);
    expect(children.every((child) => child.sync_status === 'READY' && child.tags?.['team'] === 'docs')).toBe(true);
    expect(site.requests.toSorted()).toEqual([...pathsOf(children), '/robots.txt'].toSorted());
    expect((await user.search({ query: 'harbour of /deep', k: 1 }))[0]?.source_url).toContain(site.origin);
    expect((await user.chunks({ parent_file_ids: [parent.id] })).count).toBeGreaterThanOrEqual(7);
    expect((await readStoredState(service.env)).findInconsistencies()).toEqual([]);
  });

  // Runs only in `npm run test:long`: test/activities/followLinks.test.ts tests depths, and other tests of this file
  // crawl with the default depth and with depth 1.
  thoroughly.each([
    [0, ['/']],
    [1, ['/', '/a', '/b']],
    [2, ['/', '/a', '/a/one', '/a/two', '/b', '/b/one']],
    [9, Object.keys(TREE)],
  ])('is crawled down to recursion_depth %s', async (recursion_depth, expected) => {
    expect(await childPaths(await crawl({ url: site.origin, recursion_depth }))).toEqual([...expected].toSorted());
  });

  test('is scraped up to max_pages_to_scrape, nearest pages first', async () => {
    const parent = await crawl({ url: site.origin, max_pages_to_scrape: 3, recursion_depth: 9 });
    expect(await childPaths(parent)).toEqual(['/', '/a', '/b']);
    expect(parent.file_metadata).toMatchObject({ pages_total: 3, pages_ready: 3 });
  });

  thoroughly('is crawled with store_file_only too', async () => {
    const parent = await crawl({ url: site.origin, store_file_only: true, recursion_depth: 1 });
    expect(await childPaths(parent)).toEqual(['/', '/a', '/b']);
    expect((await user.chunks({ parent_file_ids: [parent.id] })).count).toBe(0);
  });

  thoroughly('has a parent for each scrape of one request, in order', async () => {
    const { body } = await user.post<FileRecord[]>('/web_scrape', [
      { url: site.url('/a/two'), recursion_depth: 0 },
      { url: site.url('/b'), recursion_depth: null, max_pages_to_scrape: 2 },
    ]);
    expect(body.map((file) => file.external_url)).toEqual([site.url('/a/two'), site.url('/b')]);
    const [first, second] = await Promise.all(body.map((file) => user.settled(file.id)));
    expect(await childPaths(first!)).toEqual(['/a/two']);
    expect(await childPaths(second!)).toEqual(['/a', '/b']);
  });

  test('is crawled only below url_paths_to_include and where robots.txt allows it, from a start page elsewhere', async () => {
    site.pages.set('/robots.txt', 'User-agent: *\nDisallow: /b\n');
    const parent = await crawl({ url: site.origin, url_paths_to_include: ['/a', '/b'] });
    expect(await childPaths(parent)).toEqual(['/', '/a', '/a/one', '/a/two']);
    expect(site.requests.filter((path) => path.startsWith('/b'))).toEqual([]);
  });

  thoroughly('is found completely by a second crawl, even if all pages are unchanged', async () => {
    for (const [path, links] of Object.entries(TREE)) {
      site.pages.set(path, (request, response) => {
        if (request.headers['if-none-match'] === '"one"') return void response.writeHead(304).end();
        response.writeHead(200, { 'content-type': 'text/html', etag: '"one"' }).end(linkedPage(path, links));
      });
    }
    const first = await crawl({ url: site.origin });
    const children = await user.children(first.id);
    const second = await crawl({ url: site.origin });
    expect(second).toMatchObject({ id: first.id, sync_status: 'READY', file_metadata: { pages_ready: 7 } });
    const childrenAgain = await user.children(first.id);
    expect(childrenAgain.map(({ id }) => id)).toEqual(children.map(({ id }) => id));
    expect(childrenAgain.every((child, index) => child.last_sync! > children[index]!.last_sync!)).toBe(true);
  });

  test('is crawled again with the same options by a resync of the parent', async () => {
    const parent = await crawl({ url: site.origin, recursion_depth: 1 });
    site.pages.set('/', linkedPage('/', ['/a', '/new']));
    site.pages.set('/new', linkedPage('/new', ['/deep']));
    expect((await user.post('/resync_file', { file_id: parent.id })).status).toBe(200);
    expect(await user.settled(parent.id)).toMatchObject({ sync_status: 'READY', file_metadata: { pages_total: 3 } });
    // Pages to which no page links any longer are kept, because a crawl deletes no pages.
    expect(await childPaths(parent)).toEqual(['/', '/a', '/b', '/new']);
  });
});

test('a page that fails at first does not delay others, and its links are crawled after it succeeds', async () => {
  let failures = 0;
  site = await startLinkedSite({ '/': ['/slow', '/a'], '/a': ['/b'], '/b': ['/c'], '/c': ['/d'], '/d': [] });
  site.pages.set('/slow', (_request, response) => {
    failures += 1;
    if (failures < 3) return void response.writeHead(500).end();
    // Answer only after the request for /c: if /slow delayed /c, the crawl would never end.
    const timer = setInterval(() => {
      if (!site.requests.includes('/c')) return;
      clearInterval(timer);
      response.writeHead(200, { 'content-type': 'text/html' }).end(linkedPage('/slow', ['/only', '/c']));
    }, 20);
    response.once('close', () => clearInterval(timer));
  });
  site.pages.set('/only', linkedPage('/only', []));
  // Without /slow, /c has the maximum depth of three. Through /slow it has depth two, so that /d is crawled too.
  const parent = await crawl({ url: site.origin, recursion_depth: 3 });
  expect(await childPaths(parent)).toEqual(['/', '/a', '/b', '/c', '/d', '/only', '/slow']);
});

// test/activities/followLinks.test.ts tests the failure of a start page, scrapeSitemap.test.ts that of a sitemap.
thoroughly('a missing start page ends the parent in SYNC_ERROR with a message', async () => {
  site = await startSite();
  const parent = await crawl({ url: site.url('/missing') });
  expect(parent).toMatchObject({ sync_status: 'SYNC_ERROR' });
  expect(parent.sync_error_message).toContain('does not exist');
});

test('the target of a redirected start URL counts as the same site', async () => {
  site = await startLinkedSite({ '/home': ['/a'], '/a': [] });
  const elsewhere = `http://localhost:${new URL(site.origin).port}`;
  site.pages.set('/', { status: 302, headers: { location: `${elsewhere}/home` } });
  const parent = await crawl({ url: site.origin });
  const urls = (await user.children(parent.id)).map((child) => child.external_url ?? '');
  expect(urls.toSorted()).toEqual([`${site.origin}/`, `${elsewhere}/a`].toSorted());
});

test('an endless site ends at the maximum of pages, and its frontier is deleted', async () => {
  site = await startSite();
  const answer = new Map<string, string>();
  for (let n = 0; n < 150; n += 1)
    answer.set(
      `/p/${n}`,
      linkedPage(
        `/p/${n}`,
        Array.from({ length: 60 }, (_, k) => `/p/${n * 7 + k + 1}`),
      ),
    );
  for (const [path, body] of answer) site.pages.set(path, body);
  const parent = await crawl({
    url: site.url('/p/0'),
    max_pages_to_scrape: 40,
    store_file_only: true,
    recursion_depth: 50,
  });
  expect(parent).toMatchObject({ sync_status: 'READY', file_metadata: { pages_total: 40 } });
  expect(await user.children(parent.id)).toHaveLength(40);
  const run = await service.store.files.byIds(
    { organizationId: parent.organization_id, userId: parent.organization_user_id ?? 0 },
    [parent.id],
  );
  // The run ends after its container is READY.
  await waitFor(
    () => service.store.frontier.count(run[0]?.runId ?? 0),
    (count) => count === 0,
  );
});

thoroughly(
  'a URL with a file of a sitemap scrape is not scraped as a page, and a scraped page is not scraped as a sitemap',
  async () => {
    site = await startLinkedSite({ '/': ['/map', '/a'], '/a': [] });
    site.pages.set('/map', {
      type: 'application/xml',
      body: `<urlset><url><loc>${site.url('/a')}</loc></url></urlset>`,
    });
    const sitemap = await user.scrape({ url: site.url('/map') });
    await user.settled(sitemap.id);
    const parent = await crawl({ url: site.origin });
    expect(await childPaths(parent)).toEqual(['/', '/a']);
    expect(await user.file(sitemap.id)).toMatchObject({ sync_status: 'READY', parent_id: null });
    expect((await crawl({ url: site.url('/map') })).sync_error_message).toContain(
      'already has a file from a sitemap scrape',
    );
    const refused = await user.post<{ detail: string }>('/scrape_sitemap', { url: site.url('/a') });
    expect(refused).toMatchObject({ status: 409, body: { detail: expect.stringContaining('known as a page') } });
  },
);

describe('request validation', () => {
  beforeEach(async () => {
    site = await startSite();
  });
  test.each([
    ['an object', { url: 'https://a.example' }, ['body'], 'list_type'],
    ['an element without a url', [{ url: 'https://a.example' }, {}], ['body', 1, 'url'], 'missing'],
    ['a URL of another protocol', [{ url: 'ftp://a.example/' }], ['body', 0, 'url'], 'url_type'],
    ['a password in a URL', [{ url: 'https://a:b@a.example/' }], ['body', 0, 'url'], 'url_type'],
    [
      'no pages',
      [{ url: 'a.example', max_pages_to_scrape: 0 }],
      ['body', 0, 'max_pages_to_scrape'],
      'greater_than_equal',
    ],
    [
      'a depth below 0',
      [{ url: 'a.example', recursion_depth: -1 }],
      ['body', 0, 'recursion_depth'],
      'greater_than_equal',
    ],
    [
      'eleven paths',
      [{ url: 'a.example', url_paths_to_include: Array(11).fill('/') }],
      ['body', 0, 'url_paths_to_include'],
      'too_long',
    ],
  ])('answers %s with 422', async (_what, body, loc, type) => {
    const answer = await user.post('/web_scrape', body);
    expect(answer).toMatchObject({ status: 422, body: { detail: [{ loc, type }] } });
    expect((await user.post<{ count: number }>('/user_files_v2', {})).body.count).toBe(0);
  });
  test('accepts an empty list', async () => {
    expect(await user.post('/web_scrape', [])).toMatchObject({ status: 200, body: [] });
  });
  test('uses https for a URL without a scheme', async () => {
    const { body } = await user.post<FileRecord[]>('/web_scrape', [{ url: 'pages.invalid/docs' }]);
    expect(body[0]?.external_url).toBe('https://pages.invalid/docs');
  });
});
