import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';

import { guru } from '../../connectors/guru/index.js';
import { readSourceUrls } from '../../connectors/readSourceUrls.js';
import { createRateLimiters, type RateLimiter } from '../../connectors/rateLimiter.js';
import { createSourceClient, type SourceClientSettings } from '../../connectors/sourceClient.js';
import type { FaultKind } from '../../contract/failures.js';
import type { Egress, EgressRequest, EgressResponse } from '../../egress/types.js';
import { faultOf } from '../support/faultOf.js';
import { VirtualClock } from '../support/largeAccounts/virtualClock.js';
import { loopbackEgress, NEVER } from './account.js';

type Answer = (request: IncomingMessage, response: ServerResponse) => void;

let egress: Egress;
let baseUrl: string;
let answers: Answer[];
let requests: IncomingMessage[];

const server = createServer((request, response) => {
  requests.push(request);
  const answer = answers.shift() ?? ((_request, last) => last.end('{"ok":true}'));
  answer(request, response);
});

beforeAll(async () => {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
  egress = loopbackEgress();
});
afterAll(async () => {
  await egress.close();
  server.closeAllConnections();
  server.close();
});
beforeEach(() => {
  answers = [];
  requests = [];
});

const client = (
  timeLimitMs = 30_000,
  rateLimiter = createRateLimiters('Sample', 2)('SAMPLE 1'),
  connector: SourceClientSettings['connector'] = guru,
  signal = NEVER,
) =>
  createSourceClient({
    name: 'Sample',
    urls: { api: baseUrl },
    headers: { authorization: 'Bearer secret' },
    connector,
    rateLimiter,
    egress,
    maxItemBytes: 1_000_000,
    timeLimitMs,
    signal,
  });

/** Returns an answer of the server. */
const answerWith =
  (code: number, headers: Record<string, string> = {}, body = ''): Answer =>
  (_request, response) =>
    void response.writeHead(code, headers).end(body);

describe('the status of a response', () => {
  test.each<[number, FaultKind, boolean]>([
    [401, 'access_revoked', false],
    [403, 'access_denied', false],
    [404, 'not_found', false],
    [410, 'not_found', false],
    [400, 'bad_response', false],
    [302, 'bad_response', false],
    [500, 'server_error', true],
    [408, 'server_error', true],
  ])('%d is reported as %s', async (code, kind, retryable) => {
    answers = [answerWith(code, { location: `${baseUrl}/elsewhere` }, 'secret <b>words</b>')];
    const fault = await faultOf(client().get(['user'], {}));
    expect(fault).toMatchObject({ kind, retryable });
    expect(fault.message).toMatch(/^Sample .*\(HTTP \d+\)$/);
    expect(fault.message).not.toMatch(/secret|</);
    // Redirects are not followed, so the credentials are not sent to another host.
    expect(requests).toHaveLength(1);
  });

  test.each(['{"ok":', '[]', 'null', '<html>unavailable</html>'])(
    '200 with the body %s is a server error',
    async (body) => {
      answers = [answerWith(200, {}, body)];
      expect(await faultOf(client().get(['user'], {}))).toMatchObject({ kind: 'server_error', retryable: true });
    },
  );
});

describe('a rate limit', () => {
  test('delays the retry by Retry-After or by the header of the source', async () => {
    const reset = Math.floor(Date.now() / 1000) + 2;
    answers = [answerWith(429, { 'retry-after': '1' }), answerWith(429, { 'x-ratelimit-reset': String(reset) })];
    const began = Date.now();
    expect(await client().get(['user'], {})).toEqual({ ok: true });
    expect(requests).toHaveLength(3);
    expect(Date.now()).toBeGreaterThanOrEqual(Math.max(began + 1_000, reset * 1_000));
  });

  test('with a Retry-After of zero still delays the retry', async () => {
    answers = Array.from({ length: 3 }, () => answerWith(429, { 'retry-after': '0' }));
    const began = Date.now();
    await client().get(['user'], {});
    expect(requests).toHaveLength(4);
    expect(Date.now() - began).toBeGreaterThanOrEqual(3 * 200 - 10);
  });

  test('longer than the maximum wait throws a Fault with the delay, and applies to the whole account', async () => {
    const rateLimiter = createRateLimiters('Sample', 2)('SAMPLE 1');
    answers = [answerWith(429, { 'retry-after': '3000' })];
    const fault = await faultOf(client(100, rateLimiter).get(['user'], {}));
    expect(fault).toMatchObject({ kind: 'rate_limited', retryable: true, retryAfterMs: 3_000_000 });
    const next = await faultOf(client(100, rateLimiter).get(['orgs', 'a'], {}));
    expect(next.retryAfterMs).toBeGreaterThan(2_000_000);
    expect(requests).toHaveLength(1);
  });

  test('does not delay a caller that aborts its request', async () => {
    const controller = new AbortController();
    answers = [answerWith(429, { 'retry-after': '3000' })];
    const call = client(10_000_000, undefined, undefined, controller.signal).get(['user'], {});
    while (requests.length === 0) await sleep(10);
    controller.abort(new Error('given up'));
    await expect(call).rejects.toThrow();
  });
});

test('limits the concurrent requests of an account', async () => {
  let [current, max] = [0, 0];
  answers = Array.from({ length: 12 }, (): Answer => (_request, response) => {
    current += 1;
    max = Math.max(max, current);
    setTimeout(() => {
      current -= 1;
      response.end('{}');
    }, 30);
  });
  const sourceClient = client();
  await Promise.all(Array.from({ length: 12 }, () => sourceClient.get(['user'], {})));
  expect(max).toBe(2);
});

test('encodes a value of the caller as one path segment, and rejects dot segments', async () => {
  await client().get(['orgs', 'a/../b?c#d %', 'spaces'], { page: 'x&y' });
  expect(requests[0]?.url).toBe('/v1/orgs/a%2F..%2Fb%3Fc%23d%20%25/spaces?page=x%26y');
  expect(requests[0]?.headers.authorization).toBe('Bearer secret');
  for (const part of ['.', '..', ''])
    expect(await faultOf(client().get(['orgs', part], {}))).toMatchObject({ kind: 'not_found' });
  expect(requests).toHaveLength(1);
});

test('leaves colons and dollar signs of a path segment unencoded, which some sources require', async () => {
  await client().get(['drives', 'a!1', 'root:', 'x:$y', '$value'], {});
  expect(requests[0]?.url).toBe('/v1/drives/a!1/root:/x:$y/$value');
});

test('reads integers beyond the safe range as strings, and leaves other values unchanged', async () => {
  answers = [
    answerWith(
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

test('posts an empty object by default, or null on request', async () => {
  const bodies: string[] = [];
  const recordBody: Answer = (request, response) => {
    request.on('data', (part) => bodies.push(String(part))).on('end', () => response.end('{}'));
  };
  answers = [recordBody, recordBody];
  await client().post(['me'], undefined);
  await client().post(['me'], null);
  expect(bodies).toEqual(['{}', 'null']);
});

describe('an error with status 200', () => {
  const connector: SourceClientSettings['connector'] = {
    refusalIn: (body) => (body as { error?: string }).error ?? null,
    classify: ({ body }) => ((body as { error?: string }).error === 'slow_down' ? 'rate_limited' : 'not_found'),
  };
  const post = (timeLimitMs: number) =>
    client(timeLimitMs, undefined, connector).post(['user'], { a: 'é&' }, { asForm: true });

  test('for a rate limit is detected and retried after its delay', async () => {
    answers = [answerWith(200, { 'retry-after': '0' }, '{"error":"slow_down"}'), answerWith(200, {}, '{"name":"Ada"}')];
    expect(await post(1_000)).toEqual({ name: 'Ada' });
    expect(requests.map(({ headers }) => headers['content-type'])).toEqual([
      'application/x-www-form-urlencoded',
      'application/x-www-form-urlencoded',
    ]);
    answers = [answerWith(200, { 'retry-after': '60' }, '{"error":"slow_down"}')];
    expect(await faultOf(post(100))).toMatchObject({ kind: 'rate_limited', retryAfterMs: 60_000 });
  });

  test.each([
    ['no_such_user', /\(no_such_user\)$/],
    ['<b>no such user', /\(HTTP 200\)$/],
  ])('%s is quoted in the message only if it is a plain code', async (error, end) => {
    answers = [answerWith(200, {}, JSON.stringify({ error }))];
    const fault = await faultOf(post(100));
    expect(fault.kind).toBe('not_found');
    expect(fault.message).toMatch(end);
  });
});

describe('a client with a virtual clock', () => {
  const STARTED_AT = Date.parse('2026-11-27T00:00:00Z');
  /** Returns a client whose requests are answered by `next`, and the requests that it sent. */
  function clientWithClock(
    next: (request: EgressRequest) => { status: number; headers?: Record<string, string> },
    {
      clock = new VirtualClock(STARTED_AT),
      rateLimiter = createRateLimiters('Sample', 2, { clock })('SAMPLE 1'),
    }: { clock?: VirtualClock; rateLimiter?: RateLimiter } = {},
  ) {
    const sent: EgressRequest[] = [];
    const request = async (one: EgressRequest) => {
      sent.push(one);
      return { headers: {}, ...next(one), bytes: async () => Buffer.from('{"ok":true}') } as unknown as EgressResponse;
    };
    const settings = { name: 'Sample', urls: { api: 'https://a.example/v1' }, headers: { authorization: 'secret' } };
    const source = createSourceClient({
      ...{ ...settings, connector: guru, egress: { request }, maxItemBytes: 1_234, timeLimitMs: 30_000 },
      ...{ rateLimiter, signal: NEVER, clock },
    });
    return { clock, sent, source, rateLimiter };
  }

  test('waits for a rate limit up to exactly the maximum wait', async () => {
    const waiting = (seconds: string) => {
      let attempts = 0;
      return clientWithClock(() =>
        attempts++ === 0 ? { status: 429, headers: { 'retry-after': seconds } } : { status: 200 },
      );
    };
    const exact = waiting('30');
    expect(await exact.source.get(['user'], {})).toEqual({ ok: true });
    expect(exact.clock.now()).toBe(STARTED_AT + 30_000);
    const longer = waiting('31');
    expect(await faultOf(longer.source.get(['user'], {}))).toMatchObject({ retryAfterMs: 31_000 });
    expect([longer.clock.now(), longer.sent.length]).toEqual([STARTED_AT, 1]);
  });

  test('follows five redirects of content, with credentials for the first address only', async () => {
    const redirecting = (times: number) => {
      let redirects = 0;
      return clientWithClock(() =>
        redirects++ < times
          ? { status: 302, headers: { location: `https://b.example/${redirects}` } }
          : { status: 200 },
      );
    };
    const five = redirecting(5);
    expect((await five.source.content(['files', '1'], {})).status).toBe(200);
    expect(five.sent.map(({ url, headers }) => [url, headers?.['authorization']])).toEqual([
      ['https://a.example/v1/files/1', 'secret'],
      ...[1, 2, 3, 4, 5].map((at) => [`https://b.example/${at}`, undefined]),
    ]);
    expect(five.sent.map(({ redirects, maxBytes }) => [redirects, maxBytes])).toEqual(Array(6).fill(['answer', 1_234]));
    expect((await faultOf(redirecting(6).source.content(['files', '1'], {}))).kind).toBe('too_many_redirects');
  });

  test('after a redirect, 401 concerns the file: the credentials of the connection were not sent', async () => {
    const moved = clientWithClock(({ url }) =>
      url.endsWith('/signed') ? { status: 401 } : { status: 302, headers: { location: '/signed' } },
    );
    const elsewhere = clientWithClock(({ url }) =>
      url.startsWith('https://b.example')
        ? { status: 401 }
        : { status: 302, headers: { location: 'https://b.example/x' } },
    );
    for (const { source } of [moved, elsewhere])
      expect((await faultOf(source.content(['files', '1'], {}))).kind).toBe('access_denied');
    const revoked = clientWithClock(() => ({ status: 401 }));
    expect((await faultOf(revoked.source.content(['files', '1'], {}))).kind).toBe('access_revoked');
  });

  test('fails during a pause of the shared limit that exceeds the maximum wait, without pausing its own account', async () => {
    const clock = new VirtualClock(STARTED_AT);
    const limiterOf = createRateLimiters('Sample', 2, { sharedAtOnce: 2, clock });
    limiterOf('SAMPLE 2', 'group').pause(60_000, 'shared');
    const { source, sent, rateLimiter } = clientWithClock(() => ({ status: 200 }), {
      clock,
      rateLimiter: limiterOf('SAMPLE 1', 'group'),
    });
    expect(await faultOf(source.get(['user'], {}))).toMatchObject({ kind: 'rate_limited', retryAfterMs: 60_000 });
    expect(sent).toEqual([]);
    expect(await rateLimiter.paused()).toEqual({ accountMs: 0, sharedMs: 60_000 });
  });
});

describe('SOURCE_URLS', () => {
  test('overrides the addresses of sources', () => {
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
  ])('rejects %s', (text) => {
    expect(() => readSourceUrls(text)).toThrow(/GITBOOK.api=/);
  });
});
