import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';

import { gitbook } from '../../connectors/gitbook/index.js';
import { readSourceUrls } from '../../connectors/readSourceUrls.js';
import { createRateLimiters } from '../../connectors/rateLimiter.js';
import { createSourceClient, type SourceClientSettings } from '../../connectors/sourceClient.js';
import { loadConfig } from '../../config/config.js';
import { Fault, type FaultKind } from '../../contract/failures.js';
import { createEgress } from '../../egress/createEgress.js';
import type { Egress } from '../../egress/types.js';

type Answer = (request: IncomingMessage, response: ServerResponse) => void;

const NEVER = new AbortController().signal;
let egress: Egress;
let baseUrl: string;
let answers: Answer[];
let asked: IncomingMessage[];

const server = createServer((request, response) => {
  asked.push(request);
  const answer = answers.shift() ?? ((_request, last) => last.end('{"ok":true}'));
  answer(request, response);
});

beforeAll(async () => {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
  const env = { ALLOWED_PRIVATE_HOSTS: '127.0.0.1', SECRET_KEY: `k:${Buffer.alloc(32).toString('base64')}` };
  egress = createEgress(loadConfig(env).egress);
});
afterAll(async () => {
  await egress.close();
  server.closeAllConnections();
  server.close();
});
beforeEach(() => {
  answers = [];
  asked = [];
});

const client = (
  patienceMs = 30_000,
  gate = createRateLimiters('GitBook', 2)('GITBOOK 1'),
  connector: SourceClientSettings['connector'] = gitbook,
  signal = NEVER,
) =>
  createSourceClient({
    name: 'GitBook',
    urls: { api: baseUrl },
    headers: { authorization: 'Bearer secret' },
    connector,
    rateLimiter: gate,
    egress,
    maxItemBytes: 1_000_000,
    patienceMs,
    signal,
  });

const status =
  (code: number, headers: Record<string, string> = {}, body = ''): Answer =>
  (_request, response) =>
    void response.writeHead(code, headers).end(body);

/** The Fault that a call ends with. */
async function faultOf(call: Promise<unknown>): Promise<Fault> {
  const error = await call.then(
    () => null,
    (reason: unknown) => reason,
  );
  if (!(error instanceof Fault)) throw new Error(`no Fault: ${String(error)}`);
  return error;
}

describe('a refusal is what its status means', () => {
  test.each<[number, FaultKind, boolean]>([
    [401, 'access_revoked', false],
    [403, 'access_denied', false],
    [404, 'not_found', false],
    [410, 'not_found', false],
    [400, 'bad_response', false],
    [302, 'bad_response', false],
    [500, 'server_error', true],
    [408, 'server_error', true],
  ])('%d: %s', async (code, kind, retryable) => {
    answers = [status(code, { location: `${baseUrl}/elsewhere` }, 'secret <b>words</b>')];
    const fault = await faultOf(client().get(['user'], {}));
    expect(fault).toMatchObject({ kind, retryable });
    expect(fault.message).toMatch(/^GitBook .*\(HTTP \d+\)$/);
    expect(fault.message).not.toMatch(/secret|</);
    // No redirect is followed: the credentials stay with the source.
    expect(asked).toHaveLength(1);
  });

  test.each(['{"ok":', '[]', 'null', '<html>asleep</html>'])(
    '200 with %s is a failure, not an answer',
    async (body) => {
      answers = [status(200, {}, body)];
      expect(await faultOf(client().get(['user'], {}))).toMatchObject({ kind: 'server_error', retryable: true });
    },
  );
});

describe('a source that asks to wait', () => {
  test('is asked again when it said, by Retry-After or by its own header, and no sooner', async () => {
    const reset = Math.floor(Date.now() / 1000) + 2;
    answers = [status(429, { 'retry-after': '1' }), status(429, { 'x-ratelimit-reset': String(reset) })];
    const began = Date.now();
    expect(await client().get(['user'], {})).toEqual({ ok: true });
    expect(asked).toHaveLength(3);
    expect(Date.now()).toBeGreaterThanOrEqual(Math.max(began + 1_000, reset * 1_000));
  });

  test('for no time at all has it all the same', async () => {
    answers = Array.from({ length: 3 }, () => status(429, { 'retry-after': '0' }));
    const began = Date.now();
    await client().get(['user'], {});
    expect(asked).toHaveLength(4);
    expect(Date.now() - began).toBeGreaterThanOrEqual(3 * 200 - 10);
  });

  test('for longer than we wait is a Fault that says for how long; then all of the account wait', async () => {
    const gate = createRateLimiters('GitBook', 2)('GITBOOK 1');
    answers = [status(429, { 'retry-after': '3000' })];
    const fault = await faultOf(client(100, gate).get(['user'], {}));
    expect(fault).toMatchObject({ kind: 'rate_limited', retryable: true, retryAfterMs: 3_000_000 });
    const next = await faultOf(client(100, gate).get(['orgs', 'a'], {}));
    expect(next.retryAfterMs).toBeGreaterThan(2_000_000);
    expect(asked).toHaveLength(1);
  });

  test('lets a caller go that gives up', async () => {
    const giveUp = new AbortController();
    answers = [status(429, { 'retry-after': '3000' })];
    const call = client(10_000_000, undefined, undefined, giveUp.signal).get(['user'], {});
    while (asked.length === 0) await sleep(10);
    giveUp.abort(new Error('given up'));
    await expect(call).rejects.toThrow();
  });
});

test('no more requests of an account are under way than there may be', async () => {
  let [now, most] = [0, 0];
  answers = Array.from({ length: 12 }, (): Answer => (_request, response) => {
    now += 1;
    most = Math.max(most, now);
    setTimeout(() => {
      now -= 1;
      response.end('{}');
    }, 30);
  });
  const one = client();
  await Promise.all(Array.from({ length: 12 }, () => one.get(['user'], {})));
  expect(most).toBe(2);
});

test('what a caller named stays one part of the path, and leads nowhere else', async () => {
  await client().get(['orgs', 'a/../b?c#d %', 'spaces'], { page: 'x&y' });
  expect(asked[0]?.url).toBe('/v1/orgs/a%2F..%2Fb%3Fc%23d%20%25/spaces?page=x%26y');
  expect(asked[0]?.headers.authorization).toBe('Bearer secret');
  for (const part of ['.', '..', ''])
    expect(await faultOf(client().get(['orgs', part], {}))).toMatchObject({ kind: 'not_found' });
  expect(asked).toHaveLength(1);
});

test('an integer that no number holds stays the digits that it was, and nothing else is changed', async () => {
  answers = [
    status(
      200,
      {},
      String.raw`{"at": 1152922976252290886, "less":-1152922976252290887,"id": 9007199254740991,
    "half": 1234567890123456.5, "far": 1e30, "name": "1152922976252290886 \"1152922976252290886", "in": [10000000000000000001]}`,
    ),
  ];
  expect(await client().get(['user'], {})).toEqual({
    ...{ at: '1152922976252290886', less: '-1152922976252290887', id: 9_007_199_254_740_991 },
    ...{ half: 1_234_567_890_123_456.5, far: 1e30, in: ['10000000000000000001'] },
    name: '1152922976252290886 "1152922976252290886',
  });
});

test('what is posted without arguments is an empty object, or null where that is asked for', async () => {
  const bodies: string[] = [];
  const take: Answer = (request, response) => {
    request.on('data', (part) => bodies.push(String(part))).on('end', () => response.end('{}'));
  };
  answers = [take, take];
  await client().post(['me'], undefined);
  await client().post(['me'], null);
  expect(bodies).toEqual(['{}', 'null']);
});

describe('a source that refuses with 200', () => {
  const connector: SourceClientSettings['connector'] = {
    refusalIn: (body) => (body as { error?: string }).error ?? null,
    classify: ({ body }) => ((body as { error?: string }).error === 'slow_down' ? 'rate_limited' : 'not_found'),
  };
  const ask = (patienceMs: number) =>
    client(patienceMs, undefined, connector).post(['user'], { a: 'é&' }, { asForm: true });

  test('is understood as one that refuses, waited for, and asked again', async () => {
    answers = [status(200, { 'retry-after': '0' }, '{"error":"slow_down"}'), status(200, {}, '{"name":"Ada"}')];
    expect(await ask(1_000)).toEqual({ name: 'Ada' });
    expect(asked.map(({ headers }) => headers['content-type'])).toEqual([
      'application/x-www-form-urlencoded',
      'application/x-www-form-urlencoded',
    ]);
    answers = [status(200, { 'retry-after': '60' }, '{"error":"slow_down"}')];
    expect(await faultOf(ask(100))).toMatchObject({ kind: 'rate_limited', retryAfterMs: 60_000 });
  });

  test.each([
    ['no_such_user', /\(no_such_user\)$/],
    ['<b>no such user', /\(HTTP 200\)$/],
  ])('says %s in its own word, if that is one', async (error, end) => {
    answers = [status(200, {}, JSON.stringify({ error }))];
    const fault = await faultOf(ask(100));
    expect(fault.kind).toBe('not_found');
    expect(fault.message).toMatch(end);
  });
});

describe('SOURCE_URLS', () => {
  test('names other addresses of sources', () => {
    expect(readSourceUrls('').GITBOOK.api).toBe('https://api.gitbook.com/v1');
    expect(readSourceUrls(' GITBOOK.api=http://127.0.0.1:9/v1/ ,').GITBOOK.api).toBe('http://127.0.0.1:9/v1');
  });
  test.each([
    'GITBOOK',
    'GITBOOK.api',
    'GITBOOK.api=ftp://a',
    'GITBOOK.other=https://a',
    'RSS_FEED.api=https://a',
    '__proto__.api=https://a',
    'GITBOOK.api=https://a?b=c',
  ])('%s is refused', (text) => {
    expect(() => readSourceUrls(text)).toThrow(/GITBOOK.api=/);
  });
});
