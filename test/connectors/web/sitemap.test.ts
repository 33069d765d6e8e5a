import { gzipSync } from 'node:zlib';
import { afterEach, describe, expect, test } from '@jest/globals';

import { serve, type Loopback } from '../../egress/loopback.js';
import { failure, index, pathsOf, site, SPACE, urlset } from './sitemapSite.js';
import { closeSources, list, source } from './webSource.js';

afterEach(closeSources);

describe('a single sitemap', () => {
  test('lists normalised URLs with their dates in order, each once', async () => {
    const server = await site({
      '/sitemap.xml': `\n\n<?xml version="1.0"?><urlset ${SPACE}>
        <url><loc> http://HOST/b </loc><lastmod>2024-05-01T10:00:00+02:00</lastmod><priority>0.5</priority></url>
        <url><lastmod>2024-05</lastmod><loc>HTTP://HOST/a?x=1&amp;y=2#part</loc></url>
        <url><loc><![CDATA[http://HOST/c?a&b]]></loc><lastmod>yesterday</lastmod></url>
        <url><loc>http://HOST/b</loc></url>
        <url><loc>/relative</loc></url>
        <url></url><url><loc/></url><url><loc>mailto:x@y</loc></url><url><loc>http://u:p@HOST/</loc></url>
      </urlset>`,
    });
    const { entries, problems } = await list(source(), `${server.origin}/sitemap.xml`);
    expect(entries).toEqual([
      { url: `${server.origin}/b`, lastModified: '2024-05-01T10:00:00+02:00' },
      { url: `${server.origin}/a?x=1&y=2`, lastModified: '2024-05' },
      { url: `${server.origin}/c?a&b`, lastModified: null },
      { url: `${server.origin}/relative`, lastModified: null },
    ]);
    expect(problems).toEqual([]);
  });

  test('with namespace prefixes, images and alternates lists its pages only', async () => {
    const body = `<s:urlset xmlns:s="http://www.sitemaps.org/schemas/sitemap/0.9" xmlns:image="i" xmlns:xhtml="x"><s:url><s:loc>http://HOST/1</s:loc>
      <image:image><image:loc>http://HOST/1.png</image:loc></image:image><xhtml:link rel="alternate" href="http://HOST/de"/></s:url></s:urlset>`;
    expect(await pathsOf({ '/sitemap.xml': body })).toEqual(['/1']);
  });

  test('lists pages of its own host and port only: no subdomains, and no www.', async () => {
    const lookup = () => Promise.resolve([{ address: '127.0.0.1', family: 4 }]);
    const server = await site({});
    const port = String(server.port);
    const otherPortServer = await site({
      '/sitemap.xml': urlset(
        `http://site.example:${port}/no`,
        '/yes',
        'http://www.site.example/no',
        'https://site.example/no',
        'http://site.example.evil.example/no',
      ),
    });
    const { entries } = await list(
      source({ lookup }),
      `http://site.example:${String(otherPortServer.port)}/sitemap.xml`,
    );
    expect(entries.map(({ url }) => url)).toEqual([`http://site.example:${String(otherPortServer.port)}/yes`]);
  });

  test('that lists only another host fails with a message that names the host', async () => {
    const fault = await failure({ '/sitemap.xml': urlset('https://www.site.example/1', 'https://www.site.example/2') });
    expect(fault).toMatchObject({
      kind: 'broken_content',
      message: expect.stringContaining('give the one of www.site.example'),
    });
  });

  test('after a redirect lists pages of both hosts', async () => {
    const end: Loopback = await serve((_, response) =>
      response.end(urlset('/end', `${start.origin}/start`, 'https://other.example/')),
    );
    const start = await serve((_, response) => response.writeHead(302, { Location: `${end.origin}/s.xml` }).end());
    const { entries } = await list(source(), `${start.origin}/sitemap.xml`);
    expect(entries.map(({ url }) => url)).toEqual([`${end.origin}/end`, `${start.origin}/start`]);
  });

  test.each([
    ['as application/gzip', { 'Content-Type': 'application/gzip' }, (body: string) => gzipSync(body)],
    ['as application/xml', { 'Content-Type': 'application/xml' }, (body: string) => gzipSync(body)],
    ['by Content-Encoding', { 'Content-Encoding': 'gzip' }, (body: string) => gzipSync(body)],
    [
      'by both',
      { 'Content-Encoding': 'gzip', 'Content-Type': 'application/gzip' },
      (body: string) => gzipSync(gzipSync(body)),
    ],
  ])('is read gzipped %s', async (_name, headers, compress) => {
    expect(await pathsOf({ '/sitemap.xml': { headers, body: compress(urlset('/1', '/2')) } })).toEqual(['/1', '/2']);
  });

  test.each([
    ['UTF-8 with a byte order mark', Buffer.from(`\ufeff${urlset('/ä')}`), {}],
    ['UTF-16LE with a byte order mark', Buffer.from(`\ufeff${urlset('/ä')}`, 'utf16le'), {}],
    ['UTF-16BE with a byte order mark', Buffer.from(`\ufeff${urlset('/ä')}`, 'utf16le').swap16(), {}],
    ['UTF-16LE without a byte order mark', Buffer.from(urlset('/ä'), 'utf16le'), {}],
    ['Latin-1 by declaration', Buffer.from(urlset('/ä').replace('UTF-8', 'ISO-8859-1'), 'latin1'), {}],
    [
      'Latin-1 by header',
      Buffer.from(urlset('/ä').replace(/ encoding="UTF-8"/, ''), 'latin1'),
      { 'Content-Type': 'text/xml; charset="iso-8859-1"' },
    ],
    ['UTF-8 declared as UTF-16', Buffer.from(urlset('/ä').replace('UTF-8', 'UTF-16')), {}],
    ['an unknown charset', Buffer.from(urlset('/ä').replace('UTF-8', 'x-own')), {}],
  ])('is decoded from %s', async (_name, body, headers) => {
    expect(await pathsOf({ '/sitemap.xml': { body, headers } })).toEqual(['/%C3%A4']);
  });

  test('may be a plain list of URLs', async () => {
    const body =
      '\ufeffhttp://HOST/1\r\nhttp://HOST/2\n\n# note\n/relative\nhttps://other.example/3\nhttp://HOST/1\nhttp://HOST/4';
    expect(await pathsOf({ '/sitemap.xml': { body, headers: { 'Content-Type': 'text/plain' } } })).toEqual([
      '/1',
      '/2',
      '/4',
    ]);
  });

  test('without pages is valid', async () => {
    expect(await pathsOf({ '/sitemap.xml': urlset() })).toEqual([]);
  });
});

describe('a sitemap index', () => {
  test('is followed in order, without loops, and lists each page once', async () => {
    expect(
      await pathsOf({
        '/sitemap.xml': index('/a.xml', '/b.xml.gz', '/sitemap.xml', '/a.xml', 'https://other.example/x.xml'),
        '/a.xml': index('/a1.xml', '/sitemap.xml'),
        '/a1.xml': urlset('/1', '/2'),
        '/b.xml.gz': { headers: { 'Content-Type': 'application/gzip' }, body: gzipSync(urlset('/2', '/3')) },
      }),
    ).toEqual(['/1', '/2', '/3']);
  });

  test('is followed up to SITEMAP_MAX_DEPTH, and deeper files are reported as problems', async () => {
    const server = await site({
      '/sitemap.xml': index('/1.xml', '/pages.xml'),
      '/1.xml': index('/2.xml', '/2b.xml'),
      '/2.xml': urlset('/deep'),
      '/pages.xml': urlset('/page'),
    });
    const { entries, problems } = await list(
      source({ settings: { sitemapMaxDepth: 1 } }),
      `${server.origin}/sitemap.xml`,
    );
    expect(entries.map(({ url }) => url)).toEqual([`${server.origin}/page`]);
    expect(problems).toEqual([
      {
        url: `${server.origin}/2.xml`,
        fault: expect.objectContaining({ kind: 'too_large', message: expect.stringContaining('SITEMAP_MAX_DEPTH') }),
      },
    ]);
  });

  test('is followed up to SITEMAP_MAX_FILES', async () => {
    const files = Object.fromEntries(
      Array.from({ length: 20 }, (_, n) => [`/${String(n)}.xml`, urlset(`/${String(n)}`)]),
    );
    const server = await site({ '/sitemap.xml': index(...Object.keys(files)), ...files });
    const { entries, problems } = await list(
      source({ settings: { sitemapMaxFiles: 4 } }),
      `${server.origin}/sitemap.xml`,
    );
    expect(entries.length).toBe(3);
    expect(server.requests.length).toBe(4);
    expect(problems.length).toBe(1);
    expect(problems[0]?.fault.message).toContain('SITEMAP_MAX_FILES');
  });

  test('with failing files lists the pages of the others, and reports the failures', async () => {
    const server = await site({
      '/sitemap.xml': index('/gone.xml', '/down.xml', '/html.xml', '/good.xml'),
      '/down.xml': { status: 500 },
      '/html.xml': '<html></html>',
      '/good.xml': urlset('/1'),
    });
    const { entries, problems } = await list(source(), `${server.origin}/sitemap.xml`);
    expect(entries.length).toBe(1);
    expect(problems.map(({ url, fault }) => [url.replace(server.origin, ''), fault.kind])).toEqual([
      ['/gone.xml', 'not_found'],
      ['/down.xml', 'server_error'],
      ['/html.xml', 'broken_content'],
    ]);
  });

  test('without readable files fails with the error of its first file', async () => {
    expect(
      await failure({ '/sitemap.xml': index('/down.xml', '/gone.xml'), '/down.xml': { status: 502 } }),
    ).toMatchObject({ kind: 'server_error' });
  });

  test('reports a problem for a sitemap in it that redirects to a private address', async () => {
    const server = await site({
      '/sitemap.xml': index('/in.xml', '/good.xml'),
      '/in.xml': { status: 302, headers: { Location: 'http://10.0.0.1/' } },
      '/good.xml': urlset('/1'),
    });
    const { problems } = await list(source(), `${server.origin}/sitemap.xml`);
    expect(problems.map(({ fault }) => fault.kind)).toEqual(['address_refused']);
  });
});
