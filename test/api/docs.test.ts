/** Tests of the API reference as it is served: the document, the page and its script. */
import { once } from 'node:events';
import { createServer, type IncomingMessage, request, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import express from 'express';

import { mountDocs } from '../../api/docs/mount.js';

let server: Server;
beforeAll(async () => {
  const app = express();
  // As in api/app.ts.
  app.set('etag', false);
  mountDocs(app);
  server = createServer(app).listen(0, '127.0.0.1');
  await once(server, 'listening');
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

/** Sends a GET request with exactly these headers. */
async function get(path: string, headers: Record<string, string> = {}) {
  const { port } = server.address() as AddressInfo;
  const sent = request({ host: '127.0.0.1', port, path, headers, agent: false }).end();
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  const parts: Buffer[] = [];
  for await (const part of response) parts.push(part as Buffer);
  return { status: response.statusCode, headers: response.headers, bytes: Buffer.concat(parts) };
}

test('the document is compressed only for clients that accept it, and caches keep both forms apart', async () => {
  const plain = await get('/openapi.json');
  expect(plain.headers).toMatchObject({ 'content-type': expect.stringContaining('application/json') });
  expect(plain.headers['content-encoding']).toBeUndefined();
  expect(JSON.parse(plain.bytes.toString())).toMatchObject({ openapi: expect.stringMatching(/^3\./) });
  const zipped = await get('/openapi.json', { 'accept-encoding': 'br, gzip' });
  expect(zipped.headers).toMatchObject({ 'content-encoding': 'gzip', vary: 'accept-encoding' });
  expect(gunzipSync(zipped.bytes).equals(plain.bytes)).toBe(true);
});

test('an unchanged document is checked at each visit, and not sent again', async () => {
  const { headers } = await get('/openapi.json');
  expect(headers['cache-control']).toBe('no-cache');
  const again = await get('/openapi.json', { 'if-none-match': headers.etag! });
  expect([again.status, again.bytes.length]).toEqual([304, 0]);
  expect((await get('/openapi.json', { 'if-none-match': '"other"' })).status).toBe(200);
});

test('/docs redirects to the page by a relative address; the page allows only its own scripts and styles', async () => {
  const redirect = await get('/docs');
  expect([redirect.status, redirect.headers.location]).toEqual([302, 'docs/']);
  const pages = [await get('/docs/'), await get('/docs/')];
  const nonces = pages.map(({ headers, bytes }) => {
    const policy = String(headers['content-security-policy']);
    expect(policy).toMatch(/default-src 'none'; script-src 'self'; .*frame-ancestors 'none'$/);
    const nonce = /'nonce-([^']+)'/.exec(policy)![1]!;
    expect(bytes.toString()).toContain(`<style nonce="${nonce}">`);
    return nonce;
  });
  expect(new Set(nonces).size).toBe(2);
  expect((await get('/docs/page.js')).headers['content-type']).toContain('text/javascript');
});
