/**
 * Tests of the readers of pages, sitemaps, feeds and files: limits of their requests, and what they return. Bodies that
 * they do not read are discarded, because each would keep its connection open.
 */
import { gzipSync } from 'node:zlib';
import { expect, test } from '@jest/globals';

import { readFeed } from '../../../connectors/rssFeed/readFeed.js';
import { downloadFile } from '../../../connectors/web/downloadFile.js';
import { fetchPage } from '../../../connectors/web/fetchPage.js';
import { readSitemapFile } from '../../../connectors/web/sitemapFile.js';
import type { Egress, EgressRequest, EgressResponse } from '../../../egress/types.js';
import { throughPremiumProxies } from '../../../connectors/web/premiumRoute.js';
import { Fault } from '../../../contract/failures.js';
import { isRefusal, withSentence } from '../../../connectors/web/refusal.js';
import { everyRow } from '../../support/everyRow.js';
import { faultOf } from '../../support/faultOf.js';
import { NEVER } from '../account.js';
import { webSettings } from './webSource.js';

const URL_OF = 'https://a.example/x';
const known = { etag: '"1"', lastModified: null };
const robots = { admit: () => Promise.resolve(0) };
const settings = webSettings();
const now = () => 0;
const READERS: Readonly<Record<string, (egress: Egress) => Promise<unknown>>> = {
  'a page': (egress) => fetchPage({ egress, robots, settings, now }, URL_OF, known, NEVER),
  'a sitemap': (egress) => readSitemapFile(egress, settings, now, URL_OF, NEVER),
  'a feed': (egress) => readFeed(egress, settings, now, { url: URL_OF, credentials: null, known, signal: NEVER }),
  'a file': (egress) => downloadFile({ egress, settings, now }, URL_OF, NEVER, () => Promise.reject(new Error('full'))),
};

test('discards the body of a page, sitemap, feed or file that is refused, unchanged or not stored', () =>
  everyRow(
    Object.keys(READERS).flatMap((name) => [304, 404, 429, 500, 200].map((status) => ({ name, status }))),
    ({ name, status }) => `${name} ${status}`,
    async ({ name, status }) => {
      // A body that is read needs no discarding.
      if (status === 200 && (name === 'a sitemap' || name === 'a feed')) return;
      let discarded = 0;
      const request = async () =>
        ({
          ...{ status, url: URL_OF, headers: { 'content-type': 'image/png' } },
          discard: async () => void (discarded += 1),
        }) as unknown as EgressResponse;
      await READERS[name]!({ request } as unknown as Egress).catch(() => undefined);
      expect(discarded).toBe(1);
    },
  ));

test('every reader passes the limits for size and time of its kind of content with its request', async () => {
  const limits = webSettings({
    ...{ maxPageBytes: 1_001, pageTimeoutMs: 1_002, sitemapMaxBytes: 1_003, maxDownloadBytes: 1_004 },
    ...{ downloadTimeoutMs: 1_005 },
  });
  const requested = async (read: (egress: Egress) => Promise<unknown>) => {
    const requests: EgressRequest[] = [];
    const request = (one: EgressRequest) => (requests.push(one), Promise.reject(new Error('enough')));
    await read({ request } as unknown as Egress).catch(() => undefined);
    return requests.map(({ maxBytes, totalTimeoutMs, signal }) => [maxBytes, totalTimeoutMs, signal === NEVER]);
  };
  const feed = (maxPageBytes: number) => (egress: Egress) =>
    readFeed(egress, { ...limits, maxPageBytes }, now, { url: URL_OF, credentials: null, known, signal: NEVER });
  expect(
    await requested((egress) => fetchPage({ egress, robots, settings: limits, now }, URL_OF, known, NEVER)),
  ).toEqual([[1_001, 1_002, true]]);
  // A sitemap may take four times as long as a page.
  expect(await requested((egress) => readSitemapFile(egress, limits, now, URL_OF, NEVER))).toEqual([
    [1_003, 4_008, true],
  ]);
  expect(
    await requested((egress) => downloadFile({ egress, settings: limits, now }, URL_OF, NEVER, async () => 0)),
  ).toEqual([[1_004, 1_005, true]]);
  // A feed has the limits of a page, but at most ten million bytes.
  expect(await requested(feed(1_001))).toEqual([[1_001, 1_002, true]]);
  expect(await requested(feed(50_000_000))).toEqual([[10_000_000, 1_002, true]]);
});

/** Returns an egress that answers with a body. */
const answering = (body: Uint8Array, headers: Readonly<Record<string, string>> = {}) => {
  const answer = {
    ...{ status: 200, url: URL_OF, headers, discard: async () => undefined },
    body: (async function* pieces() {
      for (let from = 0; from < body.length; from += 65_536) yield body.subarray(from, from + 65_536);
    })(),
  };
  return { request: async () => answer } as unknown as Egress;
};
test('a compressed feed is read up to ten million bytes', async () => {
  const item = '<item><guid isPermaLink="false">1</guid><title>A</title></item>';
  const feedOf = (head: string) =>
    readFeed(
      answering(gzipSync(`<rss><channel>${head}${' '.repeat(10_000_000)}${item}</channel></rss>`)),
      settings,
      now,
      {
        ...{ url: URL_OF, credentials: null, known: null, signal: NEVER },
      },
    );
  expect((await faultOf(feedOf(''))).message).toContain('10,000,000 bytes');
  // What precedes the cut is kept.
  expect((await feedOf(item)).feed?.entries).toHaveLength(1);
});

test('an entry of a feed has the address of its first alternate link, not of an enclosure', async () => {
  const links = [
    'rel="enclosure" href="http://a.example/e"',
    'href="http://a.example/1"',
    'rel="alternate" href="http://a.example/2"',
  ];
  const xml = `<feed xmlns="http://www.w3.org/2005/Atom"><entry><id>1</id>${links.map((link) => `<link ${link}/>`).join('')}</entry></feed>`;
  const request = { url: URL_OF, credentials: null, known: null, signal: NEVER };
  const { feed } = await readFeed(answering(Buffer.from(xml)), settings, now, request);
  expect(feed?.entries.map(({ url }) => url)).toEqual(['http://a.example/1']);
});

test('an item of a JSON feed has its time of publication, and the external address if it has no other', async () => {
  const times = { date_published: '2026-01-01T00:00:00Z', date_modified: '2026-02-01T00:00:00Z' };
  const items = [
    { id: 1, url: 'http://a.example/1', external_url: 'http://b.example/1', ...times },
    { id: 2, external_url: 'http://b.example/2', date_modified: times.date_modified },
  ];
  const request = { url: URL_OF, credentials: null, known: null, signal: NEVER };
  const { feed } = await readFeed(answering(Buffer.from(JSON.stringify({ items }))), settings, now, request);
  expect(feed?.entries.map(({ url, publishedAt }) => [url, publishedAt])).toEqual([
    ['http://a.example/1', '2026-01-01T00:00:00.000Z'],
    ['http://b.example/2', '2026-02-01T00:00:00.000Z'],
  ]);
});

/** Names in Content-Disposition: https://www.rfc-editor.org/rfc/rfc6266#section-5 */
const NAMES: readonly (readonly [header: string, name: string | null])[] = [
  ['', null],
  ['inline', null],
  ['attachment; filename=plan.pdf', 'plan.pdf'],
  ['attachment; filename="the plan.pdf"', 'the plan.pdf'],
  [String.raw`attachment; filename="a \"b\".pdf"`, 'a "b".pdf'],
  [`attachment; filename="plain.pdf"; filename*=UTF-8''%e2%82%ac.pdf`, '€.pdf'],
  [`attachment; filename="plain.pdf"; filename*=UTF-8''%e2%82.pdf`, 'plain.pdf'],
  ['attachment; filename="../../etc/plan.pdf"', 'plan.pdf'],
  [String.raw`attachment; filename="C:\\plans\\plan.pdf"`, 'plan.pdf'],
  ['attachment; filename=""', null],
];
test('a downloaded file has the name from Content-Disposition, without folders', () =>
  everyRow(NAMES, String, async ([header, name]) => {
    const egress = answering(Buffer.from('x'), { 'content-disposition': header, 'content-type': 'application/pdf' });
    const take = async (file: { name: string | null; contentType: string | null }) => [file.name, file.contentType];
    expect(await downloadFile({ egress, settings, now }, URL_OF, NEVER, take)).toEqual([name, 'application/pdf']);
  }));

test('throughPremiumProxies() routes requests and browsers through the premium proxies; null if there are none', async () => {
  const routes: unknown[] = [];
  const egress = {
    hasPremiumProxies: true,
    request: async ({ route }: { route?: string }) => routes.push(['request', route]),
    openProxy: async ({ route, maxBytes }: { route?: string; maxBytes: number }) =>
      routes.push(['proxy', route, maxBytes]),
  } as unknown as Egress;
  const second = throughPremiumProxies(egress)!;
  await second.request({ url: URL_OF, maxBytes: 1, totalTimeoutMs: 1 });
  await second.openProxy({ maxBytes: 7 });
  expect(routes).toEqual([
    ['request', 'premium_proxy'],
    ['proxy', 'premium_proxy', 7],
  ]);
  expect(throughPremiumProxies({ ...egress, hasPremiumProxies: false })).toBeNull();
});

test('isRefusal() accepts refusals that another IP address may avoid; withSentence() keeps the kind and the wait', () => {
  const refused = new Fault('rate_limited', 'Wait.', { retryAfterMs: 7_000 });
  const explained = withSentence(refused, 'More.');
  expect(explained).toMatchObject({
    kind: 'rate_limited',
    message: 'Wait. More.',
    retryAfterMs: 7_000,
    cause: refused,
  });
  expect([isRefusal(explained), isRefusal(new Fault('not_found', 'x')), isRefusal(new Error('x'))]).toEqual([
    true,
    false,
    false,
  ]);
  const reset = Object.assign(new Error('reset'), { code: 'ECONNRESET' });
  expect(isRefusal(new Fault('unreachable', 'x', { cause: reset }))).toBe(true);
  expect(isRefusal(withSentence(new Fault('unreachable', 'x', { cause: reset }), 'Without robots.txt …'))).toBe(true);
  expect(isRefusal(withSentence(new Fault('server_error', 'x'), 'Without robots.txt …'))).toBe(false);
});
