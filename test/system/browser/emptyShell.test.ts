import { afterEach, describe, expect, test } from '@jest/globals';

import { isEmptyShell } from '../../../connectors/web/emptyShell.js';
import { samplePage } from '../../emulators/site.js';
import { serve, type Loopback } from '../../egress/loopback.js';
import { closeSources, fetchOne, source, text } from '../../connectors/web/webSource.js';

afterEach(closeSources);

const isShell = (html: string) => isEmptyShell(Buffer.from(html));
const SCRIPT = '<script type="module" crossorigin src="/assets/index-a1.js"></script>';

describe('an empty shell', () => {
  test.each([
    [
      'an element that a framework fills',
      `<!doctype html><html><head><title>A title of the page, which is not part of the text</title>${SCRIPT}</head><body><div id="root"></div></body></html>`,
    ],
    [
      'a notice for visitors without scripts',
      `<body><noscript>You need to enable JavaScript to run this app.</noscript><div class=page></div>${SCRIPT}</body>`,
    ],
    ['an element with a custom name', `<body><app-root></app-root><script>start()</script></body>`],
    [
      'an element in capitals with a loading message',
      `<body><DIV ID=app>Loading</DIV><SCRIPT SRC=a.js></SCRIPT></body>`,
    ],
    [
      'an element with tags inside its attributes',
      `<body><div id='__next' data-x="a > b and ${'much more '.repeat(50)}"><p>Please wait</p></div>${SCRIPT}`,
    ],
    [
      'styles and data without text',
      `<style>${'p { color: red }'.repeat(500)}</style><script>window.state = "${'words '.repeat(5000)}"; a < b</script><main></main>`,
    ],
    [
      'text that is not displayed',
      `<svg><text>${'drawn '.repeat(100)}</text></svg><template>${'later '.repeat(100)}</template><!-- ${'a note '.repeat(100)}--><script src=x></script>`,
    ],
    ['a loading message', `<body> <div>Loading…</div><script src=x></script>`],
    ['a script alone', `<script src=x>`],
  ])('%s', (_, html) => {
    expect(isShell(html)).toBe(true);
  });
});

describe('a page that is not an empty shell', () => {
  test.each([
    ['an ordinary page', samplePage(3)],
    ['a page rendered by the server', `<div id="root"><p>${'Rendered there. '.repeat(20)}</p></div>${SCRIPT}`],
    ['an element to fill, without a script', '<div id="root"></div>'],
    ['a short page with a script', '<p>A short page.</p><script src="/analytics.js"></script>'],
    ['data of one type', '<div id="root"></div><script type="application/ld+json">{"@type": "Article"}</script>'],
    ['data of another type', '<div id="root"></div><script type="application/json">{}</script>'],
    ['a notice without a script', '<noscript>Enable JavaScript</noscript>'],
    ['nothing', ''],
    ['words', 'words'],
    ['the beginning of a tag', '<'],
    ['an image for visitors without scripts', `<noscript><img src="/count.gif"></noscript><p>Short.</p>${SCRIPT}`],
    [
      'a long page with an element to fill',
      `<table><tr><td>4 &lt; 5<td>${'1 '.repeat(300)}</table>${SCRIPT}<p id=app>`,
    ],
  ])('%s', (_, html) => {
    expect(isShell(html)).toBe(false);
  });

  test('a page in UTF-16', () => {
    const html = `\ufeff<div id="root">${'text '.repeat(100)}</div>${SCRIPT}`;
    expect(isEmptyShell(Buffer.from(html, 'utf16le'))).toBe(false);
  });
});

test.each([
  ['open tags', '<a '],
  ['open quotes', '<a b="'],
  ['closed quotes', '<a b=""'],
  ['scripts', '<script>'],
  ['end tags without names', '</'],
  ['comments', '<!--'],
  ['roots', '<p id=root>'],
  ['types', '<script type = type = >'],
  ['noscripts', '<noscript>java</noscript>'],
  ['spaces', `<p id${' '.repeat(1900)}>`],
])('decides on a hostile page of %s in linear time', (_, piece) => {
  const page = Buffer.from(`<script></script>${piece.repeat(20_000_000 / piece.length)}`);
  const start = process.cpuUsage();
  isEmptyShell(page);
  const { user, system } = process.cpuUsage(start);
  // Linear time takes milliseconds, quadratic time minutes.
  expect(user + system).toBeLessThan(3_000_000);
});

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

  test('is stored without rendering if there is no browser, and fetched in full again later', async () => {
    const site = await application(() => 'unseen');
    const web = source({ settings: { chromiumPath: '/nowhere/chromium' } });
    for (const downloadCssAndMedia of [false, true]) {
      const page = await fetchOne(web, site.origin, { downloadCssAndMedia });
      expect(page).toMatchObject({ fetchedWith: 'http', etag: null, lastModified: null });
      expect(text(page)).toContain('id="root"');
    }
  });

  test('is rendered after redirects, and only if robots.txt allows it', async () => {
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
