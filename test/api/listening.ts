import { once } from 'node:events';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll } from '@jest/globals';
import type { Express } from 'express';

import { createHttpServer } from '../../api/http/server.js';

/** Serves an app on loopback during the suite. @returns the server, and its port, which is known from the first test on */
export function listening(app: Express): { readonly server: Server; port(): number } {
  const server = createHttpServer(app);
  beforeAll(() => once(server.listen(0, '127.0.0.1'), 'listening'));
  afterAll(() => {
    server.closeAllConnections();
    server.close();
  });
  return { server, port: () => (server.address() as AddressInfo).port };
}
