import { connect } from 'node:net';
import { afterEach, expect, test } from '@jest/globals';

import { createEgress } from '../../egress/createEgress.js';
import type { Lookup } from '../../egress/guard.js';
import type { Egress, EgressProxy } from '../../egress/types.js';
import { startHttpProxy, type HttpProxy } from '../emulators/httpProxy.js';
import { closeAll, egressSettings, faultOf, serve } from './loopback.js';

const open: (Egress | EgressProxy | HttpProxy)[] = [];
afterEach(async () => {
  for (const one of open.splice(0)) await one.close();
  await closeAll();
});

async function proxyServer(name: string, login?: string): Promise<HttpProxy> {
  const proxy = await startHttpProxy(name, login);
  open.push(proxy);
  return proxy;
}
/** The proxies themselves are on loopback, which is never named here: their addresses are not judged. */
function egressThrough(premiumProxies: string[], allowedPrivateHosts: string[], lookup?: Lookup): Egress {
  const egress = createEgress(egressSettings({ premiumProxies, allowedPrivateHosts }), lookup ? { lookup } : {});
  open.push(egress);
  return egress;
}
const asking = { maxBytes: 100_000, totalTimeoutMs: 10_000, way: 'premium_proxy' } as const;

test('requests go through the proxies in turn, with their credentials, which no site sees; others go straight', async () => {
  const site = await serve((asked, response) => response.end(String(asked.headers['x-through'] ?? 'nobody')));
  const two = await proxyServer('two');
  // A URL spells the login with escapes; what is sent has none.
  const first = await proxyServer('first', 'ann:p@ss');
  const egress = egressThrough([first.url.replace('p@ss', 'p%40ss'), two.url], [site.host]);
  const answers: string[] = [];
  for (let n = 0; n < 4; n += 1) {
    const answer = await egress.request({ ...asking, url: `${site.origin}/p?q=${String(n)}` });
    answers.push(Buffer.from(await answer.bytes()).toString());
  }
  const straight = await egress.request({ ...asking, way: 'direct', url: site.origin });
  expect(Buffer.from(await straight.bytes()).toString()).toBe('nobody');
  expect(answers).toEqual(['first', 'two', 'first', 'two']);
  expect(first.passed).toEqual([`GET ${site.origin}/p?q=0`, `GET ${site.origin}/p?q=2`]);
  expect(site.seen.map(({ headers }) => headers['proxy-authorization'])).toEqual(Array(5).fill(undefined));
});

test('https goes through a tunnel', async () => {
  const site = await serve((_, response) => response.end());
  const proxy = await proxyServer('one');
  // The server speaks no TLS: that the tunnel was asked for is what matters.
  await faultOf(
    egressThrough([proxy.url], [site.host]).request({ ...asking, url: `https://${site.host}/` }),
    'unreachable',
  );
  expect(proxy.passed).toContain(`CONNECT ${site.host}`);
});

test('a redirect stays with its proxy and passes the same checks', async () => {
  const site = await serve((asked, response) => {
    if (asked.url === '/away') response.writeHead(302, { Location: 'http://169.254.169.254/latest' }).end();
    else if (asked.url === '/from') response.writeHead(302, { Location: '/to' }).end();
    else response.end('there');
  });
  const [one, two] = [await proxyServer('one'), await proxyServer('two')];
  const egress = egressThrough([one.url, two.url], [site.host]);
  const answer = await egress.request({ ...asking, url: `${site.origin}/from` });
  expect([answer.url, Buffer.from(await answer.bytes()).toString()]).toEqual([`${site.origin}/to`, 'there']);
  expect([one.passed, two.passed]).toEqual([[`GET ${site.origin}/from`, `GET ${site.origin}/to`], []]);
  await faultOf(egress.request({ ...asking, url: `${site.origin}/away` }), 'address_refused');
  expect([one.passed.length, two.passed]).toEqual([2, [`GET ${site.origin}/away`]]);
});

test('what may not be called never reaches a proxy: literals, names that lead inside, mixed answers, tunnels', async () => {
  const proxy = await proxyServer('one');
  const lookup: Lookup = (name) =>
    Promise.resolve([
      ...(name === 'mixed.example' ? [{ address: '93.184.216.34', family: 4 }] : []),
      { address: '10.0.0.1', family: 4 },
    ]);
  const egress = egressThrough([proxy.url], [], lookup);
  for (const url of [
    'http://127.0.0.1/',
    'http://169.254.169.254/',
    'http://inside.example/',
    'https://mixed.example/',
  ])
    await faultOf(egress.request({ ...asking, url }), 'address_refused');
  const browsing = await egress.openProxy({ maxBytes: 1000, way: 'premium_proxy' });
  open.unshift(browsing);
  for (const authority of ['inside.example:443', '127.0.0.1:80']) {
    expect(await tunnelled(browsing, authority)).toBe('');
  }
  expect(browsing.refused()).toEqual(['inside.example:443', '127.0.0.1:80']);
  expect(proxy.passed).toEqual([]);
});

/** What a request through a tunnel brings back; '' when the proxy hung up. */
function tunnelled(proxy: EgressProxy, authority: string): Promise<string> {
  const { hostname, port } = new URL(proxy.url);
  return new Promise((resolve) => {
    let received = '';
    const socket = connect(Number(port), hostname, () =>
      socket.write(`CONNECT ${authority} HTTP/1.1\r\nHost: x\r\n\r\n`),
    );
    socket
      .once('data', () => socket.write(`GET /in HTTP/1.1\r\nHost: ${authority}\r\nConnection: close\r\n\r\n`))
      .on('data', (data) => (received += data.toString()))
      .on('error', () => undefined)
      .on('close', () => resolve(received));
  });
}

test("a browser's requests and tunnels keep to one proxy", async () => {
  const site = await serve((_, response) => response.end('inside'));
  const [one, two] = [await proxyServer('one', 'ann:secret'), await proxyServer('two')];
  const egress = egressThrough([one.url, two.url], [site.host]);
  const browsing = await egress.openProxy({ maxBytes: 10_000, way: 'premium_proxy' });
  open.unshift(browsing);
  expect(await tunnelled(browsing, site.host)).toContain('inside');
  expect(await tunnelled(browsing, site.host)).toContain('inside');
  expect([one.passed, two.passed]).toEqual([[`CONNECT ${site.host}`, `CONNECT ${site.host}`], []]);
});

test('a proxy that fails is told without its address or credentials, naming the setting', async () => {
  const site = await serve((_, response) => response.end());
  const proxy = await proxyServer('one', 'ann:secret');
  const gone = await startHttpProxy('gone');
  await gone.close();
  const wrong = proxy.url.replace('secret', 'guess');
  for (const [premium, url] of [
    [wrong, site.origin],
    [wrong, `https://${site.host}`],
    [gone.url, site.origin],
    [gone.url, `https://${site.host}`],
  ] as const) {
    const fault = await faultOf(egressThrough([premium], [site.host]).request({ ...asking, url }), 'unreachable');
    expect(fault.message).toContain('PREMIUM_PROXY_URLS');
    expect(fault.message).not.toMatch(new RegExp(`guess|ann|${new URL(premium).port}`));
  }
  expect(site.seen).toEqual([]);
});

test('without a pool the way is closed', async () => {
  const egress = egressThrough([], []);
  expect(egress.hasPremiumProxies).toBe(false);
  await expect(egress.request({ ...asking, url: 'http://site.example/' })).rejects.toThrow('hasPremiumProxies');
});
