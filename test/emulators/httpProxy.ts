import { createServer, request as httpRequest } from 'node:http';
import { once } from 'node:events';
import { connect, type AddressInfo, type Socket } from 'node:net';

export interface HttpProxy {
  /** Address of the proxy, with the login. */
  readonly url: string;
  readonly host: string;
  /** Forwarded requests, in order: `GET http://…` or `CONNECT host:port`. */
  readonly forwarded: string[];
  close(): Promise<void>;
}

/**
 * Starts a forward proxy on loopback for absolute addresses and CONNECT tunnels. It adds the header `x-through: <name>`
 * to plain requests, so that a site can identify the proxy.
 * @param login `name:password`: requests without it are answered with 407; null: no login is required
 */
export async function startHttpProxy(name: string, login: string | null = null): Promise<HttpProxy> {
  const forwarded: string[] = [];
  const sockets = new Set<Socket>();
  const expected = login === null ? undefined : `Basic ${Buffer.from(login).toString('base64')}`;

  const server = createServer((incoming, response) => {
    if (incoming.headers['proxy-authorization'] !== expected) return void response.writeHead(407).end();
    forwarded.push(`${incoming.method ?? ''} ${incoming.url ?? ''}`);
    const headers = { ...incoming.headers, 'x-through': name };
    delete headers['proxy-authorization'];
    const outgoing = httpRequest(
      incoming.url ?? '',
      { method: incoming.method ?? 'GET', headers, agent: false },
      (answer) => {
        response.writeHead(answer.statusCode ?? 502, answer.headers);
        answer.pipe(response);
      },
    );
    outgoing.on('error', () => incoming.socket.destroy());
    incoming.pipe(outgoing);
  });
  server.on('connect', (incoming, client: Socket) => {
    client.on('error', () => undefined);
    if (incoming.headers['proxy-authorization'] !== expected)
      return void client.end('HTTP/1.1 407 Proxy Authentication Required\r\n\r\n');
    forwarded.push(`CONNECT ${incoming.url ?? ''}`);
    const { hostname, port } = new URL(`http://${incoming.url ?? ''}`);
    const upstream = connect(Number(port || 80), hostname, () => {
      client.write('HTTP/1.1 200 Connection Established\r\n\r\n');
      client.pipe(upstream).pipe(client);
    });
    upstream.on('error', () => client.destroy());
    client.on('close', () => upstream.destroy());
  });
  server.on('connection', (socket: Socket) => sockets.add(socket));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url: `http://${login === null ? '' : `${login}@`}${host}`,
    host,
    forwarded,
    async close() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}
