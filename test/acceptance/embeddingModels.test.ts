import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';

import {
  EMBEDDING_MODEL_IDS,
  EMBEDDING_MODELS,
  type EmbeddingModelId,
} from '../../contract/vectors/embeddingModels.js';
import type { FileRecord } from '../../contract/files/records.js';
import { PROVIDERS } from '../emulators/embeddingProviders/apis.js';
import {
  type EmbeddingEmulator,
  type ProviderFault,
  startEmbeddingEmulator,
  vectorOf,
} from '../emulators/embeddingProviders/start.js';
import { cosine } from '../providers/embeddings/vectors.js';
import { apiClient, type TestUser } from '../support/client.js';
import { everyRow } from '../support/everyRow.js';
import { drawPicture } from '../support/pictures.js';
import { startService, type TestService } from '../support/service.js';
import { waitFor } from '../support/waitFor.js';
import { isThorough, thoroughly, thoroughRows } from '../support/thorough.js';

const LOCAL = 'minilm-l6-v2-384';
/** A text with a chunk of the default size, which is longer than the context windows of Cohere and Vertex. */
const LONG = Array.from({ length: 900 }, (_, i) => (i === 450 ? 'lighthouse' : `word${i}`)).join(' ');

let emulator: EmbeddingEmulator;
let service: TestService;
let user: TestUser;

beforeAll(async () => {
  emulator = await startEmbeddingEmulator();
  service = await startService({
    ALLOWED_PRIVATE_HOSTS: '127.0.0.1',
    EMBEDDING_TIMEOUT_MS: '2000',
    EMBEDDING_TRIES: '2',
    EMBEDDING_PATIENCE_MS: '1000',
    LOG_LEVEL: 'silent',
    ...emulator.settings(),
  });
  user = await service.user('mona');
}, 120_000);
afterEach(() => emulator.reset());
afterAll(async () => {
  await service.close();
  await emulator.close();
});

const uploadText = async (contents: string, model: EmbeddingModelId, options: object = {}): Promise<FileRecord> => {
  const { status, body } = await user.post<FileRecord>('/upload_text', {
    contents,
    embedding_model: model,
    ...options,
  });
  expect(status).toBe(200);
  return body;
};

interface Usage {
  readonly embedding_usage: Record<string, { requests: number; tokens: number; computed: number; reused: number }>;
}

const usageOf = async (space: string) => {
  const key = apiClient(service.url, { authorization: `Bearer ${service.apiKey}` });
  return (await key.get<Usage>('/organization')).body.embedding_usage[space];
};

test(
  'every model embeds files, including chunks that are longer than its window, and finds them',
  () =>
    everyRow(
      EMBEDDING_MODEL_IDS,
      String,
      async (model) => {
        const { space, dimensions } = EMBEDDING_MODELS[model];
        // Uploads a text longer than the model's window, if the window is below 1,500 tokens. In `npm run test:long`,
        // the text is uploaded for the other models too.
        const isLong = isThorough() || EMBEDDING_MODELS[model].window < 1_500;
        const long = isLong ? await uploadText(`${model}. ${LONG}`, model) : null;
        const short = await uploadText(`${model}: the owl hunts by night.`, model, {
          chunk_size: 100,
          chunk_overlap: 10,
        });
        for (const accepted of [...(long ? [long] : []), short]) {
          const { id } = accepted;
          const file = await user.settled(id);
          for (const shown of [accepted, file]) expect(Object.keys(shown.embedding_properties ?? {})).toEqual([model]);
          expect(file).toMatchObject({
            sync_status: 'READY',
            embedding_properties: { [model]: { served_by: space, dimensions } },
          });
          const { results } = await user.chunks({ ids: [id] }, { include_vectors: true });
          expect(results).toHaveLength(file.file_statistics?.num_embeddings ?? 0);
          for (const { embedding } of results) {
            expect(embedding).toHaveLength(dimensions);
            expect(Math.hypot(...(embedding ?? []))).toBeCloseTo(1, 4);
          }
        }
        const find = (query: string) =>
          user.search({
            query,
            k: 1,
            embedding_model: model,
            include_vectors: true,
            file_ids: long ? [long.id, short.id] : [short.id],
          });
        const [owl] = await find('owl night');
        expect(owl).toMatchObject({ file_id: short.id });
        expect(owl?.vector).toHaveLength(dimensions);
        if (!long) return;
        expect(long.chunk_size).toBe(1500);
        expect((await find('word77 word78 word79'))[0]).toMatchObject({ file_id: long.id });
      },
      { atOnce: 3 },
    ),
  1_800_000,
);

test('marks texts as documents or queries if the provider distinguishes them', async () => {
  // test/providers/embeddings/remoteProviders.test.ts tests each such provider.
  for (const model of ['COHERE_MULTILINGUAL_V3', ...thoroughRows(['SOLAR_1_MINI'])] as const) {
    emulator.requests.length = 0;
    const { id } = await uploadText(`A passage about ferns, for ${model}.`, model);
    await user.settled(id);
    await user.search({ query: `ferns ${model}`, k: 1, embedding_model: model, file_ids: [id] });
    expect(emulator.requests.map((request) => request.purpose)).toEqual(['document', 'query']);
  }
}, 60_000);

describe('picture', () => {
  const PICTURE = 'VERTEX_MULTIMODAL';
  const { space, dimensions } = EMBEDDING_MODELS[PICTURE];
  const send = (name: string, content: Uint8Array, query: Record<string, string | boolean> = {}) =>
    user.send({ name, content }, query);

  test('without OCR is embedded as a picture by the multimodal model, regardless of the requested model', async () => {
    const sent = drawPicture(['A lighthouse'], { type: 'jpeg' });
    const file = await user.settled((await send('sea.jpg', sent, { embedding_model: 'OPENAI' })).id);
    expect(file).toMatchObject({
      sync_status: 'READY',
      embedding_properties: { [PICTURE]: { chunk_size: null, chunk_overlap: null, served_by: space, dimensions } },
      file_statistics: { file_format: 'JPG', num_embeddings: 1 },
      parsed_text_url: null,
    });
    expect(Object.keys(file.embedding_properties ?? {})).toEqual([PICTURE]);
    expect(emulator.requests.map(({ images }) => images)).toEqual([[Buffer.from(sent).toString('base64')]]);
    const { results } = await user.chunks({ ids: [file.id] }, { include_vectors: true });
    expect(results).toEqual([expect.objectContaining({ source_content: '', chunk_index: 0 })]);
    expect(results[0]?.embedding).toHaveLength(dimensions);
    const about = { query: 'sea', k: 1, file_ids: [file.id] };
    expect(await user.search({ ...about, media_type: 'IMAGE' })).toMatchObject([{ file_id: file.id }]);
    expect(await user.search({ ...about, embedding_model: PICTURE })).toEqual([]);
    expect(await user.search({ ...about, embedding_model: 'OPENAI' })).toEqual([]);
  });

  test('is not embedded again while unchanged', async () => {
    const { id } = await user.settled((await send('again.png', drawPicture(['Twice']))).id);
    emulator.requests.length = 0;
    await user.post('/resync_file', { file_id: id });
    expect(await user.settled(id)).toMatchObject({ sync_status: 'READY' });
    expect(emulator.requests).toEqual([]);
  });

  // test/system/contents/ocr.test.ts tests OCR.
  thoroughly('is read by OCR with use_ocr, and embedded as text', async () => {
    const sent = drawPicture(['The lighthouse keeper', 'counts the ships at night'], { size: 48 });
    const { id } = await send('read.png', sent, { use_ocr: true, embedding_model: 'OPENAI' });
    const file = await user.settled(id);
    expect(file).toMatchObject({ sync_status: 'READY', embedding_properties: { OPENAI: { chunk_size: 1500 } } });
    const { results } = await user.chunks({ ids: [id] });
    expect(results.map((chunk) => chunk.source_content).join(' ')).toMatch(/lighthouse keeper/);
  });

  test('fails with a message about use_ocr if it is too large or embedding is skipped', async () => {
    const large = Buffer.concat([Buffer.from(drawPicture(['Large'])), Buffer.alloc(20_000_000)]);
    const uploads = await Promise.all([
      send('large.png', large),
      send('none.png', drawPicture(['None']), { skip_embedding_generation: true }),
    ]);
    for (const { id } of uploads) {
      const file = await user.settled(id);
      expect(file.sync_status).toBe('SYNC_ERROR');
      expect(file.sync_error_message).toMatch(/use_ocr/);
    }
  });
});

describe('after a faulty response of a provider', () => {
  const FAULTS: readonly (readonly [string, ProviderFault])[] = [
    ['429 with Retry-After', { status: 429, headers: { 'retry-after': '0.3' } }],
    ['too few vectors', 'few'],
    // test/providers/embeddings/remoteProviders.test.ts covers each fault separately.
    ...thoroughRows([
      ['a broken connection', 'brokenConnection'],
      ['429 with a long Retry-After', { status: 429, headers: { 'retry-after': '2' } }],
      ['429 without Retry-After', { status: 429 }],
      ['500', { status: 500 }],
      ['cut JSON', 'invalidJson'],
      ['no answer in time', 'hang'],
      ['a wrong dimension', 'dimension'],
      ['NaN', 'nan'],
      ['zeros', 'zero'],
    ]),
  ];
  const models: readonly EmbeddingModelId[] = ['OPENAI', 'COHERE_MULTILINGUAL_V3', 'SOLAR_1_MINI'];
  const cases = FAULTS.map(([what, wrong], at) => [what, models[at % models.length] ?? 'OPENAI', wrong] as const);

  test.each(cases)(
    'no text is lost and no wrong vector is written: %s (%s)',
    async (what, model, wrong) => {
      const { space, dimensions } = EMBEDDING_MODELS[model];
      // Three faults exceed EMBEDDING_TRIES, so the files whose texts are in the request are queued again once. (429
      // does not count as a try.)
      emulator.injectFault((_one, nth) => (nth <= 3 ? wrong : null));
      const names = Array.from({ length: 4 }, (_, i) => `${what} ${i}: the heron waits at the weir.`);
      const files = await Promise.all(names.map((contents) => uploadText(contents, model)));
      for (const [at, { id }] of files.entries()) {
        expect(await user.settled(id)).toMatchObject({
          sync_status: 'READY',
          // Included so that a failure of the test shows the message.
          sync_error_message: null,
          embedding_properties: { [model]: { served_by: space } },
          file_statistics: { num_embeddings: 1 },
        });
        const { results } = await user.chunks({ ids: [id] }, { include_vectors: true });
        expect(results.map((chunk) => chunk.source_content)).toEqual([names[at]]);
        const right = Float32Array.from(vectorOf(names[at] ?? '', dimensions));
        const written = Float32Array.from(results[0]?.embedding ?? []);
        expect(cosine(written, right) / Math.hypot(...right)).toBeCloseTo(1, 4);
      }
    },
    60_000,
  );

  // Runs only in `npm run test:long`: test/providers/embeddings/remoteProviders.test.ts tests the halving.
  thoroughly(
    'a text that the provider refuses as too long is embedded in halves',
    async () => {
      // Three digits are one token for our tokenizer and three for Cohere's.
      const { id } = await uploadText('1234567890 '.repeat(90), 'COHERE_MULTILINGUAL_V3');
      expect(await user.settled(id)).toMatchObject({ sync_status: 'READY' });
      expect(emulator.requests.some((request) => request.status === 400)).toBe(true);
    },
    60_000,
  );

  test('a refused API key fails the file without retries, with the name of the setting', async () => {
    emulator.injectFault(() => ({ status: 401 }));
    const file = await user.settled((await uploadText('A text that is never sent.', 'OPENAI_ADA_LARGE_256')).id);
    expect(file.sync_status).toBe('SYNC_ERROR');
    expect(file.sync_error_message).toContain('OPENAI_API_KEY');
    expect(emulator.requests).toHaveLength(1);
  }, 60_000);

  test('a search answers 503 for a temporary failure, 502 with the setting for a refused key', async () => {
    const { id } = await uploadText('A text to be looked for.', 'OPENAI_ADA_LARGE_1024');
    await user.settled(id);
    const search = () =>
      user.post<{ detail: string }>('/embeddings', { query: 'text', k: 1, embedding_model: 'OPENAI_ADA_LARGE_1024' });
    emulator.injectFault(() => ({ status: 403 }));
    const denied = await search();
    expect(denied).toMatchObject({ status: 502 });
    expect(denied.body.detail).toContain('OPENAI_API_KEY');
    emulator.injectFault(() => ({ status: 500 }));
    expect(await search()).toMatchObject({ status: 503 });
    emulator.injectFault(() => null);
    expect(await search()).toMatchObject({ status: 200 });
  }, 60_000);
});

test('a search whose caller disconnects is not sent to the provider again', async () => {
  const model = 'OPENAI_ADA_LARGE_1024';
  const { id } = await uploadText('A text that two callers look for.', model);
  await user.settled(id);
  emulator.requests.length = 0;
  emulator.injectFault((_one, nth) => (nth === 1 ? { status: 429, headers: { 'retry-after': '2' } } : null));
  const disconnect = new AbortController();
  const aborted = fetch(`${service.url}/embeddings`, {
    method: 'POST',
    headers: { authorization: `Token ${user.token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ query: 'of the first', k: 1, embedding_model: model }),
    signal: disconnect.signal,
  });
  await waitFor(
    () => emulator.requests.length,
    (count) => count === 1,
  );
  disconnect.abort();
  await expect(aborted).rejects.toThrow();
  // Retries are sent before new requests, so a retry of the first search would arrive before this one.
  await user.search({ query: 'of the second', k: 1, embedding_model: model });
  expect(emulator.requests.map(({ texts }) => texts)).toEqual([['of the first'], ['of the second']]);
}, 60_000);

test('counts requests and tokens, and does not embed the same text again', async () => {
  const model = 'OPENAI_ADA_LARGE_3072';
  const { space } = EMBEDDING_MODELS[model];
  const usageBefore = (await usageOf(space)) ?? { requests: 0, tokens: 0, computed: 0, reused: 0 };
  const contents = 'Seven words that are said only here.';
  await user.settled((await uploadText(contents, model)).id);
  const usageAfterFirst = (await usageOf(space))!;
  expect(usageAfterFirst).toMatchObject({
    requests: usageBefore.requests + 1,
    computed: usageBefore.computed + 1,
    reused: usageBefore.reused,
  });
  expect(usageAfterFirst.tokens - usageBefore.tokens).toBeGreaterThan(6);
  await user.settled((await uploadText(contents, model)).id);
  expect(await usageOf(space)).toEqual({ ...usageAfterFirst, reused: usageBefore.reused + 1 });
}, 60_000);

test('GET /models lists the provider of each model', async () => {
  const key = apiClient(service.url, { authorization: `Bearer ${service.apiKey}` });
  const { status, body } = await key.get<{ results: Record<string, unknown>[] }>('/models');
  expect(status).toBe(200);
  expect(body.results).toEqual(
    EMBEDDING_MODEL_IDS.map((id) => {
      const { provider, upstream, space, dimensions, window } = EMBEDDING_MODELS[id];
      return {
        ...{ embedding_model: id, provider, upstream_model: upstream, served_by: space, dimensions, window },
        takes_images: id === 'VERTEX_MULTIMODAL',
      };
    }),
  );
  expect(new Set(body.results.map((model) => model['provider']))).toEqual(new Set(PROVIDERS));
  expect((await user.get('/models')).status).toBe(403);
});

thoroughly(
  'search still finds files that the built-in model embedded, after a remote provider is configured',
  async () => {
    const without = await startService({ LOG_LEVEL: 'silent' });
    const owner = await without.user('nora');
    const { body } = await owner.post<FileRecord>('/upload_text', {
      contents: 'The kingfisher dives from its branch.',
    });
    expect(await owner.settled(body.id)).toMatchObject({
      embedding_properties: { OPENAI: { served_by: LOCAL, dimensions: 384 } },
    });
    await without.stopWorker();
    const { DATA_DIR: _dir, ...stores } = without.env;
    const later = await startService({
      ...(stores as Record<string, string>),
      // The first service may still poll its task queue, so the second service uses another queue.
      TASK_QUEUE: 'later',
      ALLOWED_PRIVATE_HOSTS: '127.0.0.1',
      ...emulator.settings('openai'),
    });
    const sameUser = await later.user('nora');
    const fresh = await sameUser.post<FileRecord>('/upload_text', { contents: 'The heron stands in the shallows.' });
    expect(await sameUser.settled(fresh.body.id)).toMatchObject({
      embedding_properties: { OPENAI: { served_by: EMBEDDING_MODELS.OPENAI.space } },
    });
    const documents = await sameUser.search({ query: 'kingfisher dives', k: 5 });
    expect(new Set(documents.map((document) => document.file_id))).toEqual(new Set([body.id, fresh.body.id]));
    await later.close();
    await without.close();
  },
  120_000,
);
