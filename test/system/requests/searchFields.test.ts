/** POST /embeddings, field by field, over files with known similarities. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';

import { EMBEDDING_MODELS } from '../../../contract/vectors/embeddingModels.js';
import type { DocumentRecord } from '../../../contract/files/records.js';
import { callerSpace } from '../../../contract/vectors/spaces.js';
import { type RerankEmulator, startRerankEmulator } from '../../emulators/rerankers.js';
import { bodyOf, fieldsOf, publishedDocument } from '../../support/contract.js';
import { waitFor } from '../../support/waitFor.js';
import { seedFiles, type SeededFile } from '../../support/seedFiles.js';
import { startService, type TestService } from '../../support/service.js';
import type { TestUser } from '../../support/client.js';

const LOCAL = { name: 'minilm-l6-v2-384', dimensions: 384 };
const CALLER_SPACE = callerSpace('OPENAI', EMBEDDING_MODELS.OPENAI.dimensions);

/**
 * Returns a vector whose cosine with QUERY_VECTOR is 1 - n/100. Its other component has a different direction for each
 * n.
 */
function vectorAt(n: number, dimensions = LOCAL.dimensions): number[] {
  const cosine = 1 - n / 100;
  const vector = new Array<number>(dimensions).fill(0);
  vector[n] = Math.sqrt(1 - cosine ** 2);
  vector[0] = cosine;
  return vector;
}
const QUERY_VECTOR = vectorAt(0);

/**
 * Folder 1 contains folder 2 and file 3, folder 2 contains file 4. The smaller the id of a file, the more similar its
 * vector is to QUERY_VECTOR.
 */
const FILES: readonly SeededFile[] = [
  { id: 1, fields: { isContainer: true } },
  { id: 2, fields: { isContainer: true, parentId: 1 } },
  {
    id: 3,
    texts: ['The quick pump.'],
    tags: { team: 'red', level: 4, live: true },
    ancestors: [1],
    fields: { parentId: 1, name: 'three.txt', externalUrl: 'https://x.example/3', fileMetadata: { title: 'Three' } },
  },
  { id: 4, texts: ['A slow valve.'], tags: { team: ['blue', 'green'] }, ancestors: [2, 1], fields: { parentId: 2 } },
  { id: 5, texts: ['Ticket E4711.'], sparse: true, fields: { fileTypeAtSource: 'TICKET', source: 'ZENDESK' } },
  { id: 6, texts: ['Incident.'], sparse: true, fields: { fileTypeAtSource: 'INCIDENT', source: 'SERVICENOW' } },
  { id: 7, texts: ['Said.'], media: 'AUDIO', fields: { source: 'MP3' } },
  { id: 8, texts: ['Seen and said.'], media: 'VIDEO', fields: { source: 'MP4' } },
  { id: 9, texts: [' '], media: 'IMAGE', model: 'VERTEX_MULTIMODAL', fields: { source: 'PNG' } },
  { id: 10, texts: ['Read by Cohere.'], model: 'COHERE_MULTILINGUAL_V3' },
  { id: 11, texts: ['Given.'], space: CALLER_SPACE, vectors: [vectorAt(11, CALLER_SPACE.dimensions)] },
];
/** Files that a search without filters finds, most similar first: those in the space LOCAL of the default model. */
const ALL = [3, 4, 5, 6, 7, 8];
const BASE = 7_000_000;
const MAX_SEARCHES = 4;

let service: TestService;
let rerankers: RerankEmulator;
let user: TestUser;
let stranger: TestUser;

beforeAll(async () => {
  rerankers = await startRerankEmulator();
  service = await startService(
    {
      ALLOWED_PRIVATE_HOSTS: '127.0.0.1',
      ...rerankers.settings('jina'),
      RERANK_TIMEOUT_MS: '3600000',
      MAX_CONCURRENT_SEARCHES: String(MAX_SEARCHES),
    },
    { worker: false },
  );
  [user, stranger] = await Promise.all([service.user('fay'), service.user('stranger')]);
  const owners = [
    [await service.store.users.ensure(1, 'fay'), BASE],
    [await service.store.users.ensure(1, 'stranger'), BASE + 100],
  ] as const;
  for (const [owner, offset] of owners)
    await seedFiles(
      service,
      owner,
      FILES.map((seed) => ({
        vectors: [vectorAt(seed.id)],
        ...seed,
        id: seed.id + offset,
        ...(seed.ancestors ? { ancestors: seed.ancestors.map((id) => id + offset) } : {}),
        fields: { ...seed.fields, parentId: seed.fields?.parentId ? seed.fields.parentId + offset : null },
      })),
    );
});
afterAll(async () => {
  await service.close();
  await rerankers.close();
});

type Body = Record<string, unknown>;
const documents = (body: Body): Promise<DocumentRecord[]> =>
  user.search({ query: 'pump', query_vector: QUERY_VECTOR, k: 50, ...body });
const ids = async (body: Body): Promise<number[]> => (await documents(body)).map(({ file_id: id }) => id - BASE);
const answerTo = async (body: Body): Promise<{ status: number; body: { detail: unknown } }> =>
  user.post<{ detail: unknown }>('/embeddings', { query: 'pump', query_vector: QUERY_VECTOR, k: 50, ...body });
const idsAt = (...numbers: number[]): number[] => numbers.map((number) => number + BASE);

/** The test of each field. */
const ROWS: Readonly<Record<string, () => Promise<void>>> = {
  async query() {
    // Without a vector the text is embedded: its similarity to seeded vectors is arbitrary.
    expect(await ids({ query_vector: null })).toHaveLength(ALL.length);
    expect((await answerTo({ query: '' })).status).toBe(422);
    expect((await user.post('/embeddings', { k: 1, query_vector: QUERY_VECTOR })).status).toBe(422);
  },
  async k() {
    expect(await ids({ k: 2 })).toEqual([3, 4]);
    for (const k of [0, 1001, '5', null]) expect((await answerTo({ k })).status).toBe(422);
  },
  async query_vector() {
    const found = await documents({});
    expect(found.map(({ file_id: id }) => id - BASE)).toEqual(ALL);
    expect(found.map(({ rank }) => rank)).toEqual([1, 2, 3, 4, 5, 6]);
    for (const { score, file_id: id } of found) expect(score).toBeCloseTo(1 - (id - BASE) / 100, 4);
    // Uploaded vectors are compared with a query_vector of their size, never with the embedded query.
    expect(await ids({ query_vector: vectorAt(0, CALLER_SPACE.dimensions) })).toEqual([11]);
    expect(await ids({ query_vector: null })).not.toContain(11);
  },
  async file_ids() {
    expect(await ids({ file_ids: idsAt(5, 3, 10, 99) })).toEqual([3, 5]);
    expect(await ids({ file_ids: idsAt(1) })).toEqual([]);
    expect(await ids({ file_ids: [] })).toEqual(ALL);
    expect(await ids({ file_ids: null })).toEqual(ALL);
  },
  async parent_file_ids() {
    expect(await ids({ parent_file_ids: idsAt(1) })).toEqual([3]);
    expect(await ids({ parent_file_ids: idsAt(2, 1) })).toEqual([3, 4]);
    expect(await ids({ parent_file_ids: idsAt(2), file_ids: idsAt(3) })).toEqual([]);
  },
  async include_all_children() {
    expect(await ids({ parent_file_ids: idsAt(1), include_all_children: true })).toEqual([3, 4]);
    expect(await ids({ file_ids: idsAt(2, 5), include_all_children: true })).toEqual([4, 5]);
    expect(await ids({ include_all_children: true })).toEqual(ALL);
  },
  async tags() {
    expect(await ids({ tags: { team: 'red' } })).toEqual([3]);
    expect(await ids({ tags: { team: ['red', 'green'] } })).toEqual([3, 4]);
    expect(await ids({ tags: { team: 'red', level: '4', live: true } })).toEqual([3]);
    expect(await ids({ tags: { team: 'red', level: 5 } })).toEqual([]);
    expect(await ids({ tags: {} })).toEqual(ALL);
  },
  async tags_v2() {
    const red = { key: 'team', value: 'red' };
    const green = { key: 'team', value: 'green' };
    expect(await ids({ tags_v2: { OR: [red, green] } })).toEqual([3, 4]);
    expect(await ids({ tags_v2: { AND: [red, green] } })).toEqual([]);
    expect(await ids({ tags_v2: { AND: [{ ...red, negate: true }, { OR: [green] }] } })).toEqual([4]);
    // tags_v2 overrides tags, unless tags_v2 has no conditions.
    expect(await ids({ tags: { team: 'red' }, tags_v2: { AND: [green] } })).toEqual([4]);
    expect(await ids({ tags: { team: 'red' }, tags_v2: { AND: [] } })).toEqual([3]);
    expect((await answerTo({ tags_v2: { AND: [red], OR: [green] } })).status).toBe(422);
  },
  async include_tags() {
    const [found] = await documents({ include_tags: true, k: 1 });
    expect(found?.tags).toEqual({ team: 'red', level: 4, live: true });
    expect((await documents({ k: 1 }))[0]?.tags).toBeNull();
  },
  async include_vectors() {
    const found = await documents({ include_vectors: true });
    for (const { vector, file_id: id } of found) {
      expect(vector).toHaveLength(LOCAL.dimensions);
      expect(vector?.[0]).toBeCloseTo(1 - (id - BASE) / 100, 4);
    }
    expect((await documents({ k: 1 }))[0]?.vector).toBeNull();
  },
  async include_raw_file() {
    // Seeded files have no content; test/acceptance/uploads/hybridSearch.ts has one with content.
    expect((await documents({ include_raw_file: true, k: 1 }))[0]?.presigned_url).toBeNull();
  },
  async include_file_level_metadata() {
    expect((await documents({ include_file_level_metadata: true, k: 1 }))[0]?.content_metadata).toEqual({
      title: 'Three',
    });
    expect((await documents({ k: 1 }))[0]?.content_metadata).toEqual({});
  },
  async hybrid_search() {
    // Only one chunk contains the code, and two others are more similar to the vector.
    expect(await ids({ query: 'E4711', hybrid_search: false })).toEqual(ALL);
    const found = await documents({ query: 'E4711', hybrid_search: true });
    expect(found.map(({ file_id: id }) => id - BASE)).toEqual([5, 3, 4, 6, 7, 8]);
    for (const { score } of found) expect(score).toBeLessThanOrEqual(1);
    // A query without a word of any chunk is answered by similarity alone.
    expect(await ids({ query: 'xyzzy', hybrid_search: true })).toEqual(ALL);
    await user.post('/modify_user_configuration', {
      configuration_key_name: 'sparse_vectors',
      value: { enabled: false },
    });
    const { status, body } = await answerTo({ hybrid_search: true });
    expect({ status, body }).toMatchObject({
      status: 400,
      body: { detail: expect.stringMatching(/modify_user_configuration/) },
    });
    await user.post('/modify_user_configuration', {
      configuration_key_name: 'sparse_vectors',
      value: { enabled: true },
    });
    expect(await ids({ query: 'E4711', hybrid_search: true, k: 1 })).toEqual([5]);
  },
  async hybrid_search_tuning_parameters() {
    const weighted = (weight_a: number, weight_b: number) => ({
      query: 'E4711 incident',
      hybrid_search: true,
      hybrid_search_tuning_parameters: { weight_a, weight_b },
    });
    expect(await ids(weighted(1, 0))).toEqual(ALL);
    // A search by words alone finds only chunks that contain a word of the query. A search by vectors finds all chunks.
    expect(new Set(await ids(weighted(0, 1)))).toEqual(new Set([5, 6]));
    expect((await ids(weighted(0.5005, 0.5005))).slice(0, 2)).toEqual([5, 6]);
    for (const [a, b] of [
      [0.5, 0.6],
      [0.5, 0.498],
      [1.5, -0.5],
    ] as const) {
      const { status, body } = await answerTo(weighted(a, b));
      expect({ status, at: JSON.stringify(body.detail) }).toEqual({
        status: 422,
        at: expect.stringContaining('hybrid_search_tuning_parameters'),
      });
    }
    expect((await answerTo({ hybrid_search_tuning_parameters: { weight_a: 1 } })).status).toBe(422);
  },
  async media_type() {
    expect(await ids({ media_type: 'TEXT' })).toEqual(ALL);
    expect(await ids({ media_type: null })).toEqual(ALL);
    expect(await ids({ media_type: 'AUDIO' })).toEqual([7]);
    expect(await ids({ media_type: 'VIDEO' })).toEqual([8]);
    expect(await ids({ media_type: 'IMAGE' })).toEqual([9]);
    expect(await ids({ media_type: 'IMAGE', embedding_model: 'COHERE_MULTILINGUAL_V3' })).toEqual([9]);
    expect(await ids({ media_type: 'TEXT', embedding_model: 'VERTEX_MULTIMODAL' })).toEqual([]);
    expect((await answerTo({ media_type: 'text' })).status).toBe(422);
  },
  async embedding_model() {
    expect(await ids({ embedding_model: 'COHERE_MULTILINGUAL_V3' })).toEqual([10]);
    expect(await ids({ embedding_model: null })).toEqual(ALL);
    expect(await ids({ embedding_model: 'SOLAR_1_MINI' })).toEqual([]);
  },
  async high_accuracy() {
    // test/store/vectorSearch.test.ts checks that the engine receives a request for an exact search.
    expect(await ids({ high_accuracy: true })).toEqual(ALL);
  },
  async rerank() {
    const rerank = { model: 'JINA_RERANKER_MULTILINGUAL_V2' };
    rerankers.setScore((_query, text) => text.length / 100);
    rerankers.calls.length = 0;
    const found = await documents({ rerank, k: 2 });
    expect(found.map(({ content, score, rank }) => ({ content, score, rank }))).toEqual([
      { content: 'The quick pump.', score: 0.15, rank: 1 },
      { content: 'Seen and said.', score: 0.14, rank: 2 },
    ]);
    // More than k candidates are reranked: the second result is the least similar candidate.
    expect(rerankers.calls).toMatchObject([{ query: 'pump', count: 2, texts: { length: ALL.length } }]);
    // Pictures have no words to be ranked by.
    expect(await ids({ rerank, media_type: 'IMAGE' })).toEqual([9]);
    expect(rerankers.calls).toHaveLength(1);
    expect(await ids({ rerank: null })).toEqual(ALL);
    expect((await answerTo({ rerank: { model: 'jina' } })).status).toBe(422);
    expect(await answerTo({ rerank: { model: 'PONGO_RERANKER' } })).toMatchObject({
      status: 400,
      body: { detail: expect.stringMatching(/PONGO_API_KEY/) },
    });
  },
  async file_types_at_source() {
    expect(await ids({ file_types_at_source: ['TICKET'] })).toEqual([5]);
    expect(await ids({ file_types_at_source: ['TICKET', 'INCIDENT'] })).toEqual([5, 6]);
    expect(await ids({ file_types_at_source: [] })).toEqual(ALL);
    expect((await answerTo({ file_types_at_source: ['PAGE'] })).status).toBe(422);
  },
  async exclude_cold_storage_files() {
    // No file is in cold storage here.
    expect(await ids({ exclude_cold_storage_files: true })).toEqual(ALL);
  },
};

describe('each field of /embeddings', () => {
  test('has a row in this table', () => {
    const fields = fieldsOf(publishedDocument, bodyOf(publishedDocument, 'post', '/embeddings') ?? {}).map(
      ({ path }) => path,
    );
    expect(Object.keys(ROWS).toSorted()).toEqual(fields.filter((path) => !path.includes('.')).toSorted());
  });

  test.each(Object.entries(ROWS))('has its effect, default and limits: %s', async (_name, row) => row());
});

test('describes the origin of a document', async () => {
  expect((await documents({ k: 1 }))[0]).toMatchObject({
    ...{ content: 'The quick pump.', file_id: BASE + 3, parent_file_id: BASE + 1, chunk_index: 0 },
    ...{ source: 'three.txt', source_url: 'https://x.example/3', source_type: 'WEB_SCRAPE', rank: 1 },
  });
});

test.each<[string, unknown]>([
  ['that is too short', [1, 0]],
  ['of a size for which the user has no vectors', new Array(768).fill(1)],
  ['of zeros only', new Array(384).fill(0)],
  ['without numbers', []],
  ['with a number out of range', [...new Array<number>(383).fill(0), 1e300]],
  ['with a value that is not a number', [...new Array<number>(383).fill(0), 'x']],
])('rejects a query_vector %s with 422, and names the field', async (_what, query_vector) => {
  const { status, body } = await answerTo({ query_vector });
  expect(status).toBe(422);
  expect(JSON.stringify(body.detail)).toContain('"query_vector"');
});

test('names the accepted sizes for a query_vector of another size', async () => {
  const { body } = await answerTo({ query_vector: [1, 0] });
  expect(JSON.stringify(body.detail)).toMatch(/384 or 1536 numbers/);
  // A user without files gets the size that their files would have.
  const userWithoutFiles = await service.user('without files');
  const request = { query: 'x', k: 1 };
  expect(await userWithoutFiles.search({ ...request, query_vector: QUERY_VECTOR })).toEqual([]);
  expect(JSON.stringify((await userWithoutFiles.post('/embeddings', { ...request, query_vector: [1] })).body)).toMatch(
    /384 numbers/,
  );
});

test('answers a search in files of another user like one in missing files', async () => {
  for (const field of ['file_ids', 'parent_file_ids'])
    for (const include_all_children of [false, true]) {
      const request = { query: 'pump', query_vector: QUERY_VECTOR, k: 50, include_all_children, hybrid_search: true };
      const [foreign, missing] = await Promise.all(
        [idsAt(1, 2, 3, 4), [1, 2]].map((named) => stranger.post('/embeddings', { ...request, [field]: named })),
      );
      expect(foreign).toMatchObject({ status: 200, body: { documents: [] } });
      expect(foreign?.body).toEqual(missing?.body);
    }
});

test('limits a query to 32,000 characters', async () => {
  expect(await documents({ query: 'a'.repeat(32_000) })).toHaveLength(ALL.length);
  expect(await answerTo({ query: 'a'.repeat(32_001) })).toMatchObject({
    status: 422,
    body: { detail: [{ loc: ['body', 'query'], type: 'string_too_long' }] },
  });
});

test('answers a user above MAX_CONCURRENT_SEARCHES with 429 and Retry-After; disconnecting ends searches and frees their slots', async () => {
  const disconnect = new AbortController();
  const rerank = { model: 'JINA_RERANKER_MULTILINGUAL_V2' };
  const hanging = () =>
    fetch(`${service.url}/embeddings`, {
      method: 'POST',
      headers: { authorization: `Token ${user.token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ query: 'pump', k: 2, rerank }),
      signal: disconnect.signal,
    }).then(({ status }) => status);
  const statusFor = async (caller: TestUser) => (await caller.post('/embeddings', { query: 'pump', k: 1 })).status;
  rerankers.injectFault('hang');
  const running = Array.from({ length: MAX_SEARCHES }, hanging);
  await waitFor(
    () => rerankers.waiting(),
    (count) => count === MAX_SEARCHES,
  );
  const refused = await user.post('/embeddings', { query: 'pump', k: 1 });
  expect(refused).toMatchObject({ status: 429, body: { detail: expect.stringContaining(`${MAX_SEARCHES} searches`) } });
  expect(refused.headers.get('retry-after')).toBe('1');
  expect(await statusFor(stranger)).toBe(200);
  disconnect.abort();
  await Promise.allSettled(running);
  await waitFor(
    () => rerankers.waiting(),
    (count) => count === 0,
  );
  rerankers.injectFault(null);
  await waitFor(
    () => statusFor(user),
    (status) => status === 200,
  );
});

describe('a search whose reranker fails', () => {
  const rerank = { model: 'JINA_RERANKER_MULTILINGUAL_V2' };
  test.each([
    [{ status: 429, headers: { 'retry-after': '9' } }, 503, '9'],
    [{ status: 500 }, 503, null],
    [{ status: 401 }, 502, null],
    ['invalidJson', 503, null],
    ['beyond', 503, null],
  ] as const)(
    'with %j is answered with %d, never with results in the order of similarity',
    async (injectedFault, status, retryAfter) => {
      rerankers.injectFault(injectedFault);
      const answer = await user.post<{ detail: string }>('/embeddings', { query: 'pump', k: 2, rerank });
      rerankers.injectFault(null);
      expect(answer.status).toBe(status);
      expect(answer.body.detail).toMatch(/^Jina /);
      expect(answer.headers.get('retry-after')).toBe(retryAfter);
    },
  );
});
