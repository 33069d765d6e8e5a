import { afterEach, describe, expect, test } from '@jest/globals';

import { samplePage } from '../../emulators/site.js';
import { serve, type Loopback } from '../../egress/loopback.js';
import { closeSources, fetchOne, source, text } from '../../connectors/web/webSource.js';

afterEach(closeSources);

const SCRIPT = '<script type="module" crossorigin src="/assets/index-a1.js"></script>';

const HTML = {
  'Content-Type': 'text/html; charset=utf-8',
  ETag: '"shell"',
  'Last-Modified': 'Wed, 01 May 2024 10:00:00 GMT',
};

/** Starts a site whose shell never changes; the data that its script shows may change. */
async function application(data: () => string): Promise<Loopback> {
  return serve((request, response) => {
    if (request.url === '/data') response.writeHead(200).end(data());
    else if (request.url !== '/') response.writeHead(404).end();
    else if (request.headers['if-none-match'] === '"shell"') response.writeHead(304, { ETag: '"shell"' }).end();
    else
      response
        .writeHead(200, HTML)
        .end(
          '<div id="root"></div><script>fetch("/data").then((r) => r.text()).then((t) => { root.textContent = t; })</script>',
        );
  });
}

describe('a page that is an empty shell', () => {
  test('is rendered even if the caller did not request it, and again at a re-sync of an unchanged shell', async () => {
    let words = 'the first words';
    const site = await application(() => words);
    const web = source();
    const first = await fetchOne(web, site.origin);
    expect([first.fetchedWith, text(first)]).toEqual(['browser', expect.stringContaining('the first words')]);
    words = 'other words';
    const { etag, lastModified } = first;
    const again = await fetchOne(web, site.origin, { known: { etag, lastModified } });
    expect(text(again)).toContain('other words');
  });

  test('is fetched by plain HTTP, without validators, if there is no browser', async () => {
    const site = await application(() => 'unseen');
    const web = source({ settings: { chromiumPath: '/nowhere/chromium' } });
    for (const downloadCssAndMedia of [false, true]) {
      const page = await fetchOne(web, site.origin, { downloadCssAndMedia });
      expect(page).toMatchObject({ fetchedWith: 'http', etag: null, lastModified: null });
      expect(text(page)).toContain('id="root"');
    }
  });

  test('is rendered after redirects, and rejected if its script leaves for a disallowed path', async () => {
    const site = await serve((request, response) => {
      if (request.url === '/robots.txt')
        response.writeHead(200, { 'Content-Type': 'text/plain' }).end('User-agent: *\nDisallow: /closed');
      else if (request.url === '/from') response.writeHead(302, { Location: '/to' }).end();
      else if (request.url === '/to')
        response.writeHead(200, HTML).end('<script>document.write("wri" + "tten")</script>');
      else if (request.url === '/away')
        response.writeHead(200, HTML).end('<script>location.replace("/closed")</script>');
      else response.writeHead(200, HTML).end('<p>closed');
    });
    const web = source({ settings: { obeyRobots: true } });
    const page = await fetchOne(web, `${site.origin}/from`);
    expect([page.finalUrl, text(page)]).toEqual([`${site.origin}/to`, expect.stringContaining('written')]);
    await expect(fetchOne(web, `${site.origin}/away`)).rejects.toMatchObject({ kind: 'robots_disallowed' });
  });
});

test('fetches an ordinary page once and keeps its validators', async () => {
  const site = await serve((_, response) => response.writeHead(200, HTML).end(samplePage(1) + SCRIPT));
  expect(await fetchOne(source(), site.origin)).toMatchObject({ fetchedWith: 'http', etag: '"shell"' });
  expect(site.requests).toHaveLength(1);
});
