/** Tests of search over ingested files: hybrid search, vectors that the caller provides, and links to the content. */
import { beforeAll, describe, expect, test } from '@jest/globals';

import { EMBEDDING_MODELS } from '../../../contract/vectors/embeddingModels.js';
import type { FileRecord } from '../../../contract/files/records.js';
import type { TestUser } from '../../support/client.js';
import { service } from './service.js';

let user: TestUser;

export const testHybridSearch = (): void =>
  describe('search over uploaded texts', () => {
    beforeAll(async () => {
      user = await service.user('hal');
    });

    async function upload(contents: string, options: object = {}): Promise<FileRecord> {
      const { body } = await user.post<FileRecord>('/upload_text', { contents, ...options });
      const file = await user.settled(body.id);
      expect(file).toMatchObject({ sync_status: 'READY' });
      return file;
    }

    test('hybrid search finds identifiers that semantic search misses', async () => {
      const codes = Array.from({ length: 6 }, (_, index) => `QX-${7100 + index * 37}-B`);
      const files = await Promise.all(
        codes.map((code) =>
          upload(`Part ${code} of the cooling unit is ordered from the store in the basement.`, {
            generate_sparse_vectors: true,
          }),
        ),
      );
      const bestFileId = async (code: string, hybrid_search: boolean): Promise<number | undefined> =>
        (await user.search({ query: code, k: 1, hybrid_search }))[0]?.file_id;
      const countCorrect = async (hybrid: boolean): Promise<number> => {
        const fileIds = await Promise.all(codes.map((code) => bestFileId(code, hybrid)));
        return fileIds.filter((id, index) => id === files[index]?.id).length;
      };
      expect(await countCorrect(true)).toBe(codes.length);
      expect(await countCorrect(false)).toBeLessThan(codes.length);
    });

    test('hybrid search finds a file without sparse vectors by its meaning', async () => {
      const { id } = await upload('Puffins nest on the cliffs of the northern island.');
      const documents = await user.search({ query: 'birds that breed on cliffs', k: 3, hybrid_search: true });
      expect(documents.map(({ file_id: fileId }) => fileId)).toContain(id);
    });

    test('chunks with vectors of the caller are found by a query vector, and by words in a hybrid search', async () => {
      const model = 'AZURE_ADA_SMALL_512';
      const vector = (at: number) => new Array<number>(EMBEDDING_MODELS[model].dimensions).fill(0).with(at, 1);
      const file = await upload('Anything.', { generate_sparse_vectors: true });
      const callerChunks = ['The zither is out of tune.', 'The harp is not.'].map((chunk, index) => ({
        ...{ chunk, chunk_number: index, embedding: vector(index) },
      }));
      const body = {
        embedding_model: model,
        overwrite_existing: true,
        chunks_and_embeddings: [{ file_id: file.id, chunks_and_embeddings: callerChunks }],
      };
      expect((await user.post('/upload_chunks_and_embeddings', body)).status).toBe(200);
      await user.settled(file.id);
      const request = { query: 'zither', embedding_model: model, k: 1 };
      expect(await user.search({ ...request, query_vector: vector(1) })).toMatchObject([
        { content: callerChunks[1]?.chunk },
      ]);
      expect(await user.search({ ...request, hybrid_search: true })).toMatchObject([
        { content: callerChunks[0]?.chunk },
      ]);
      expect(await user.search(request)).toEqual([]);
    });

    test('include_raw_file adds a link to the raw content to each result', async () => {
      const text = 'The ledger of the lighthouse is kept in the cellar.';
      const { id } = await upload(text);
      const [document] = await user.search({ query: 'ledger', k: 1, file_ids: [id], include_raw_file: true });
      const answer = await fetch(document?.presigned_url ?? '');
      expect(await answer.text()).toBe(text);
    });
  });
