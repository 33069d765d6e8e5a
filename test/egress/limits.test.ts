import { getEventListeners, once } from 'node:events';
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from 'node:zlib';
import { type AddressInfo, createServer } from 'node:net';
import { afterEach, describe, expect, test } from '@jest/globals';

import { createEgress } from '../../egress/createEgress.js';
import type { Lookup } from '../../egress/guard.js';
import type { Egress, EgressSettings } from '../../egress/types.js';
import { closeAll, egressSettings, serve } from './loopback.js';
import { everyRow } from '../support/everyRow.js';
import { faultOf } from '../support/faultOf.js';

const closeables: Egress[] = [];
function egress(settings: Partial<EgressSettings> = {}, lookup?: Lookup): Egress {
  const created = createEgress(
    egressSettings({ allowedPrivateHosts: ['127.0.0.1'], ...settings }),
    lookup ? { lookup } : {},
  );
  closeables.push(created);
  return created;
}
afterEach(async () => {
  await Promise.all(closeables.splice(0).map((created) => created.close()));
  await closeAll();
});

const limits = { maxBytes: 100_000, totalTimeoutMs: 30_000 };

describe('content codings', () => {
  const plain = Buffer.from('some text, '.repeat(1000));
  const coded: Record<string, Buffer> = {
    gzip: gzipSync(plain),
    'x-gzip': gzipSync(plain),
    br: brotliCompressSync(plain),
    deflate: deflateSync(plain),
    'Deflate ': deflateRawSync(plain),
    'gzip, br': brotliCompressSync(gzipSync(plain)),
    identity: plain,
  };

  test.each(Object.keys(coded))('decode %p', async (coding) => {
    const server = await serve((_, response) =>
      response.writeHead(200, { 'Content-Encoding': coding }).end(coded[coding]),
    );
    const bytes = await (await egress().request({ url: server.origin, ...limits })).bytes();
    expect(Buffer.from(bytes).equals(plain)).toBe(true);
  });

  test.each([
    ['an unrequested coding', 'zstd', plain],
    ['too many codings', 'gzip, gzip, gzip', gzipSync(gzipSync(gzipSync(plain)))],
    ['invalid gzip', 'gzip', plain],
    ['invalid brotli', 'br', Buffer.from('<html>not brotli at all</html>')],
    ['truncated gzip', 'gzip', gzipSync(plain).subarray(0, 40)],
  ])('report %s as broken content', async (_name, coding, body) => {
    const server = await serve((_, response) => response.writeHead(200, { 'Content-Encoding': coding }).end(body));
    await faultOf((await egress().request({ url: server.origin, ...limits })).bytes(), 'broken_content');
  });
});

describe('maxBytes', () => {
  test.each([
    ['gzip', gzipSync(Buffer.alloc(100_000_000), { level: 9 })],
    ['gzip, gzip', gzipSync(gzipSync(Buffer.alloc(100_000_000), { level: 9 }))],
    ['br', brotliCompressSync(Buffer.alloc(50_000_000))],
  ])('stops a compression bomb in %s during decompression', async (coding, bomb) => {
    expect(bomb.length).toBeLessThan(200_000);
    const server = await serve((_, response) => response.writeHead(200, { 'Content-Encoding': coding }).end(bomb));
    const answer = await egress().request({ url: server.origin, ...limits });
    let read = 0;
    const reading = (async () => {
      for await (const piece of answer.body) read += piece.length;
    })();
    const fault = await faultOf(reading, 'too_large');
    expect(fault.message).toContain('100,000');
    expect(read).toBeLessThanOrEqual(limits.maxBytes);
  });

  test('closes the connection of an endless body', async () => {
    let onClose: () => void = () => undefined;
    const closed = new Promise<void>((resolve) => (onClose = resolve));
    const server = await serve((_, response) => {
      const more = () => {
        while (response.write('x'.repeat(10_000)));
      };
      response.on('drain', more).on('close', onClose);
      more();
    });
    await faultOf((await egress().request({ url: server.origin, ...limits })).bytes(), 'too_large');
    await closed;
  });

  test('rejects a larger Content-Length before reading the body', async () => {
    const server = await serve((_, response) => {
      response.writeHead(200, { 'Content-Length': '100001' }).flushHeaders();
    });
    await faultOf((await egress().request({ url: server.origin, ...limits })).bytes(), 'too_large');
  });

  test('allows a body of exactly maxBytes', async () => {
    const server = await serve((_, response) => response.end(Buffer.alloc(100_000)));
    expect((await (await egress().request({ url: server.origin, ...limits })).bytes()).length).toBe(100_000);
  });
});

describe('a timeout', () => {
  test('ends a request without response headers', async () => {
    const server = await serve(() => undefined);
    const fault = await faultOf(
      egress({ headersTimeoutMs: 300 }).request({ url: server.origin, ...limits }),
      'timed_out',
    );
    expect(fault.message).toContain('0.3 s');
  });

  test('ends a body that stalls', async () => {
    const server = await serve((_, response) => {
      response.write('start');
    });
    const answer = await egress({ bodyTimeoutMs: 300 }).request({ url: server.origin, ...limits });
    await faultOf(answer.bytes(), 'timed_out');
  });

  test('ends a slow endless body after the total time', async () => {
    const server = await serve((_, response) => {
      const drip = setInterval(() => response.write('x'), 50);
      response.on('close', () => {
        clearInterval(drip);
      });
    });
    const answer = await egress().request({ url: server.origin, maxBytes: 1000, totalTimeoutMs: 400 });
    await faultOf(answer.bytes(), 'timed_out');
  });

  test('includes all redirects in the total time', async () => {
    const server = await serve((received, response) => {
      const hop = Number((received.url ?? '/0').slice(1));
      setTimeout(() => response.writeHead(302, { Location: `/${String(hop + 1)}` }).end(), 200);
    });
    await faultOf(
      egress({ maxRedirects: 100 }).request({ url: `${server.origin}/0`, maxBytes: 10, totalTimeoutMs: 700 }),
      'timed_out',
    );
    expect(server.requests.length).toBeLessThan(6);
  });

  test('closes the connection of an unread response', async () => {
    let onClose: () => void = () => undefined;
    const closed = new Promise<void>((resolve) => (onClose = resolve));
    const server = await serve((_, response) => {
      response.on('close', onClose).write('start');
    });
    const answer = await egress().request({ url: server.origin, maxBytes: 1000, totalTimeoutMs: 300 });
    await closed;
    await faultOf(answer.bytes(), 'timed_out');
  });
});

describe('an abort', () => {
  const reason = new RangeError('the caller stops');

  test.each(['before', 'while waiting for headers', 'in the body', 'after the headers, before reading'])(
    '%s rejects with its reason',
    async (when) => {
      const stop = new AbortController();
      const server = await serve((_, response) => {
        if (when === 'while waiting for headers') stop.abort(reason);
        else response.write('start');
      });
      if (when === 'before') stop.abort(reason);
      const work = (async () => {
        const answer = await egress().request({ url: server.origin, ...limits, signal: stop.signal });
        if (when.startsWith('after')) stop.abort(reason);
        for await (const _piece of answer.body) stop.abort(reason);
      })();
      await expect(work).rejects.toBe(reason);
    },
  );

  /** Work with the caller's signal. A batch uses one signal for thousands of requests, whose listeners would add up. */
  const WORKS: readonly (readonly [string, (guarded: Egress, url: string, signal: AbortSignal) => Promise<unknown>])[] =
    [
      ['a read body', async (guarded, url, signal) => (await guarded.request({ url, ...limits, signal })).bytes()],
      [
        'a discarded body',
        async (guarded, url, signal) => (await guarded.request({ url, ...limits, signal })).discard(),
      ],
      [
        'a body that is read in part',
        async (guarded, url, signal) => {
          for await (const _piece of (await guarded.request({ url, ...limits, signal })).body) break;
        },
      ],
      [
        'a failed request',
        (guarded, _, signal) => faultOf(guarded.request({ url: 'http://127.0.0.1:1', ...limits, signal })),
      ],
      [
        'a refused address',
        (guarded, _, signal) => faultOf(guarded.request({ url: 'http://10.0.0.1', ...limits, signal })),
      ],
      ['a check', (guarded, url, signal) => guarded.check(url, signal)],
      ['a failed check', (guarded, _, signal) => faultOf(guarded.check('http://a.invalid/', signal), 'dns_failed')],
    ];
  test('is no longer observed after the work has ended', () =>
    everyRow(
      WORKS,
      ([name]) => name,
      async ([, work]) => {
        const server = await serve((_, response) => response.end('body'));
        const { signal } = new AbortController();
        await work(
          egress({}, () => Promise.reject(new Error('no such name'))),
          server.origin,
          signal,
        );
        expect(getEventListeners(signal, 'abort')).toEqual([]);
      },
    ));

  test('of one request does not affect others', async () => {
    const waiting: (() => void)[] = [];
    const server = await serve((_, response) => void waiting.push(() => response.end('late')));
    const guarded = egress();
    const stop = new AbortController();
    const first = guarded.request({ url: server.origin, ...limits, signal: stop.signal });
    const second = guarded.request({ url: server.origin, ...limits });
    while (waiting.length < 2) await new Promise((resolve) => setTimeout(resolve, 10));
    stop.abort(reason);
    await expect(first).rejects.toBe(reason);
    for (const answer of waiting) answer();
    expect(Buffer.from(await (await second).bytes()).toString()).toBe('late');
  });
});

describe('unread bodies', () => {
  test('close their connection if the caller stops reading, without affecting the next request', async () => {
    const server = await serve((_, response) => response.end(Buffer.alloc(90_000)));
    const guarded = egress({ connectionsPerHost: 1 });
    const answer = await guarded.request({ url: server.origin, ...limits });
    for await (const _piece of answer.body) break;
    expect((await (await guarded.request({ url: server.origin, ...limits })).bytes()).length).toBe(90_000);
    expect(server.sockets.size).toBe(2);
  });

  test('close their connection if they are rejected by their headers', async () => {
    const rejectedHeaders = [
      ['too_large', { 'content-length': '100001' }],
      ['broken_content', { 'content-encoding': 'x-unknown' }],
      // A name that every object has.
      ['broken_content', { 'content-encoding': 'constructor' }],
    ] as const;
    for (const [kind, headers] of rejectedHeaders) {
      let closed: Promise<unknown> = Promise.resolve();
      const server = await serve((_, response) => {
        closed = once(response, 'close');
        // The body never ends.
        response.writeHead(200, headers).write('x');
      });
      await faultOf((await egress().request({ url: server.origin, ...limits })).bytes(), kind);
      await closed;
    }
  }, 10_000);

  test.each([
    [65_536, 1],
    [65_537, 2],
  ])(
    'of %i bytes, discarded: two requests use %i connections, because only up to 65,536 bytes are read',
    async (bytes, connections) => {
      const server = await serve((_, response) =>
        response.writeHead(200, { 'content-length': String(bytes) }).end(Buffer.alloc(bytes)),
      );
      const guarded = egress({ connectionsPerHost: 1 });
      for (let requests = 0; requests < 2; requests += 1)
        await (await guarded.request({ url: server.origin, ...limits })).discard();
      expect(server.sockets.size).toBe(connections);
    },
  );

  test('without end do not block discard()', async () => {
    const server = await serve((_, response) => {
      const drip = setInterval(() => response.write('x'), 20);
      response.on('close', () => {
        clearInterval(drip);
      });
    });
    const guarded = egress({ connectionsPerHost: 1 });
    await (await guarded.request({ url: server.origin, ...limits })).discard();
    await (await guarded.request({ url: server.origin, ...limits })).discard();
    expect(server.requests.length).toBe(2);
  });
});

test('reports a server that truncates its response as unreachable', async () => {
  const server = createServer((socket) => {
    socket.once('data', () => socket.end('HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nshort'));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const answer = await egress().request({ url: `http://127.0.0.1:${String(port)}/`, ...limits });
  await faultOf(answer.bytes(), 'unreachable');
  server.close();
});

test('rejects overlong headers', async () => {
  const server = createServer((socket) => {
    socket
      .on('error', () => undefined)
      .once('data', () => {
        socket.write('HTTP/1.1 200 OK\r\n');
        socket.write(`X-Long: ${'x'.repeat(100_000)}\r\n\r\n`);
      });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await faultOf(egress().request({ url: `http://127.0.0.1:${String(port)}/`, ...limits }), 'bad_response');
  server.close();
});

test('close() ends requests in progress', async () => {
  const server = await serve(() => undefined);
  const guarded = egress();
  const work = faultOf(guarded.request({ url: server.origin, ...limits }));
  while (server.requests.length === 0) await new Promise((resolve) => setTimeout(resolve, 10));
  await guarded.close();
  expect((await work).kind).toBe('unreachable');
});
