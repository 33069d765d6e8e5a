/** Tests of the small modules of remote embedding, with one table per module. */
import assert from 'node:assert';
import { expect, test } from '@jest/globals';

import { pricesOfSpaces, readPrices } from '../../../providers/embeddings/readPrices.js';
import { readProviders } from '../../../providers/embeddings/readProviders.js';
import { openCall } from '../../../providers/embeddings/remote/call.js';
import { readCount, readVector } from '../../../providers/embeddings/remote/numbers.js';
import { readOpenAiAnswer } from '../../../providers/embeddings/remote/openAiAnswer.js';
import { divideUsage } from '../../../providers/embeddings/remote/usage.js';
import { everyRow } from '../../support/everyRow.js';

const of = (organizationId: number | null, tokens: number) => ({
  call: { fairnessKey: organizationId === null ? undefined : { organizationId } },
  tokens,
});
const share = (organizationId: number, tokens: number) => ({ organizationId, requests: 1, tokens });
const USAGES: readonly (readonly [
  name: string,
  items: Parameters<typeof divideUsage>[0],
  billed: number | null,
  shares: unknown,
])[] = [
  ['one organization', [of(1, 10), of(1, 20)], null, [share(1, 30)]],
  ['two organizations', [of(1, 10), of(2, 20), of(1, 30)], null, [share(1, 40), share(2, 20)]],
  ['tokens as the provider counts them', [of(1, 10), of(2, 30)], 80, [share(1, 20), share(2, 60)]],
  ['nothing was billed', [of(1, 10)], 0, [share(1, 0)]],
  ['a part without an organization', [of(1, 10), of(null, 30)], 80, [share(1, 20)]],
  ['pictures, whose tokens are not counted', [of(1, 0)], 50, [share(1, 0)]],
  ['organization 0', [of(0, 10)], null, [share(0, 10)]],
];
test('divides the usage of a request in proportion to the tokens of its parts', () =>
  everyRow(
    USAGES,
    ([name]) => name,
    ([, items, billed, shares]) => expect(divideUsage(items, billed)).toEqual(shares),
  ));

test('reads prices by model, and gives each space the price of its first priced model', () => {
  expect(readPrices('')).toEqual({});
  expect(readPrices(' OPENAI = 0.02 ,, COHERE_MULTILINGUAL_V3=1,')).toEqual({
    OPENAI: 0.02,
    COHERE_MULTILINGUAL_V3: 1,
  });
  for (const wrong of ['OPENAI', 'OPENAI=', 'OPENAI=-1', 'OPENAI=x', 'OPENAI=.5', 'NONE=1', '=1'])
    expect(() => readPrices(wrong)).toThrow('by comma');
  expect(pricesOfSpaces({ COHERE_MULTILINGUAL_V3: 1 })).toEqual({ 'cohere-multilingual-v3-1024': 1 });
  // Both have the same space, and OPENAI comes first in the contract.
  const prices = pricesOfSpaces({ OPENAI_ADA_SMALL_1536: 3, OPENAI: 2 });
  expect(Object.values(prices)).toEqual([2]);
});

const floats = (...numbers: number[]): string => Buffer.from(Float32Array.from(numbers).buffer).toString('base64');
const VECTORS: readonly (readonly [value: unknown, vector: readonly number[] | undefined])[] = [
  [
    [1, 0.5],
    [1, 0.5],
  ],
  [floats(1, 0.5), [1, 0.5]],
  [[], []],
  ['', undefined],
  ['AAAA', undefined],
  [[1, null], undefined],
  [[1, '2'], undefined],
  [{ 0: 1 }, undefined],
  [null, undefined],
];
test('reads a vector from a list of numbers or base64 of floats', () =>
  everyRow(
    VECTORS,
    ([value]) => JSON.stringify(value),
    ([value, vector]) => {
      const read = readVector(value);
      expect(read === undefined ? undefined : [...read]).toEqual(vector);
    },
  ));
test('reads a count from a finite number of at least 0', () => {
  expect([0, 7, -1, NaN, Infinity, '7', null].map(readCount)).toEqual([0, 7, null, null, null, null, null]);
});

const entry = (index: unknown, number = 1) => ({ index, embedding: [number] });
test('sorts embeddings by their index', () => {
  const read = (data: unknown, count = 2): unknown => {
    const { vectors, tokens } = readOpenAiAnswer({ data, usage: { total_tokens: 7 } }, count);
    return [vectors.map((vector) => vector?.[0]), tokens];
  };
  expect(read([entry(1, 20), entry(0, 10)])).toEqual([[10, 20], 7]);
  // The number of vectors is not checked here; guardVectors checks it.
  expect(read([entry(1, 20)])).toEqual([[undefined, 20], 7]);
  expect(read([entry(0, 10), entry(1, 20), entry(2, 30)])).toEqual([[10, 20, 30], 7]);
  for (const data of [[entry(2)], [entry('0')], [entry(undefined)], [entry(-1)], [entry(0.5)], [null]])
    expect(() => read(data)).toThrow('without an index');
  expect(() => read([entry(0), entry(0)])).toThrow('two embeddings with the index 0');
  expect(() => read({})).toThrow('no list "data"');
  expect(readOpenAiAnswer({ data: [] }, 0).tokens).toBeNull();
});

test('settles a call once, by its last window, its first failure or an abort', async () => {
  const settled: unknown[] = [];
  const open = (windows: number[], signal?: AbortSignal) =>
    openCall(windows, undefined, signal, (call) => settled.push(call));
  const one = open([2, 1]);
  one.addVector(0, Float32Array.of(3, 0), 1);
  one.addVector(1, Float32Array.of(0, 1), 1);
  expect([one.isSettled, settled]).toEqual([false, []]);
  one.addVector(0, Float32Array.of(0, 4), 1);
  expect((await one.answer).map((vector) => [...vector].map((x) => x.toFixed(1)))).toEqual([
    ['0.6', '0.8'],
    ['0.0', '1.0'],
  ]);
  one.fail(new Error('late'));
  expect([one.isSettled, settled]).toEqual([true, [one]]);

  const more = open([1]);
  more.expectMore();
  more.addVector(0, Float32Array.of(1), 1);
  expect(more.isSettled).toBe(false);
  more.fail(new Error('failed'));
  more.fail(new Error('again'));
  await expect(more.answer).rejects.toThrow('failed');
  expect(settled).toEqual([one, more]);

  const abort = new AbortController();
  const aborted = open([1], abort.signal);
  abort.abort(new Error('cancelled'));
  await expect(aborted.answer).rejects.toThrow('cancelled');
  expect(settled).toEqual([one, more, aborted]);
});

const providersIn = (settings: Readonly<Record<string, string>>) =>
  readProviders(
    (name) => settings[name] ?? null,
    (path) => (path === '/key.json' ? '{"file":1}' : assert.fail('no such file')),
  );
const AZURE = { AZURE_OPENAI_ENDPOINT: 'https://a.example//', AZURE_OPENAI_API_KEY: 'k' };
test('reads the settings of each provider, with addresses without a trailing slash', () => {
  const none = { openai: null, cohere: null, solar: null, azure: null, vertex: null };
  expect(providersIn({ OPENAI_BASE_URL: 'https://o.example/v1' })).toEqual(none);
  const keyAndUrl = { SOLAR_API_KEY: 's', SOLAR_BASE_URL: 'https://s.example/v1/' };
  expect(providersIn(keyAndUrl)).toEqual({ ...none, solar: { baseUrl: 'https://s.example/v1', key: 's' } });
  const deployments = ' AZURE_ADA_LARGE_256 = large ,';
  expect(providersIn({ ...AZURE, AZURE_OPENAI_DEPLOYMENTS: deployments, AZURE_OPENAI_API_VERSION: '1' }).azure).toEqual(
    {
      ...{ endpoint: 'https://a.example', key: 'k', apiVersion: '1' },
      deployments: { AZURE_ADA_LARGE_256: 'large' },
    },
  );
  for (const wrong of ['OPENAI=x', 'AZURE_ADA_LARGE_256=', 'AZURE_ADA_LARGE_256', '=x'])
    expect(() => providersIn({ ...AZURE, AZURE_OPENAI_DEPLOYMENTS: wrong })).toThrow('by commas');
  expect(() => providersIn({ AZURE_OPENAI_API_KEY: 'k' })).toThrow(
    'AZURE_OPENAI_ENDPOINT and AZURE_OPENAI_DEPLOYMENTS are not set',
  );
  const vertex = { VERTEX_PROJECT: 'p', VERTEX_LOCATION: 'l' };
  expect(providersIn({ ...vertex, VERTEX_ACCESS_TOKEN: 't', VERTEX_BASE_URL: 'https://v.example/' }).vertex).toEqual({
    ...{ project: 'p', location: 'l', baseUrl: 'https://v.example' },
    credentials: { accessToken: 't' },
  });
  for (const [key, serviceAccount] of [
    ['/key.json', '{"file":1}'],
    [' {"inline":1}', ' {"inline":1}'],
  ] as const)
    expect(providersIn({ ...vertex, VERTEX_CREDENTIALS: key, VERTEX_ACCESS_TOKEN: 't' }).vertex).toMatchObject({
      ...{ baseUrl: null, credentials: { serviceAccount } },
    });
});
