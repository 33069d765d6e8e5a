import { connect } from 'node:net';
import { expect, test } from '@jest/globals';
import express from 'express';

import { boundChunks } from '../../api/http/body/boundChunks.js';
import { listening } from './listening.js';

/** Maximum number of chunks: 100,000 plus one per 350 bytes. */
const MAX_CHUNKS = 100_286;
const app = express().post('/', boundChunks, express.raw({ limit: '1mb', type: () => true }), (request, response) => {
  response.json({ bytes: (request.body as Buffer).length });
});
const { port } = listening(app);

/** Sends a body of one-byte chunks. @returns all bytes received until the connection is closed */
async function send(chunks: number): Promise<string> {
  const socket = connect(port(), '127.0.0.1');
  let response = '';
  socket.on('data', (piece: Buffer) => (response += piece.toString()));
  // The connection is reset if the server closes it during a write.
  socket.on('error', () => undefined);
  const closed = new Promise((resolve) => socket.once('close', resolve));
  socket.write('POST / HTTP/1.1\r\nhost: here\r\nconnection: close\r\ntransfer-encoding: chunked\r\n\r\n');
  socket.write(`${'1\r\na\r\n'.repeat(chunks)}0\r\n\r\n`);
  await closed;
  return response;
}

test('reads a body of about 100,000 chunks completely', async () => {
  expect(await send(MAX_CHUNKS)).toMatch(/^HTTP\/1\.1 200 [^]*\{"bytes":100286\}/);
});

test('closes the connection without an answer for a body of more chunks', async () => {
  expect(await send(MAX_CHUNKS + 1)).not.toMatch(/^HTTP\/1\.1 200/);
});
