import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

import { tieSockets } from './tieSockets.js';

export interface TcpGate {
  readonly port: number;
  /** Closes all connections and refuses new ones, like the port of a stopped program. */
  shut(): Promise<void>;
  open(): Promise<void>;
}

/** Starts a gate that forwards connections to a local port while it is open. */
export async function startTcpGate(target: number): Promise<TcpGate> {
  const sockets = new Set<Socket>();
  const server = createServer((client) => {
    const upstream = connect(target, '127.0.0.1');
    tieSockets(client, upstream, sockets);
    client.pipe(upstream).pipe(client);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    port,
    async shut() {
      if (!server.listening) return;
      const closed = once(server, 'close');
      server.close();
      for (const socket of sockets) socket.destroy();
      await closed;
    },
    async open() {
      server.listen(port, '127.0.0.1');
      await once(server, 'listening');
    },
  };
}
