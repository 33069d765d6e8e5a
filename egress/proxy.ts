import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Transform, type Duplex } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Dispatcher } from 'undici';

import { Fault } from '../contract/failures.js';
import type { Guard } from './guard.js';
import type { Route } from './route.js';
import type { EgressProxy } from './types.js';

export interface ProxyOptions {
  readonly maxBytes: number;
  readonly guard: Guard;
  readonly route: Route;
}

/**
 * Starts a proxy on a free loopback port. Plain requests and tunnels (https, websockets) use the given route, which
 * checks their targets. Redirects return to the browser, which sends the next request here too. A refused or failed
 * request closes the connection, so that a page cannot mistake our response for a site's.
 */
export async function openProxy({ maxBytes, guard, route }: ProxyOptions): Promise<EgressProxy> {
  const sockets = new Set<Duplex>();
  const refused = new Set<string>();
  let total = 0;

  const track = (socket: Duplex): void => {
    sockets.add(socket);
    socket.on('error', () => socket.destroy()).once('close', () => sockets.delete(socket));
  };
  const closeSockets = (): void => {
    for (const socket of sockets) socket.destroy();
  };
  const countBytes = (bytes: number): void => {
    total += bytes;
    if (total > maxBytes) closeSockets();
  };

  async function forward(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const target = guard.target(request.url ?? '');
    const disconnected = new AbortController();
    response.once('close', () => {
      disconnected.abort();
    });
    const answer = await route.request(target, {
      method: (request.method ?? 'GET') as Dispatcher.HttpMethod,
      headers: endToEnd(request.headers),
      body: 'content-length' in request.headers || 'transfer-encoding' in request.headers ? request : null,
      signal: disconnected.signal,
    });
    response.writeHead(answer.statusCode, endToEnd(answer.headers));
    await pipeline(answer.body, counting(countBytes), response);
  }

  async function tunnel(authority: string, client: Duplex, head: Buffer): Promise<void> {
    const { host, port } = guard.target(`http://${authority}`);
    const upstream = await route.connect(host, port);
    track(upstream);
    if (client.destroyed || total > maxBytes) {
      upstream.destroy();
      return;
    }
    client.write('HTTP/1.1 200 Connection Established\r\n\r\n');
    upstream.write(head);
    await Promise.all([pipeline(client, upstream), pipeline(upstream, counting(countBytes), client)]);
  }

  /** Runs one request or tunnel. On an error it only closes the connection. */
  const serve = (target: string, client: Duplex, work: () => Promise<void>): void => {
    if (total > maxBytes) {
      client.destroy();
      return;
    }
    work().catch((error: unknown) => {
      if (error instanceof Fault && error.kind === 'address_refused') refused.add(target);
      client.destroy();
    });
  };

  const server = createServer((request, response) => {
    const target = URL.canParse(request.url ?? '') ? new URL(request.url ?? '').host : '';
    serve(target, request.socket, () => forward(request, response));
  });
  server.on('connect', (request: IncomingMessage, client: Duplex, head: Buffer) => {
    serve(request.url ?? '', client, () => tunnel(request.url ?? '', client, head));
  });
  server.on('connection', track);
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(0, '127.0.0.1', resolve);
  });

  return {
    url: `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`,
    exceeded: () => total > maxBytes,
    refused: () => [...refused],
    close: () =>
      new Promise((resolve) => {
        server.close(() => {
          resolve();
        });
        closeSockets();
      }),
  };
}

/** Headers of a single connection, which a proxy must not forward. */
const HOP_BY_HOP: ReadonlySet<string> = new Set([
  'connection',
  'expect',
  'host',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

function endToEnd(headers: IncomingHttpHeaders): Record<string, string | string[]> {
  return Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) =>
      value === undefined || HOP_BY_HOP.has(name) ? [] : [[name, value]],
    ),
  );
}

function counting(countBytes: (bytes: number) => void): Transform {
  return new Transform({
    transform(piece: Buffer, _encoding, done) {
      countBytes(piece.length);
      done(null, piece);
    },
  });
}
