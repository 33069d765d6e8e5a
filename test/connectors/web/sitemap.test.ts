import { gzipSync } from 'node:zlib';
import { afterEach, describe, expect, test } from '@jest/globals';

import { faultOf, serve, type Loopback } from '../../egress/loopback.js';
import { closeSources, list, source } from './webSource.js';

afterEach(closeSources);

const SPACE = 'xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"';
const urlset = (...paths: string[]) =>
  `<?xml version="1.0" encoding="UTF-8"?>\n<urlset ${SPACE}>${paths.map((path) => `<url><loc>${path}</loc></url>`).join('')}</urlset>`;
const index = (...paths: string[]) =>
  `<sitemapindex ${SPACE}>${paths.map((path) => `<sitemap><loc>${path}</loc></sitemap>`).join('')}</sitemapindex>`;

type Body = string | Uint8Array | { status?: number; headers?: Record<string, string>; body?: string | Uint8Array };

/** Serves the files by path; HOST in a text stands for the server's own host. */
async function site(files: Record<string, Body>): Promise<Loopback> {
  const server: Loopback = await serve((asked, response) => {
    const file = files[asked.url ?? ''];
    const {
      status = file === undefined ? 404 : 200,
      headers = {},
      body = '',
    } = file === undefined ? {} : typeof file === 'string' || file instanceof Uint8Array ? { body: file } : file;
    response.writeHead(
      status,
      Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, value.replaceAll('HOST', server.host)])),
    );
    response.end(typeof body === 'string' ? body.replaceAll('HOST', server.host) : body);
  });
  return server;
}

/** The paths found at /sitemap.xml. */
async function paths(files: Record<string, Body>, settings = {}): Promise<string[]> {
  const server = await site(files);
  const { entries } = await list(source({ settings }), `${server.origin}/sitemap.xml`);
  return entries.map(({ url }) => url.replace(server.origin, ''));
}

async function failure(files: Record<string, Body>, settings = {}) {
  const server = await site(files);
  return faultOf(list(source({ settings }), `${server.origin}/sitemap.xml`));
}

describe('one file', () => {
  test('gives pages and dates in order, each once, normalised', async () => {
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

  test('with prefixes, images, videos and alternates names its pages only', async () => {
    const body = `<s:urlset xmlns:s="http://www.sitemaps.org/schemas/sitemap/0.9" xmlns:image="i" xmlns:xhtml="x"><s:url><s:loc>http://HOST/1</s:loc>
      <image:image><image:loc>http://HOST/1.png</image:loc></image:image><xhtml:link rel="alternate" href="http://HOST/de"/></s:url></s:urlset>`;
    expect(await paths({ '/sitemap.xml': body })).toEqual(['/1']);
  });

  test('keeps to its own host: other ports, subdomains and www. are others', async () => {
    const lookup = () => Promise.resolve([{ address: '127.0.0.1', family: 4 }]);
    const server = await site({});
    const port = String(server.port);
    const two = await site({
      '/sitemap.xml': urlset(
        `http://site.example:${port}/no`,
        '/yes',
        'http://www.site.example/no',
        'https://site.example/no',
        'http://site.example.evil.example/no',
      ),
    });
    const { entries } = await list(source({ lookup }), `http://site.example:${String(two.port)}/sitemap.xml`);
    expect(entries.map(({ url }) => url)).toEqual([`http://site.example:${String(two.port)}/yes`]);
  });

  test('that names other hosts only says which', async () => {
    const fault = await failure({ '/sitemap.xml': urlset('https://www.site.example/1', 'https://www.site.example/2') });
    expect(fault).toMatchObject({
      kind: 'broken_content',
      message: expect.stringContaining('give the one of www.site.example'),
    });
  });

  test('reached through a redirect speaks for both hosts', async () => {
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
      'both ways',
      { 'Content-Encoding': 'gzip', 'Content-Type': 'application/gzip' },
      (body: string) => gzipSync(gzipSync(body)),
    ],
  ])('packed %s', async (_name, headers, pack) => {
    expect(await paths({ '/sitemap.xml': { headers, body: pack(urlset('/1', '/2')) } })).toEqual(['/1', '/2']);
  });

  test.each([
    ['UTF-8 with a mark', Buffer.from(`\ufeff${urlset('/ä')}`), {}],
    ['UTF-16LE with a mark', Buffer.from(`\ufeff${urlset('/ä')}`, 'utf16le'), {}],
    ['UTF-16BE with a mark', Buffer.from(`\ufeff${urlset('/ä')}`, 'utf16le').swap16(), {}],
    ['UTF-16LE without one', Buffer.from(urlset('/ä'), 'utf16le'), {}],
    ['Latin-1 by declaration', Buffer.from(urlset('/ä').replace('UTF-8', 'ISO-8859-1'), 'latin1'), {}],
    [
      'Latin-1 by header',
      Buffer.from(urlset('/ä').replace(/ encoding="UTF-8"/, ''), 'latin1'),
      { 'Content-Type': 'text/xml; charset="iso-8859-1"' },
    ],
    ['UTF-8 that says UTF-16', Buffer.from(urlset('/ä').replace('UTF-8', 'UTF-16')), {}],
    ['a charset nobody knows', Buffer.from(urlset('/ä').replace('UTF-8', 'x-own')), {}],
  ])('in %s', async (_name, body, headers) => {
    expect(await paths({ '/sitemap.xml': { body, headers } })).toEqual(['/%C3%A4']);
  });

  test('as a plain list of addresses', async () => {
    const body =
      '\ufeffhttp://HOST/1\r\nhttp://HOST/2\n\n# note\n/relative\nhttps://other.example/3\nhttp://HOST/1\nhttp://HOST/4';
    expect(await paths({ '/sitemap.xml': { body, headers: { 'Content-Type': 'text/plain' } } })).toEqual([
      '/1',
      '/2',
      '/4',
    ]);
  });

  test('without a page is empty, not broken', async () => {
    expect(await paths({ '/sitemap.xml': urlset() })).toEqual([]);
  });
});

describe('an index', () => {
  test('is followed in order, its loops cut, its pages given once', async () => {
    expect(
      await paths({
        '/sitemap.xml': index('/a.xml', '/b.xml.gz', '/sitemap.xml', '/a.xml', 'https://other.example/x.xml'),
        '/a.xml': index('/a1.xml', '/sitemap.xml'),
        '/a1.xml': urlset('/1', '/2'),
        '/b.xml.gz': { headers: { 'Content-Type': 'application/gzip' }, body: gzipSync(urlset('/2', '/3')) },
      }),
    ).toEqual(['/1', '/2', '/3']);
  });

  test('is followed as deep as the setting says, and what lies deeper is a problem', async () => {
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

  test('is followed to as many files as the setting says', async () => {
    const files = Object.fromEntries(
      Array.from({ length: 20 }, (_, n) => [`/${String(n)}.xml`, urlset(`/${String(n)}`)]),
    );
    const server = await site({ '/sitemap.xml': index(...Object.keys(files)), ...files });
    const { entries, problems } = await list(
      source({ settings: { sitemapMaxFiles: 4 } }),
      `${server.origin}/sitemap.xml`,
    );
    expect(entries.length).toBe(3);
    expect(server.seen.length).toBe(4);
    expect(problems.length).toBe(1);
    expect(problems[0]?.fault.message).toContain('SITEMAP_MAX_FILES');
  });

  test('with files that fail gives the others and tells of the failures', async () => {
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

  test('of which nothing can be read fails as its first file does', async () => {
    expect(
      await failure({ '/sitemap.xml': index('/down.xml', '/gone.xml'), '/down.xml': { status: 502 } }),
    ).toMatchObject({ kind: 'server_error' });
  });

  test('never leads inside: a nested sitemap that redirects to a private address is refused', async () => {
    const server = await site({
      '/sitemap.xml': index('/in.xml', '/good.xml'),
      '/in.xml': { status: 302, headers: { Location: 'http://10.0.0.1/' } },
      '/good.xml': urlset('/1'),
    });
    const { problems } = await list(source(), `${server.origin}/sitemap.xml`);
    expect(problems.map(({ fault }) => fault.kind)).toEqual(['address_refused']);
  });
});

describe('what is broken', () => {
  test.each([
    ['cut off', `<urlset ${SPACE}><url><loc>/1</loc></url><url><loc>/2</loc></url><url><lo`],
    [
      'a bare ampersand',
      `<urlset ${SPACE}><url><loc>/1</loc></url><url><loc>/2</loc></url><url><loc>/3?a&b</loc></url></urlset>`,
    ],
    ['an unclosed element', `<urlset ${SPACE}><url><loc>/1</loc></url><url><loc>/2</loc></url></sitemap></urlset>`],
    ['something after the end', `${urlset('/1', '/2')}<html>`],
    [
      'an entity of its own',
      `<!DOCTYPE u [<!ENTITY e "/x">]><urlset><url><loc>/1</loc></url><url><loc>/2</loc></url><url><loc>&e;</loc></url></urlset>`,
    ],
  ])('%s: the pages before it are used, and the fault is told', async (_name, body) => {
    const server = await site({ '/sitemap.xml': body });
    const { entries, problems } = await list(source(), `${server.origin}/sitemap.xml`);
    expect(entries.map(({ url }) => url)).toEqual([`${server.origin}/1`, `${server.origin}/2`]);
    expect(problems.map(({ fault }) => fault.kind)).toEqual(['broken_content']);
  });

  test.each<[string, Body, RegExp]>([
    ['broken before the first page', '<urlset><url><loc>/1</loc>', /broken XML/],
    ['a web page', '<!DOCTYPE html><html><body>Not here</body></html>', /is a web page, not a sitemap.*\/sitemap\.xml/],
    ['a web page without doctype', '<HTML><head>', /is a web page/],
    ['a feed', '<?xml version="1.0"?><rss version="2.0"><channel/></rss>', /is a feed/],
    ['an Atom feed', '<feed xmlns="http://www.w3.org/2005/Atom"/>', /is a feed/],
    ['other XML', '<note><to/></note>', /begins with <note>/],
    ['nothing', '', /is empty/],
    ['blanks', ' \n ', /is empty/],
    ['JSON', '{"urls": ["http://HOST/1"]}', /neither XML nor a list/],
    ['an image', Buffer.from([0x89, 0x50, 0x4e, 0x47, 0, 1, 2, 3]), /neither XML nor a list/],
    [
      'half a gzip',
      gzipSync(urlset(...Array.from({ length: 50 }, (_, n) => `/${String(n)}`))).subarray(0, 30),
      /packing is damaged/,
    ],
    ['very deep', `<urlset>${'<a>'.repeat(100_000)}`, /too deep/],
    [
      'wide',
      `<urlset ${Array.from({ length: 5000 }, (_, n) => `a${String(n)}=""`).join(' ')}/>`,
      /too many attributes/,
    ],
    [
      'billion laughs',
      `<!DOCTYPE u [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;&a;">]><urlset><url><loc>&b;</loc></url></urlset>`,
      /broken XML/,
    ],
    [
      'an external entity',
      `<!DOCTYPE u [<!ENTITY e SYSTEM "file:///etc/passwd">]><urlset><url><loc>&e;</loc></url></urlset>`,
      /broken XML/,
    ],
  ])('%s: a Fault with a sentence', async (_name, body, sentence) => {
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
  ])('status %i is %s', async (status, kind) => {
    const fault = await failure({ '/sitemap.xml': { status } });
    expect(fault.kind).toBe(kind);
    expect(fault.message).toMatch(/^The sitemap http/);
  });

  test('an address that is none', async () => {
    await faultOf(list(source(), 'ftp://site.example/sitemap.xml'), 'address_refused');
    await faultOf(list(source({ allowed: [] }), 'http://127.0.0.1/sitemap.xml'), 'address_refused');
  });
});

describe('limits', () => {
  const many = (count: number) => urlset(...Array.from({ length: count }, (_, n) => `/${String(n)}`));

  test('50,000 pages a file', async () => {
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
    ['packed', (body: string) => gzipSync(body)],
  ])('bytes of a %s file: the pages before it are used', async (_name, pack) => {
    const server = await site({ '/sitemap.xml': pack(many(10_000)) });
    const { entries, problems } = await list(
      source({ settings: { sitemapMaxBytes: 100_000 } }),
      `${server.origin}/sitemap.xml`,
    );
    expect(entries.length).toBeGreaterThan(1000);
    expect(entries.length).toBeLessThan(10_000);
    expect(problems.map(({ fault }) => fault.kind)).toEqual(['too_large']);
  });

  test('a bomb', async () => {
    const fault = await failure({
      '/sitemap.xml': gzipSync(Buffer.concat([Buffer.from('<urlset><!--'), Buffer.alloc(200_000_000, 32)])),
    });
    expect(fault).toMatchObject({ kind: 'too_large', message: expect.stringContaining('SITEMAP_MAX_BYTES') });
  });

  test('a line without end in a list', async () => {
    const fault = await failure({ '/sitemap.xml': `http://${'x'.repeat(900_000)}` });
    expect(fault.kind).toBe('broken_content');
  });

  test('time', async () => {
    const server = await serve((_, response) => {
      response.write('<urlset>');
      const drip = setInterval(() => response.write(' '), 50);
      response.on('close', () => {
        clearInterval(drip);
      });
    });
    await faultOf(list(source({ settings: { pageTimeoutMs: 100 } }), server.origin), 'timed_out');
  });

  test('an abort rejects with its reason', async () => {
    const stop = new AbortController();
    const reason = new RangeError('enough');
    const server = await serve((_, response) => {
      response.write('<urlset><url><loc>/1</loc></url>');
      stop.abort(reason);
    });
    await expect(list(source(), server.origin, stop.signal)).rejects.toBe(reason);
  });

  test('a reader who stops early ends the reading', async () => {
    const server = await site({
      '/sitemap.xml': index('/a.xml', '/b.xml'),
      '/a.xml': urlset('/1', '/2'),
      '/b.xml': urlset('/3'),
    });
    for await (const entry of source().discover(`${server.origin}/sitemap.xml`, new AbortController().signal)) {
      expect(entry.url).toContain('/1');
      break;
    }
    expect(server.seen.map(({ url }) => url)).toEqual(['/sitemap.xml', '/a.xml']);
  });
});
