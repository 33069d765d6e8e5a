import { getEventListeners, once } from 'node:events';
import { afterEach, describe, expect, test } from '@jest/globals';

import { createEgress } from '../../egress/createEgress.js';
import type { Lookup } from '../../egress/guard.js';
import type { Egress, EgressRequest, EgressSettings } from '../../egress/types.js';
import { closeAll, egressSettings, serve } from './loopback.js';
import { faultOf } from '../support/faultOf.js';

const closeables: Egress[] = [];
function egress(settings: Partial<EgressSettings> = {}, lookup?: Lookup): Egress {
  const created = createEgress(
    egressSettings({ allowedPrivateHosts: ['127.0.0.0/8'], ...settings }),
    lookup ? { lookup } : {},
  );
  closeables.push(created);
  return created;
}
afterEach(async () => {
  await Promise.all(closeables.splice(0).map((created) => created.close()));
  await closeAll();
});

const limits = { maxBytes: 1_000_000, totalTimeoutMs: 30_000 };
const request = (url: string, more: Partial<EgressRequest> = {}): EgressRequest => ({ url, ...limits, ...more });
const text = (bytes: Uint8Array) => Buffer.from(bytes).toString();

describe('an exchange', () => {
  test('sends the user agent and supported codings, and returns status, headers and body', async () => {
    const server = await serve((_, response) =>
      response.writeHead(418, { 'Content-Type': 'text/plain', 'X-Two': ['a', 'b'] }).end('body'),
    );
    const answer = await egress().request(request(`${server.origin}/path?q=1#part`));
    expect(answer).toMatchObject({ status: 418, url: `${server.origin}/path?q=1` });
    expect(answer.headers).toMatchObject({ 'content-type': 'text/plain', 'x-two': 'a, b' });
    expect(text(await answer.bytes())).toBe('body');
    expect(server.requests[0]).toMatchObject({
      method: 'GET',
      url: '/path?q=1',
      headers: { 'user-agent': 'Allotrope/test', 'accept-encoding': 'gzip, deflate, br', host: server.host },
    });
  });

  // Many exchanges share the signal of a batch: a listener that stays keeps its exchange in memory.
  test.each([
    ['the body was read', 'bytes'],
    ['the body was discarded', 'discard'],
  ] as const)('removes its listener from the signal after %s', async (_what, end) => {
    const server = await serve((_, response) => response.end('body'));
    const { signal } = new AbortController();
    const answer = await egress().request(request(server.origin, { signal }));
    expect(getEventListeners(signal, 'abort').length).toBeGreaterThan(0);
    await answer[end]();
    expect(getEventListeners(signal, 'abort')).toEqual([]);
  });

  test("sends a body and the caller's headers, except connection headers", async () => {
    const server = await serve((_, response) => response.end());
    const headers = {
      'Content-Type': 'application/json',
      Authorization: 'Bearer t',
      Host: 'other.example',
      'Content-Length': '3',
      Connection: 'close',
      'Transfer-Encoding': 'chunked',
      Expect: '100-continue',
      'Keep-Alive': 'timeout=60',
      'Proxy-Authorization': 'Basic secret',
      TE: 'trailers',
      Trailer: 'X-Sum',
      Upgrade: 'websocket',
    };
    await (await egress().request(request(server.origin, { method: 'POST', headers, body: '{"a":1}' }))).discard();
    expect(server.requests[0]).toMatchObject({
      method: 'POST',
      body: '{"a":1}',
      headers: {
        'content-type': 'application/json',
        authorization: 'Bearer t',
        host: server.host,
        'content-length': '7',
      },
    });
    const others = ['transfer-encoding', 'expect', 'keep-alive', 'proxy-authorization', 'te', 'trailer', 'upgrade'];
    expect(Object.keys(server.requests[0]?.headers ?? {}).filter((name) => others.includes(name))).toEqual([]);
  });

  test('returns an empty body for HEAD with a content coding and for 204', async () => {
    const server = await serve((received, response) =>
      response.writeHead(received.method === 'HEAD' ? 200 : 204, { 'Content-Encoding': 'gzip' }).end(),
    );
    expect((await (await egress().request(request(server.origin, { method: 'HEAD' }))).bytes()).length).toBe(0);
    expect((await (await egress().request(request(server.origin))).bytes()).length).toBe(0);
  });

  test('reuses its connection for successive requests, also after discarding a short body', async () => {
    const server = await serve((received, response) =>
      response.writeHead(received.url === '/no' ? 404 : 200).end('x'.repeat(1000)),
    );
    const guarded = egress();
    for (const path of Array.from({ length: 20 }, (_, index) => (index % 2 ? '/no' : '/yes'))) {
      const answer = await guarded.request(request(server.origin + path));
      if (answer.status === 404) await answer.discard();
      else await answer.bytes();
    }
    expect(server.requests.length).toBe(20);
    // The pool opens a second connection if a request arrives just before the first connection is free again.
    expect(server.sockets.size).toBeLessThanOrEqual(2);
  });

  test('closes its connection after discarding a long body', async () => {
    let closed: Promise<unknown> = Promise.resolve();
    const server = await serve((_, response) => {
      closed = once(response, 'close');
      response.writeHead(404, { 'Content-Length': '1000000' }).write('x');
    });
    await (await egress().request(request(server.origin))).discard();
    await closed;
  }, 10_000);

  test('opens at most connectionsPerHost connections', async () => {
    let concurrent = 0;
    let max = 0;
    const server = await serve((_, response) => {
      max = Math.max(max, (concurrent += 1));
      setTimeout(() => {
        concurrent -= 1;
        response.end('x');
      }, 30);
    });
    const guarded = egress({ connectionsPerHost: 3 });
    await Promise.all(Array.from({ length: 12 }, async () => (await guarded.request(request(server.origin))).bytes()));
    expect(max).toBe(3);
    expect(server.sockets.size).toBe(3);
  });

  test('reports a closed port as unreachable', async () => {
    const server = await serve(() => undefined);
    await server.close();
    const fault = await faultOf(egress().request(request(server.origin)), 'unreachable');
    expect(fault.message).toContain('127.0.0.1');
    expect(fault.retryable).toBe(true);
  });

  test('tries the next address of a name if the first does not answer', async () => {
    const server = await serve((_, response) => response.end('second'));
    const addresses = [
      { address: '127.9.9.9', family: 4 },
      { address: '127.0.0.1', family: 4 },
    ];
    const answer = await egress({}, () => Promise.resolve(addresses)).request(
      request(`http://two.example:${String(server.port)}/`),
    );
    expect(text(await answer.bytes())).toBe('second');
  });

  test('reports a server without TLS as unreachable over https', async () => {
    const server = await serve((_, response) => response.end());
    await faultOf(egress().request(request(server.origin.replace('http:', 'https:'))), 'unreachable');
  });
});

describe('redirects', () => {
  const redirecting = (routes: Record<string, [number, string]>) =>
    serve((received, response) => {
      const route = routes[received.url ?? ''];
      if (route) response.writeHead(route[0], { Location: route[1] }).end('moved');
      else response.end('end');
    });

  test('are followed, also relative ones, and the final URL is returned', async () => {
    const server = await redirecting({ '/1': [301, '2'], '/2': [302, '/3?x#part'] });
    const first = await redirecting({ '/0': [303, `//${server.host}/1`] });
    const seen: string[] = [];
    const answer = await egress().request(request(`${first.origin}/0`, { onRedirect: (url) => void seen.push(url) }));
    expect([answer.url, text(await answer.bytes())]).toEqual([`${server.origin}/3?x`, 'end']);
    expect(seen).toEqual([`${server.origin}/1`, `${server.origin}/2`, `${server.origin}/3?x`]);
  });

  test('are followed up to five times', async () => {
    const server = await serve((received, response) => {
      const remainingHops = Number((received.url ?? '').slice(1));
      if (remainingHops === 0) response.end('end');
      else response.writeHead(302, { Location: `/${String(remainingHops - 1)}` }).end();
    });
    const answer = await egress().request(request(`${server.origin}/5`));
    expect([answer.url, text(await answer.bytes())]).toEqual([`${server.origin}/0`, 'end']);
    await faultOf(egress().request(request(`${server.origin}/6`)), 'too_many_redirects');
    await faultOf(egress({ maxRedirects: 0 }).request(request(`${server.origin}/1`)), 'too_many_redirects');
  });

  test('with a long body free their connection for the next request', async () => {
    const server = await serve((received, response) => {
      if (received.url === '/') response.writeHead(302, { Location: '/next' }).end(Buffer.alloc(200_000));
      else response.end('end');
    });
    const guarded = egress({ connectionsPerHost: 1 });
    const answer = await guarded.request(request(server.origin, { totalTimeoutMs: 3000 }));
    expect(text(await answer.bytes())).toBe('end');
  });

  test('in a loop fail at once', async () => {
    const server = await redirecting({ '/a': [302, '/b'], '/b': [307, '/a'] });
    await faultOf(egress({ maxRedirects: 1000 }).request(request(`${server.origin}/a`)), 'too_many_redirects');
    expect(server.requests.length).toBe(2);
  });

  test.each([
    'http://169.254.169.254/latest/meta-data',
    'http://[::ffff:10.0.0.1]/',
    'http://10.0.0.1/',
    'http://2852039166/',
    'http://inside.example/',
    'file:///etc/passwd',
    'http://u:p@127.0.0.1/',
    'http://',
  ])('to %s are rejected', async (location) => {
    const server = await redirecting({ '/': [302, location] });
    const lookup: Lookup = () => Promise.resolve([{ address: '192.168.0.1', family: 4 }]);
    const followed: string[] = [];
    const onRedirect = (url: string) => void followed.push(url);
    await faultOf(egress({}, lookup).request(request(server.origin, { onRedirect })), 'address_refused');
    // A name is checked on connection, so onRedirect is called for it; all other addresses are checked before.
    expect(followed).toEqual(location.includes('inside.example') ? [location] : []);
  });

  test('over two servers to the metadata service are rejected at the last hop, without a body in the fault', async () => {
    const second = await redirecting({ '/2': [302, 'http://169.254.169.254/latest/'] });
    const first = await redirecting({ '/1': [302, `//${second.host}/2`] });
    const followed: string[] = [];
    const fault = await faultOf(
      egress().request(request(`${first.origin}/1`, { onRedirect: (url) => void followed.push(url) })),
      'address_refused',
    );
    expect(followed).toEqual([`${second.origin}/2`]);
    expect(fault.message).toContain('169.254.169.254');
    expect(fault.message).not.toContain('moved');
  });

  test('from an allowed local server to another local server are rejected', async () => {
    const secret = await serve((_, response) => response.end('secret'));
    const server = await redirecting({ '/': [302, secret.origin] });
    await faultOf(egress({ allowedPrivateHosts: [server.host] }).request(request(server.origin)), 'address_refused');
    expect(secret.requests).toEqual([]);
  });

  test.each<[number, string, string, string]>([
    [301, 'POST', 'GET', ''],
    [302, 'POST', 'GET', ''],
    [303, 'POST', 'GET', ''],
    [303, 'PUT', 'GET', ''],
    [303, 'HEAD', 'HEAD', ''],
    [301, 'PUT', 'PUT', 'data'],
    [307, 'POST', 'POST', 'data'],
    [308, 'POST', 'POST', 'data'],
  ])('with status %i change the method %s to %s', async (status, before, after, body) => {
    const server = await redirecting({ '/from': [status, '/to'] });
    const method = before as 'GET';
    const sent =
      before === 'HEAD' ? {} : { body: 'data', headers: { 'content-type': 'text/x', authorization: 'kept' } };
    await (await egress().request(request(`${server.origin}/from`, { method, ...sent }))).discard();
    expect(server.requests[1]).toMatchObject({ method: after, url: '/to', body });
    if (before !== 'HEAD') expect(server.requests[1]?.headers.authorization).toBe('kept');
    expect(server.requests[1]?.headers['content-type']).toBe(body === '' ? undefined : 'text/x');
  });

  test('to another origin drop all credentials, also for a later redirect back', async () => {
    const other = await serve((_, response) => response.writeHead(302, { Location: `${home.origin}/end` }).end());
    const home = await redirecting({ '/': [307, `${other.origin}/away`] });
    const headers = {
      Authorization: 'Bearer t',
      Cookie: 'c=1',
      'Private-Token': 'p',
      'X-Api-Key': 'k',
      Accept: 'text/html',
      'Accept-Language': 'de',
    };
    await (await egress().request(request(home.origin, { headers }))).discard();
    for (const seen of [other.requests[0], home.requests[1]]) {
      expect(seen?.headers).toMatchObject({
        accept: 'text/html',
        'accept-language': 'de',
        'user-agent': 'Allotrope/test',
      });
      for (const secret of ['authorization', 'cookie', 'private-token', 'x-api-key'])
        expect(seen?.headers).not.toHaveProperty(secret);
    }
  });

  test('set no cookies for later requests', async () => {
    const server = await serve((received, response) => {
      if (received.url === '/') response.writeHead(302, { Location: '/next', 'Set-Cookie': 's=1' }).end();
      else response.end();
    });
    await (await egress().request(request(server.origin))).discard();
    expect(server.requests[1]?.headers).not.toHaveProperty('cookie');
  });

  test('without Location are returned as responses', async () => {
    const server = await serve((_, response) => response.writeHead(302).end('x'));
    expect((await egress().request(request(server.origin))).status).toBe(302);
  });

  test('fail with the error that onRedirect throws', async () => {
    const server = await redirecting({ '/': [302, '/no'] });
    const stop = new RangeError('stop');
    const work = egress().request(request(server.origin, { onRedirect: () => Promise.reject(stop) }));
    await expect(work).rejects.toBe(stop);
    expect(server.requests.length).toBe(1);
  });
});
