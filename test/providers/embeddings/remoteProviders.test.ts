import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';

import { loadConfig } from '../../../config/config.js';
import {
  EMBEDDING_MODEL_IDS,
  EMBEDDING_MODELS,
  type EmbeddingModelId,
} from '../../../contract/vectors/embeddingModels.js';
import { countTokens } from '../../../documents/chunking/countTokens.js';
import { createEgress } from '../../../egress/createEgress.js';
import type { Egress } from '../../../egress/types.js';
import { createLocalProvider } from '../../../providers/embeddings/providers/local.js';
import { createEmbeddings } from '../../../providers/embeddings/registry.js';
import type { Embeddings, EmbeddingUsage } from '../../../providers/embeddings/types.js';
import type { ProviderName } from '../../emulators/embeddingProviders/apis.js';
import {
  type EmbeddingEmulator,
  type ProviderFault,
  startEmbeddingEmulator,
  vectorOf,
} from '../../emulators/embeddingProviders/start.js';
import { modelFiles } from './modelFiles.js';
import { cosine, length } from './vectors.js';
import { everyRow } from '../../support/everyRow.js';
import { isThorough } from '../../support/thorough.js';
import { faultOf } from '../../support/faultOf.js';

/** One model id of each provider. */
const ONE_EACH: Readonly<Record<ProviderName, EmbeddingModelId>> = {
  openai: 'OPENAI',
  azure: 'AZURE_ADA_LARGE_256',
  cohere: 'COHERE_MULTILINGUAL_V3',
  vertex: 'VERTEX_MULTIMODAL',
  solar: 'SOLAR_1_MINI',
};
const EACH = Object.entries(ONE_EACH);

interface Counted extends EmbeddingUsage {
  readonly organizationId: number;
  readonly space: string;
}

let emulator: EmbeddingEmulator;
const opened: { embeddings: Embeddings; egress: Egress }[] = [];
let usage: Counted[] = [];

function open(settings: Record<string, string> = {}): Embeddings {
  const { embedding } = loadConfig({
    DATA_DIR: '/nonexistent',
    SECRET_KEY: `k1:${Buffer.alloc(32).toString('base64')}`,
    ALLOWED_PRIVATE_HOSTS: '127.0.0.1',
    ...emulator.settings(),
    ...settings,
  });
  const egress = createEgress(embedding.egress);
  const embeddings = createEmbeddings({
    local: createLocalProvider({ ...modelFiles, threads: 1 }),
    remote: {
      providers: embedding.providers,
      egress,
      loadCounter: async () => countTokens,
      onUsage: (organizationId, space, counts) => usage.push({ organizationId, space, ...counts }),
    },
  });
  opened.push({ embeddings, egress });
  return embeddings;
}

beforeAll(async () => {
  emulator = await startEmbeddingEmulator();
});
afterEach(async () => {
  for (const { embeddings, egress } of opened.splice(0)) {
    await embeddings.close();
    await egress.close();
  }
  emulator.reset();
  usage = [];
});
afterAll(() => emulator.close());

/** Checks a rule for each row of a table, with a reset emulator. */
const eachRow = <R extends readonly [string, ...unknown[]]>(rows: readonly R[], rule: (row: R) => unknown) =>
  everyRow(
    rows,
    ([provider, name = '']) => `${provider} ${String(name)}`,
    (row) => {
      emulator.reset();
      return rule(row);
    },
  );

test('embeds with the provider, dimensions and space of each model', () =>
  eachRow(
    EMBEDDING_MODEL_IDS.map((model) => [model] as const),
    async ([model]) => {
      const embeddings = open();
      const { dimensions, space, provider } = EMBEDDING_MODELS[model];
      expect(embeddings.spaceOf(model)).toEqual({ name: space, dimensions });
      const texts = ['The river runs.', 'Cats sleep.', 'Tokens <|endoftext|> are text.'];
      const vectors = await embeddings.embed(space, texts, 'document');
      expect(vectors.map((vector) => vector.length)).toEqual([dimensions, dimensions, dimensions]);
      vectors.forEach((vector, at) => {
        expect(length(vector)).toBeCloseTo(1, 5);
        const expectedVector = Float32Array.from(vectorOf(texts[at]!, dimensions));
        expect(cosine(vector, expectedVector) / length(expectedVector)).toBeCloseTo(1, 4);
      });
      expect(new Set(emulator.requests.map((one) => one.provider))).toEqual(new Set([provider]));
      expect(embeddings.models().find((one) => one.model === model)).toMatchObject({
        provider,
        space: { name: space },
      });
    },
  ));

test('serves a model id by the embedded model until its provider is configured', () => {
  const embeddings = open({ OPENAI_API_KEY: '', AZURE_OPENAI_DEPLOYMENTS: 'AZURE_ADA_LARGE_256=my-large' });
  const local = embeddings.models().flatMap(({ model, provider }) => (provider === null ? [model] : []));
  expect(local).toEqual(EMBEDDING_MODEL_IDS.filter((id) => /^OPENAI|^AZURE/.test(id) && id !== 'AZURE_ADA_LARGE_256'));
  expect(embeddings.spaceOf('OPENAI').name).toBe('minilm-l6-v2-384');
});

test.each([
  ['cohere', 'COHERE_MULTILINGUAL_V3'],
  ['solar', 'SOLAR_1_MINI'],
] as const)('sends %s the purpose of each text', async (_provider, model) => {
  const embeddings = open();
  const space = embeddings.spaceOf(model).name;
  await embeddings.embed(space, ['a passage'], 'document');
  await embeddings.embed(space, ['a question'], 'query');
  expect(emulator.requests.map(({ texts, purpose }) => [texts, purpose])).toEqual([
    [['a passage'], 'document'],
    [['a question'], 'query'],
  ]);
});

test('embeds texts longer than the window as windows that contain the whole text', () =>
  eachRow(EACH, async ([, model]) => {
    const embeddings = open();
    const { window } = EMBEDDING_MODELS[model];
    const words = Array.from({ length: Math.min(9_000, window * 4) }, (_, i) => `w${i}`);
    const text = words.join(' ');
    expect(countTokens(text)).toBeGreaterThan(window);
    const [vector] = await embeddings.embed(embeddings.spaceOf(model).name, [text], 'document');
    expect(length(vector!)).toBeCloseTo(1, 5);
    const sent = emulator.requests.flatMap((one) => (one.status === 200 ? one.texts : []));
    expect(sent.length).toBeGreaterThan(1);
    expect(sent.flatMap((one) => one.trim().split(' ')).toSorted()).toEqual(words.toSorted());
  }));

test('halves a text that a provider rejects as too long, without affecting the rest of its request', async () => {
  const embeddings = open();
  const space = embeddings.spaceOf('COHERE_MULTILINGUAL_V3').name;
  // Three digits are one token for our counter and three tokens for Cohere.
  const digits = '1234567890 '.repeat(90);
  const texts = ['before', digits, 'after', ...Array.from({ length: 20 }, (_, i) => `text ${i}`)];
  const vectors = await embeddings.embed(space, texts, 'document');
  expect(emulator.requests.some((one) => one.status === 400)).toBe(true);
  vectors.forEach((vector, at) => {
    const expectedVector = Float32Array.from(vectorOf(texts[at]!, 1024));
    expect(cosine(vector, expectedVector) / length(expectedVector)).toBeCloseTo(1, 3);
  });
});

test('batches texts into requests within the limits of each provider', () =>
  eachRow(EACH, async ([provider, model]) => {
    const embeddings = open();
    const texts = Array.from({ length: 300 }, (_, i) => `text number ${i}`);
    const vectors = await embeddings.embed(embeddings.spaceOf(model).name, texts, 'document');
    expect(vectors).toHaveLength(300);
    expect(emulator.requests.filter((one) => one.status !== 200)).toEqual([]);
    const requests = { openai: 1, azure: 1, cohere: 4, vertex: 300, solar: 3 };
    expect(emulator.requests).toHaveLength(requests[provider as ProviderName]);
  }));

test('limits the tokens of one request', async () => {
  const embeddings = open();
  const texts = Array.from({ length: 60 }, (_, i) => `${i} ${'river '.repeat(6_500)}`);
  await embeddings.embed(embeddings.spaceOf('OPENAI').name, texts, 'document');
  expect(emulator.requests.length).toBeGreaterThan(1);
  expect(emulator.requests.filter((one) => one.status !== 200)).toEqual([]);
});

describe('a faulty provider', () => {
  const TRANSIENT: readonly [string, ProviderFault][] = [
    ['429 with Retry-After', { status: 429, headers: { 'retry-after': '0.2' } }],
    ['429 without Retry-After', { status: 429 }],
    ['503 with Retry-After', { status: 503, headers: { 'retry-after': '0' } }],
    ['500', { status: 500, body: 'no JSON' }],
    ['truncated JSON', 'invalidJson'],
    ['a broken connection', 'brokenConnection'],
    ['no response', 'hang'],
    ['too few vectors', 'few'],
    ['a wrong dimension', 'dimension'],
    ['NaN', 'nan'],
    ['only zeros', 'zero'],
  ];
  const allPairs = EACH.flatMap(([provider, model]) =>
    TRANSIENT.map(([name, fault]) => [provider, name, model, fault] as const),
  );
  // The short run uses every fifth pair, so that providers and faults alternate.
  const transient = isThorough() ? allPairs : allPairs.filter((_row, at) => at % EACH.length === 0);

  test('returns the right vectors after a retry', () =>
    eachRow(transient, async ([, , model, fault]) => {
      const embeddings = open({ EMBEDDING_TIMEOUT_MS: '1500' });
      emulator.injectFault((_one, nth) => (nth === 1 ? fault : null));
      const { dimensions, space } = EMBEDDING_MODELS[model];
      const texts = ['The river runs.', 'Cats sleep.'];
      const vectors = await embeddings.embed(space, texts, 'document');
      vectors.forEach((vector, at) => {
        const expectedVector = Float32Array.from(vectorOf(texts[at]!, dimensions));
        expect(cosine(vector, expectedVector) / length(expectedVector)).toBeCloseTo(1, 4);
      });
      expect(vectors).toHaveLength(2);
    }));

  test.each(['openai', 'azure', 'solar'] as const)('is rejected if its vectors have no index: %s', async (name) => {
    const embeddings = open();
    emulator.injectFault(() => 'unnumbered');
    const fault = await faultOf(embeddings.embed(EMBEDDING_MODELS[ONE_EACH[name]].space, ['a', 'b'], 'document'));
    expect(fault).toMatchObject({ kind: 'embedding_failed', retryable: true });
    expect(fault.message).toMatch(/without an index/);
    expect(emulator.requests).toHaveLength(4);
  });

  test('causes a fault that names the setting of the rejected key, without a retry', () =>
    eachRow(EACH, async ([, model]) => {
      const embeddings = open();
      emulator.injectFault(() => ({ status: 403 }));
      const fault = await faultOf(embeddings.embed(EMBEDDING_MODELS[model].space, ['x'], 'document'));
      expect(fault).toMatchObject({ kind: 'access_denied', retryable: false });
      expect(fault.message).toMatch(/(OPENAI|COHERE|SOLAR)_API_KEY|VERTEX_CREDENTIALS/);
      expect(emulator.requests).toHaveLength(1);
    }));

  test('causes a fault that names the setting of a wrong key, but not the key', async () => {
    const embeddings = open({ OPENAI_API_KEY: 'not-the-key' });
    const fault = await faultOf(embeddings.embed(EMBEDDING_MODELS.OPENAI.space, ['x'], 'query'));
    expect(fault).toMatchObject({ kind: 'access_denied' });
    expect(fault.message).toContain('OPENAI_API_KEY');
    expect(fault.message).not.toContain('not-the-key');
  });

  test('causes a retryable fault after EMBEDDING_TRIES requests', async () => {
    const embeddings = open({ EMBEDDING_TRIES: '2' });
    emulator.injectFault(() => ({ status: 500 }));
    const fault = await faultOf(embeddings.embed(EMBEDDING_MODELS.OPENAI.space, ['x'], 'document'));
    expect(fault).toMatchObject({ kind: 'server_error', retryable: true });
    expect(emulator.requests).toHaveLength(2);
  });

  test('causes a fault with the remaining time of a rate limit above EMBEDDING_PATIENCE_MS', async () => {
    const embeddings = open({ EMBEDDING_PATIENCE_MS: '1000' });
    emulator.injectFault(() => ({ status: 429, headers: { 'retry-after': '40' } }));
    const fault = await faultOf(embeddings.embed(EMBEDDING_MODELS.OPENAI.space, ['x'], 'document'));
    expect(fault).toMatchObject({ kind: 'rate_limited', retryable: true });
    expect(fault.retryAfterMs).toBeGreaterThan(38_000);
    // During the rate limit, a search fails immediately, without a request to the provider.
    const search = await faultOf(embeddings.embed(EMBEDDING_MODELS.OPENAI.space, ['x'], 'query'));
    expect(search).toMatchObject({ kind: 'rate_limited' });
    const later = await faultOf(embeddings.embed(EMBEDDING_MODELS.OPENAI.space, ['y'], 'document'));
    expect(later).toMatchObject({ kind: 'rate_limited', retryable: true });
    expect(later.retryAfterMs).toBeGreaterThan(30_000);
    expect(emulator.requests).toHaveLength(1);
  });

  test('causes a rate_limited fault also for texts that were not yet sent when the rate limit began', async () => {
    const limits = { EMBEDDING_MIN_CONCURRENCY: '1', EMBEDDING_MAX_CONCURRENCY: '1' };
    const embeddings = open({ EMBEDDING_PATIENCE_MS: '1000', ...limits });
    emulator.injectFault(() => ({ status: 429, headers: { 'retry-after': '40' } }));
    const embed = (text: string) => faultOf(embeddings.embed(EMBEDDING_MODELS.OPENAI.space, [text], 'document'));
    for (const fault of await Promise.all([embed('x'), embed('y')])) {
      expect(fault).toMatchObject({ kind: 'rate_limited', retryable: true });
      expect(fault.retryAfterMs).toBeGreaterThan(30_000);
    }
    expect(emulator.requests).toHaveLength(1);
  });

  test('is not retried if the account has no credit', async () => {
    const embeddings = open();
    emulator.injectFault(() => ({ status: 429, body: '{"error":{"code":"insufficient_quota","message":"exceeded"}}' }));
    const fault = await faultOf(embeddings.embed(EMBEDDING_MODELS.OPENAI.space, ['x'], 'document'));
    expect(fault.message).toMatch(/billing/);
    expect(emulator.requests).toHaveLength(1);
  });

  test('causes a fault that names the setting of the unknown deployment', async () => {
    const embeddings = open({ AZURE_OPENAI_DEPLOYMENTS: 'AZURE_OPENAI=unknown' });
    const fault = await faultOf(embeddings.embed(EMBEDDING_MODELS.AZURE_OPENAI.space, ['x'], 'document'));
    expect(fault).toMatchObject({ kind: 'bad_response', retryable: false });
    expect(fault.message).toContain('AZURE_OPENAI_DEPLOYMENTS');
  });
});

test('reduces concurrent requests after a 429 and increases them after answers', async () => {
  const embeddings = open({ EMBEDDING_MAX_CONCURRENCY: '6' });
  const space = EMBEDDING_MODELS.VERTEX_MULTIMODAL.space;
  let running = 0;
  // The provider accepts two concurrent requests and rejects more with 429.
  emulator.setDelay(30);
  emulator.injectFault(() => {
    running = emulator.requests.filter((one) => one.status === 0).length;
    return running > 2 ? { status: 429, headers: { 'retry-after': '0' } } : null;
  });
  const texts = Array.from({ length: 60 }, (_, i) => `text ${i}`);
  expect(await embeddings.embed(space, texts, 'document')).toHaveLength(60);
  const rejected = emulator.requests.filter((one) => one.status === 429).length;
  expect(rejected).toBeGreaterThan(0);
  expect(emulator.requests).toHaveLength(60 + rejected);
  expect(rejected).toBeLessThan(60);
});

test('sends no more concurrent requests than EMBEDDING_MAX_CONCURRENCY', async () => {
  const embeddings = open({ EMBEDDING_MIN_CONCURRENCY: '3', EMBEDDING_MAX_CONCURRENCY: '3' });
  emulator.setDelay(20);
  const texts = Array.from({ length: 30 }, (_, i) => `text ${i}`);
  await embeddings.embed(EMBEDDING_MODELS.VERTEX_MULTIMODAL.space, texts, 'document');
  expect(emulator.maxConcurrent()).toBe(3);
});

test('a fairness key with few texts does not wait for one with many', async () => {
  const embeddings = open({ EMBEDDING_MAX_CONCURRENCY: '1' });
  const space = EMBEDDING_MODELS.VERTEX_MULTIMODAL.space;
  const order: string[] = [];
  emulator.injectFault((one) => {
    order.push(...one.texts);
    return null;
  });
  await Promise.all([
    embeddings.embed(space, ['a1', 'a2', 'a3', 'a4'], 'document', undefined, { organizationId: 1 }),
    embeddings.embed(space, ['a5'], 'document', undefined, { organizationId: 1 }),
    embeddings.embed(space, ['b1', 'b2'], 'document', undefined, { organizationId: 2 }),
    embeddings.embed(space, ['q'], 'query', undefined, { organizationId: 3 }),
  ]);
  // The first text is sent before the other calls arrive.
  expect(order).toEqual(['a1', 'q', 'a2', 'b1', 'a3', 'b2', 'a4', 'a5']);
});

test('batches texts of several callers while a request is in progress, and returns each its own vectors', async () => {
  const embeddings = open({ EMBEDDING_MAX_CONCURRENCY: '1' });
  emulator.setDelay(100);
  const { space, dimensions } = EMBEDDING_MODELS.OPENAI;
  const texts = Array.from({ length: 12 }, (_, i) => `caller number ${i}`);
  const answers = await Promise.all(
    texts.map((text, at) => embeddings.embed(space, [text], 'document', undefined, { organizationId: at % 2 })),
  );
  answers.forEach(([vector], at) => {
    const expectedVector = Float32Array.from(vectorOf(texts[at]!, dimensions));
    expect(cosine(vector!, expectedVector) / length(expectedVector)).toBeCloseTo(1, 4);
  });
  expect(emulator.requests.map((one) => one.texts.length)).toEqual([1, 11]);
  // The usage of the shared request is divided.
  const sum = (organizationId: number) =>
    usage.filter((one) => one.organizationId === organizationId).reduce((all, one) => all + one.tokens, 0);
  const total = texts.reduce((all, text) => all + countTokens(text), 0);
  expect(sum(0) + sum(1)).toBeCloseTo(total);
  expect(sum(0)).toBeGreaterThan(total / 3);
  expect(usage.map((one) => one.requests)).toEqual([1, 1, 1]);
});

test('rejects an aborted call with its reason, and ends its request', async () => {
  // The next call is answered only if the request of the aborted one has ended.
  const embeddings = open({ EMBEDDING_MIN_CONCURRENCY: '1', EMBEDDING_MAX_CONCURRENCY: '1' });
  const { space } = EMBEDDING_MODELS.OPENAI;
  emulator.injectFault((_one, nth) => (nth === 1 ? 'hang' : null));
  const abort = new AbortController();
  const reason = new Error('cancelled by the user');
  const dropped = embeddings.embed(space, ['a'], 'document', abort.signal);
  dropped.catch(() => undefined);
  while (emulator.requests.length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
  abort.abort(reason);
  await expect(dropped).rejects.toBe(reason);
  await expect(embeddings.embed(space, ['b'], 'document', abort.signal)).rejects.toBe(reason);
  expect(await embeddings.embed(space, ['c'], 'document')).toHaveLength(1);
});

test('fails current and later calls when it is closed', async () => {
  const embeddings = open({ EMBEDDING_MIN_CONCURRENCY: '1', EMBEDDING_MAX_CONCURRENCY: '1' });
  emulator.injectFault((_one, nth) => (nth === 1 ? 'hang' : null));
  const fault = faultOf(embeddings.embed(EMBEDDING_MODELS.OPENAI.space, ['a'], 'document'));
  while (emulator.requests.length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
  const waiting = faultOf(embeddings.embed(EMBEDDING_MODELS.OPENAI.space, ['b'], 'query'));
  await embeddings.close();
  const late = faultOf(embeddings.embed(EMBEDDING_MODELS.OPENAI.space, ['c'], 'document'));
  for (const one of [fault, waiting, late]) expect(await one).toMatchObject({ kind: 'embedding_failed' });
  expect(emulator.requests.map(({ texts }) => texts)).toEqual([['a']]);
});

test('returns vectors for empty texts', async () => {
  const embeddings = open();
  for (const [, model] of EACH) {
    const vectors = await embeddings.embed(EMBEDDING_MODELS[model].space, ['', ' \n', 'x'], 'document');
    expect(vectors).toHaveLength(3);
  }
});

describe('Vertex AI', () => {
  const { space } = EMBEDDING_MODELS.VERTEX_MULTIMODAL;

  test('embeds pictures into the space of its texts', async () => {
    const embeddings = open();
    const picture = Buffer.from('a picture');
    const [vector] = await embeddings.embedImages(space, [picture], undefined, { organizationId: 7 });
    expect(vector).toHaveLength(1408);
    expect(length(vector!)).toBeCloseTo(1, 5);
    expect(emulator.requests[0]?.images).toEqual([picture.toString('base64')]);
    expect(usage).toEqual([{ organizationId: 7, space, requests: 1, tokens: 0 }]);
  });

  test('rejects a too large picture, and any picture for a text model, without a request', async () => {
    const embeddings = open();
    const large = await faultOf(embeddings.embedImages(space, [new Uint8Array(20_000_001)]));
    expect(large).toMatchObject({ kind: 'too_large', retryable: false });
    const unsupported = await faultOf(embeddings.embedImages(EMBEDDING_MODELS.OPENAI.space, [new Uint8Array(1)]));
    expect(unsupported).toMatchObject({ kind: 'unsupported_type' });
    expect(emulator.requests).toEqual([]);
  });

  test('reuses an access token for many requests, and replaces it after it is revoked', async () => {
    const embeddings = open();
    const tokensBefore = emulator.tokensIssued();
    const texts = Array.from({ length: 10 }, (_, i) => `text ${i}`);
    await embeddings.embed(space, texts, 'document');
    expect(emulator.tokensIssued()).toBe(tokensBefore + 1);
    emulator.revokeTokens();
    expect(await embeddings.embed(space, ['once more'], 'query')).toHaveLength(1);
    expect(emulator.tokensIssued()).toBe(tokensBefore + 2);
  });

  test.each(['{"client_email":"x"}', '{"client_email":"x","private_key":"none"}'])(
    'reports invalid credentials with the setting: %s',
    async (credentials) => {
      const embeddings = open({ VERTEX_CREDENTIALS: credentials });
      const fault = await faultOf(embeddings.embed(space, ['x'], 'document'));
      expect(fault).toMatchObject({ kind: 'access_denied', retryable: false });
      expect(fault.message).toContain('VERTEX_CREDENTIALS');
    },
  );
});

const INCOMPLETE: readonly (readonly [Record<string, string>, RegExp])[] = [
  [{ AZURE_OPENAI_API_KEY: '' }, /AZURE_OPENAI_API_KEY is not set/],
  [{ AZURE_OPENAI_DEPLOYMENTS: 'OPENAI=x' }, /AZURE_OPENAI_DEPLOYMENTS/],
  [{ VERTEX_PROJECT: '' }, /VERTEX_PROJECT is not set/],
  [{ VERTEX_CREDENTIALS: '' }, /VERTEX_CREDENTIALS or VERTEX_ACCESS_TOKEN is not set/],
  [{ VERTEX_CREDENTIALS: '/nonexistent/key.json' }, /VERTEX_CREDENTIALS names a file/],
];

test('rejects an incomplete configuration at startup', () =>
  everyRow(
    INCOMPLETE,
    ([settings]) => JSON.stringify(settings),
    ([settings, message]) => expect(() => open(settings)).toThrow(message),
  ));
