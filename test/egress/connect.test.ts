import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { afterEach, expect, test } from '@jest/globals';

import { createConnector } from '../../egress/connect.js';
import { createGuard, type Guard } from '../../egress/guard.js';
import { closeAll, serve } from './loopback.js';
import { faultOf } from '../support/faultOf.js';
import { waitFor } from '../support/waitFor.js';

afterEach(closeAll);

const lookup = () => Promise.resolve([{ address: '127.0.0.1', family: 4 }]);
const strict = createGuard({ allowedPrivateHosts: [], allowedPorts: [] }, lookup);
const lenient = createGuard({ allowedPrivateHosts: ['127.0.0.0/8'], allowedPorts: [] }, lookup);

/** Opens only the connection, without the checks that normally precede it. */
function connect(guard: Guard, hostname: string, port: number): Promise<string | undefined> {
  return new Promise((resolve, reject) => {
    createConnector(
      guard,
      port,
      5000,
    )({ hostname, protocol: 'http:', port: String(port) }, (error, socket) => {
      if (error) {
        reject(error);
        return;
      }
      resolve(socket?.remoteAddress);
      socket?.destroy();
    });
  });
}

test.each(['127.0.0.1', '[::1]', '::ffff:127.0.0.1', 'name.example'])(
  'rejects %s, even without the checks that normally come first',
  async (host) => {
    const server = await serve((_, response) => response.end());
    await faultOf(connect(strict, host, server.port), 'address_refused');
    expect(server.sockets.size).toBe(0);
  },
);

test('checks the address of the connected socket again', async () => {
  const server = await serve((_, response) => response.end());
  expect(await connect(lenient, 'name.example', server.port)).toBe('127.0.0.1');
  const mixed: Guard = { ...lenient, connected: (address, host, port) => strict.connected(address, host, port) };
  await faultOf(connect(mixed, 'name.example', server.port), 'address_refused');
});

test('closes a connection whose address it refuses', async () => {
  // An HTTP server would itself end an idle connection.
  const ended: Promise<unknown>[] = [];
  const server = createServer((socket) => void ended.push(once(socket.resume(), 'close'))).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const refusing: Guard = { ...lenient, connected: (address, host, at) => strict.connected(address, host, at) };
  await faultOf(connect(refusing, 'name.example', port), 'address_refused');
  await waitFor(
    () => ended.length,
    (count) => count === 1,
  );
  await Promise.all(ended);
  server.close();
});
