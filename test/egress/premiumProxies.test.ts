import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { afterEach, expect, test } from '@jest/globals';

import { createEgress } from '../../egress/createEgress.js';
import type { Lookup } from '../../egress/guard.js';
import type { Egress, EgressProxy, EgressSettings } from '../../egress/types.js';
import { startHttpProxy, type HttpProxy } from '../emulators/httpProxy.js';
import { closeAll, egressSettings, serve } from './loopback.js';
import { faultOf } from '../support/faultOf.js';
import { waitFor } from '../support/waitFor.js';

const closeables: (Egress | EgressProxy | HttpProxy)[] = [];
afterEach(async () => {
  for (const closeable of closeables.splice(0)) await closeable.close();
  await closeAll();
});

async function proxyServer(name: string, login?: string): Promise<HttpProxy> {
  const proxy = await startHttpProxy(name, login);
  closeables.push(proxy);
  return proxy;
}
/** Returns an egress through the proxies. Their loopback addresses need no entry: the guard does not check proxies. */
function egressThrough(
  premiumProxies: string[],
  allowedPrivateHosts: string[],
  lookup?: Lookup,
  settings: Partial<EgressSettings> = {},
): Egress {
  const egress = createEgress(
    egressSettings({ premiumProxies, allowedPrivateHosts, ...settings }),
    lookup ? { lookup } : {},
  );
  closeables.push(egress);
  return egress;
}
const viaProxy = { maxBytes: 100_000, totalTimeoutMs: 10_000, route: 'premium_proxy' } as const;

test('sends requests through the proxies in turn, with credentials that no site receives, and others directly', async () => {
  const site = await serve((request, response) => response.end(String(request.headers['x-through'] ?? 'direct')));
  const two = await proxyServer('two');
  // The login is percent-encoded in the URL, and sent decoded.
  const first = await proxyServer('first', 'ann:p@ss');
  const egress = egressThrough([first.url.replace('p@ss', 'p%40ss'), two.url], [site.host]);
  const answers: string[] = [];
  for (let n = 0; n < 4; n += 1) {
    const answer = await egress.request({ ...viaProxy, url: `${site.origin}/p?q=${String(n)}` });
    answers.push(Buffer.from(await answer.bytes()).toString());
  }
  const direct = await egress.request({ ...viaProxy, route: 'direct', url: site.origin });
  expect(Buffer.from(await direct.bytes()).toString()).toBe('direct');
  expect(answers).toEqual(['first', 'two', 'first', 'two']);
  expect(first.forwarded).toEqual([`GET ${site.origin}/p?q=0`, `GET ${site.origin}/p?q=2`]);
  expect(site.requests.map(({ headers }) => headers['proxy-authorization'])).toEqual(Array(5).fill(undefined));
});

test('sends https through a tunnel', async () => {
  const site = await serve((_, response) => response.end());
  const proxy = await proxyServer('one');
  // The server has no TLS, so the request fails after the tunnel was opened, which is what the test checks.
  await faultOf(
    egressThrough([proxy.url], [site.host]).request({ ...viaProxy, url: `https://${site.host}/` }),
    'unreachable',
  );
  expect(proxy.forwarded).toContain(`CONNECT ${site.host}`);
});

test('follows a redirect through the same proxy with the same checks', async () => {
  const site = await serve((request, response) => {
    if (request.url === '/away') response.writeHead(302, { Location: 'http://169.254.169.254/latest' }).end();
    else if (request.url === '/from') response.writeHead(302, { Location: '/to' }).end();
    else response.end('target');
  });
  const [one, two] = [await proxyServer('one'), await proxyServer('two')];
  const egress = egressThrough([one.url, two.url], [site.host]);
  const answer = await egress.request({ ...viaProxy, url: `${site.origin}/from` });
  expect([answer.url, Buffer.from(await answer.bytes()).toString()]).toEqual([`${site.origin}/to`, 'target']);
  expect([one.forwarded, two.forwarded]).toEqual([[`GET ${site.origin}/from`, `GET ${site.origin}/to`], []]);
  await faultOf(egress.request({ ...viaProxy, url: `${site.origin}/away` }), 'address_refused');
  expect([one.forwarded.length, two.forwarded]).toEqual([2, [`GET ${site.origin}/away`]]);
});

test('rejects private literals, names and tunnels before they reach a proxy', async () => {
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
    await faultOf(egress.request({ ...viaProxy, url }), 'address_refused');
  const browsing = await egress.openProxy({ maxBytes: 1000, route: 'premium_proxy' });
  closeables.unshift(browsing);
  for (const authority of ['inside.example:443', '127.0.0.1:80']) {
    expect(await tunnelled(browsing, authority)).toBe('');
  }
  expect(browsing.refused()).toEqual(['inside.example:443', '127.0.0.1:80']);
  expect(proxy.forwarded).toEqual([]);
});

/** Returns the response to a request through a tunnel, or '' if the proxy closed the connection. */
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

const REFUSAL = 'HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\n\r\n';

/**
 * Starts a proxy that leaves its connections open, and returns the open ones and the first line of each request.
 * @param answer the response to everything; null: none
 */
async function refusingProxy(
  answer: string | null = REFUSAL,
): Promise<{ readonly url: string; readonly sockets: ReadonlySet<Socket>; readonly lines: readonly string[] }> {
  const sockets = new Set<Socket>();
  const lines: string[] = [];
  const server = createServer((socket) => {
    sockets.add(socket);
    socket
      .on('close', () => sockets.delete(socket))
      .on('error', () => undefined)
      .on('data', (data) => {
        lines.push(data.toString().split('\r\n', 1)[0] ?? '');
        if (answer !== null) socket.write(answer);
      });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  closeables.push({
    async close() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  } as HttpProxy);
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, sockets, lines };
}

test('closes the connection of a tunnel that the proxy rejects', async () => {
  const site = await serve((_, response) => response.end());
  const proxy = await refusingProxy();
  const browsing = await egressThrough([proxy.url], [site.host]).openProxy({ maxBytes: 1000, route: 'premium_proxy' });
  closeables.unshift(browsing);
  expect([await tunnelled(browsing, site.host), await tunnelled(browsing, site.host)]).toEqual(['', '']);
  await waitFor(
    () => proxy.sockets.size,
    (size) => size === 0,
    10_000,
  );
});

test('uses one proxy for all tunnels of a browser', async () => {
  const site = await serve((_, response) => response.end('inside'));
  const [one, two] = [await proxyServer('one', 'ann:secret'), await proxyServer('two')];
  const egress = egressThrough([one.url, two.url], [site.host]);
  const browsing = await egress.openProxy({ maxBytes: 10_000, route: 'premium_proxy' });
  closeables.unshift(browsing);
  expect(await tunnelled(browsing, site.host)).toContain('inside');
  expect(await tunnelled(browsing, site.host)).toContain('inside');
  expect([one.forwarded, two.forwarded]).toEqual([[`CONNECT ${site.host}`, `CONNECT ${site.host}`], []]);
});

test('reports a failing proxy by its setting, without its address or credentials', async () => {
  const site = await serve((_, response) => response.end());
  const proxy = await proxyServer('one', 'ann:secret');
  const closed = await startHttpProxy('closed');
  await closed.close();
  const wrong = proxy.url.replace('secret', 'guess');
  for (const [premium, url] of [
    [wrong, site.origin],
    [wrong, `https://${site.host}`],
    [closed.url, site.origin],
    [closed.url, `https://${site.host}`],
  ] as const) {
    const fault = await faultOf(egressThrough([premium], [site.host]).request({ ...viaProxy, url }), 'unreachable');
    expect(fault.message).toContain('PREMIUM_PROXY_URLS');
    expect(fault.message).toContain(premium === wrong ? 'rejected our credentials' : 'failed or broke');
    expect(fault.message).not.toMatch(new RegExp(`guess|ann|${new URL(premium).port}`));
  }
  expect(site.requests).toEqual([]);
});

test('rejects requests through proxies if none is configured', async () => {
  const egress = egressThrough([], []);
  expect(egress.hasPremiumProxies).toBe(false);
  await expect(egress.request({ ...viaProxy, url: 'http://site.example/' })).rejects.toThrow('hasPremiumProxies');
});

test('ends a request and a tunnel after the headers timeout if the proxy does not answer', async () => {
  const site = await serve((_, response) => response.end());
  const proxy = await refusingProxy(null);
  const egress = egressThrough([proxy.url], [site.host], undefined, { headersTimeoutMs: 200 });
  const fault = await faultOf(egress.request({ ...viaProxy, totalTimeoutMs: 3000, url: site.origin }), 'timed_out');
  expect(fault.message).toContain('within 0.2 s');
  const browsing = await egress.openProxy({ maxBytes: 1000, route: 'premium_proxy' });
  closeables.unshift(browsing);
  expect(await tunnelled(browsing, site.host)).toBe('');
});

test('opens at most connectionsPerHost connections to a proxy', async () => {
  let concurrent = 0;
  let max = 0;
  const site = await serve((_, response) => {
    max = Math.max(max, (concurrent += 1));
    setTimeout(() => {
      concurrent -= 1;
      response.end('x');
    }, 30);
  });
  const proxy = await proxyServer('one');
  const egress = egressThrough([proxy.url], [site.host], undefined, { connectionsPerHost: 2 });
  await Promise.all(
    Array.from({ length: 6 }, async () => (await egress.request({ ...viaProxy, url: site.origin })).bytes()),
  );
  expect(max).toBe(2);
});

test('ends a request through a proxy after its total time while the name server does not answer', async () => {
  const proxy = await proxyServer('one');
  const egress = egressThrough([proxy.url], [], () => new Promise(() => undefined));
  const request = { ...viaProxy, totalTimeoutMs: 50, url: 'http://slow.example/' };
  await faultOf(egress.request(request), 'timed_out');
  expect(proxy.forwarded).toEqual([]);
});

test('asks for a tunnel to an IPv6 address with brackets', async () => {
  const proxy = await refusingProxy();
  const browsing = await egressThrough([proxy.url], ['::1']).openProxy({ maxBytes: 1000, route: 'premium_proxy' });
  closeables.unshift(browsing);
  await tunnelled(browsing, '[::1]:9');
  expect(proxy.lines).toEqual(['CONNECT [::1]:9 HTTP/1.1']);
});

test('close() ends requests through a proxy', async () => {
  const site = await serve(() => undefined);
  const proxy = await proxyServer('one');
  const egress = egressThrough([proxy.url], [site.host]);
  const work = faultOf(egress.request({ ...viaProxy, totalTimeoutMs: 3000, url: site.origin }));
  await waitFor(
    () => site.requests.length,
    (requests) => requests === 1,
  );
  await egress.close();
  expect((await work).kind).toBe('unreachable');
});

test('reports rejected credentials also if the proxy sends a long page with the rejection', async () => {
  const site = await serve((_, response) => response.end());
  const page = 'x'.repeat(100_000);
  const proxy = await refusingProxy(
    `HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: ${page.length}\r\n\r\n${page}`,
  );
  const egress = egressThrough([proxy.url], [site.host], undefined, { connectionsPerHost: 1 });
  for (let requests = 0; requests < 2; requests += 1) {
    const work = egress.request({ ...viaProxy, totalTimeoutMs: 2000, url: site.origin });
    expect((await faultOf(work, 'unreachable')).message).toContain('rejected our credentials');
  }
});
