import { gzipSync } from 'node:zlib';
import { afterEach, describe, expect, test } from '@jest/globals';

import type { Feed } from '../../../connectors/types.js';
import { Fault } from '../../../contract/failures.js';
import { type Site, startSite } from '../../emulators/site.js';
import { closeSources, source } from './webSource.js';

let site: Site;
afterEach(async () => {
  await closeSources();
  await site.close();
});

const { signal } = new AbortController();

async function read(
  body: string | Buffer,
  type = 'application/xml',
  headers: Record<string, string> = {},
): Promise<Feed> {
  site = await startSite({ '/feed': { type, body, headers } });
  const feed = await source({ settings: { maxPageBytes: 20_000_000 } }).readFeed(site.url('/feed'), signal, null);
  if (feed === null) throw new Error('nothing was answered to a request without a condition');
  return feed;
}
async function faultOf(body: string | Buffer): Promise<Fault> {
  const error: unknown = await read(body).catch((reason: unknown) => reason);
  if (!(error instanceof Fault)) throw new Error(`not a Fault: ${JSON.stringify(error)}`);
  return error;
}

test('a feed is known again by its validators, and null says that it is the same; one that broke off has none', async () => {
  const headers = { etag: '"v1"', 'last-modified': 'Sat, 01 Nov 2025 00:00:00 GMT' };
  const seen: (string | undefined)[] = [];
  const whole = '<rss><channel><item><guid>a</guid></item></channel></rss>';
  const known = (await read(whole, 'application/xml', headers)).validators;
  expect(known).toEqual({ etag: '"v1"', lastModified: headers['last-modified'] });
  site.pages.set('/feed', (request, response) => {
    seen.push(request.headers['if-none-match'], request.headers['if-modified-since']);
    response.writeHead(304, headers).end();
  });
  const web = source();
  expect(await web.readFeed(site.url('/feed'), signal, known)).toBeNull();
  expect(seen).toEqual([known.etag, known.lastModified]);
  await expect(web.readFeed(site.url('/feed'), signal, null)).rejects.toMatchObject({ name: 'Fault' });
  site.pages.set('/feed', {
    type: 'application/xml',
    body: whole.replace('</channel></rss>', '<item><guid>b'),
    headers,
  });
  expect(await web.readFeed(site.url('/feed'), signal, known)).toMatchObject({
    entries: [{ id: 'a' }],
    validators: { etag: null, lastModified: null },
  });
});

test('RSS 2.0: names, links, times, whole texts and summaries; words of other vocabularies are not taken for its own', async () => {
  const feed = await read(`<?xml version="1.0"?>
<rss version="2.0" xmlns:content="c" xmlns:media="m" xmlns:atom="a" xmlns:dc="d"><channel><title>Harbour &amp; Sea</title>
<link>https://example.org/</link><atom:link href="https://example.org/feed" rel="self"/>
<image><title>Logo</title></image>
<item><title>One &amp;amp; two</title><link>/one?a=1&amp;b=2</link><guid isPermaLink="false">id-1</guid>
<pubDate>Tue, 03 Mar 2026 10:00:00 GMT</pubDate><description>&lt;p&gt;Short&lt;/p&gt;</description>
<media:group><media:title>Film</media:title><media:content url="x"/></media:group>
<content:encoded><![CDATA[<p>Whole <b>text</b></p>]]></content:encoded></item>
<item><title>Three</title><guid>https://example.org/three</guid><description>Only a summary&nbsp;here</description><dc:date>2026-03-04</dc:date></item>
<item><title>One again</title><guid>id-1</guid></item>
<item></item>
</channel></rss>`);
  expect(feed).toEqual({
    title: 'Harbour & Sea',
    validators: { etag: null, lastModified: null },
    entries: [
      {
        id: 'id-1',
        url: site.url('/one?a=1&b=2'),
        title: 'One & two',
        publishedAt: '2026-03-03T10:00:00.000Z',
        content: '<p>Whole <b>text</b></p>',
        summary: '<p>Short</p>',
      },
      {
        id: 'https://example.org/three',
        url: 'https://example.org/three',
        title: 'Three',
        publishedAt: '2026-03-04T00:00:00.000Z',
        content: null,
        summary: 'Only a summary\u00a0here',
      },
    ],
  });
});

test('Atom: its kinds of text, its links, and markup written as elements', async () => {
  const feed = await read(`<feed xmlns="http://www.w3.org/2005/Atom"><title type="text">Notes</title>
<entry><id>tag:example.org,2026:1</id><title type="html">A &lt;em&gt;word&lt;/em&gt;</title>
<link rel="self" href="https://example.org/1.atom"/><link href="https://example.org/1"/>
<published>2026-01-02T03:04:05Z</published><updated>2026-02-02T00:00:00Z</updated>
<content type="xhtml"><div xmlns="http://www.w3.org/1999/xhtml"><p>Three &lt; four<br/></p><a href="?a&amp;b">l</a></div></content></entry>
<entry><id>2</id><title>Plain</title><link rel="alternate" href="/2"/><updated>never</updated><summary>1 &lt; 2 &amp; 3</summary></entry>
<entry><id>3</id><title>Elsewhere</title><content src="https://example.org/3.pdf" type="application/pdf"/></entry></feed>`);
  expect(feed.title).toBe('Notes');
  expect(feed.entries).toEqual([
    {
      id: 'tag:example.org,2026:1',
      url: 'https://example.org/1',
      title: 'A word',
      publishedAt: '2026-01-02T03:04:05.000Z',
      content: expect.stringContaining('<p>Three &lt; four<br></p><a href="?a&amp;b">l</a>'),
      summary: null,
    },
    { id: '2', url: site.url('/2'), title: 'Plain', publishedAt: null, content: null, summary: '1 &lt; 2 &amp; 3' },
    { id: '3', url: null, title: 'Elsewhere', publishedAt: null, content: null, summary: null },
  ]);
});

test('RSS 1.0 (RDF), RSS 0.91 and a feed with a prefix of its own are read too', async () => {
  const rdf =
    await read(`<rdf:RDF xmlns:rdf="r" xmlns="http://purl.org/rss/1.0/"><channel rdf:about="c"><title>Old</title></channel>
<item rdf:about="https://example.org/a"><title>A</title><link>https://example.org/a</link></item></rdf:RDF>`);
  expect(rdf).toMatchObject({ title: 'Old', entries: [{ id: 'https://example.org/a', title: 'A' }] });
  await site.close();
  const old = await read(
    '<rss version="0.91"><channel><item><title>T</title><link>https://example.org/t</link></item></channel></rss>',
  );
  expect(old.entries).toMatchObject([{ id: 'https://example.org/t', url: 'https://example.org/t' }]);
  await site.close();
  const own = await read(
    '<a:feed xmlns:a="http://www.w3.org/2005/Atom"><a:entry><a:id>1</a:id><a:title>T</a:title></a:entry></a:feed>',
  );
  expect(own.entries).toMatchObject([{ id: '1', title: 'T' }]);
});

test('JSON Feed: texts as HTML, numbers as names, anything odd left out', async () => {
  const feed = await read(
    JSON.stringify({
      version: 'https://jsonfeed.org/version/1.1',
      title: 'J',
      items: [
        { id: 7, url: 'https://example.org/7', title: 'A < B', content_html: '<p>H</p>', date_published: '2026-05-05' },
        { id: 'x', content_text: 'one & two\n\nthree', summary: '<b>' },
        null,
        'text',
        { title: {} },
      ],
    }),
    'application/json',
  );
  expect(feed.title).toBe('J');
  expect(feed.entries).toEqual([
    {
      id: '7',
      url: 'https://example.org/7',
      title: 'A < B',
      publishedAt: '2026-05-05T00:00:00.000Z',
      content: '<p>H</p>',
      summary: null,
    },
    {
      id: 'x',
      url: null,
      title: null,
      publishedAt: null,
      content: '<p>one &amp; two</p>\n<p>three</p>',
      summary: '&lt;b&gt;',
    },
  ]);
});

test('a feed is known by its content, packed or not, in the charset it declares', async () => {
  const latin = Buffer.from(
    '<?xml version="1.0" encoding="iso-8859-1"?><rss><channel><title>Gr\u00fc\u00dfe</title><item><guid>1</guid></item></channel></rss>',
    'latin1',
  );
  expect((await read(gzipSync(latin), 'text/plain')).title).toBe('Gr\u00fc\u00dfe');
});

describe('hostile and broken feeds', () => {
  test('one that breaks off gives the entries before that', async () => {
    const feed = await read('<rss><channel><item><guid>1</guid></item><item><guid>2</gui');
    expect(feed.entries.map(({ id }) => id)).toEqual(['1']);
  });
  test.each([
    ['an empty one', '', 'is empty'],
    ['a web page', '<!doctype html><p>Hello', 'is a web page, not a feed'],
    ['XHTML', '<html xmlns="x"><body/></html>', 'is a web page, not a feed'],
    ['a sitemap', '<urlset><url><loc>https://a.example/</loc></url></urlset>', 'is a sitemap, not a feed'],
    ['other XML', '<note/>', 'begins with <note>'],
    ['text', 'hello', 'is neither XML nor JSON'],
    ['other JSON', '{"a":1}', 'is JSON but no feed'],
    ['broken JSON', '{"items":[', 'is neither XML nor JSON that can be read'],
    [
      'JSON of a hundred thousand levels',
      `{"items":${'['.repeat(100_000)}`,
      'is neither XML nor JSON that can be read',
    ],
    ['elements in one another', `<rss><channel>${'<a>'.repeat(1000)}`, 'nests its elements too deep'],
    [
      'endless attributes',
      `<rss ${Array.from({ length: 500 }, (_, n) => `a${n}="1"`).join(' ')}>`,
      'too many attributes',
    ],
    [
      'entities of its own',
      '<!DOCTYPE rss [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]><rss><channel><item><title>&b;</title></item></channel></rss>',
      "can't be read",
    ],
    [
      'files of ours',
      '<!DOCTYPE rss [<!ENTITY f SYSTEM "file:///etc/passwd">]><rss><channel><item><title>&f;</title></item></channel></rss>',
      "can't be read",
    ],
  ])('%s is a fault that says so', async (_what, body, sentence) => {
    const fault = await faultOf(body);
    expect([fault.kind, fault.message]).toEqual(['broken_content', expect.stringContaining(sentence)]);
  });
  test('a feed without an end is read up to its bounds', async () => {
    const feed = await read(
      `<rss><channel>${Array.from({ length: 6000 }, (_, n) => `<item><guid>${n}</guid></item>`).join('')}`,
    );
    expect(feed.entries).toHaveLength(5000);
  });
  test('endless names and texts are cut', async () => {
    const long = 'x'.repeat(2_000_000);
    const feed = await read(`<rss><channel><title>${long}</title>
<item><guid>${long}</guid><title>${long}</title><description>${long}</description></item></channel></rss>`);
    const [entry] = feed.entries;
    expect(entry?.id).toMatch(/^sha256:[0-9a-f]{64}$/);
    expect([feed.title?.length, entry?.title?.length, entry?.summary?.length]).toEqual([
      expect.any(Number),
      2000,
      1_000_000,
    ]);
    expect(feed.title!.length).toBeLessThanOrEqual(2000);
  });
  test('addresses that are no pages are left out', async () => {
    const feed = await read(`<rss><channel><item><guid>1</guid><link>javascript:alert(1)</link></item>
<item><guid>2</guid><link>file:///etc/passwd</link></item><item><guid>http://a:b@c.example/</guid></item></channel></rss>`);
    expect(feed.entries.map(({ url }) => url)).toEqual([null, null, null]);
  });
  test('a feed that is missing, or gone, is a lasting fault', async () => {
    site = await startSite({ '/gone': { status: 410 } });
    for (const [path, kind] of [
      ['/gone', 'gone'],
      ['/nowhere', 'not_found'],
    ] as const)
      await expect(source().readFeed(site.url(path), signal, null)).rejects.toMatchObject({
        kind,
        retryable: false,
      });
  });
});
