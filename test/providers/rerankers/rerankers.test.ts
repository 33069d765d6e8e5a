import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';

import { loadConfig } from '../../../config/config.js';
import { RERANK_MODELS, type RerankModel } from '../../../contract/vectors/rerankers.js';
import { createEgress } from '../../../egress/createEgress.js';
import { createRerankers } from '../../../providers/rerankers/registry.js';
import type { Rerankers } from '../../../providers/rerankers/types.js';
import {
  type InjectedFault,
  type RerankEmulator,
  type Scored,
  sharedWords,
  startRerankEmulator,
} from '../../emulators/rerankers.js';
import { everyRow } from '../../support/everyRow.js';
import { faultOf } from '../../support/faultOf.js';
import { waitFor } from '../../support/waitFor.js';

let emulator: RerankEmulator;
let egress: ReturnType<typeof createEgress>;
let rerankers: Rerankers;
/** Rerankers with a short timeout, for services that do not respond. */
let shortTimeout: Rerankers;

/** Reads settings as the service does. */
function configured(settings: Record<string, string>) {
  return loadConfig({ SECRET_KEY: `k1:${Buffer.alloc(32).toString('base64')}`, DATA_DIR: '/nowhere', ...settings });
}

beforeAll(async () => {
  emulator = await startRerankEmulator();
  const config = configured({
    ...emulator.settings(),
    ALLOWED_PRIVATE_HOSTS: '127.0.0.1',
    RERANK_TIMEOUT_MS: '60000',
  });
  egress = createEgress(config.embedding.egress);
  rerankers = createRerankers(config.rerank, egress);
  shortTimeout = createRerankers({ ...config.rerank, timeoutMs: 300 }, egress);
});
beforeEach(() => {
  emulator.injectFault(null);
  emulator.setScore(sharedWords);
  emulator.setOrder((results) => results);
  emulator.calls.length = 0;
});
afterAll(() => Promise.all([egress.close(), emulator.close()]));

const TEXTS = ['bread and salt', 'the red fern by the lake', 'a fern', 'nothing of it'];
const rerank = (model: RerankModel, count = 3, from = rerankers): Promise<unknown> =>
  from.choose(model).rerank('where does the red fern grow', TEXTS, count);
/** Checks a rule for every model, with no recorded calls at the start. */
const eachModel = (rule: (model: RerankModel) => unknown) =>
  everyRow(RERANK_MODELS, String, (model) => {
    emulator.calls.length = 0;
    return rule(model);
  });
/** Checks a rule for every model and row of a table. */
const eachModelAnd = <R extends readonly [string, ...unknown[]]>(
  rows: readonly R[],
  rule: (model: RerankModel, row: R) => unknown,
) =>
  everyRow(
    RERANK_MODELS.flatMap((model) => rows.map((row) => ({ model, row }))),
    ({ model, row: [name] }) => `${model}: ${name}`,
    ({ model, row }) => rule(model, row),
  );

describe('every reranker', () => {
  test('returns the best texts with their scores, best first', () =>
    eachModel(async (model) => {
      expect(await rerank(model)).toEqual([
        { index: 1, score: 0.03 },
        { index: 2, score: 0.01 },
        { index: 0, score: 0 },
      ]);
      expect(emulator.calls).toMatchObject([{ query: 'where does the red fern grow', texts: TEXTS, count: 3 }]);
    }));

  test('sorts results by score, and equal ones by text, for any order of the response', () =>
    eachModel(async (model) => {
      const scores = [0.2, 0.5, -0.1, 0.5, 0, 0.2, 0.5];
      const texts = scores.map((_, at) => `text ${at}`);
      emulator.setScore((_query, text) => scores[Number(text.slice(5))]!);
      // All texts are requested, so that the emulator leaves out none of the equal ones.
      const reranked = () => rerankers.choose(model).rerank('query', texts, texts.length);
      for (const order of [
        (results: readonly Scored[]) => results.toReversed(),
        (results: readonly Scored[]) => results.toSorted((a, b) => Number(b.index) - Number(a.index)),
        (results: readonly Scored[]) => [...results.slice(2), ...results.slice(0, 2)],
      ]) {
        emulator.setOrder(order);
        expect(await reranked()).toEqual([1, 3, 6, 0, 5, 4, 2].map((index) => ({ index, score: scores[index] })));
      }
    }));

  test('returns the best of the texts if the service returns more than requested, in any order', () =>
    eachModel(async (model) => {
      emulator.setOrder((results) => [{ index: 3, score: -1 }, ...results]);
      expect(await rerank(model)).toEqual([
        { index: 1, score: 0.03 },
        { index: 2, score: 0.01 },
        { index: 0, score: 0 },
      ]);
    }));

  test('returns at most as many results as there are texts', () =>
    eachModel(async (model) => {
      expect(await rerank(model, 10)).toHaveLength(TEXTS.length);
      expect(await rerank(model, 1)).toEqual([{ index: 1, score: 0.03 }]);
    }));

  /** Numbers of texts and of requested results, below, at and above 25, the minimum for Pongo's last step. */
  const COUNTS: readonly (readonly [string, number, number])[] = [1, 2, 24, 25, 26, 40, 60].flatMap((texts) =>
    [1, 3, 24, 25, 26, 39, 40, 60].map((count) => [`${count} of ${texts}`, texts, count] as const),
  );
  test('requests the given number of results and returns the best ones, for few and many texts', () =>
    eachModelAnd(COUNTS, async (model, [, length, count]) => {
      emulator.calls.length = 0;
      // The best texts come last.
      emulator.setScore((_query, text) => Number(text.slice(5)) / 100);
      const texts = Array.from({ length }, (_, at) => `text ${at}`);
      const best = texts.map((_, index) => ({ index, score: index / 100 })).toReversed();
      expect(await rerankers.choose(model).rerank('query', texts, count)).toEqual(best.slice(0, count));
      expect(emulator.calls).toMatchObject([{ texts, count }]);
      // Pongo returns only texts that reach its last step: a small count must not lower their number below 25.
      if (model === 'PONGO_RERANKER') expect(emulator.calls[0]?.maxScored).toBe(count > 25 ? count : 25);
    }));

  test('sends no request without texts', () =>
    eachModel(async (model) => {
      expect(await rerankers.choose(model).rerank('anything', [], 1)).toEqual([]);
      expect(emulator.calls).toEqual([]);
    }));

  test('truncates a very long text instead of rejecting it', () =>
    eachModel(async (model) => {
      await rerankers.choose(model).rerank('fern', ['fern '.repeat(100_000), 'b'], 1);
      expect(emulator.calls[0]?.texts[0]?.length).toBeLessThan(50_000);
    }));

  const INVALID: readonly (readonly [string, InjectedFault])[] = [
    ['truncated JSON', 'invalidJson'],
    ['no list', 'no list'],
    ['a result without an index', 'unnumbered'],
    ['an index beyond the texts', 'beyond'],
    ['an index below 0', 'negative'],
    ['the same text twice', 'twice'],
    ['a score that is not a number', 'nan'],
    ['no score', 'unscored'],
  ];
  test('rejects an invalid response with the setting to check', () =>
    eachModelAnd(INVALID, async (model, [, injectedFault]) => {
      emulator.injectFault(injectedFault);
      const { message, retryable } = await faultOf(rerank(model));
      expect(message).toMatch(/invalid response.*_BASE_URL/);
      expect(retryable).toBe(true);
    }));

  const FAILURES: readonly (readonly [string, InjectedFault, string, boolean])[] = [
    ['429 with Retry-After', { status: 429, headers: { 'retry-after': '7' } }, 'rate_limited', true],
    ['429 without Retry-After', { status: 429 }, 'rate_limited', true],
    ['503 with Retry-After', { status: 503, headers: { 'retry-after': '7' } }, 'rate_limited', true],
    ['503 without Retry-After', { status: 503 }, 'server_error', true],
    ['500', { status: 500 }, 'server_error', true],
    ['408', { status: 408 }, 'server_error', true],
    ['403', { status: 403 }, 'access_denied', false],
    ['404', { status: 404 }, 'bad_response', false],
    ['422', { status: 422 }, 'bad_response', false],
    ['401', { status: 401 }, 'access_denied', false],
    ['402', { status: 402 }, 'access_denied', false],
    ['400', { status: 400 }, 'bad_response', false],
    ['a redirect', { status: 302, headers: { location: 'http://127.0.0.1:1/' } }, 'bad_response', false],
    ['no response', 'hang', 'timed_out', true],
    ['a broken connection', 'brokenConnection', 'unreachable', true],
    ['an oversized response', 'huge', 'too_large', false],
  ];
  test('reports each failure as the matching kind, without the key', () =>
    eachModelAnd(FAILURES, async (model, [, injectedFault, kind, retryable]) => {
      emulator.injectFault(injectedFault);
      const fault = await faultOf(rerank(model, 3, injectedFault === 'hang' ? shortTimeout : rerankers));
      expect(fault).toMatchObject({ kind, retryable });
      expect(fault.message).not.toContain('rerank-key');
      if (typeof injectedFault === 'object')
        expect(fault.retryAfterMs).toBe(injectedFault.headers?.['retry-after'] ? 7000 : null);
    }));

  test("ends its request when the caller aborts, with the caller's reason", () =>
    eachModel(async (model) => {
      emulator.injectFault('hang');
      const abort = new AbortController();
      const ended = rerankers.choose(model).rerank('fern', TEXTS, 1, abort.signal).catch(String);
      await waitFor(emulator.waiting, (waiting) => waiting === 1);
      abort.abort('the caller has left');
      expect(await ended).toBe('the caller has left');
      await waitFor(emulator.waiting, (waiting) => waiting === 0);
    }));

  test('names the missing setting if it has no key', () =>
    eachModel((model) => {
      const none = createRerankers(configured({}).rerank, egress);
      expect(() => none.choose(model)).toThrow(new RegExp(`${model} is not configured.*_API_KEY`));
    }));
});

test.each(['COHERE_RERANK_MULTILINGUAL_V3', 'JINA_RERANKER_MULTILINGUAL_V2'] as const)(
  'rejects fewer results than requested from %s',
  async (model) => {
    emulator.injectFault('few');
    expect((await faultOf(rerank(model))).message).toMatch(/2 results instead of 3/);
  },
);

test('accepts fewer results from Pongo, which leaves out irrelevant texts', async () => {
  emulator.injectFault('few');
  expect(await rerank('PONGO_RERANKER')).toHaveLength(2);
});
