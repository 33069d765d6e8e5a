import { gzipSync } from 'node:zlib';
import { afterEach, describe, expect, test } from '@jest/globals';

import { serve } from '../../egress/loopback.js';
import { faultOf } from '../../support/faultOf.js';
import { failure, index, site, SPACE, urlset, type Body } from './sitemapSite.js';
import { closeSources, list, source } from './webSource.js';

afterEach(closeSources);

describe('a broken sitemap', () => {
  test.each([
    ['truncation', `<urlset ${SPACE}><url><loc>/1</loc></url><url><loc>/2</loc></url><url><lo`],
    [
      'a bare ampersand',
      `<urlset ${SPACE}><url><loc>/1</loc></url><url><loc>/2</loc></url><url><loc>/3?a&b</loc></url></urlset>`,
    ],
    ['an unclosed element', `<urlset ${SPACE}><url><loc>/1</loc></url><url><loc>/2</loc></url></sitemap></urlset>`],
    ['content after the end', `${urlset('/1', '/2')}<html>`],
    [
      'a declared entity',
      `<!DOCTYPE u [<!ENTITY e "/x">]><urlset><url><loc>/1</loc></url><url><loc>/2</loc></url><url><loc>&e;</loc></url></urlset>`,
    ],
  ])('lists the pages before %s and reports the fault', async (_name, body) => {
    const server = await site({ '/sitemap.xml': body });
    const { entries, problems } = await list(source(), `${server.origin}/sitemap.xml`);
    expect(entries.map(({ url }) => url)).toEqual([`${server.origin}/1`, `${server.origin}/2`]);
    expect(problems.map(({ fault }) => fault.kind)).toEqual(['broken_content']);
  });

  test.each<[string, Body, RegExp]>([
    ['XML truncated before the first page', '<urlset><url><loc>/1</loc>', /broken XML/],
    ['a web page', '<!DOCTYPE html><html><body>Not here</body></html>', /is a web page, not a sitemap.*\/sitemap\.xml/],
    ['a web page in lower case', '\n<!doctype html>\n<html><body>Not here</body></html>', /is a web page/],
    ['a web page without doctype', '<HTML><head>', /is a web page/],
    ['a feed', '<?xml version="1.0"?><rss version="2.0"><channel/></rss>', /is a feed/],
    ['an Atom feed', '<feed xmlns="http://www.w3.org/2005/Atom"/>', /is a feed/],
    ['other XML', '<note><to/></note>', /begins with <note>/],
    ['XML whose root is named like a property of all objects', '<constructor/>', /begins with <constructor>/],
    ['an empty body', '', /is empty/],
    ['blanks', ' \n ', /is empty/],
    ['JSON', '{"urls": ["http://HOST/1"]}', /neither XML nor a list/],
    ['an image', Buffer.from([0x89, 0x50, 0x4e, 0x47, 0, 1, 2, 3]), /neither XML nor a list/],
    [
      'a truncated gzip',
      gzipSync(urlset(...Array.from({ length: 50 }, (_, n) => `/${String(n)}`))).subarray(0, 30),
      /data is damaged/,
    ],
    ['deeply nested elements', `<urlset>${'<a>'.repeat(100_000)}`, /too deep/],
    [
      '5,000 attributes',
      `<urlset ${Array.from({ length: 5000 }, (_, n) => `a${String(n)}=""`).join(' ')}/>`,
      /too many attributes/,
    ],
    [
      'a billion laughs',
      `<!DOCTYPE u [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;&a;">]><urlset><url><loc>&b;</loc></url></urlset>`,
      /broken XML/,
    ],
    [
      'an external entity',
      `<!DOCTYPE u [<!ENTITY e SYSTEM "file:///etc/passwd">]><urlset><url><loc>&e;</loc></url></urlset>`,
      /broken XML/,
    ],
  ])('fails with the reason for %s', async (_name, body, sentence) => {
    const fault = await failure({ '/sitemap.xml': body });
    expect([fault.kind, fault.retryable]).toEqual(['broken_content', false]);
    expect(fault.message).toMatch(sentence);
    expect(fault.message).toContain('/sitemap.xml');
  });

  test.each<[number, string]>([
    [404, 'not_found'],
    [410, 'gone'],
    [403, 'access_denied'],
    [429, 'rate_limited'],
    [500, 'server_error'],
    [418, 'bad_response'],
  ])('reports status %i as %s', async (status, kind) => {
    const fault = await failure({ '/sitemap.xml': { status } });
    expect(fault.kind).toBe(kind);
    expect(fault.message).toMatch(/^The sitemap http/);
  });

  test('is not requested from an invalid or private address', async () => {
    await faultOf(list(source(), 'ftp://site.example/sitemap.xml'), 'address_refused');
    await faultOf(list(source({ allowed: [] }), 'http://127.0.0.1/sitemap.xml'), 'address_refused');
  });
});

describe('limits', () => {
  const many = (count: number) => urlset(...Array.from({ length: count }, (_, n) => `/${String(n)}`));

  test('apply to pages: 50,000 per file', async () => {
    const server = await site({ '/sitemap.xml': many(50_001) });
    const { entries, problems } = await list(
      source({ settings: { sitemapMaxBytes: 50_000_000 } }),
      `${server.origin}/sitemap.xml`,
    );
    expect(entries.length).toBe(50_000);
    expect(problems.map(({ fault }) => fault.kind)).toEqual(['too_large']);
  });

  test.each([
    ['plain', (body: string) => Buffer.from(body)],
    ['gzipped', (body: string) => gzipSync(body)],
  ])('apply to the bytes of a %s file, whose earlier pages are listed', async (_name, pack) => {
    const server = await site({ '/sitemap.xml': pack(many(10_000)) });
    const { entries, problems } = await list(
      source({ settings: { sitemapMaxBytes: 100_000 } }),
      `${server.origin}/sitemap.xml`,
    );
    expect(entries.length).toBeGreaterThan(1000);
    expect(entries.length).toBeLessThan(10_000);
    expect(problems.map(({ fault }) => fault.kind)).toEqual(['too_large']);
  });

  test('stop a compression bomb', async () => {
    const fault = await failure({
      '/sitemap.xml': gzipSync(Buffer.concat([Buffer.from('<urlset><!--'), Buffer.alloc(200_000_000, 32)])),
    });
    expect(fault).toMatchObject({ kind: 'too_large', message: expect.stringContaining('SITEMAP_MAX_BYTES') });
  });

  test('reject an overlong line of a plain list', async () => {
    const fault = await failure({ '/sitemap.xml': `http://${'x'.repeat(900_000)}` });
    expect(fault.kind).toBe('broken_content');
  });

  test('apply to time', async () => {
    const server = await serve((_, response) => {
      response.write('<urlset>');
      const drip = setInterval(() => response.write(' '), 50);
      response.on('close', () => {
        clearInterval(drip);
      });
    });
    await faultOf(list(source({ settings: { pageTimeoutMs: 100 } }), server.origin), 'timed_out');
  });

  test('do not delay an abort: the listing rejects with its reason', async () => {
    const stop = new AbortController();
    const reason = new RangeError('enough');
    const server = await serve((_, response) => {
      response.write('<urlset><url><loc>/1</loc></url>');
      stop.abort(reason);
    });
    await expect(list(source(), server.origin, stop.signal)).rejects.toBe(reason);
  });
});

test('a listing requests no further sitemap file after its caller has stopped iterating', async () => {
  const server = await site({
    '/sitemap.xml': index('/a.xml', '/b.xml'),
    '/a.xml': urlset('/1', '/2'),
    '/b.xml': urlset('/3'),
  });
  for await (const entry of source().discover(`${server.origin}/sitemap.xml`, new AbortController().signal)) {
    expect(entry.url).toContain('/1');
    break;
  }
  expect(server.requests.map(({ url }) => url)).toEqual(['/sitemap.xml', '/a.xml']);
});
