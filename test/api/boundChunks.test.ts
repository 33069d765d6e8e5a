import { once } from 'node:events';
import { type AddressInfo, connect } from 'node:net';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import express from 'express';

import { boundChunks } from '../../api/http/boundChunks.js';
import { createHttpServer } from '../../api/http/server.js';

/** 100,000, and one for each 350 bytes. */
const MOST = 100_286;
const app = express().post('/', boundChunks, express.raw({ limit: '1mb', type: () => true }), (request, response) => {
  response.json({ bytes: (request.body as Buffer).length });
});
const server = createHttpServer(app);

beforeAll(() => once(server.listen(0, '127.0.0.1'), 'listening'));
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

/** Sends a body of so many one-byte chunks; answers all that came back until the connection was closed. */
async function send(chunks: number): Promise<string> {
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
  let told = '';
  socket.on('data', (piece: Buffer) => (told += piece.toString()));
  // Reset, where it is closed while it is written to.
  socket.on('error', () => undefined);
  const closed = new Promise((resolve) => socket.once('close', resolve));
  socket.write('POST / HTTP/1.1\r\nhost: here\r\nconnection: close\r\ntransfer-encoding: chunked\r\n\r\n');
  socket.write(`${'1\r\na\r\n'.repeat(chunks)}0\r\n\r\n`);
  await closed;
  return told;
}

test('a body in some 100,000 pieces is read whole', async () => {
  expect(await send(MOST)).toMatch(/^HTTP\/1\.1 200 [^]*\{"bytes":100286\}/);
});

test('a body in more pieces is given up, and its connection is closed without an answer', async () => {
  expect(await send(MOST + 1)).not.toMatch(/^HTTP\/1\.1 200/);
});
