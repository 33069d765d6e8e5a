import { gzipSync } from 'node:zlib';
import { afterAll, afterEach, beforeEach, describe, expect, test } from '@jest/globals';

import { createHostLimiter, sleepUntilAborted } from '../../../connectors/hostLimiter.js';
import { createFeedSource } from '../../../connectors/rssFeed/index.js';
import type { Feed, FeedAnswer, FeedRequest } from '../../../connectors/types.js';
import { Fault } from '../../../contract/failures.js';
import { readFeedAddress } from '../../../contract/runs/feeds.js';
import { createEgress } from '../../../egress/createEgress.js';
import { egressSettings } from '../../egress/loopback.js';
import { startEmulator } from '../../emulators/emulator.js';
import { type Page, type Site, startSite } from '../../emulators/site.js';
import { TIME_LIMIT_MS } from '../../support/waitFor.js';
import { acceptedBrokenAnswers } from '../brokenAnswers.js';

let site: Site;
const egress = createEgress(egressSettings({ allowedPrivateHosts: ['127.0.0.0/8'] }));
const sourceOf = (pageTimeoutMs: number) =>
  createFeedSource({
    egress,
    settings: { maxPageBytes: 20_000_000, pageTimeoutMs },
    limiter: createHostLimiter(8, Date.now, sleepUntilAborted),
  });
const feeds = sourceOf(TIME_LIMIT_MS);
/** For servers that never answer. */
const shortTimeoutFeeds = sourceOf(1_500);
afterEach(() => site.close());
afterAll(() => egress.close());

const { signal } = new AbortController();
const request = (path: string, more: Partial<FeedRequest> = {}, from = feeds): Promise<FeedAnswer> =>
  from.readFeed({ url: site.url(path), credentials: null, known: null, signal, ...more });

async function read(
  body: string | Buffer,
  type = 'application/xml',
  headers: Record<string, string> = {},
): Promise<Feed> {
  site = await startSite({ '/feed': { type, body, headers } });
  const { feed } = await request('/feed');
  if (feed === null) throw new Error('an unconditional request returned no feed');
  return feed;
}
async function faultOf(body: string | Buffer): Promise<Fault> {
  const error: unknown = await read(body).catch((reason: unknown) => reason);
  if (!(error instanceof Fault)) throw new Error(`not a Fault: ${JSON.stringify(error)}`);
  return error;
}

test('sends the validators of a feed, returns null for an unchanged one, and stores none for a truncated one', async () => {
  const headers = { etag: '"v1"', 'last-modified': 'Sat, 01 Nov 2025 00:00:00 GMT' };
  const seen: (string | undefined)[] = [];
  const whole = '<rss><channel><item><guid>a</guid></item></channel></rss>';
  const firstValidators = (await read(whole, 'application/xml', headers)).validators;
  expect(firstValidators).toEqual({ etag: '"v1"', lastModified: headers['last-modified'] });
  site.pages.set('/feed', (received, response) => {
    seen.push(received.headers['if-none-match'], received.headers['if-modified-since']);
    response.writeHead(304, headers).end();
  });
  expect(await request('/feed', { known: firstValidators })).toEqual({ feed: null, movedTo: null });
  expect(seen).toEqual([firstValidators.etag, firstValidators.lastModified]);
  await expect(request('/feed')).rejects.toMatchObject({ name: 'Fault' });
  site.pages.set('/feed', {
    type: 'application/xml',
    body: whole.replace('</channel></rss>', '<item><guid>b'),
    headers,
  });
  expect((await request('/feed', { known: firstValidators })).feed).toMatchObject({
    entries: [{ id: 'a' }],
    validators: { etag: null, lastModified: null },
  });
});

test('RSS 2.0: reads titles, links, times, texts and summaries, and ignores media:title and atom:link', async () => {
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

test('Atom: reads every type of text, links, and XHTML content', async () => {
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

test.each([
  ['<title>List&lt;String&gt; &amp;amp; more</title>', 'List<String> &amp; more'],
  ['<title type="text">a &lt;b&gt; c</title>', 'a <b> c'],
  ['<title type="xhtml"><div>1 &lt; <em>2</em> &gt; 0</div></title>', '1 < 2 > 0'],
  ['<title type="html">a &lt;b&gt;bold&lt;/b&gt; &amp;amp; c</title>', 'a bold & c'],
])('Atom: reads the titles of the feed and its entries by their type: %s', async (title, text) => {
  const feed = await read(`<feed xmlns="http://www.w3.org/2005/Atom">${title}<entry><id>1</id>${title}</entry></feed>`);
  expect([feed.title, feed.entries[0]?.title]).toEqual([text, text]);
});

test('reads entities of HTML that the feed does not declare, also in titles that are HTML in CDATA', async () => {
  const feed = await read(`<rss><channel><title>&Icirc;le &amp;amp; c&oelig;ur, n.&ordm; 1</title>
<item><guid>1</guid><title><![CDATA[Caf&eacute; &#x2019;26&nbsp;&notanentity;]]></title></item>
<item><guid>2</guid><title>5 m&sup2; &minus; &micro; &diams;</title></item></channel></rss>`);
  expect([feed.title, ...feed.entries.map(({ title }) => title)]).toEqual([
    'Île & cœur, n.º 1',
    'Café ’26 &notanentity;',
    '5 m² − µ ♦',
  ]);
});

test('RSS: takes a guid as the address of an entry unless isPermaLink is false', async () => {
  const guids = ['', ' isPermaLink="true"', ' isPermaLink="false"'].map(
    (attribute, at) => `<item><guid${attribute}>https://example.org/${at}</guid></item>`,
  );
  const { entries } = await read(`<rss version="2.0"><channel>${guids.join('')}</channel></rss>`);
  expect(entries.map(({ id, url }) => [id, url])).toEqual([
    ['https://example.org/0', 'https://example.org/0'],
    ['https://example.org/1', 'https://example.org/1'],
    ['https://example.org/2', null],
  ]);
});

test('reads RSS 1.0 (RDF), RSS 0.91 and a feed with its own namespace prefix', async () => {
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
  const feed = await read(
    '<a:feed xmlns:a="http://www.w3.org/2005/Atom"><a:entry><a:id>1</a:id><a:title>T</a:title></a:entry></a:feed>',
  );
  expect(feed.entries).toMatchObject([{ id: '1', title: 'T' }]);
});

test('JSON Feed: reads texts as HTML and numbers as ids, and leaves out invalid entries', async () => {
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

test('detects a feed by its content, also gzipped, and decodes its declared charset', async () => {
  const latin = Buffer.from(
    '<?xml version="1.0" encoding="iso-8859-1"?><rss><channel><title>Gr\u00fc\u00dfe</title><item><guid>1</guid></item></channel></rss>',
    'latin1',
  );
  expect((await read(gzipSync(latin), 'text/plain')).title).toBe('Gr\u00fc\u00dfe');
});

describe('hostile and broken feeds', () => {
  test('are read up to the point where they are truncated', async () => {
    const feed = await read('<rss><channel><item><guid>1</guid></item><item><guid>2</gui');
    expect(feed.entries.map(({ id }) => id)).toEqual(['1']);
  });
  test('fail with the reason of the abort, even after the first entry', async () => {
    site = await startSite({ '/feed': { type: 'application/xml', body: '' } });
    const stop = new AbortController();
    async function* untilAborted() {
      yield Buffer.from(`<rss><channel><item><guid>1</guid></item>${' '.repeat(1_000)}`);
      stop.abort(new RangeError('enough'));
      stop.signal.throwIfAborted();
    }
    const source = createFeedSource({
      egress: { request: async (options) => ({ ...(await egress.request(options)), body: untilAborted() }) },
      settings: { maxPageBytes: 20_000_000, pageTimeoutMs: TIME_LIMIT_MS },
      limiter: createHostLimiter(8, Date.now, sleepUntilAborted),
    });
    const reading = source.readFeed({ url: site.url('/feed'), credentials: null, known: null, signal: stop.signal });
    await expect(reading).rejects.toThrow('enough');
  });
  test.each([
    ['nothing', '', 'is empty'],
    ['a web page', '<!doctype html><p>Hello', 'is a web page, not a feed'],
    ['XHTML', '<html xmlns="x"><body/></html>', 'is a web page, not a feed'],
    ['a sitemap', '<urlset><url><loc>https://a.example/</loc></url></urlset>', 'is a sitemap, not a feed'],
    ['other XML', '<note/>', 'begins with <note>'],
    ['text', 'hello', 'is neither XML nor JSON'],
    ['other JSON', '{"a":1}', 'is JSON but not a feed'],
    ['broken JSON', '{"items":[', 'is neither valid XML nor valid JSON'],
    ['JSON nested 100,000 deep', `{"items":${'['.repeat(100_000)}`, 'is neither valid XML nor valid JSON'],
    ['deeply nested elements', `<rss><channel>${'<a>'.repeat(1000)}`, 'has too deeply nested elements'],
    ['500 attributes', `<rss ${Array.from({ length: 500 }, (_, n) => `a${n}="1"`).join(' ')}>`, 'too many attributes'],
    [
      'declared entities',
      '<!DOCTYPE rss [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]><rss><channel><item><title>&b;</title></item></channel></rss>',
      "can't be read",
    ],
    [
      'an entity of a local file',
      '<!DOCTYPE rss [<!ENTITY f SYSTEM "file:///etc/passwd">]><rss><channel><item><title>&f;</title></item></channel></rss>',
      "can't be read",
    ],
  ])('that are %s fail with the reason', async (_what, body, sentence) => {
    const fault = await faultOf(body);
    expect([fault.kind, fault.message]).toEqual(['broken_content', expect.stringContaining(sentence)]);
  });
  test.each([
    ['XML', (ids: string[]) => `<rss><channel>${ids.map((id) => `<item><guid>${id}</guid></item>`).join('')}`],
    ['JSON', (ids: string[]) => JSON.stringify({ items: ids.map((id) => ({ id })) })],
  ])(
    'are read up to 5,000 entries, with validators, so that an unchanged feed is not read again: %s',
    async (_format, write) => {
      const ids = Array.from({ length: 6000 }, (_, nth) => String(nth));
      const { entries, validators } = await read(write(ids), 'text/plain', { etag: '"v1"' });
      expect(entries.map(({ id }) => id)).toEqual(ids.slice(0, 5000));
      expect(validators).toEqual({ etag: '"v1"', lastModified: null });
    },
  );
  test('have overlong titles and texts truncated', async () => {
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
  test('are read without links that are not HTTP', async () => {
    const feed = await read(`<rss><channel><item><guid>1</guid><link>javascript:alert(1)</link></item>
<item><guid>2</guid><link>file:///etc/passwd</link></item><item><guid>http://a:b@c.example/</guid></item></channel></rss>`);
    expect(feed.entries.map(({ url }) => url)).toEqual([null, null, null]);
  });
  test('that are missing or gone fail permanently', async () => {
    site = await startSite({ '/gone': { status: 410 } });
    for (const [path, kind] of [
      ['/gone', 'gone'],
      ['/nowhere', 'not_found'],
    ] as const)
      await expect(request(path)).rejects.toMatchObject({
        kind,
        retryable: false,
      });
  });
});

describe('the address of a feed', () => {
  const whole = '<rss><channel><item><guid>a</guid></item></channel></rss>';
  const to = (path: string, status: number) => ({ status, headers: { location: path } });

  test.each<[string, Record<string, number>, string | null]>([
    ['301', { '/old': 301 }, '/1'],
    ['308', { '/old': 308 }, '/1'],
    ['302', { '/old': 302 }, null],
    ['307', { '/old': 307 }, null],
    ['301, then 308', { '/old': 301, '/1': 308 }, '/2'],
    ['301, then 302', { '/old': 301, '/1': 302 }, '/1'],
    ['302, then 301', { '/old': 302, '/1': 301 }, null],
  ])('after %s is that of the last permanent redirect before any temporary one', async (_what, chain, movedTo) => {
    const steps = Object.entries(chain);
    const redirects = steps.map(([path, status], index) => [path, to(`/${index + 1}`, status)] as const);
    site = await startSite({ ...Object.fromEntries(redirects), [`/${steps.length}`]: { body: whole } });
    expect(await request('/old')).toMatchObject({
      feed: { entries: [{ id: 'a' }] },
      movedTo: movedTo && site.url(movedTo),
    });
  });

  test('follows a permanent redirect to an unchanged feed, but not to a page that is not a feed', async () => {
    const validators = { etag: '"v1"', lastModified: null };
    site = await startSite({ '/old': to('/new', 301), '/new': { status: 304, headers: { etag: '"v1"' } } });
    expect(await request('/old', { known: validators })).toEqual({ feed: null, movedTo: site.url('/new') });
    site.pages.set('/new', '<h1>Parked</h1>');
    await expect(request('/old')).rejects.toMatchObject({ kind: 'broken_content' });
  });
});

describe('a login', () => {
  const whole = '<rss><channel><item><guid>a</guid></item></channel></rss>';
  const authorizations: (string | undefined)[] = [];
  const protectedFeed =
    (status = 200, headers: Record<string, string> = {}): Page =>
    (received, response) => {
      authorizations.push(received.headers.authorization);
      response.writeHead(status, headers).end(whole);
    };
  beforeEach(() => {
    authorizations.length = 0;
  });
  const loginOf = (url: string): string => {
    const { login } = readFeedAddress(url) ?? {};
    return JSON.stringify(login);
  };

  test('is sent as HTTP Basic to its own origin only', async () => {
    const other = await startSite({ '/feed': protectedFeed() });
    site = await startSite({ '/feed': protectedFeed(), '/away': protectedFeed(301, { location: other.url('/feed') }) });
    const credentials = loginOf(site.url('/feed').replace('//', '//ad%C3%A4:p%3Ass%40@'));
    await request('/feed', { credentials });
    const basic = `Basic ${Buffer.from('ad\u00e4:p:ss@').toString('base64')}`;
    expect(authorizations).toEqual([basic]);
    expect((await request('/away', { credentials })).movedTo).toBe(other.url('/feed'));
    expect(authorizations).toEqual([basic, basic, undefined]);
    // The new origin receives no login after the feed has moved either.
    await request('/feed', { credentials, url: other.url('/feed') });
    expect(authorizations.slice(3)).toEqual([undefined]);
    await other.close();
  });
  test('that is rejected fails permanently, with a message that does not contain it', async () => {
    site = await startSite({ '/feed': { status: 401, headers: { 'www-authenticate': 'Basic' } } });
    const credentials = loginOf(site.url('/feed').replace('//', '//ada:hunter2@'));
    const error: unknown = await request('/feed', { credentials }).catch((reason: unknown) => reason);
    expect(error).toMatchObject({ kind: 'access_denied', retryable: false });
    expect(String(error)).toContain('asks for a login');
    expect(String(error)).not.toMatch(/ada|hunter2/);
  });
  test.each([
    ['https://example.org/f', 'https://example.org/f', null],
    ['example.org/f#top', 'https://example.org/f', null],
    [
      'http://ada@example.org:80/',
      'http://example.org/',
      { origin: 'http://example.org', username: 'ada', password: '' },
    ],
    [
      'ada:b%20c@example.org',
      'https://example.org/',
      { origin: 'https://example.org', username: 'ada', password: 'b c' },
    ],
  ])('is separated from the address %s', (text, url, login) => {
    expect(readFeedAddress(text)).toEqual({ url, login });
  });
  test.each([
    'https://a:%zz@example.org/',
    'ftp://example.org/',
    'javascript:alert(1)',
    'file:///etc/passwd',
    '',
    'http://',
  ])('is not read from the invalid address %s', (text) => expect(readFeedAddress(text)).toBeNull());
});

describe('an unavailable feed', () => {
  const hang: Page = () => undefined;
  const cut: Page = (_request, response) => {
    response.writeHead(200, { 'content-length': '1000' });
    response.write('<rss><channel>', () => response.destroy());
  };
  const dripping: Page = (_request, response) => {
    response.writeHead(200).write('<rss><channel>');
  };
  test.each<[string, Page, string, number | null]>([
    ['429 with Retry-After', { status: 429, headers: { 'retry-after': '7' } }, 'rate_limited', 7_000],
    ['503 with Retry-After', { status: 503, headers: { 'retry-after': '7' } }, 'rate_limited', 7_000],
    ['429', { status: 429 }, 'rate_limited', null],
    ['500', { status: 500 }, 'server_error', null],
    ['a response truncated before the first entry', cut, 'unreachable', null],
    ['no response', hang, 'timed_out', null],
    ['a response without end', dripping, 'timed_out', null],
  ])('is a retryable fault: %s', async (_what, page, kind, retryAfterMs) => {
    site = await startSite({ '/feed': page });
    const from = kind === 'timed_out' ? shortTimeoutFeeds : feeds;
    await expect(request('/feed', {}, from)).rejects.toMatchObject({ kind, retryAfterMs, retryable: true });
  });
});

test.each([
  [
    '0.90',
    '<rdf:RDF xmlns:rdf="r" xmlns="http://my.netscape.com/rdf/simple/0.9/"><channel><title>T</title></channel>@</rdf:RDF>',
  ],
  [
    '0.91',
    '<!DOCTYPE rss PUBLIC "-//Netscape Communications//DTD RSS 0.91//EN" "http://my.netscape.com/publish/formats/rss-0.91.dtd"><rss version="0.91"><channel><title>T</title>@</channel></rss>',
  ],
  ['0.92', '<rss version="0.92"><channel><title>T</title>@</channel></rss>'],
  ['0.94', '<rss version="0.94"><channel><title>T</title>@</channel></rss>'],
  [
    '1.0',
    '<rdf:RDF xmlns:rdf="r" xmlns="http://purl.org/rss/1.0/"><channel rdf:about="c"><title>T</title></channel>@</rdf:RDF>',
  ],
  ['2.0', '<rss version="2.0"><channel><title>T</title>@</channel></rss>'],
])('reads RSS %s', async (_version, text) => {
  const item = '<item><title>One</title><link>https://example.org/1</link><description>Short</description></item>';
  expect(await read(text.replace('@', item))).toMatchObject({
    title: 'T',
    entries: [{ id: 'https://example.org/1', url: 'https://example.org/1', title: 'One', summary: 'Short' }],
  });
});

test('decodes a feed by its byte order mark, else by its header', async () => {
  const text = (title: string) => `<rss><channel><title>${title}</title><item><guid>1</guid></item></channel></rss>`;
  expect((await read(Buffer.from(`\uFEFF${text('Пирс')}`, 'utf16le'))).title).toBe('Пирс');
  await site.close();
  // The same title in windows-1251.
  const bytes = Buffer.from(text('\u00cf\u00e8\u00f0\u00f1'), 'latin1');
  expect((await read(bytes, 'application/rss+xml; charset=windows-1251')).title).toBe('Пирс');
});

test('decodes a Content-Encoding of gzip', async () => {
  const packed = gzipSync('<rss><channel><item><guid>1</guid></item></channel></rss>');
  expect((await read(packed, 'application/rss+xml', { 'content-encoding': 'gzip' })).entries).toHaveLength(1);
});

test.each<[string, string]>([
  ['RSS', '<rss><channel><title>T</title><item><guid>1</guid></item><item><guid>2</guid></item></channel></rss>'],
  [
    'Atom',
    '<feed xmlns="http://www.w3.org/2005/Atom"><title>T</title><entry><id>1</id></entry><entry><id>2</id></entry></feed>',
  ],
  ['JSON', '{"version":"https://jsonfeed.org/version/1.1","title":"T","items":[{"id":"1"},{"id":"2"}]}'],
])('never treats a broken response as a complete %s feed', async (_format, body) => {
  site = await startSite();
  const emulator = await startEmulator({
    refuse: (response, { status }) => void response.writeHead(status).end(),
    answer: ({ response }) => void response.writeHead(200, { etag: '"v1"' }).end(body),
  });
  try {
    // The first entries of a truncated feed are read, but without validators, so the next request is unconditional.
    const readValidators = async () => (await request('/', { url: `${emulator.origin}/feed` })).feed?.validators;
    const readCompleteFeed = async () => {
      const validators = await readValidators();
      if (validators?.etag === null) throw new Fault('server_error', 'The feed is truncated.');
      return validators;
    };
    expect(await acceptedBrokenAnswers(emulator, readCompleteFeed)).toEqual([]);
  } finally {
    await emulator.close();
  }
});
