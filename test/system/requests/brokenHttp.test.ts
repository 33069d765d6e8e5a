/** Tests of malformed requests. Those that no HTTP client would send are written to a socket as raw bytes. */
import { once } from 'node:events';
import { type AddressInfo, connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';

import { createHttpServer } from '../../../api/http/server.js';
import { apiClient } from '../../support/client.js';
import { startService, type TestService } from '../../support/service.js';
import { TIME_LIMIT_MS } from '../../support/waitFor.js';

let service: TestService;
let token: string;

beforeAll(async () => {
  service = await startService({ MAX_JSON_BYTES: '100000' }, { worker: false });
  ({ token } = await service.user('mallory'));
});
afterAll(() => service.close());

interface RawAnswer {
  readonly status: number;
  readonly body: { readonly detail?: unknown };
  /** All received bytes, for connections with several answers. */
  readonly text: string;
}

/** Sends bytes, reads until the server closes the connection, and returns what was received. */
async function exchange(url: string, ...parts: (string | Buffer)[]): Promise<RawAnswer> {
  const socket = connect(Number(new URL(url).port), '127.0.0.1');
  const pieces: Buffer[] = [];
  socket.on('data', (piece: Buffer) => pieces.push(piece));
  // The exchange fails if the server does not close. A write after an early close does not fail the test.
  const closed = new Promise((resolve) => socket.on('error', () => undefined).once('close', () => resolve('closed')));
  await once(socket, 'connect');
  for (const part of parts) {
    socket.write(part);
    await sleep(20);
  }
  const outcome = await Promise.race([closed, sleep(TIME_LIMIT_MS, 'open', { ref: false })]);
  socket.destroy();
  expect(outcome).toBe('closed');
  const text = Buffer.concat(pieces).toString();
  const [, body = '', ...others] = text.split('\r\n\r\n');
  return {
    status: Number(/^HTTP\/1\.1 (\d{3}) /.exec(text)?.[1] ?? 0),
    body: body.startsWith('{') && others.length === 0 ? (JSON.parse(body) as RawAnswer['body']) : {},
    text,
  };
}

const headOf = (more: readonly string[] = [], line = 'POST /user_files_v2 HTTP/1.1', host = 'host: here'): string =>
  [line, host, `authorization: Token ${token}`, 'content-type: application/json', ...more].join('\r\n') + '\r\n\r\n';

describe('malformed HTTP, answered with an error and a closed connection', () => {
  test.each<[string, () => (string | Buffer)[], number]>([
    ['noise', () => ['nonsense\r\n\r\n'], 400],
    ['bytes of TLS', () => [Buffer.from('16030100c8010000c40303', 'hex')], 400],
    ['an unknown method', () => [headOf([], 'BREW /coffee HTTP/1.1')], 400],
    ['another version of HTTP', () => [headOf([], 'GET /health HTTP/9.9')], 400],
    ['a space in the address', () => [headOf([], 'GET /a b HTTP/1.1')], 400],
    ['a header without a name', () => [headOf([': nothing'])], 400],
    ['a zero byte in a header', () => [headOf(['x-a: b\0c'])], 400],
    ['a length that is not a number', () => [headOf(['content-length: many'])], 400],
    ['a negative length', () => [headOf(['content-length: -5'])], 400],
    ['two lengths', () => [headOf(['content-length: 2', 'content-length: 3']), '{}'], 400],
    ['a length and chunks', () => [headOf(['content-length: 2', 'transfer-encoding: chunked']), '0\r\n\r\n'], 400],
    ['a chunk whose size is not a number', () => [headOf(['transfer-encoding: chunked']), 'zz\r\n{}\r\n'], 400],
    ['headers of 100 KB', () => [headOf([`x-long: ${'x'.repeat(100_000)}`])], 431],
    ['an address of 100 KB', () => [headOf([], `GET /health?${'x'.repeat(100_000)} HTTP/1.1`)], 431],
    ['no host', () => [headOf(['connection: close'], 'GET /health HTTP/1.1', 'x-a: b')], 400],
    ['an unknown expectation', () => [headOf(['expect: magic', 'connection: close'])], 417],
    ['CONNECT, as to a proxy', () => [headOf([], 'CONNECT example.com:443 HTTP/1.1')], 405],
  ])('%s', async (_what, parts, status) => {
    const answer = await exchange(service.url, ...parts());
    expect(answer).toMatchObject({ status, body: { detail: expect.stringMatching(/\.$/) } });
    expect(answer.text).toMatch(/content-type: application\/json/i);
    expect(answer.text).not.toContain('x'.repeat(50));
  });

  test('ends a request that stalls', async () => {
    const slow = createHttpServer(() => undefined, {
      headersTimeout: 200,
      requestTimeout: 300,
      connectionsCheckingInterval: 50,
    }).listen(0, '127.0.0.1');
    await once(slow, 'listening');
    const url = `http://127.0.0.1:${(slow.address() as AddressInfo).port}`;
    for (const part of ['POST / HTTP/1.1\r\nhost: he', 'POST / HTTP/1.1\r\nhost: here\r\ncontent-length: 9\r\n\r\n{'])
      expect(await exchange(url, part)).toMatchObject({ status: 408, body: { detail: expect.any(String) } });
    slow.close();
  });

  test('leaves an earlier answer complete, and adds no refusal to an incomplete answer', async () => {
    const answer = await exchange(service.url, 'GET /health HTTP/1.1\r\nhost: here\r\n\r\n', 'nonsense\r\n\r\n');
    expect(answer.status).toBe(200);
    expect(answer.text.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 200', 'HTTP/1.1 400']);
    const unfinished = createHttpServer((_request, response) => void response.write('half')).listen(0, '127.0.0.1');
    await once(unfinished, 'listening');
    const url = `http://127.0.0.1:${(unfinished.address() as AddressInfo).port}`;
    const half = await exchange(url, 'GET / HTTP/1.1\r\nhost: here\r\n\r\n', 'nonsense\r\n\r\n');
    expect(half.text.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 200']);
    unfinished.close();
  });
});

describe('bodies', () => {
  const requestWith = (bytes: Buffer, type = 'application/json') => [
    headOf([`content-length: ${bytes.length}`, 'connection: close']).replace('application/json', type),
    bytes,
  ];
  test.each<[string, () => (string | Buffer)[], number]>([
    ['not UTF-8', () => requestWith(Buffer.from('{"filters":{"name":"\xff\xfe"}}', 'latin1')), 422],
    [
      'half a surrogate pair in UTF-8',
      () => requestWith(Buffer.from('{"filters":{"name":"\xed\xa0\x80"}}', 'latin1')),
      422,
    ],
    ['truncated within a character', () => requestWith(Buffer.from('{"filters":{"name":"\xc3"}}', 'latin1')), 422],
    ['a zero byte between values', () => requestWith(Buffer.from('{"filters":\0{}}')), 422],
    ['10,000 levels of nesting', () => requestWith(Buffer.from(`${'['.repeat(10_000)}${']'.repeat(10_000)}`)), 422],
    ['two documents', () => requestWith(Buffer.from('{}{}')), 422],
    ['an invalid media type', () => requestWith(Buffer.from('{}'), ';;;'), 422],
    ['longer than allowed', () => requestWith(Buffer.alloc(100_001, ' ')), 413],
  ])('are refused: %s', async (_what, parts, status) => {
    expect(await exchange(service.url, ...parts())).toMatchObject({ status, body: { detail: expect.anything() } });
  });

  test('may have characters beyond ASCII and a byte order mark', async () => {
    for (const text of ['{"filters":{"name":"Ödland 😀"}}', '\ufeff{}'])
      expect(await exchange(service.url, ...requestWith(Buffer.from(text)))).toMatchObject({ status: 200 });
  });
});

describe('ids and headers', () => {
  test.each([
    ['GET', '/raw_file/9007199254740993', 'user', 422],
    ['GET', '/raw_file/1e3', 'user', 422],
    ['GET', '/raw_file/-1', 'user', 422],
    ['GET', '/raw_file/{"$gt":0}', 'user', 422],
    ['GET', '/parsed_file/%ED%A0%80', 'user', 400],
    ['DELETE', '/deletefile/__proto__', 'user', 422],
    ['DELETE', '/delete_webhook/9007199254740993', 'key', 422],
    ['GET', '/webhooks/$where/deliveries', 'key', 422],
    ['GET', '/events?after=9007199254740993', 'key', 422],
    ['GET', '/events?limit=1&limit=2', 'key', 422],
  ] as const)('%s %s', async (method, path, auth, status) => {
    const authorization = auth === 'key' ? `Bearer ${service.apiKey}` : `Token ${token}`;
    const answer = await fetch(`${service.url}${path}`, { method, headers: { authorization } });
    expect(answer.status).toBe(status);
    expect(await answer.json()).toMatchObject({ detail: expect.anything() });
  });

  test.each(['{"$gt":""}', '__proto__', '$where', "'; drop", 'a\u00ff', ' '.repeat(3) + 'blank'])(
    'accepts a customer-id as a plain name: %s',
    async (name) => {
      const client = apiClient(service.url, { authorization: `Bearer ${service.apiKey}` });
      const user = await client.get<{ organization_supplied_user_id: string }>('/whoami', { 'customer-id': name });
      expect([user.status, user.body.organization_supplied_user_id]).toEqual([200, name.trim()]);
    },
  );
});
