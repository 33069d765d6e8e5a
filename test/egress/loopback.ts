import { createServer, type IncomingMessage, type RequestListener, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';

import type { EgressSettings } from '../../egress/types.js';

export interface Loopback {
  readonly host: string;
  readonly origin: string;
  readonly port: number;
  /** The received requests, in order. */
  readonly requests: {
    readonly method: string;
    readonly url: string;
    readonly headers: IncomingMessage['headers'];
    readonly body: string;
  }[];
  readonly sockets: Set<Socket>;
  close(): Promise<void>;
}

const running: Loopback[] = [];

/** Starts a real HTTP server on loopback. closeAll() closes it. */
export async function serve(handle: (request: IncomingMessage, response: ServerResponse) => void): Promise<Loopback> {
  const seen: Loopback['requests'] = [];
  const sockets = new Set<Socket>();
  const listener: RequestListener = (request, response) => {
    const parts: Buffer[] = [];
    request
      .on('data', (part: Buffer) => parts.push(part))
      .on('end', () => {
        seen.push({
          method: request.method ?? '',
          url: request.url ?? '',
          headers: request.headers,
          body: Buffer.concat(parts).toString(),
        });
        handle(request, response);
      });
  };
  const server: Server = createServer(listener);
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const { port } = server.address() as AddressInfo;
  const loopback: Loopback = {
    host: `127.0.0.1:${String(port)}`,
    origin: `http://127.0.0.1:${String(port)}`,
    port,
    requests: seen,
    sockets,
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => {
          resolve();
        });
      }),
  };
  running.push(loopback);
  return loopback;
}

export async function closeAll(): Promise<void> {
  await Promise.all(running.splice(0).map((server) => server.close()));
}

export function egressSettings(settings: Partial<EgressSettings> = {}): EgressSettings {
  return {
    allowedPrivateHosts: [],
    allowedPorts: [],
    userAgent: 'Allotrope/test',
    connectTimeoutMs: 5000,
    headersTimeoutMs: 20_000,
    bodyTimeoutMs: 20_000,
    maxRedirects: 5,
    connectionsPerHost: 4,
    premiumProxies: [],
    ...settings,
  };
}
