import { createServer, request as httpRequest } from 'node:http';
import { once } from 'node:events';
import { connect, type AddressInfo, type Socket } from 'node:net';

export interface HttpProxy {
  /** With the credentials it asks for. */
  readonly url: string;
  readonly host: string;
  /** What went through it, in order: `GET http://…` or `CONNECT host:port`. */
  readonly passed: string[];
  close(): Promise<void>;
}

/**
 * A forward proxy on loopback: whole addresses and tunnels. Plain requests go on with the header `x-through: <name>`,
 * by which a site can tell its visitors. Without the right credentials everything is 407.
 */
export async function startHttpProxy(name: string, login: string | null = null): Promise<HttpProxy> {
  const passed: string[] = [];
  const sockets = new Set<Socket>();
  const expected = login === null ? undefined : `Basic ${Buffer.from(login).toString('base64')}`;

  const server = createServer((asked, response) => {
    if (asked.headers['proxy-authorization'] !== expected) return void response.writeHead(407).end();
    passed.push(`${asked.method ?? ''} ${asked.url ?? ''}`);
    const headers = { ...asked.headers, 'x-through': name };
    delete headers['proxy-authorization'];
    const onward = httpRequest(asked.url ?? '', { method: asked.method ?? 'GET', headers, agent: false }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
    });
    onward.on('error', () => asked.socket.destroy());
    asked.pipe(onward);
  });
  server.on('connect', (asked, client: Socket) => {
    client.on('error', () => undefined);
    if (asked.headers['proxy-authorization'] !== expected)
      return void client.end('HTTP/1.1 407 Proxy Authentication Required\r\n\r\n');
    passed.push(`CONNECT ${asked.url ?? ''}`);
    const { hostname, port } = new URL(`http://${asked.url ?? ''}`);
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
    passed,
    async close() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}
