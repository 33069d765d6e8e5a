import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { QdrantClient } from '@qdrant/js-client-rest';
import { expect, test } from '@jest/globals';

import { clientOptions, qdrantEndpoint } from '../../store/vectors/address.js';
import { createQdrantReader } from '../../store/vectors/reader.js';

test.each([
  ['http://qdrant:6333', { protocol: 'http:', host: 'qdrant', port: 6333, prefix: '' }],
  ['http://qdrant', { protocol: 'http:', host: 'qdrant', port: 6333, prefix: '' }],
  ['https://qdrant:443', { protocol: 'https:', host: 'qdrant', port: 443, prefix: '' }],
  ['http://qdrant:80/', { protocol: 'http:', host: 'qdrant', port: 80, prefix: '' }],
  ['https://qdrant:80', { protocol: 'https:', host: 'qdrant', port: 80, prefix: '' }],
  ['http://[::1]', { protocol: 'http:', host: '::1', port: 6333, prefix: '' }],
  ['http://[::1]:80', { protocol: 'http:', host: '::1', port: 80, prefix: '' }],
  ['https://proxy:443/a/qdrant/', { protocol: 'https:', host: 'proxy', port: 443, prefix: '/a/qdrant' }],
  ['https://proxy/a:1', { protocol: 'https:', host: 'proxy', port: 6333, prefix: '/a:1' }],
])('reads the port and the path of %s', (url, expected) => {
  expect(qdrantEndpoint(url)).toEqual(expected);
});

test("Qdrant's client connects to the port of the URL, also if it is the default of the scheme, else to 6333", () => {
  const uriOf = (url: string): unknown =>
    Reflect.get(new QdrantClient(clientOptions({ url, apiKey: null })), '_restUri');
  expect(uriOf('https://qdrant:443')).toBe('https://qdrant:443');
  expect(uriOf('http://qdrant:80')).toBe('http://qdrant:80');
  expect(uriOf('http://qdrant')).toBe('http://qdrant:6333');
  expect(uriOf('http://[::1]:7000')).toBe('http://[::1]:7000');
});

test('reads and writes send their requests below the path of the URL', async () => {
  const paths: (string | undefined)[] = [];
  const server = createServer((request, response) => {
    paths.push(request.url);
    response.setHeader('content-type', 'application/json');
    response.end('{"result":{"collections":[]},"status":"ok","time":0}');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/qdrant/`, apiKey: null };
  try {
    await new QdrantClient(clientOptions(address)).getCollections();
    await createQdrantReader(address)('/collections/a/points', {});
    expect(paths).toEqual(['/qdrant/collections', '/qdrant/collections/a/points']);
  } finally {
    server.closeAllConnections();
    server.close();
  }
});
