import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';

import type { FileRecord } from '../../contract/files/records.js';
import { readStoredState } from '../support/storedState.js';
import type { TestUser } from '../support/client.js';
import { thoroughly } from '../support/thorough.js';
import { waitFor } from '../support/waitFor.js';
import { testUploadedChunks } from './uploads/chunks.js';
import { testHybridSearch } from './uploads/hybridSearch.js';
import { service, startUploadService } from './uploads/service.js';

let user: TestUser;

beforeAll(async () => {
  await startUploadService();
  user = await service.user('una');
});
afterAll(async () => {
  await service.close();
});

testUploadedChunks();
testHybridSearch();

const NOTES = '# Otters\n\nOtters juggle pebbles on the river bank.\n\n## Food\n\nThey eat crabs and urchins.\n';
const LONG = Array.from({ length: 500 }, (_, n) => `Line ${n} of a long report about lighthouses.`).join('\n');

const download = async (url: string | null): Promise<string> => (await fetch(url ?? '')).text();
const rawOf = async (file: FileRecord): Promise<string> => {
  const { body } = await user.get<{ presigned_url: string }>(`/raw_file/${file.id}`);
  return download(body.presigned_url);
};

describe.each([
  ['small: stored in a row', NOTES],
  ['large: stored in file storage', LONG],
])('uploaded file, %s', (_place, content) => {
  // Pages of a site, which lifecycle.test.ts resyncs and deletes, are stored in rows, too.
  const testInFiles = content === LONG ? test : thoroughly;

  test('is queued, stored unchanged, read, chunked, embedded and found', async () => {
    const file = await user.send({ name: 'notes.md', content }, { chunk_size: 300 });
    expect(file).toMatchObject({
      source: 'MD',
      name: 'notes.md',
      sync_status: 'QUEUED_FOR_SYNC',
      last_sync: null,
      external_file_id: expect.stringMatching(/^[0-9a-f]{32}$/),
      external_url: null,
      parent_id: null,
      organization_user_data_source_id: null,
      file_statistics: { file_format: 'MD', file_size: Buffer.byteLength(content), mime_type: 'text/markdown' },
      chunk_size: 300,
      request_id: expect.any(String),
      upload_id: expect.any(String),
    });
    const ready = await user.settled(file.id);
    expect(ready).toMatchObject({ sync_status: 'READY', upload_id: file.upload_id, request_id: file.request_id });
    const { results, count } = await user.chunks({ ids: [file.id] });
    expect(count).toBeGreaterThanOrEqual(1);
    expect(ready.file_statistics).toMatchObject({
      file_size: Buffer.byteLength(content),
      num_characters: content.trim().length,
      num_embeddings: count,
    });
    expect(results[0]?.source_content.length).toBeGreaterThan(10);
    expect(await rawOf(ready)).toBe(content);
    const parsed = await user.get<{ presigned_url: string }>(`/parsed_file/${file.id}`);
    expect(await download(parsed.body.presigned_url)).toBe(content.trim());
    const listed = await user.post<{ results: FileRecord[] }>('/user_files_v2', {
      filters: { upload_ids: [file.upload_id] },
      include_raw_file: true,
    });
    expect(await download(listed.body.results[0]?.presigned_url ?? null)).toBe(content);
    const [hit] = await user.search({ query: 'otters and lighthouses', k: 1, file_ids: [file.id] });
    expect(hit).toMatchObject({ file_id: file.id, source: 'notes.md', source_type: 'MD' });
  });

  testInFiles('is read again from the stored original, with other options', async () => {
    const { id } = await user.settled((await user.send({ name: 'again.txt', content }, { chunk_size: 400 })).id);
    const chunksBefore = await user.chunks({ ids: [id] });
    expect((await user.post('/resync_file', { file_id: id, chunk_size: 150, chunk_overlap: 0 })).status).toBe(200);
    const resynced = await user.settled(id);
    expect(resynced).toMatchObject({ sync_status: 'READY', chunk_size: 150, source: 'TEXT' });
    expect((await user.chunks({ ids: [id] })).count).toBeGreaterThanOrEqual(chunksBefore.count);
    expect(await rawOf(resynced)).toBe(content);
  });

  testInFiles(
    'is deleted completely; with preserve_file_record, its record stays but cannot be synced again',
    async () => {
      const [deleted, emptied] = [
        await user.send({ name: 'a.txt', content }),
        await user.send({ name: 'b.txt', content }),
      ];
      await Promise.all([user.settled(deleted.id), user.settled(emptied.id)]);
      await user.post('/delete_files_v2', { filters: { ids: [deleted.id] } });
      await user.post('/delete_files_v2', { filters: { ids: [emptied.id] }, preserve_file_record: true });
      const filters = { ids: [deleted.id, emptied.id] };
      await waitFor(
        async () => (await user.post<{ results: FileRecord[] }>('/user_files_v2', { filters })).body.results,
        (results) => results.length === 1 && results[0]?.sync_status === 'READY_TO_SYNC',
      );
      const { status, body } = await user.post<{ detail: string }>('/resync_file', { file_id: emptied.id });
      expect({ status, detail: body.detail }).toEqual({ status: 409, detail: expect.stringContaining('deleted') });
      expect((await user.get(`/raw_file/${emptied.id}`)).status).toBe(404);
      expect((await readStoredState(service.env)).findInconsistencies()).toEqual([]);
    },
  );
});

test('stores a hash of the uploaded content', async () => {
  const { id } = await user.send({ name: 'hash.txt', content: LONG });
  const [doc] = await service.store.files.byIds(await service.store.users.ensure(1, 'una'), [id]);
  expect(doc?.original).toMatchObject({
    size: Buffer.byteLength(LONG),
    sha256: createHash('sha256').update(LONG).digest('hex'),
  });
});
