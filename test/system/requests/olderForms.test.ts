import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';

import type { ChunkRecord, FileRecord } from '../../../contract/files/records.js';
import { type Site, startSampleSite } from '../../emulators/site.js';
import { everyRow } from '../../support/everyRow.js';
import { withDatabase } from '../../support/mongo.js';
import { startService, type TestService } from '../../support/service.js';
import type { Listed, TestUser } from '../../support/client.js';
import { waitFor } from '../../support/waitFor.js';
import type { FileDoc } from '../../../store/models/files.js';

let service: TestService;
let site: Site;
let user: TestUser;
let parent: FileRecord;
let pages: FileRecord[];

beforeAll(async () => {
  service = await startService({ ALLOWED_PRIVATE_HOSTS: '127.0.0.1' });
  site = await startSampleSite(2, 3);
  user = await service.user('nora');
  parent = await user.settled((await user.scrape({ url: site.url('/sitemap.xml'), chunk_size: 60 })).id);
  pages = await user.children(parent.id);
});
afterAll(async () => {
  await service.close();
  await site.close();
});

describe('POST /user_files', () => {
  test('returns the records of /user_files_v2 as a bare array', async () => {
    const body = {
      filters: { parent_file_ids: [parent.id] },
      order_by: 'name',
      order_dir: 'desc',
      pagination: { limit: 1 },
    };
    const { status, body: files } = await user.post('/user_files', body);
    expect({ status, files }).toEqual({ status: 200, files: [pages.at(-1)] });
    expect((await user.post('/user_files', { filters: { ids: [2 ** 40] } })).body).toEqual([]);
  });

  test('returns presigned URLs when requested', async () => {
    const body = { filters: { ids: [pages[0]!.id] }, include_raw_file: true, include_parsed_text_file: true };
    const [file] = (await user.post<FileRecord[]>('/user_files', body)).body;
    expect(await (await fetch(file?.presigned_url ?? '')).text()).toContain('<h1>');
    expect((await fetch(file?.parsed_text_url ?? '')).status).toBe(200);
  });
});

describe('GET /raw_file and /parsed_file', () => {
  test('return a presigned URL of the original and of the extracted text', async () => {
    const raw = await user.get<{ presigned_url: string }>(`/raw_file/${pages[0]!.id}`);
    const parsed = await user.get<{ presigned_url: string }>(`/parsed_file/${pages[0]!.id}`);
    expect([raw.status, parsed.status]).toEqual([200, 200]);
    expect(await (await fetch(raw.body.presigned_url)).text()).toContain('<h1>');
    const text = await (await fetch(parsed.body.presigned_url)).text();
    const first = (await user.chunks({ ids: [pages[0]!.id] })).results[0]!.source_content;
    expect(text).toContain(first);
    expect(text).not.toContain('<h1>');
  });

  test('are 404 for a file without that content, and 422 for an invalid id', async () => {
    for (const path of ['/raw_file', '/parsed_file']) {
      expect((await user.get(`${path}/${parent.id}`)).status).toBe(404);
      expect((await user.get(`${path}/${2 ** 40}`)).status).toBe(404);
      for (const id of ['one', '1.5', '-1', '99999999999999999999']) {
        const { status, body } = await user.get<{ detail: { loc: string[] }[] }>(`${path}/${id}`);
        expect({ id, status, loc: body.detail[0]?.loc }).toEqual({ id, status: 422, loc: ['path', 'file_id'] });
      }
    }
  });
});

describe('POST /text_chunks', () => {
  const chunks = async (filters: Record<string, unknown>, more = {}): Promise<Listed<ChunkRecord>> => {
    const answer = await user.post<Listed<ChunkRecord>>('/text_chunks', { filters, ...more });
    expect(answer).toMatchObject({ status: 200 });
    return answer.body;
  };
  const all = { pagination: { limit: 1000 } };

  test('lists the chunks of one file as /list_chunks_and_embeddings does', async () => {
    const { id } = pages[0]!;
    const expected = await user.chunks({ ids: [id] });
    expect(expected.count).toBeGreaterThan(3);
    expect(await chunks({ user_file_id: id }, all)).toEqual(expected);
    const vectors = await chunks({ user_file_id: id }, { ...all, include_vectors: true });
    expect(vectors.results.every((one) => one.embedding?.length === 384)).toBe(true);
  });

  test.each(['created_at', 'updated_at', 'chunk_index'])(
    'orders by chunk number in both directions for %s',
    async (order_by) => {
      const { id } = pages[0]!;
      const { results, count } = await chunks({ user_file_id: id }, { ...all, order_by });
      expect(results.map((one) => one.chunk_index)).toEqual([...results.keys()]);
      expect((await chunks({ user_file_id: id }, { ...all, order_by, order_dir: 'desc' })).results).toEqual(
        results.toReversed(),
      );
      const page = await chunks(
        { user_file_id: id },
        { pagination: { limit: 2, offset: 1 }, order_by, order_dir: 'desc' },
      );
      expect(page).toEqual({ results: results.toReversed().slice(1, 3), count });
      const pageAfterEnd = await chunks(
        { user_file_id: id },
        { pagination: { limit: 5, offset: count - 1 }, order_dir: 'desc' },
      );
      expect(pageAfterEnd.results).toEqual([results[0]]);
      const past = await chunks({ user_file_id: id }, { pagination: { offset: count }, order_by, order_dir: 'desc' });
      expect(past).toEqual({ results: [], count });
    },
  );

  test("returns chunks of the file's own model, and none of another", async () => {
    const { id } = pages[0]!;
    expect((await chunks({ user_file_id: id, embedding_model: 'OPENAI' })).count).toBeGreaterThan(0);
    expect(await chunks({ user_file_id: id, embedding_model: 'SOLAR_1_MINI' })).toEqual({ results: [], count: 0 });
  });

  test('is 422 without a file, and 404 for an unknown one', async () => {
    expect((await user.post('/text_chunks', { filters: {} })).status).toBe(422);
    expect((await user.post('/text_chunks', { filters: { user_file_id: 2 ** 40 } })).status).toBe(404);
  });
});

describe('deletes', () => {
  let root: FileRecord;
  let nora: TestUser;
  let count = 0;

  beforeEach(async () => {
    nora = await service.user(`nora-${(count += 1)}`);
    root = await nora.settled((await nora.scrape({ url: site.url('/sitemap.xml'), store_file_only: true })).id);
  });

  /** Waits until the user has the expected number of files, and returns them. */
  const remaining = async (expected: number): Promise<FileRecord[]> => {
    const { body } = await waitFor(
      () => nora.post<Listed<FileRecord>>('/user_files_v2', { pagination: { limit: 100 } }),
      ({ body: { results } }) => results.length === expected,
    );
    return body.results;
  };

  test('DELETE /deletefile deletes one file and keeps its children', async () => {
    expect((await nora.delete(`/deletefile/${root.id}`)).body).toEqual({ success: true });
    expect((await remaining(2)).map((file) => file.parent_id)).toEqual([root.id, root.id]);
    expect((await nora.delete(`/deletefile/${root.id}`)).status).toBe(404);
  });

  test('POST /delete_files deletes by ids, with the children on request', async () => {
    const [page] = await nora.children(root.id);
    await nora.post('/delete_files', { file_ids: [page?.id], send_webhook: true });
    await remaining(2);
    await nora.post('/delete_files', { file_ids: [root.id], delete_child_files: true });
    await remaining(0);
  });

  test('POST /delete_files deletes by status, and keeps synced files with delete_non_synced_only', async () => {
    await nora.settled((await nora.scrape({ url: site.url('/nothing.xml') })).id);
    const { body } = await nora.post('/delete_files', { sync_statuses: ['READY'], delete_non_synced_only: true });
    expect(body).toEqual({ success: true });
    await nora.post('/delete_files', { sync_statuses: ['SYNC_ERROR'] });
    expect((await remaining(3)).map((file) => file.sync_status)).toEqual(['READY', 'READY', 'READY']);
  });

  test('delete_child_files and include_all_children delete all descendants', async () => {
    const deep = async (): Promise<void> => {
      const ids = (await nora.children(root.id)).map(({ id }) => id);
      // Moves the first page below the second one, so that a child has a smaller id than its parent.
      await withDatabase(service, async (connection) => {
        const files = connection.collection<FileDoc>('files');
        await files.updateOne({ _id: ids[0]! }, { $set: { parentId: ids[1]!, isContainer: false } });
      });
    };
    await deep();
    await nora.post('/delete_files_v2', {
      filters: { parent_file_ids: [root.id], include_all_children: true, sync_statuses: ['READY'] },
    });
    expect((await remaining(1)).map(({ id }) => id)).toEqual([root.id]);
    root = await nora.settled((await nora.scrape({ url: site.url('/sitemap.xml'), store_file_only: true })).id);
    await deep();
    await nora.post('/delete_files', { file_ids: [root.id], delete_child_files: true });
    await remaining(0);
  });

  test('of all files by a request without a filter are refused with 400', async () => {
    const bodies = [{}, { file_ids: [] }, { file_ids: null, sync_statuses: null, delete_child_files: true }];
    const filters = [
      {},
      { name: '' },
      { ids: [], tags: {}, sync_statuses: [] },
      { tags_v2: { OR: [] } },
      { tags_v2: { AND: [{ OR: [] }] } },
      { include_all_children: true, include_containers: false },
      { root_files_only: false, non_synced_only: false },
    ];
    await everyRow(
      [
        ...bodies.map((body) => ['/delete_files', body] as const),
        ...filters.map((filter) => ['/delete_files_v2', { filters: filter }] as const),
      ],
      ([path, body]) => `${path} ${JSON.stringify(body)}`,
      async ([path, body]) => expect((await nora.post(path, body)).status).toBe(400),
    );
    expect(await remaining(3)).toHaveLength(3);
  });
});
