import type { ServerResponse } from 'node:http';
import { afterEach, describe, expect, test } from '@jest/globals';

import { startHttpProxy, type HttpProxy } from '../../emulators/httpProxy.js';
import { serve } from '../../egress/loopback.js';
import { faultOf } from '../../support/faultOf.js';
import { closeSources, fetchOne, source, text, type SourceOptions } from './webSource.js';

const proxies: HttpProxy[] = [];
afterEach(async () => {
  await closeSources();
  for (const proxy of proxies.splice(0)) await proxy.close();
});
async function pool(): Promise<HttpProxy> {
  const proxy = await startHttpProxy('home', 'ann:secret');
  proxies.push(proxy);
  return proxy;
}

const HTML = { 'Content-Type': 'text/html' };
const status = (code: number, headers: Record<string, string> = {}) => ({
  refuse: (response: ServerResponse) => void response.writeHead(code, headers).end(),
});
/** Starts a site that rejects requests which do not come through a proxy. */
const guarded = ({ refuse }: { refuse: (response: ServerResponse) => void }, page = '<p>through a proxy') =>
  serve((request, response) => {
    if (request.headers['x-through'] === undefined) refuse(response);
    else if (request.url === '/robots.txt') response.writeHead(404).end();
    else response.writeHead(200, { ...HTML, ETag: '"e"' }).end(page);
  });
const directRequests = (requests: { headers: Record<string, unknown> }[]) =>
  requests.filter(({ headers }) => headers['x-through'] === undefined).length;
const never = new AbortController().signal;
const premium = { usePremiumProxies: true } as const;

describe('a page that rejects direct requests', () => {
  test.each([
    ['401', status(401)],
    ['403', status(403)],
    ['407', status(407)],
    ['429', status(429)],
    ['451', status(451)],
    ['503 with Retry-After', status(503, { 'Retry-After': '60' })],
    ['a closed connection', { refuse: (response: ServerResponse) => void response.socket?.destroy() }],
  ])(
    'by %s is fetched through the pool after one direct request, if the scrape sets usePremiumProxies',
    async (_, refusal) => {
      const site = await guarded(refusal);
      const proxy = await pool();
      const web = source({ premiumProxies: [proxy.url] });
      const page = await fetchOne(web, `${site.origin}/p`, premium);
      expect([text(page), page.fetchedWith, page.etag]).toEqual(['<p>through a proxy', 'premium_proxy', '"e"']);
      expect(directRequests(site.requests)).toBe(1);
      expect(proxy.forwarded).toEqual([`GET ${site.origin}/p`]);
      // Without usePremiumProxies the pool is not used, so the rejection is final.
      await faultOf(fetchOne(web, `${site.origin}/p`));
      expect(proxy.forwarded).toHaveLength(1);
    },
  );

  test('is fetched with its robots.txt through the pool if both are unreachable', async () => {
    const site = await guarded({ refuse: (response) => void response.socket?.destroy() });
    const proxy = await pool();
    const settings: SourceOptions = { premiumProxies: [proxy.url], settings: { obeyRobots: true } };
    expect((await fetchOne(source(settings), `${site.origin}/p`, premium)).fetchedWith).toBe('premium_proxy');
    expect(proxy.forwarded).toEqual([`GET ${site.origin}/robots.txt`, `GET ${site.origin}/p`]);
  });

  test('is read through the pool as a sitemap if the scrape sets usePremiumProxies', async () => {
    const site = await guarded(status(403), 'https://elsewhere.example/');
    const proxy = await pool();
    const web = source({ premiumProxies: [proxy.url] });
    const read = async (usePremiumProxies: boolean) => {
      const found: string[] = [];
      for await (const { url } of web.discover(`${site.origin}/s.txt`, never, undefined, usePremiumProxies))
        found.push(url);
      return found;
    };
    await faultOf(read(false), 'access_denied');
    expect(proxy.forwarded).toEqual([]);
    // The sitemap is read, but lists another site only.
    await faultOf(read(true), 'broken_content');
    expect(proxy.forwarded).toEqual([`GET ${site.origin}/s.txt`]);
  });

  test('reports both attempts if the site rejects requests through the pool as well', async () => {
    const site = await serve((_, response) => response.writeHead(403).end());
    const proxy = await pool();
    const fault = await faultOf(
      fetchOne(source({ premiumProxies: [proxy.url] }), site.origin, premium),
      'access_denied',
    );
    expect(fault.message).toContain('It was tried through a premium proxy too.');
    expect(proxy.forwarded).toHaveLength(1);
  });

  test('fails without a pool with a message that names the setting', async () => {
    const site = await guarded(status(429, { 'Retry-After': '9' }));
    const fault = await faultOf(fetchOne(source(), site.origin, premium), 'rate_limited');
    expect(fault.message).toMatch(/HTTP 429.*use_premium_proxies.*PREMIUM_PROXY_URLS/);
    expect(fault.retryAfterMs).toBe(9000);
    expect((await faultOf(fetchOne(source(), site.origin), 'rate_limited')).message).not.toContain('PREMIUM');
  });
});

describe('the proxy pool', () => {
  test.each([404, 410, 400, 500, 502, 503])('is not used if the page answers %i', async (code) => {
    const site = await guarded(status(code));
    const proxy = await pool();
    await faultOf(fetchOne(source({ premiumProxies: [proxy.url] }), site.origin, premium));
    expect(proxy.forwarded).toEqual([]);
  });

  test('is not used or needed if the direct request succeeds', async () => {
    const site = await serve((_, response) => response.writeHead(200, HTML).end('<p>open'));
    const proxy = await pool();
    for (const premiumProxies of [[proxy.url], []])
      expect((await fetchOne(source({ premiumProxies }), site.origin, premium)).fetchedWith).toBe('http');
    expect(proxy.forwarded).toEqual([]);
  });

  test('is not used if robots.txt forbids the page, its address is rejected, or its server times out', async () => {
    const site = await serve((request, response) => {
      if (request.url === '/robots.txt')
        response.writeHead(200, { 'Content-Type': 'text/plain' }).end('User-agent: *\nDisallow: /closed');
    });
    const proxy = await pool();
    const web = source({
      premiumProxies: [proxy.url],
      allowed: [site.host],
      settings: { obeyRobots: true, pageTimeoutMs: 2500 },
    });
    await faultOf(fetchOne(web, `${site.origin}/closed`, premium), 'robots_disallowed');
    await faultOf(fetchOne(web, 'http://10.0.0.1/', premium), 'address_refused');
    await faultOf(fetchOne(web, `${site.origin}/slow`, premium), 'timed_out');
    expect(proxy.forwarded).toEqual([]);
  });
});
