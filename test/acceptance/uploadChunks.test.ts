import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';

import type { FileRecord } from '../../contract/records.js';
import { readAtRest } from '../support/atRest.js';
import { startService, type TestService } from '../support/service.js';
import type { TestUser } from '../support/client.js';

const PATH = '/upload_chunks_and_embeddings';
const DIMENSIONS = 1024;
const MODEL = 'COHERE_MULTILINGUAL_V3';
let service: TestService;
let user: TestUser;

beforeAll(async () => {
  service = await startService({ CONTENT_ROW_BYTES: '3000' });
  user = await service.user('chu');
});
afterAll(async () => {
  await service.close();
});

/** A vector of length 1 that no text of ours has. */
const vector = (hot: number): number[] => Array.from({ length: DIMENSIONS }, (_, index) => (index === hot ? 1 : 0));

interface Given {
  chunk_number: number | null;
  chunk: string;
  embedding?: number[] | null;
}
const give = (file: number | FileRecord, chunks: readonly Given[], more: Record<string, unknown> = {}) =>
  user.post<{ success?: boolean; detail?: unknown }>(PATH, {
    embedding_model: MODEL,
    chunks_and_embeddings: [{ file_id: typeof file === 'number' ? file : file.id, chunks_and_embeddings: chunks }],
    ...more,
  });
const stored = async (): Promise<FileRecord> => {
  const file = await user.send(
    { name: 'stored.txt', content: 'What was sent stays as it is.' },
    { store_file_only: true },
  );
  return user.settled(file.id);
};
const texts = async (file: FileRecord, more: Record<string, unknown> = {}) =>
  (await user.chunks({ ids: [file.id] }, more)).results;

test('chunks with vectors are kept in the order of their numbers, with just those vectors', async () => {
  const file = await stored();
  const chunks = [
    { chunk_number: 7, chunk: 'third', embedding: vector(3) },
    { chunk_number: 2, chunk: 'second', embedding: vector(2) },
    { chunk_number: null, chunk: 'last', embedding: vector(4) },
    { chunk_number: -1, chunk: 'first', embedding: vector(1) },
  ];
  expect(await give(file, chunks)).toMatchObject({ status: 200, body: { success: true } });
  const rested = await user.settled(file.id);
  expect(rested).toMatchObject({
    sync_status: 'READY',
    embedding_properties: {
      [MODEL]: { served_by: `given-cohere-multilingual-v3-${DIMENSIONS}`, dimensions: DIMENSIONS },
    },
    file_statistics: { num_embeddings: 4, file_size: file.file_statistics!.file_size!, file_format: 'TXT' },
  });
  const rows = await texts(rested, { include_vectors: true });
  expect(rows.map((row) => row.source_content)).toEqual(['first', 'second', 'third', 'last']);
  expect(rows.map((row) => row.embedding?.indexOf(1))).toEqual([1, 2, 3, 4]);
  // What the file is stays: its content can still be had.
  const raw = await user.get<{ presigned_url: string }>(`/raw_file/${file.id}`);
  expect(await (await fetch(raw.body.presigned_url)).text()).toBe('What was sent stays as it is.');
  // Vectors of another's making compare with none of ours: a search for text passes them over.
  expect((await user.post('/embeddings', { query: 'first', k: 3, embedding_model: MODEL })).status).toBe(200);
});

test('chunks without vectors are embedded here, and found', async () => {
  const file = await stored();
  await give(file, [
    { chunk_number: 0, chunk: 'Otters juggle pebbles on the river bank.' },
    { chunk_number: 1, chunk: 'Printing presses were made of oak.' },
  ]);
  expect(await user.settled(file.id)).toMatchObject({ sync_status: 'READY', file_statistics: { num_embeddings: 2 } });
  const [hit] = await user.search({
    query: 'old printing machines',
    k: 1,
    embedding_model: MODEL,
    file_ids: [file.id],
  });
  expect(hit).toMatchObject({ file_id: file.id, chunk_index: 1 });
});

test('chunks_only keeps chunks and no vectors, whatever was given', async () => {
  const file = await stored();
  await give(file, [{ chunk_number: 0, chunk: 'only text', embedding: [1, 2, 3] }], { chunks_only: true });
  expect(await user.settled(file.id)).toMatchObject({ sync_status: 'READY', file_statistics: { num_embeddings: 0 } });
  expect(await texts(file, { include_vectors: true })).toMatchObject([
    { source_content: 'only text', embedding: null },
  ]);
});

test('chunks that are there are replaced on request only; a re-sync makes them of the content again', async () => {
  const file = await user.settled(
    (await user.send({ name: 'read.txt', content: 'What was sent.' }, { skip_embedding_generation: true })).id,
  );
  const given = [{ chunk_number: 0, chunk: 'What was given. '.repeat(400) }];
  const refused = await give(file, given, { chunks_only: true });
  expect(refused).toMatchObject({ status: 409, body: { detail: expect.stringContaining('overwrite_existing') } });
  expect(await texts(file)).toMatchObject([{ source_content: 'What was sent.' }]);
  for (const word of ['given', 'given again']) {
    const again = [{ chunk_number: 0, chunk: `What was ${word}. `.repeat(400) }];
    expect((await give(file, again, { chunks_only: true, overwrite_existing: true })).status).toBe(200);
    await user.settled(file.id);
    expect((await texts(file))[0]?.source_content).toContain(`${word}.`);
  }
  expect((await user.post('/resync_file', { file_id: file.id })).status).toBe(200);
  expect(await user.settled(file.id)).toMatchObject({ sync_status: 'READY' });
  expect(await texts(file)).toMatchObject([{ source_content: 'What was sent.' }]);
});

describe('what can not be kept is refused, and nothing changes', () => {
  let file: FileRecord;
  beforeAll(async () => {
    file = await stored();
  });
  const at = (index: number, ...rest: (string | number)[]) => [
    'body',
    'chunks_and_embeddings',
    0,
    'chunks_and_embeddings',
    index,
    ...rest,
  ];
  test.each([
    ['a vector that is too short', [{ chunk_number: 0, chunk: 'a', embedding: [1, 2] }], () => at(0, 'embedding')],
    [
      'a vector of zeros',
      [{ chunk_number: 0, chunk: 'a', embedding: Array(DIMENSIONS).fill(0) }],
      () => at(0, 'embedding'),
    ],
    [
      'a number twice',
      [
        { chunk_number: 1, chunk: 'a' },
        { chunk_number: 1, chunk: 'b' },
      ],
      () => at(1, 'chunk_number'),
    ],
    [
      'a vector for some',
      [
        { chunk_number: 0, chunk: 'a', embedding: vector(1) },
        { chunk_number: 1, chunk: 'b' },
      ],
      () => at(0).slice(0, -1),
    ],
    ['no chunks', [], () => at(0).slice(0, -1)],
    ['an empty chunk', [{ chunk_number: 0, chunk: '' }], () => at(0, 'chunk')],
  ])('%s', async (_what, chunks, loc) => {
    expect(await give(file, chunks as Given[])).toMatchObject({ status: 422, body: { detail: [{ loc: loc() }] } });
  });

  test('an unknown file, one that is named twice, a scrape', async () => {
    const chunks = [{ chunk_number: 0, chunk: 'a' }];
    expect((await give(2 ** 40, chunks)).status).toBe(404);
    const two = [file.id, file.id].map((file_id) => ({ file_id, chunks_and_embeddings: chunks }));
    expect((await user.post(PATH, { embedding_model: MODEL, chunks_and_embeddings: two })).status).toBe(422);
    // All or none.
    const mixed = [file.id, 2 ** 40].map((file_id) => ({ file_id, chunks_and_embeddings: chunks }));
    expect((await user.post(PATH, { embedding_model: MODEL, chunks_and_embeddings: mixed })).status).toBe(404);
    expect(await user.file(file.id)).toEqual(file);
  });

  test('keys of one\u2019s own for a model are not kept', async () => {
    const secret = 'sk-very-secret';
    const custom_credentials = { OPENAI: { api_key: secret } };
    expect(
      (await give(file, [{ chunk_number: 0, chunk: 'a' }], { custom_credentials, chunks_only: true })).status,
    ).toBe(200);
    await user.settled(file.id);
    const [run] = await service.store.files.byIds(await service.store.users.ensure(1, 'chu'), [file.id]);
    expect(JSON.stringify([run, await service.store.runs.find(run?.runId ?? 0)])).not.toContain(secret);
  });
});

test('nothing is left over', async () => {
  await service.store.originals.sweep();
  expect((await readAtRest(service.env)).findInconsistencies()).toEqual([]);
});
