/** How the transport of an account applies limits, waits and credentials, and which outcomes it reports. */
import { expect, test } from '@jest/globals';

import { createRateLimiters } from '../../connectors/rateLimiter.js';
import {
  createTransport,
  type LiveHeaders,
  type Outgoing,
  type TransportSettings,
} from '../../connectors/transport.js';
import type { EgressRequest, EgressResponse } from '../../egress/types.js';
import { faultOf } from '../support/faultOf.js';
import { VirtualClock } from '../support/largeAccounts/virtualClock.js';
import { NEVER } from './account.js';

const BEGUN = Date.parse('2026-11-27T00:00:00Z');
const REQUEST: Outgoing = {
  ...{ url: 'https://a.example/1', headers: {}, isContent: false, withCredentials: true },
  isExpected: () => false,
};

interface Answer {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Returns a transport whose requests get the answers in turn, then 200, with its requests and their times. */
function transportWith(answers: readonly Answer[], settings: Partial<TransportSettings> = {}) {
  const clock = new VirtualClock(BEGUN);
  const limiterOf = createRateLimiters('Sample', 2, { sharedAtOnce: 2, clock });
  const rateLimiter = limiterOf('account', 'group');
  const sent: { readonly at: number; readonly request: EgressRequest }[] = [];
  const outcomes: string[] = [];
  const request = async (one: EgressRequest): Promise<EgressResponse> => {
    sent.push({ at: clock.now() - BEGUN, request: one });
    const { status, headers = {} } = answers[sent.length - 1] ?? { status: 200 };
    return { status, headers, bytes: async () => Buffer.from('{}') } as unknown as EgressResponse;
  };
  const send = createTransport({
    ...{ name: 'Sample', urls: {}, headers: { authorization: 'fixed' }, connector: {}, rateLimiter, clock },
    ...{ egress: { request }, maxItemBytes: 1_234, signal: NEVER, onRequest: (outcome) => void outcomes.push(outcome) },
    ...settings,
  });
  return { send, sent, outcomes, clock, rateLimiter, limiterOf };
}
const limited = (seconds: number): Answer => ({ status: 429, headers: { 'retry-after': String(seconds) } });

test('the waits of all retries together stay within the time limit of a request', async () => {
  const { send, sent, outcomes } = transportWith([limited(20), limited(10), limited(1)]);
  expect(await faultOf(send(REQUEST))).toMatchObject({ kind: 'rate_limited', retryAfterMs: 1_000 });
  expect(sent.map(({ at }) => at)).toEqual([0, 20_000, 30_000]);
  expect(outcomes).toEqual(['rate_limited', 'rate_limited', 'rate_limited']);
});

test('a wait is an hour at most, and a second if the source requests none', async () => {
  const { send, sent } = transportWith([limited(86_400), { status: 429 }], { timeLimitMs: 10_000_000 });
  expect((await send(REQUEST)).status).toBe(200);
  expect(sent.map(({ at }) => at)).toEqual([0, 3_600_000, 3_601_000]);
  const ofSource = transportWith([limited(5)], { timeLimitMs: 10_000_000, connector: { waitMs: () => 90_000_000 } });
  await ofSource.send(REQUEST);
  expect(ofSource.sent.map(({ at }) => at)).toEqual([0, 3_600_000]);
});

test('a successful answer may ask for a rest before the next request of the account', async () => {
  const { send, sent, limiterOf } = transportWith([{ status: 200, headers: { rest: '5000' } }], {
    connector: { restMs: (headers) => Number(headers['rest'] ?? 0) },
  });
  await send(REQUEST);
  expect(await limiterOf('another', 'group').paused()).toEqual({ accountMs: 0, sharedMs: 0 });
  await send(REQUEST);
  expect(sent.map(({ at }) => at)).toEqual([0, 5_000]);
});

test('a refusal by the shared limit pauses all accounts that share it, any other refusal only its own account', async () => {
  const connector: TransportSettings['connector'] = {
    sharedLimit: { requestsAtOnce: 2, appliesTo: ({ headers }) => headers['scope'] === 'app' },
  };
  const pausesAfter = async (answer: Answer) => {
    const { send, limiterOf } = transportWith([answer], { connector });
    await faultOf(send(REQUEST));
    return limiterOf('another', 'group').paused();
  };
  const [status, headers] = [429, { 'retry-after': '60' }];
  expect(await pausesAfter({ status, headers })).toEqual({ accountMs: 0, sharedMs: 0 });
  expect(await pausesAfter({ status, headers: { ...headers, scope: 'app' } })).toEqual({
    accountMs: 0,
    sharedMs: 60_000,
  });
});

test('refused credentials are renewed once per request, and renewed() receives the refused ones', async () => {
  const refused: unknown[] = [];
  const headers: LiveHeaders = {
    now: () => Promise.resolve({ authorization: 'old' }),
    renewed: (credentials) => {
      refused.push(credentials['authorization']);
      return Promise.resolve({ authorization: 'new' });
    },
  };
  const { send, sent, outcomes } = transportWith([{ status: 401 }, { status: 200 }, { status: 401 }, { status: 401 }], {
    headers,
  });
  expect((await send(REQUEST)).status).toBe(200);
  expect((await faultOf(send(REQUEST))).kind).toBe('access_revoked');
  expect(sent.map(({ request }) => request.headers?.['authorization'])).toEqual(['old', 'new', 'old', 'new']);
  expect(refused).toEqual(['old', 'old']);
  expect(outcomes).toEqual(['access_revoked', 'answered', 'access_revoked', 'access_revoked']);
});

test('other refusals renew no credentials, and requests without credentials send none', async () => {
  const headers: LiveHeaders = {
    now: () => Promise.resolve({ authorization: 'old' }),
    renewed: () => Promise.reject(new Error('must not be called')),
  };
  const { send, sent } = transportWith([{ status: 403 }, { status: 401 }], { headers });
  expect((await faultOf(send(REQUEST))).kind).toBe('access_denied');
  const { withCredentials: _withCredentials, ...without } = REQUEST;
  expect((await faultOf(send(without))).kind).toBe('access_revoked');
  expect(sent.map(({ request }) => request.headers)).toEqual([{ authorization: 'old' }, {}]);
});

test('headers of a request replace those of the account, and these replace the defaults', async () => {
  const { send, sent } = transportWith([], { headers: { accept: 'account', authorization: 'fixed' } });
  await send({ ...REQUEST, defaultHeaders: { accept: 'default', 'content-type': 'default' } });
  await send({ ...REQUEST, headers: { accept: 'request' } });
  expect(sent.map(({ request }) => request.headers)).toEqual([
    { accept: 'account', authorization: 'fixed', 'content-type': 'default' },
    { accept: 'request', authorization: 'fixed' },
  ]);
});

test('contents have a limit of size and time of their own', async () => {
  const { send, sent } = transportWith([]);
  await send(REQUEST);
  await send({ ...REQUEST, isContent: true });
  expect(sent.map(({ request }) => [request.maxBytes, request.totalTimeoutMs, request.redirects])).toEqual([
    [50_000_000, 60_000, 'answer'],
    [1_234, 600_000, 'answer'],
  ]);
});

test('counts an abort as such, and does not retry it', async () => {
  const stop = new AbortController();
  const { send, outcomes } = transportWith([], {
    signal: stop.signal,
    egress: {
      request: () => {
        stop.abort(new RangeError('enough'));
        return Promise.reject(new RangeError('enough'));
      },
    },
  });
  await expect(send(REQUEST)).rejects.toThrow('enough');
  expect(outcomes).toEqual(['aborted']);
});
