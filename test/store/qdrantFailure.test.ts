import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { QdrantClient } from '@qdrant/js-client-rest';
import { expect, test } from '@jest/globals';

import { qdrantFailure } from '../../store/vectors/qdrantFailure.js';

test.each([
  ['429 with Retry-After', 429, { 'retry-after': '2' }, { store: 'Qdrant', kind: 'failed' }],
  ['429 without Retry-After', 429, {}, { store: 'Qdrant', kind: 'failed' }],
  ['500', 500, {}, { store: 'Qdrant', kind: 'failed' }],
  ['404', 404, {}, { status: 404 }],
])(
  'returns a StoreFailure for a 429 or 5xx of Qdrant, and a 404 unchanged: %s',
  async (_what, status, headers, expected) => {
    const server = createServer((_request, response) => response.writeHead(status, headers).end('{}'));
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const client = new QdrantClient({
      url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
      checkCompatibility: false,
    });
    const error = await client.getCollections().catch((refused: unknown) => refused);
    expect(qdrantFailure(error)).toMatchObject(expected);
    server.closeAllConnections();
    server.close();
  },
);
