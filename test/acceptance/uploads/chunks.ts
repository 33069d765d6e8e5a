/** Tests of chunks that callers upload, with or without vectors. */
import { beforeAll, describe, expect, test } from '@jest/globals';

import type { FileRecord } from '../../../contract/files/records.js';
import { readStoredState } from '../../support/storedState.js';
import type { TestUser } from '../../support/client.js';
import { service } from './service.js';

const PATH = '/upload_chunks_and_embeddings';
const DIMENSIONS = 1024;
const MODEL = 'COHERE_MULTILINGUAL_V3';
let user: TestUser;

export const testUploadedChunks = (): void =>
  describe('uploaded chunks', () => {
    beforeAll(async () => {
      user = await service.user('chu');
    });

    /** Returns a unit vector with a 1 in one dimension, which is not the embedding of any text. */
    const vector = (dimension: number): number[] =>
      Array.from({ length: DIMENSIONS }, (_, index) => (index === dimension ? 1 : 0));

    interface CallerChunk {
      chunk_number: number | null;
      chunk: string;
      embedding?: number[] | null;
    }
    const uploadChunks = (
      file: number | FileRecord,
      chunks: readonly CallerChunk[],
      fields: Record<string, unknown> = {},
    ) =>
      user.post<{ success?: boolean; detail?: unknown }>(PATH, {
        embedding_model: MODEL,
        chunks_and_embeddings: [{ file_id: typeof file === 'number' ? file : file.id, chunks_and_embeddings: chunks }],
        ...fields,
      });
    const createFile = async (): Promise<FileRecord> => {
      const file = await user.send(
        { name: 'stored.txt', content: 'The original content stays unchanged.' },
        { store_file_only: true },
      );
      return user.settled(file.id);
    };
    const texts = async (file: FileRecord, fields: Record<string, unknown> = {}) =>
      (await user.chunks({ ids: [file.id] }, fields)).results;

    test('stores chunks in the order of their numbers, with exactly the vectors of the caller', async () => {
      const file = await createFile();
      const chunks = [
        { chunk_number: 7, chunk: 'third', embedding: vector(3) },
        { chunk_number: 2, chunk: 'second', embedding: vector(2) },
        { chunk_number: null, chunk: 'last', embedding: vector(4) },
        { chunk_number: -1, chunk: 'first', embedding: vector(1) },
      ];
      expect(await uploadChunks(file, chunks)).toMatchObject({ status: 200, body: { success: true } });
      const settled = await user.settled(file.id);
      expect(settled).toMatchObject({
        sync_status: 'READY',
        embedding_properties: {
          [MODEL]: { served_by: `given-cohere-multilingual-v3-${DIMENSIONS}`, dimensions: DIMENSIONS },
        },
        file_statistics: { num_embeddings: 4, file_size: file.file_statistics!.file_size!, file_format: 'TXT' },
      });
      const rows = await texts(settled, { include_vectors: true });
      expect(rows.map((row) => row.source_content)).toEqual(['first', 'second', 'third', 'last']);
      expect(rows.map((row) => row.embedding?.indexOf(1))).toEqual([1, 2, 3, 4]);
      // The original content is still available.
      const raw = await user.get<{ presigned_url: string }>(`/raw_file/${file.id}`);
      expect(await (await fetch(raw.body.presigned_url)).text()).toBe('The original content stays unchanged.');
      // A text search does not fail if the user has vectors of the caller, which cannot be compared with the service's.
      expect((await user.post('/embeddings', { query: 'first', k: 3, embedding_model: MODEL })).status).toBe(200);
    });

    test('embeds chunks without vectors, and finds them', async () => {
      const file = await createFile();
      await uploadChunks(file, [
        { chunk_number: 0, chunk: 'Otters juggle pebbles on the river bank.' },
        { chunk_number: 1, chunk: 'Printing presses were made of oak.' },
      ]);
      expect(await user.settled(file.id)).toMatchObject({
        sync_status: 'READY',
        file_statistics: { num_embeddings: 2 },
      });
      const [hit] = await user.search({
        query: 'old printing machines',
        k: 1,
        embedding_model: MODEL,
        file_ids: [file.id],
      });
      expect(hit).toMatchObject({ file_id: file.id, chunk_index: 1 });
    });

    test('stores only chunks with chunks_only, even if vectors are given', async () => {
      const file = await createFile();
      await uploadChunks(file, [{ chunk_number: 0, chunk: 'only text', embedding: [1, 2, 3] }], { chunks_only: true });
      expect(await user.settled(file.id)).toMatchObject({
        sync_status: 'READY',
        file_statistics: { num_embeddings: 0 },
      });
      expect(await texts(file, { include_vectors: true })).toMatchObject([
        { source_content: 'only text', embedding: null },
      ]);
    });

    test('replaces existing chunks only on request; a resync restores the chunks of the content', async () => {
      const file = await user.settled(
        (await user.send({ name: 'read.txt', content: 'The original text.' }, { skip_embedding_generation: true })).id,
      );
      const callerChunks = [{ chunk_number: 0, chunk: 'The given text. '.repeat(400) }];
      const refused = await uploadChunks(file, callerChunks, { chunks_only: true });
      expect(refused).toMatchObject({ status: 409, body: { detail: expect.stringContaining('overwrite_existing') } });
      expect(await texts(file)).toMatchObject([{ source_content: 'The original text.' }]);
      for (const word of ['given', 'given again']) {
        const replacement = [{ chunk_number: 0, chunk: `The text is ${word}. `.repeat(400) }];
        expect((await uploadChunks(file, replacement, { chunks_only: true, overwrite_existing: true })).status).toBe(
          200,
        );
        await user.settled(file.id);
        expect((await texts(file))[0]?.source_content).toContain(`${word}.`);
      }
      expect((await user.post('/resync_file', { file_id: file.id })).status).toBe(200);
      expect(await user.settled(file.id)).toMatchObject({ sync_status: 'READY' });
      expect(await texts(file)).toMatchObject([{ source_content: 'The original text.' }]);
    });

    describe('chunks of a request', () => {
      let file: FileRecord;
      beforeAll(async () => {
        file = await createFile();
      });
      const at = (index: number, ...path: (string | number)[]) => [
        'body',
        'chunks_and_embeddings',
        0,
        'chunks_and_embeddings',
        index,
        ...path,
      ];
      test.each([
        [
          'with a vector that is too short',
          [{ chunk_number: 0, chunk: 'a', embedding: [1, 2] }],
          () => at(0, 'embedding'),
        ],
        [
          'with a vector of zeros',
          [{ chunk_number: 0, chunk: 'a', embedding: Array(DIMENSIONS).fill(0) }],
          () => at(0, 'embedding'),
        ],
        [
          'with a duplicate number',
          [
            { chunk_number: 1, chunk: 'a' },
            { chunk_number: 1, chunk: 'b' },
          ],
          () => at(1, 'chunk_number'),
        ],
        [
          'with vectors for some chunks only',
          [
            { chunk_number: 0, chunk: 'a', embedding: vector(1) },
            { chunk_number: 1, chunk: 'b' },
          ],
          () => at(0).slice(0, -1),
        ],
        ['that are an empty list', [], () => at(0).slice(0, -1)],
        ['with an empty text', [{ chunk_number: 0, chunk: '' }], () => at(0, 'chunk')],
      ])('%s are refused', async (_what, chunks, loc) => {
        expect(await uploadChunks(file, chunks as CallerChunk[])).toMatchObject({
          status: 422,
          body: { detail: [{ loc: loc() }] },
        });
      });

      test('of an unknown or duplicate file are refused, without changes to other files', async () => {
        const chunks = [{ chunk_number: 0, chunk: 'a' }];
        expect((await uploadChunks(2 ** 40, chunks)).status).toBe(404);
        const duplicates = [file.id, file.id].map((file_id) => ({ file_id, chunks_and_embeddings: chunks }));
        expect((await user.post(PATH, { embedding_model: MODEL, chunks_and_embeddings: duplicates })).status).toBe(422);
        // The request applies to all files or none.
        const mixed = [file.id, 2 ** 40].map((file_id) => ({ file_id, chunks_and_embeddings: chunks }));
        expect((await user.post(PATH, { embedding_model: MODEL, chunks_and_embeddings: mixed })).status).toBe(404);
        expect(await user.file(file.id)).toEqual(file);
      });

      test('are stored without the custom credentials of a model', async () => {
        const secret = 'sk-very-secret';
        const custom_credentials = { OPENAI: { api_key: secret } };
        expect(
          (await uploadChunks(file, [{ chunk_number: 0, chunk: 'a' }], { custom_credentials, chunks_only: true }))
            .status,
        ).toBe(200);
        await user.settled(file.id);
        const [run] = await service.store.files.byIds(await service.store.users.ensure(1, 'chu'), [file.id]);
        expect(JSON.stringify([run, await service.store.runs.find(run?.runId ?? 0)])).not.toContain(secret);
      });
    });

    test('leaves no inconsistencies', async () => {
      await service.store.originals.sweep();
      expect((await readStoredState(service.env)).findInconsistencies()).toEqual([]);
    });
  });
