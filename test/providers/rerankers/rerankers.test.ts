import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';

import { loadConfig } from '../../../config/config.js';
import { RERANK_MODELS, type RerankModel } from '../../../contract/rerankers.js';
import { Fault } from '../../../contract/failures.js';
import { createEgress } from '../../../egress/createEgress.js';
import { createRerankers } from '../../../providers/rerankers/registry.js';
import type { Rerankers } from '../../../providers/rerankers/types.js';
import {
  type Mishap,
  type RerankEmulator,
  type Scored,
  sharedWords,
  startRerankEmulator,
} from '../../emulators/rerankers.js';
import { everyRow } from '../../support/everyRow.js';

let emulator: RerankEmulator;
let egress: ReturnType<typeof createEgress>;
let rerankers: Rerankers;
/** For services that do not answer. */
let hasty: Rerankers;

/** As a service reads its settings. */
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
  hasty = createRerankers({ ...config.rerank, timeoutMs: 300 }, egress);
});
beforeEach(() => {
  emulator.misbehave(null);
  emulator.score(sharedWords);
  emulator.order((results) => results);
  emulator.calls.length = 0;
});
afterAll(() => Promise.all([egress.close(), emulator.close()]));

const TEXTS = ['bread and salt', 'the red fern by the lake', 'a fern', 'nothing of it'];
const ask = (model: RerankModel, count = 3, by = rerankers): Promise<unknown> =>
  by.choose(model).rerank('where does the red fern grow', TEXTS, count);
const faultOf = async (work: Promise<unknown>): Promise<Fault> => {
  const error = await work.then(
    () => null,
    (reason: unknown) => reason,
  );
  if (!(error instanceof Fault)) throw new Error('expected a Fault', { cause: error });
  return error;
};

/** Checks a rule for every model, each with an emulator that was asked nothing. */
const eachModel = (rule: (model: RerankModel) => unknown) =>
  everyRow(RERANK_MODELS, String, (model) => {
    emulator.calls.length = 0;
    return rule(model);
  });
/** The same for every model and row of a table. */
const eachModelAnd = <R extends readonly [string, ...unknown[]]>(
  rows: readonly R[],
  rule: (model: RerankModel, row: R) => unknown,
) =>
  everyRow(
    RERANK_MODELS.flatMap((model) => rows.map((row) => ({ model, row }))),
    ({ model, row: [what] }) => `${model}: ${what}`,
    ({ model, row }) => rule(model, row),
  );

describe('every reranker', () => {
  test('answers the best of the texts, best first, with its scores', () =>
    eachModel(async (model) => {
      expect(await ask(model)).toEqual([
        { index: 1, score: 0.03 },
        { index: 2, score: 0.01 },
        { index: 0, score: 0 },
      ]);
      expect(emulator.calls).toMatchObject([{ query: 'where does the red fern grow', texts: TEXTS, count: 3 }]);
    }));

  test('puts results in the order of their scores, and equal ones in that of the texts, whatever the order of the answer', () =>
    eachModel(async (model) => {
      const scores = [0.2, 0.5, -0.1, 0.5, 0, 0.2, 0.5];
      const texts = scores.map((_, at) => `text ${at}`);
      emulator.score((_query, text) => scores[Number(text.slice(5))]!);
      // All are asked for, so that the emulator leaves none of the equal ones out.
      const reranked = () => rerankers.choose(model).rerank('query', texts, texts.length);
      for (const order of [
        (results: readonly Scored[]) => results.toReversed(),
        (results: readonly Scored[]) => results.toSorted((a, b) => Number(b.index) - Number(a.index)),
        (results: readonly Scored[]) => [...results.slice(2), ...results.slice(0, 2)],
      ]) {
        emulator.order(order);
        expect(await reranked()).toEqual([1, 3, 6, 0, 5, 4, 2].map((index) => ({ index, score: scores[index] })));
      }
    }));

  test('answers no more than it was asked for, though the service does', () =>
    eachModel(async (model) => {
      emulator.order((results) => [...results, { index: 3, score: -1 }]);
      expect(await ask(model)).toEqual([
        { index: 1, score: 0.03 },
        { index: 2, score: 0.01 },
        { index: 0, score: 0 },
      ]);
    }));

  test('asks for no more than the texts that there are', () =>
    eachModel(async (model) => {
      expect(await ask(model, 10)).toHaveLength(TEXTS.length);
      expect(await ask(model, 1)).toEqual([{ index: 1, score: 0.03 }]);
    }));

  /** Counts below, at and above 25, the smallest sample that Pongo is asked to score, of fewer and of more texts. */
  const COUNTS: readonly (readonly [string, number, number])[] = [1, 2, 24, 25, 26, 40, 60].flatMap((texts) =>
    [1, 3, 24, 25, 26, 39, 40, 60].map((count) => [`${count} of ${texts}`, texts, count] as const),
  );
  test('asks for as many as it was asked for, and answers the best of them, for few and for many', () =>
    eachModelAnd(COUNTS, async (model, [, length, count]) => {
      emulator.calls.length = 0;
      // The best come last.
      emulator.score((_query, text) => Number(text.slice(5)) / 100);
      const texts = Array.from({ length }, (_, at) => `text ${at}`);
      const best = texts.map((_, index) => ({ index, score: index / 100 })).toReversed();
      expect(await rerankers.choose(model).rerank('query', texts, count)).toEqual(best.slice(0, count));
      expect(emulator.calls).toMatchObject([{ texts, count }]);
      // Pongo answers none that its first, rougher step leaves out: a small count must not leave out more.
      if (model === 'PONGO_RERANKER') expect(emulator.calls[0]?.sample).toBe(count > 25 ? count : 25);
    }));

  test('asks nobody about no texts', () =>
    eachModel(async (model) => {
      expect(await rerankers.choose(model).rerank('anything', [], 1)).toEqual([]);
      expect(emulator.calls).toEqual([]);
    }));

  test('shortens a very long text, and does not refuse it', () =>
    eachModel(async (model) => {
      await rerankers.choose(model).rerank('fern', ['fern '.repeat(100_000), 'b'], 1);
      expect(emulator.calls[0]?.texts[0]?.length).toBeLessThan(50_000);
    }));

  const WRONG: readonly (readonly [string, Mishap])[] = [
    ['JSON that ends in the middle', 'cut'],
    ['no list', 'no list'],
    ['a result without an index', 'unnumbered'],
    ['an index past the texts', 'beyond'],
    ['an index below 0', 'negative'],
    ['the same text twice', 'twice'],
    ['a score that is no number', 'nan'],
    ['no score', 'unscored'],
  ];
  test('uses nothing of a wrong answer, and says which setting to look at', () =>
    eachModelAnd(WRONG, async (model, [, mishap]) => {
      emulator.misbehave(mishap);
      const { message, retryable } = await faultOf(ask(model));
      expect(message).toMatch(/invalid response.*_BASE_URL/);
      expect(retryable).toBe(true);
    }));

  const FAILURES: readonly (readonly [string, Mishap, string, boolean])[] = [
    ['429 with Retry-After', { status: 429, headers: { 'retry-after': '7' } }, 'rate_limited', true],
    ['429 without', { status: 429 }, 'rate_limited', true],
    ['503 with Retry-After', { status: 503, headers: { 'retry-after': '7' } }, 'rate_limited', true],
    ['503 without', { status: 503 }, 'server_error', true],
    ['500', { status: 500 }, 'server_error', true],
    ['408', { status: 408 }, 'server_error', true],
    ['403', { status: 403 }, 'access_denied', false],
    ['404', { status: 404 }, 'bad_response', false],
    ['422', { status: 422 }, 'bad_response', false],
    ['401', { status: 401 }, 'access_denied', false],
    ['402', { status: 402 }, 'access_denied', false],
    ['400', { status: 400 }, 'bad_response', false],
    ['a redirect', { status: 302, headers: { location: 'http://127.0.0.1:1/' } }, 'bad_response', false],
    ['silence', 'hang', 'timed_out', true],
    ['a broken connection', 'broken', 'unreachable', true],
    ['more than anybody answers', 'huge', 'too_large', false],
  ];
  test('reports a failure as the kind that it is, without its key', () =>
    eachModelAnd(FAILURES, async (model, [, mishap, kind, retryable]) => {
      emulator.misbehave(mishap);
      const fault = await faultOf(ask(model, 3, mishap === 'hang' ? hasty : rerankers));
      expect(fault).toMatchObject({ kind, retryable });
      expect(fault.message).not.toContain('rerank-key');
      if (typeof mishap === 'object') expect(fault.retryAfterMs).toBe(mishap.headers?.['retry-after'] ? 7000 : null);
    }));

  test('says without a key which setting is missing', () =>
    eachModel((model) => {
      const none = createRerankers(configured({}).rerank, egress);
      expect(() => none.choose(model)).toThrow(new RegExp(`${model} is not configured.*_API_KEY`));
    }));
});

test.each(['COHERE_RERANK_MULTILINGUAL_V3', 'JINA_RERANKER_MULTILINGUAL_V2'] as const)(
  'fewer results than asked for are a wrong answer of %s',
  async (model) => {
    emulator.misbehave('few');
    expect((await faultOf(ask(model))).message).toMatch(/2 results instead of 3/);
  },
);

test('Pongo may leave out what it finds irrelevant', async () => {
  emulator.misbehave('few');
  expect(await ask('PONGO_RERANKER')).toHaveLength(2);
});
