import { once } from 'node:events';
import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { afterEach, describe, expect, test } from '@jest/globals';

import { type QueryQdrant, createQdrantReader } from '../../store/vectors/reader.js';

let server: Server;
async function serve(
  listener: RequestListener,
  apiKey: string | null = null,
  timeoutMs?: number,
): Promise<QueryQdrant> {
  server = createServer(listener).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return createQdrantReader(
    { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/qdrant/`, apiKey },
    timeoutMs,
  );
}
afterEach(() => {
  server.closeAllConnections();
  server.close();
});

async function bodyOf(request: IncomingMessage): Promise<unknown> {
  let text = '';
  for await (const part of request.setEncoding('utf8')) text += String(part);
  return JSON.parse(text);
}

describe('requests to Qdrant', () => {
  test('are sent as JSON with the API key, and return the result', async () => {
    const ask = await serve((request, response) => {
      void bodyOf(request).then((body) =>
        response.end(JSON.stringify({ result: { body, url: request.url, key: request.headers['api-key'] } })),
      );
    }, 'its key');
    expect(await ask('/collections/a/points', { ids: ['ü'] })).toEqual({
      body: { ids: ['ü'] },
      url: '/qdrant/collections/a/points',
      key: 'its key',
    });
  });

  test('a refusal is an error with status and reason', async () => {
    const ask = await serve((_request, response) => {
      response.writeHead(404).end(JSON.stringify({ status: { error: 'Not found: Collection `a`' } }));
    });
    await expect(ask('/collections/a/points', {})).rejects.toMatchObject({
      status: 404,
      message: expect.stringContaining('Collection `a`'),
    });
  });

  test('a request on an idle connection that the server closes is sent again', async () => {
    const requestsOf = new Map<Socket, number>();
    const ask = await serve((request, response) => {
      const earlierRequests = requestsOf.get(request.socket) ?? 0;
      requestsOf.set(request.socket, earlierRequests + 1);
      // Act like a server that closes an idle connection at the moment a request arrives.
      if (earlierRequests > 0) request.socket.resetAndDestroy();
      else response.end('{"result":"ok"}');
    });
    expect([await ask('/', {}), await ask('/', {})]).toEqual(['ok', 'ok']);
    expect([...requestsOf.values()]).toEqual([2, 1]);
  });

  test('a truncated answer, an answer that is not JSON and an unreachable server are errors', async () => {
    const ask = await serve((request, response) => {
      if (request.url === '/qdrant/cut') {
        response.writeHead(200, { 'content-length': 100 }).write('{"result":');
        setImmediate(() => request.socket.destroy());
      } else response.end('<html>');
    });
    await expect(ask('/cut', {})).rejects.toThrow('aborted');
    await expect(ask('/page', {})).rejects.toThrow('JSON');
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
    await expect(ask('/', {})).rejects.toMatchObject({ code: 'ECONNREFUSED' });
  });

  test('end with the reason of their signal, without a request if it is aborted already', async () => {
    let requests = 0;
    const ask = await serve(() => (requests += 1));
    const [aborter, left] = [new AbortController(), new AbortController()];
    const answer = ask('/', {}, aborter.signal);
    await once(server, 'request');
    aborter.abort(new Error('the caller left'));
    await expect(answer).rejects.toThrow('the caller left');
    left.abort(new Error('it left earlier'));
    await expect(ask('/', {}, left.signal)).rejects.toThrow('it left earlier');
    expect(requests).toBe(1);
  });

  test('end after their time limit, and are not sent again if the server closes a new connection', async () => {
    let requests = 0;
    const ask = await serve(
      (request) => {
        requests += 1;
        if (request.url === '/qdrant/closed') request.socket.resetAndDestroy();
      },
      null,
      50,
    );
    await expect(ask('/', {})).rejects.toThrow('no answer within 0.05 s');
    await expect(ask('/closed', {})).rejects.toMatchObject({ code: 'ECONNRESET' });
    expect(requests).toBe(2);
  });
});
