import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';

import type { FileRecord } from '../../../contract/files/records.js';
import { type HttpProxy, startHttpProxy } from '../../emulators/httpProxy.js';
import { type Page, type Site, sitemapOf, startSite } from '../../emulators/site.js';
import { startService, type TestService } from '../../support/service.js';
import type { TestUser } from '../../support/client.js';
import { thoroughRows } from '../../support/thorough.js';

let service: TestService;
let user: TestUser;
let site: Site;

const sentences = (about: string) => `The ${about} of the district were counted by an observer with care. `.repeat(8);
/** Both <main> and the <div> are main text. The tests skip <main>, so that only the <div> remains. */
const BODY = `<body>
  <main class="promo wide" data-kind="teaser"><h1>Offers</h1><p>${sentences('offers')}</p></main>
  <div><h1>Orchards</h1><p>${sentences('orchards')}</p></div>
</body>`;
const writeScript = (html: string) => `<script>document.body.innerHTML = ${JSON.stringify(html)}</script>`;

const PAGES: Record<string, Page> = {
  '/plain': `<html>${BODY}</html>`,
  // The original document contains the text, so the browser is used only because of the style sheet.
  '/styled': `<html><head><link rel="stylesheet" href="/style.css"></head>${BODY}</html>`,
  '/style.css': { type: 'text/css', body: 'body { color: #333 }' },
  '/shell': `<html><body><div id="root"></div>${writeScript(`<div id=root>${BODY}</div>`)}</body></html>`,
};

beforeAll(async () => {
  service = await startService({ ALLOWED_PRIVATE_HOSTS: '127.0.0.1' });
  user = await service.user('rendering');
  site = await startSite(PAGES);
});
afterAll(async () => {
  await service.close();
  await site.close();
});

/** Scrapes one page. Returns its record with its text. */
async function scraped(
  tester: TestUser,
  path: string,
  options: Record<string, unknown>,
): Promise<{ file: FileRecord; text: string }> {
  const sitemap = `/sitemap${path.replaceAll('/', '-')}-${String(site.pages.size)}.xml`;
  site.pages.set(sitemap, sitemapOf(site.origin, [path]));
  const parent = await tester.settled(
    (await tester.scrape({ url: site.url(sitemap), generate_chunks_only: true, ...options })).id,
  );
  const [file] = await tester.children(parent.id);
  if (!file) throw new Error(`the scrape of ${path} has no page: ${parent.sync_error_message ?? parent.sync_status}`);
  const { results } = await tester.chunks({ ids: [file.id] });
  return { file, text: results.map((chunk) => chunk.source_content).join('\n') };
}

describe.each([
  ['plain', '/plain', false, 'http'],
  ['rendered because it is an empty shell', '/shell', false, 'browser'],
  ...thoroughRows([['rendered with its styles', '/styled', true, 'browser']]),
] as const)('the main text of a page that is %s', (_, path, downloadCssAndMedia, fetchedWith) => {
  test('excludes skipped tags, classes and selectors', async () => {
    const read = async (skips: Record<string, unknown>) => {
      const { file, text } = await scraped(user, path, { download_css_and_media: downloadCssAndMedia, ...skips });
      expect([file.sync_status, file.file_metadata?.['fetched_with']]).toEqual(['READY', fetchedWith]);
      return ['offers', 'orchards'].filter((about) => text.includes(`The ${about} of the district`));
    };
    // Prose outside of <main> is content too.
    expect(await read({})).toEqual(['offers', 'orchards']);
    expect(await read({ html_tags_to_skip: ['main'] })).toEqual(['orchards']);
    expect(await read({ css_classes_to_skip: ['promo'] })).toEqual(['orchards']);
    expect(await read({ css_selectors_to_skip: ['[data-kind="teaser"]'] })).toEqual(['orchards']);
  });
});

test('loads styles with download_css_and_media', async () => {
  const before = site.requests.filter((path) => path === '/style.css').length;
  await scraped(user, '/styled', {});
  expect(site.requests.filter((path) => path === '/style.css')).toHaveLength(before);
  await scraped(user, '/styled', { download_css_and_media: true });
  expect(site.requests.filter((path) => path === '/style.css').length).toBeGreaterThan(before);
});

describe('a service without a browser and with a premium proxy', () => {
  let withoutBrowser: TestService;
  let proxy: HttpProxy;
  beforeAll(async () => {
    proxy = await startHttpProxy('home', 'ann:secret');
    withoutBrowser = await startService({
      ALLOWED_PRIVATE_HOSTS: '127.0.0.1',
      CHROMIUM_PATH: '/nowhere/chromium',
      PREMIUM_PROXY_URLS: proxy.url,
    });
  });
  afterAll(async () => {
    await withoutBrowser.close();
    await proxy.close();
  });

  test('with use_premium_proxies fetches sitemap and pages of a site that refuses direct requests', async () => {
    const protectedSite = await startSite();
    const served: Record<string, string> = {
      '/sitemap.xml': sitemapOf(protectedSite.origin, ['/page']),
      '/page': `<h1>Orchards</h1><p>${sentences('orchards')}</p>`,
    };
    for (const [path, body] of Object.entries(served)) {
      protectedSite.pages.set(path, (request, response) => {
        const isKnown = request.headers['x-through'] === 'home';
        response.writeHead(isKnown ? 200 : 403, { 'content-type': path === '/page' ? 'text/html' : 'text/xml' });
        response.end(isKnown ? body : '');
      });
    }
    const bob = await withoutBrowser.user('bob');
    const run = async (more: Record<string, unknown>) =>
      bob.settled(
        (await bob.scrape({ url: protectedSite.url('/sitemap.xml'), generate_chunks_only: true, ...more })).id,
      );
    expect(await run({})).toMatchObject({
      sync_status: 'SYNC_ERROR',
      sync_error_message: expect.stringContaining('HTTP 403'),
    });
    const parent = await run({ use_premium_proxies: true });
    expect(parent).toMatchObject({ sync_status: 'READY', sync_error_message: null });
    expect(await bob.children(parent.id)).toEqual([
      expect.objectContaining({
        sync_status: 'READY',
        file_metadata: expect.objectContaining({ fetched_with: 'premium_proxy' }),
      }),
    ]);
    await protectedSite.close();
  });

  test('accepts download_css_and_media, fetches by plain HTTP, and records that', async () => {
    const { file, text } = await scraped(await withoutBrowser.user('bare'), '/plain', { download_css_and_media: true });
    expect(file).toMatchObject({ sync_status: 'READY', sync_error_message: null });
    expect(file.file_metadata).toMatchObject({ fetched_with: 'http' });
    expect(text).toContain('The offers of the district');
  });
});

describe('use_premium_proxies', () => {
  test('is accepted without a proxy pool: only a refused page ends in SYNC_ERROR, naming the setting', async () => {
    site.pages.set('/refused', { status: 403 });
    const options = { use_premium_proxies: true };
    const { file: fetched } = await scraped(user, '/plain', options);
    expect(fetched).toMatchObject({ sync_status: 'READY', file_metadata: { fetched_with: 'http' } });
    const { file: refused } = await scraped(user, '/refused', options);
    expect(refused.sync_status).toBe('SYNC_ERROR');
    expect(refused.sync_error_message).toMatch(/HTTP 403.*PREMIUM_PROXY_URLS/);
  });
});
