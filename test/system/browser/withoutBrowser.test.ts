/** Scrapes of a service without a browser and with a premium proxy. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';

import { type HttpProxy, startHttpProxy } from '../../emulators/httpProxy.js';
import { type Site, sitemapOf, startSite } from '../../emulators/site.js';
import { startService, type TestService } from '../../support/service.js';
import type { TestUser } from '../../support/client.js';

let service: TestService;
let proxy: HttpProxy;
let site: Site;
let user: TestUser;
beforeAll(async () => {
  proxy = await startHttpProxy('home', 'ann:secret');
  site = await startSite();
  service = await startService({
    ALLOWED_PRIVATE_HOSTS: '127.0.0.1',
    CHROMIUM_PATH: '/nowhere/chromium',
    PREMIUM_PROXY_URLS: proxy.url,
  });
  user = await service.user('bob');
});
afterAll(async () => {
  await service.close();
  await Promise.all([proxy.close(), site.close()]);
});

const PAGE = `<h1>Orchards</h1><p>${'The orchards of the district were counted with care. '.repeat(8)}</p>`;

const scraped = async (sitemap: string, more: Record<string, unknown>) =>
  user.settled((await user.scrape({ url: site.url(sitemap), generate_chunks_only: true, ...more })).id);

test('with use_premium_proxies fetches sitemap and pages of a site that refuses direct requests', async () => {
  const served: Record<string, string> = {
    '/protected.xml': sitemapOf(site.origin, ['/protected']),
    '/protected': PAGE,
  };
  for (const [path, body] of Object.entries(served)) {
    site.pages.set(path, (request, response) => {
      const isKnown = request.headers['x-through'] === 'home';
      response.writeHead(isKnown ? 200 : 403, { 'content-type': path === '/protected' ? 'text/html' : 'text/xml' });
      response.end(isKnown ? body : '');
    });
  }
  expect(await scraped('/protected.xml', {})).toMatchObject({
    sync_status: 'SYNC_ERROR',
    sync_error_message: expect.stringContaining('HTTP 403'),
  });
  const parent = await scraped('/protected.xml', { use_premium_proxies: true });
  expect(parent).toMatchObject({ sync_status: 'READY', sync_error_message: null });
  expect(await user.children(parent.id)).toEqual([
    expect.objectContaining({
      sync_status: 'READY',
      file_metadata: expect.objectContaining({ fetched_with: 'premium_proxy' }),
    }),
  ]);
});

test('accepts download_css_and_media, fetches by plain HTTP, and records that', async () => {
  site.pages.set('/plain', `<html><body><main>${PAGE}</main></body></html>`);
  site.pages.set('/plain.xml', sitemapOf(site.origin, ['/plain']));
  const parent = await scraped('/plain.xml', { download_css_and_media: true });
  const [file] = await user.children(parent.id);
  expect(file).toMatchObject({ sync_status: 'READY', sync_error_message: null });
  expect(file?.file_metadata).toMatchObject({ fetched_with: 'http' });
  const { results } = await user.chunks({ ids: [file?.id ?? 0] });
  expect(results.map((chunk) => chunk.source_content).join('\n')).toContain('The orchards of the district');
});
