import { request as httpRequest, type IncomingMessage } from 'node:http';
import { connect, type Socket } from 'node:net';
import { PassThrough } from 'node:stream';
import { afterEach, expect, test } from '@jest/globals';

import { createEgress } from '../../egress/createEgress.js';
import type { Lookup } from '../../egress/guard.js';
import { openProxy } from '../../egress/proxy.js';
import type { Egress, EgressProxy } from '../../egress/types.js';
import { waitFor } from '../support/waitFor.js';
import { closeAll, egressSettings, serve } from './loopback.js';

const closeables: (Egress | EgressProxy)[] = [];
const onLoopback: Lookup = () => Promise.resolve([{ address: '127.0.0.1', family: 4 }]);
async function proxyFor(
  allowedPrivateHosts: string[],
  maxBytes = 1_000_000,
  lookup: Lookup = onLoopback,
): Promise<EgressProxy> {
  const egress = createEgress(egressSettings({ allowedPrivateHosts }), { lookup });
  const proxy = await egress.openProxy({ maxBytes });
  closeables.push(proxy, egress);
  return proxy;
}
afterEach(async () => {
  for (const closeable of closeables.splice(0)) await closeable.close();
  await closeAll();
});

/**
 * Sends a request with the full URL in the request line, as browsers do. Returns null if the proxy closes the
 * connection.
 */
function requestThrough(
  proxy: EgressProxy,
  url: string,
  body?: string,
): Promise<{ status: number; headers: IncomingMessage['headers']; text: string } | null> {
  const { hostname, port } = new URL(proxy.url);
  return new Promise((resolve) => {
    const request = httpRequest(
      {
        hostname,
        port,
        path: url,
        method: body === undefined ? 'GET' : 'POST',
        headers: { host: new URL(url).host, 'x-kept': '1' },
        agent: false,
      },
      (response) => {
        const parts: Buffer[] = [];
        response
          .on('data', (part: Buffer) => parts.push(part))
          .on('error', () => {
            resolve(null);
          })
          .on('end', () => {
            resolve({
              status: response.statusCode ?? 0,
              headers: response.headers,
              text: Buffer.concat(parts).toString(),
            });
          });
      },
    );
    request
      .on('error', () => {
        resolve(null);
      })
      .end(body);
  });
}

/** Opens a tunnel. Returns null if the proxy closes the connection. */
function tunnel(proxy: EgressProxy, authority: string): Promise<Socket | null> {
  const { hostname, port } = new URL(proxy.url);
  return new Promise((resolve) => {
    const socket = connect(Number(port), hostname, () =>
      socket.write(`CONNECT ${authority} HTTP/1.1\r\nHost: ${authority}\r\n\r\n`),
    );
    socket
      .once('data', (head) => {
        resolve(head.toString().startsWith('HTTP/1.1 200') ? socket : null);
      })
      .once('close', () => {
        resolve(null);
      })
      .on('error', () => undefined);
  });
}

test('forwards requests and responses without following redirects', async () => {
  const server = await serve((request, response) => {
    if (request.url === '/moved') response.writeHead(302, { Location: 'http://169.254.169.254/' }).end();
    else response.writeHead(200, { 'Set-Cookie': ['a=1', 'b=2'] }).end('hello');
  });
  const proxy = await proxyFor([server.host]);
  expect(await requestThrough(proxy, `${server.origin}/x?y`)).toMatchObject({
    status: 200,
    text: 'hello',
    headers: { 'set-cookie': ['a=1', 'b=2'] },
  });
  expect(await requestThrough(proxy, `${server.origin}/post`, 'data')).toMatchObject({ status: 200 });
  expect(await requestThrough(proxy, `${server.origin}/moved`)).toMatchObject({
    status: 302,
    headers: { location: 'http://169.254.169.254/' },
  });
  expect(server.requests[0]).toMatchObject({ url: '/x?y', headers: { 'x-kept': '1', host: server.host } });
  expect(server.requests[1]).toMatchObject({ method: 'POST', body: 'data' });
});

test('forwards no hop-by-hop header, in either direction', async () => {
  const connectionHeaders = {
    'keep-alive': 'timeout=60',
    'proxy-authenticate': 'Basic realm=x',
    'proxy-authorization': 'Basic secret',
    'proxy-connection': 'keep-alive',
    te: 'trailers',
    trailer: 'x-sum',
    upgrade: 'h2c',
  };
  const server = await serve((_, response) =>
    response.writeHead(200, { ...connectionHeaders, 'transfer-encoding': 'chunked', 'x-kept': '2' }).end('hello'),
  );
  const proxy = await proxyFor([server.host]);
  const { hostname, port } = new URL(proxy.url);
  const headers = { ...connectionHeaders, 'transfer-encoding': 'chunked', expect: '100-continue', 'x-kept': '1' };
  const answer = await new Promise<IncomingMessage>((resolve, reject) => {
    httpRequest({ hostname, port, path: server.origin, method: 'POST', headers, agent: false }, resolve)
      .on('error', reject)
      .end('data');
  });
  answer.resume();
  const forbidden = [...Object.keys(connectionHeaders), 'expect'];
  const kept = (received: IncomingMessage['headers'] = {}) =>
    Object.keys(received).filter((name) => name === 'x-kept' || forbidden.includes(name));
  expect(server.requests[0]?.body).toBe('data');
  expect([kept(server.requests[0]?.headers), kept(answer.headers)]).toEqual([['x-kept'], ['x-kept']]);
});

test('closes connections to forbidden addresses and records them', async () => {
  const server = await serve((_, response) => response.end('secret'));
  const proxy = await proxyFor([]);
  expect(await requestThrough(proxy, server.origin)).toBeNull();
  expect(await requestThrough(proxy, `http://rebind.example:${String(server.port)}/`)).toBeNull();
  expect(await requestThrough(proxy, 'http://169.254.169.254/')).toBeNull();
  expect(await tunnel(proxy, server.host)).toBeNull();
  expect(await tunnel(proxy, `rebind.example:${String(server.port)}`)).toBeNull();
  expect(await tunnel(proxy, 'user@x:1')).toBeNull();
  expect(await tunnel(proxy, '')).toBeNull();
  expect(server.sockets.size).toBe(0);
  expect(proxy.refused()).toEqual(
    expect.arrayContaining([server.host, '169.254.169.254', `rebind.example:${String(server.port)}`]),
  );
});

test('does not relay to itself', async () => {
  const proxy = await proxyFor([]);
  expect(await requestThrough(proxy, `${proxy.url}/`)).toBeNull();
  expect(await tunnel(proxy, new URL(proxy.url).host)).toBeNull();
});

test('tunnels bytes in both directions', async () => {
  const server = await serve((_, response) => response.end('through'));
  const socket = await tunnel(await proxyFor([server.host]), server.host);
  const answer = new Promise<string>((resolve) => socket?.once('data', (data) => resolve(data.toString())));
  socket?.write(`GET / HTTP/1.1\r\nHost: ${server.host}\r\nConnection: close\r\n\r\n`);
  expect(await answer).toContain('200 OK');
});

test('sends bytes that arrive together with the request for a tunnel', async () => {
  const server = await serve((_, response) => response.end('through'));
  const { hostname, port } = new URL((await proxyFor([server.host])).url);
  const received = await new Promise<string>((resolve) => {
    let text = '';
    const socket = connect(Number(port), hostname, () =>
      socket.write(
        `CONNECT ${server.host} HTTP/1.1\r\nHost: x\r\n\r\nGET /early HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`,
      ),
    );
    socket
      .on('data', (data) => (text += data.toString()))
      .on('error', () => undefined)
      .on('close', () => resolve(text));
    // If the proxy lost the early request, the connection would stay open until this timeout.
    socket.setTimeout(2000, () => socket.destroy());
  });
  expect(received).toContain('through');
  expect(server.requests.map(({ url }) => url)).toEqual(['/early']);
});

test('records a host as refused only because of its address, not because it cannot be reached', async () => {
  const server = await serve(() => undefined);
  await server.close();
  const proxy = await proxyFor(['127.0.0.1'], 1000, () => Promise.reject(new Error('no such name')));
  expect(await requestThrough(proxy, 'http://unknown.example/')).toBeNull();
  expect(await tunnel(proxy, 'unknown.example:443')).toBeNull();
  expect(await requestThrough(proxy, server.origin)).toBeNull();
  expect(proxy.refused()).toEqual([]);
});

test('limits requests and tunnels together to maxBytes', async () => {
  const server = await serve((_, response) => response.end('x'.repeat(40_000)));
  const proxy = await proxyFor([server.host], 100_000);
  expect((await requestThrough(proxy, server.origin))?.text.length).toBe(40_000);
  expect((await requestThrough(proxy, server.origin))?.text.length).toBe(40_000);
  expect(proxy.exceeded()).toBe(false);
  expect(await requestThrough(proxy, server.origin)).toBeNull();
  expect(proxy.exceeded()).toBe(true);
  expect(await requestThrough(proxy, server.origin)).toBeNull();
  expect(await tunnel(proxy, server.host)).toBeNull();
});

test('forwards exactly maxBytes', async () => {
  const server = await serve((_, response) => response.end('x'.repeat(50_000)));
  const proxy = await proxyFor([server.host], 100_000);
  for (let requests = 0; requests < 2; requests += 1)
    expect((await requestThrough(proxy, server.origin))?.text.length).toBe(50_000);
  expect(proxy.exceeded()).toBe(false);
  expect(await requestThrough(proxy, server.origin)).toBeNull();
  expect(proxy.exceeded()).toBe(true);
});

test('close() ends tunnels and slow requests', async () => {
  const server = await serve(() => undefined);
  const proxy = await proxyFor([server.host]);
  const slow = requestThrough(proxy, server.origin);
  const socket = await tunnel(proxy, server.host);
  const closed = new Promise<void>((resolve) => socket?.once('close', () => resolve()));
  await proxy.close();
  await closed;
  expect(await slow).toBeNull();
});

test('ends the connection to the site when the browser leaves a tunnel or a request', async () => {
  const server = await serve(() => undefined);
  const proxy = await proxyFor([server.host]);
  const isClosed = (): boolean => server.sockets.size > 0 && [...server.sockets].every(({ destroyed }) => destroyed);
  const socket = await tunnel(proxy, server.host);
  socket?.destroy();
  await waitFor(isClosed, (closed) => closed);
  const { hostname, port } = new URL(proxy.url);
  const request = httpRequest({ hostname, port, path: server.origin, agent: false }).on('error', () => undefined);
  request.end();
  await waitFor(
    () => server.requests.length,
    (requests) => requests === 1,
  );
  request.destroy();
  await waitFor(isClosed, (closed) => closed);
});

test('ends a connection to a site that is established after close()', async () => {
  let establish: () => void = () => undefined;
  const established = new Promise<void>((resolve) => {
    establish = resolve;
  });
  let isConnecting = false;
  const upstream = new PassThrough();
  const proxy = await openProxy({
    maxBytes: 1000,
    guard: { target: (url: string) => new URL(url) } as never,
    route: {
      connect: async () => {
        isConnecting = true;
        await established;
        return upstream;
      },
    } as never,
  });
  const { hostname, port } = new URL(proxy.url);
  const socket = connect(Number(port), hostname, () =>
    socket.write('CONNECT a.example:443 HTTP/1.1\r\nHost: a.example\r\n\r\n'),
  );
  await waitFor(
    () => isConnecting,
    (connecting) => connecting,
  );
  socket.on('error', () => undefined);
  await proxy.close();
  establish();
  await waitFor(
    () => upstream.destroyed,
    (destroyed) => destroyed,
  );
  expect(upstream.readableLength).toBe(0);
});
