/** Tests of the requests with one key of an embedding provider, with an egress that returns prepared responses. */
import { expect, test } from '@jest/globals';

import { Fault } from '../../../contract/failures.js';
import type { Egress } from '../../../egress/types.js';
import { createEmbeddings } from '../../../providers/embeddings/registry.js';
import { exchange, type Outcome } from '../../../providers/embeddings/remote/exchange.js';
import { createRemoteKey } from '../../../providers/embeddings/remote/remoteKey.js';
import type { RemoteModel } from '../../../providers/embeddings/remote/types.js';
import { everyRow } from '../../support/everyRow.js';
import { faultOf } from '../../support/faultOf.js';
import { waitFor } from '../../support/waitFor.js';

type Given = readonly [status: number, body: string, headers?: Readonly<Record<string, string>>];
interface Sent {
  readonly body: unknown;
  readonly signal: AbortSignal;
  answer(...given: Given): void;
}

/** Returns an egress that keeps each request until it is answered. */
function pendingEgress(): { readonly egress: Pick<Egress, 'request'>; readonly sent: Sent[] } {
  const sent: Sent[] = [];
  return {
    sent,
    egress: {
      request: ({ body, signal }) =>
        new Promise((resolve, reject) => {
          signal!.addEventListener('abort', () => reject(signal!.reason as Error));
          sent.push({
            ...{ body: JSON.parse(body as string) as unknown, signal: signal! },
            answer: (status, text, headers = {}) =>
              resolve({ status, headers, bytes: async () => Buffer.from(text) } as never),
          });
        }),
    },
  };
}
/** Returns an egress that answers the requests in order. */
function answering(...answers: Given[]): { readonly egress: Pick<Egress, 'request'>; count: number } {
  const answered = {
    count: 0,
    egress: {
      request: async () => {
        const [status, text, headers = {}] = answers[answered.count++]!;
        return { status, headers, bytes: async () => Buffer.from(text) } as never;
      },
    },
  };
  return answered;
}

const UPSTREAM = { name: 'Provider', credentials: 'PROVIDER_KEY', address: 'PROVIDER_URL' };
/** A model of one dimension. A response is the list of the numbers. */
const MODEL: RemoteModel = {
  space: { name: 'one', dimensions: 1 },
  request: { inputs: 10, tokens: 1000, bytes: 100_000 },
  input: { tokens: 100, bytes: 1000 },
  createRequest: async (inputs) => ({
    url: 'u',
    headers: {},
    body: inputs.map((input) => 'text' in input && input.text),
  }),
  read: (answer) => ({ vectors: (answer as number[]).map((x) => Float32Array.of(x)), tokens: null }),
};
const exchangeOf = (egress: Pick<Egress, 'request'>, model = MODEL, signal = new AbortController().signal) =>
  exchange({
    egress,
    model,
    signal,
    upstream: UPSTREAM,
    purpose: 'document',
    timeoutMs: 1000,
    inputs: [{ kind: 'text', text: 'a' }],
  });
/** Returns an outcome as one line. */
function summary(outcome: Outcome): string {
  if (outcome.kind === 'answered') return 'answered';
  const detail = outcome.kind === 'rejected' && outcome.tooLong ? ' too long' : '';
  const wait = outcome.kind === 'refused' ? ` ${outcome.waitMs}` : '';
  return `${outcome.kind}${detail}${wait}: ${outcome.fault.kind}`;
}

const WAIT = { 'retry-after': '7' };
const OUTCOMES: readonly (readonly [given: Given, outcome: string])[] = [
  [[200, '[1]'], 'answered'],
  [[200, '['], 'failed: embedding_failed'],
  [[200, '[1,2]'], 'failed: embedding_failed'],
  [[200, '[0]'], 'failed: embedding_failed'],
  [[302, ''], 'permanent: bad_response'],
  [[400, '{"message":"Wrong model."}'], 'rejected: bad_response'],
  [[400, '{"message":"Too many tokens."}'], 'rejected too long: bad_response'],
  [[400, '[{"error":{"message":"Text too long."}}]'], 'rejected too long: bad_response'],
  [[401, ''], 'permanent: access_denied'],
  [[402, ''], 'permanent: bad_response'],
  [[403, ''], 'permanent: access_denied'],
  [[404, ''], 'permanent: bad_response'],
  [[408, ''], 'failed: server_error'],
  [[409, ''], 'failed: server_error'],
  [[413, ''], 'rejected too long: bad_response'],
  [[422, ''], 'rejected: bad_response'],
  [[425, ''], 'failed: server_error'],
  [[429, ''], 'refused null: rate_limited'],
  [[429, '', WAIT], 'refused 7000: rate_limited'],
  [[429, '{"error":{"code":"insufficient_quota"}}', WAIT], 'permanent: rate_limited'],
  [[500, '', WAIT], 'failed: server_error'],
  [[503, ''], 'failed: server_error'],
  [[503, '', WAIT], 'refused 7000: rate_limited'],
];
test('maps each response of a provider to an outcome', () =>
  everyRow(
    OUTCOMES,
    ([given]) => JSON.stringify(given),
    async ([given, outcome]) => expect(summary(await exchangeOf(answering(given).egress))).toBe(outcome),
  ));

test('maps each fault before the response to an outcome; rejects after an abort, and for a defect', async () => {
  const failing = (error: Error) => exchangeOf({ request: () => Promise.reject(error) });
  expect(summary(await failing(new Fault('timed_out', 'Later.')))).toBe('failed: timed_out');
  expect(summary(await failing(new Fault('address_refused', 'No.')))).toBe('permanent: address_refused');
  const limited = new Fault('rate_limited', 'Later.', { retryAfterMs: 9 });
  expect(summary(await failing(limited))).toBe('refused 9: rate_limited');
  await expect(failing(new TypeError('a defect'))).rejects.toThrow('a defect');
  const fault = new Fault('timed_out', 'Later.');
  const work = exchangeOf({ request: () => Promise.reject(fault) }, MODEL, AbortSignal.abort());
  await expect(work).rejects.toBe(fault);
});

test('sends a request once more with a new token after a 401, if there is another token', async () => {
  const renewed = { ...MODEL, renew: () => true };
  const rows: readonly (readonly [RemoteModel, Given[], string, number])[] = [
    [
      renewed,
      [
        [401, ''],
        [200, '[1]'],
      ],
      'answered',
      2,
    ],
    [
      renewed,
      [
        [401, ''],
        [401, ''],
      ],
      'permanent: access_denied',
      2,
    ],
    [renewed, [[403, '']], 'permanent: access_denied', 1],
    [{ ...MODEL, renew: () => false }, [[401, '']], 'permanent: access_denied', 1],
  ];
  for (const [model, answers, outcome, requests] of rows) {
    const answered = answering(...answers);
    expect([summary(await exchangeOf(answered.egress, model)), answered.count]).toEqual([outcome, requests]);
  }
});

const keyLimits = { minConcurrency: 1, maxConcurrency: 1, tries: 3, timeoutMs: 1000, timeLimitMs: 30_000 };
const keyOptions = { keyLimits, loadCounter: async () => (text: string) => text.length, onUsage: () => undefined };

test('an abort of one call does not end a request with texts of another call', async () => {
  const { egress, sent } = pendingEgress();
  const provider = createRemoteKey(UPSTREAM, { ...keyOptions, egress }).provider(MODEL);
  const abort = new AbortController();
  const first = provider.embed(['a'], 'document');
  const aborted = provider.embed(['b'], 'document', abort.signal).catch(String);
  const other = provider.embed(['c'], 'document');
  await waitFor(
    () => sent.length,
    (requests) => requests === 1,
  );
  sent[0]!.answer(200, '[1]');
  await first;
  await waitFor(
    () => sent.length,
    (requests) => requests === 2,
  );
  expect(sent.map(({ body }) => body)).toEqual([['a'], ['b', 'c']]);
  abort.abort(new Error('no longer needed'));
  expect(await aborted).toBe('Error: no longer needed');
  expect(sent[1]!.signal.aborted).toBe(false);
  sent[1]!.answer(200, '[2,-3]');
  expect(await other).toEqual([Float32Array.of(-1)]);
  await provider.close();
});

test('fails at once if the provider requests a long wait; onRequest receives the outcome of each request', async () => {
  const outcomes: unknown[] = [];
  const onRequest = (...outcome: unknown[]) => void outcomes.push(outcome);
  const answered = answering([500, '', { 'retry-after': '6' }], [500, '', { 'retry-after': '31' }], [429, '', WAIT]);
  const provider = createRemoteKey(UPSTREAM, { ...keyOptions, egress: answered.egress, onRequest }).provider(MODEL);
  // A query waits for at most five seconds, and a document for at most timeLimitMs.
  expect(await faultOf(provider.embed(['a'], 'query'))).toMatchObject({ kind: 'server_error', retryAfterMs: 6000 });
  expect(await faultOf(provider.embed(['a'], 'document'))).toMatchObject({
    kind: 'server_error',
    retryAfterMs: 31_000,
  });
  expect((await faultOf(provider.embed(['a'], 'query'))).kind).toBe('rate_limited');
  // While more than five seconds of the pause remain, queries are rejected without a request.
  const paused = await faultOf(provider.embed(['a'], 'query'), 'rate_limited');
  expect([paused.message.includes('Search again later'), paused.retryAfterMs! > 5000]).toEqual([true, true]);
  expect(outcomes).toEqual([
    ['one', 'failed'],
    ['one', 'failed'],
    ['one', 'refused'],
  ]);
  await provider.close();
});

test('limits the concurrent requests of all models of a provider together, and closes each provider', async () => {
  const { egress, sent } = pendingEgress();
  const calls: string[] = [];
  const local = {
    space: { name: 'local', dimensions: 1 },
    prepare: () => void calls.push('prepare'),
    embed: async () => [Float32Array.of(1)],
    close: async () => void calls.push('close'),
  };
  const openai = { baseUrl: 'http://provider.example', key: 'k' };
  const providers = { openai, azure: null, cohere: null, vertex: null, solar: null, keyLimits };
  const { loadCounter, onUsage } = keyOptions;
  const embeddings = createEmbeddings({ local, remote: { providers, egress, loadCounter, onUsage } });
  const spaces = [...new Set(embeddings.models().flatMap(({ provider, space }) => (provider ? [space.name] : [])))];
  expect(spaces.length).toBeGreaterThan(1);
  const faults = spaces.map((space) => faultOf(embeddings.embed(space, ['a'], 'document')));
  await waitFor(
    () => sent.length,
    (requests) => requests > 0,
  );
  await new Promise((resolve) => setTimeout(resolve, 5));
  expect(sent).toHaveLength(1);
  embeddings.prepare(spaces[0]!);
  embeddings.prepare('local');
  await embeddings.close();
  expect((await Promise.all(faults)).map(({ kind }) => kind)).toEqual(spaces.map(() => 'embedding_failed'));
  expect(calls).toEqual(['prepare', 'close']);
});
