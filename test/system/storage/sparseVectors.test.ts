import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';

import type { FileRecord } from '../../../contract/files/records.js';
import type { SparseVector } from '../../../contract/vectors/sparseVectors.js';
import { encodeDocument } from '../../../providers/embeddings/sparse/sparseEncoder.js';
import { feedOf } from '../../emulators/linkedSite.js';
import { type Site, sitemapOf, startSite } from '../../emulators/site.js';
import { apiClient, type TestUser } from '../../support/client.js';
import { startService, type TestService } from '../../support/service.js';
import { waitFor } from '../../support/waitFor.js';
import { storedPoints } from '../../support/storedPoints.js';
import { thoroughly, thoroughRows } from '../../support/thorough.js';

/** Tests generate_sparse_vectors for content of every origin. The vectors are read from Qdrant itself. */

let service: TestService;
let site: Site;
let user: TestUser;
const SPARSE = { generate_sparse_vectors: true };
const PROSE = 'Otters juggle pebbles on the river bank, and read sqlite3_open_v2 in 1.18.0. '.repeat(20);

beforeAll(async () => {
  service = await startService({ ALLOWED_PRIVATE_HOSTS: '127.0.0.1', RETRY_DELAYS_S: '0.1,0.1' });
  site = await startSite();
  user = await service.user('sam');
});
afterAll(async () => {
  await service.close();
  await site.close();
});

/** Returns the weights by term, in thousandths, rounded so that 32-bit and 64-bit floats are equal. */
const weights = (vector: SparseVector | null): Record<string, number> | null =>
  vector && Object.fromEntries(vector.indices.map((index, at) => [index, Math.round((vector.values[at] ?? 0) * 1000)]));

/** Expects that each chunk of a file has the sparse vector of its text, or, without `hasVectors`, that none has one. */
async function expectSparse(file: FileRecord, hasVectors: boolean): Promise<void> {
  expect(file).toMatchObject({ sync_status: 'READY', sync_error_message: null });
  const { results } = await user.chunks({ ids: [file.id] });
  expect(results.length).toBeGreaterThan(0);
  expect((await storedPoints(service, file.id)).map(({ sparse }) => weights(sparse))).toEqual(
    results.map((chunk) => (hasVectors ? weights(encodeDocument(chunk.source_content)) : null)),
  );
}

const send = async (query: Record<string, unknown>): Promise<FileRecord> =>
  user.settled((await user.send({ name: 'otters.txt', content: PROSE }, { chunk_size: 60, ...query })).id);

/** Returns the statuses in the SPARSE_VECTOR_QUEUE_STATUS events of a file. */
async function statusesOf(fileId: number): Promise<unknown[]> {
  interface Event {
    readonly webhook_type: string;
    readonly obj: {
      readonly object_type: string;
      readonly object_id: string;
      readonly additional_information: Record<string, unknown>;
    };
  }
  const key = apiClient(service.url, { authorization: `Bearer ${service.apiKey}` });
  // One of these three kinds reports the end of a file's processing, after all SPARSE_VECTOR_QUEUE_STATUS events.
  const events = await waitFor(
    async () => (await key.get<{ results: Event[] }>('/events?limit=1000')).body.results,
    (all) =>
      all.some(
        ({ webhook_type: kind, obj: { object_id: id } }) =>
          (id === String(fileId) && (kind === 'FILE_READY' || kind === 'FILE_ERROR')) ||
          (kind === 'FILES_SKIPPED' && id.includes(String(fileId))),
      ),
  );
  return events
    .filter(({ webhook_type: kind, obj }) => kind === 'SPARSE_VECTOR_QUEUE_STATUS' && obj.object_id === String(fileId))
    .map(({ obj }) => obj.additional_information['sparse_vector_queue_status']);
}

describe('generate_sparse_vectors', () => {
  test('generates a sparse vector for each chunk of an upload, and returns it in no response', async () => {
    const file = await send(SPARSE);
    expect(file).toMatchObject({ generate_sparse_vectors: true });
    await expectSparse(file, true);
    const { results } = await user.chunks({ ids: [file.id] }, { include_vectors: true });
    expect(results.length).toBeGreaterThan(2);
    for (const chunk of results) {
      expect(Object.keys(chunk).toSorted()).toEqual(
        ['chunk_index', 'content_metadata', 'embedding', 'source_content', 'user_file_id'].toSorted(),
      );
      expect(chunk.embedding).toHaveLength(384);
    }
    expect(await statusesOf(file.id)).toEqual(['queued']);
  });

  test('is off by default', async () => {
    const file = await send({});
    await expectSparse(file, false);
    expect(await statusesOf(file.id)).toEqual([]);
  });

  test('applies to texts, files from addresses, pages of sitemaps and crawls, and entries of feeds', async () => {
    site.pages.set('/one.html', `<h1>Otters</h1><p>${PROSE}</p>`);
    site.pages.set('/sitemap.xml', sitemapOf(site.origin, ['/one.html']));
    site.pages.set('/two/', `<h1>Badgers</h1><p>${PROSE}</p>`);
    site.pages.set('/notes.txt', PROSE);
    site.pages.set('/feed.xml', feedOf({ one: PROSE }));
    const text = (await user.post<FileRecord>('/upload_text', { contents: PROSE, ...SPARSE })).body;
    const fetched = (await user.post<FileRecord>('/upload_file_from_url', { url: site.url('/notes.txt'), ...SPARSE }))
      .body;
    const scrape = await user.scrape({ url: site.url('/sitemap.xml'), ...SPARSE });
    const [crawl] = (await user.post<FileRecord[]>('/web_scrape', [{ url: site.url('/two/'), ...SPARSE }])).body;
    await user.post('/integrations/rss_feed', { url: site.url('/feed.xml'), ...SPARSE });
    const feeds = await user.post<{ results: FileRecord[] }>('/user_files_v2', {
      filters: { source: 'RSS_FEED', root_files_only: true },
    });
    const parents = await Promise.all([scrape, crawl, feeds.body.results[0]].map((one) => user.settled(one?.id ?? 0)));
    const children = (await Promise.all(parents.map((parent) => user.children(parent.id)))).flat();
    expect(children).toHaveLength(3);
    for (const file of [text, fetched, ...children]) await expectSparse(await user.settled(file.id), true);
    // Parents have no chunks, so the service emits no SPARSE_VECTOR_QUEUE_STATUS event for them.
    for (const parent of parents) expect(await statusesOf(parent.id)).toEqual([]);
  });

  thoroughly('applies to attachments of a message', async () => {
    const part = (type: string, more: string, body: string) => `--p\r\nContent-Type: ${type}${more}\r\n\r\n${body}\r\n`;
    const content = `From: a@example.com\r\nSubject: Rivers\r\nMIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary=p\r\n\r\n${part(
      'text/plain',
      '',
      'Words.',
    )}${part('text/plain; name="a.txt"', '\r\nContent-Disposition: attachment; filename="a.txt"', PROSE)}--p--\r\n`;
    const mail = await user.settled((await user.send({ name: 'mail.eml', content }, SPARSE)).id);
    const [attachment] = await user.children(mail.id);
    await expectSparse(mail, true);
    const settled = await user.settled(attachment?.id ?? 0);
    await expectSparse(settled, true);
    expect((await storedPoints(service, settled.id))[0]?.payload).toMatchObject({
      parent_id: mail.id,
      ancestors: [mail.id],
      media_type: 'TEXT',
      file_type_at_source: null,
    });
  });

  test.each(['skip_embedding_generation', ...thoroughRows(['generate_chunks_only', 'store_file_only'])])(
    'generates no vectors with %s',
    async (flag) => {
      const file = await send({ ...SPARSE, [flag]: true });
      expect(file.sync_status).toBe('READY');
      expect(await storedPoints(service, file.id)).toEqual([]);
      expect(await statusesOf(file.id)).toEqual([]);
    },
  );

  test('keeps the sparse vectors of a file after a re-sync with skip_file_processing', async () => {
    const file = await send(SPARSE);
    await user.post('/resync_file', { file_id: file.id, skip_file_processing: true });
    expect(await user.settled(file.id)).toMatchObject({ sync_status: 'READY_TO_SYNC' });
    expect((await storedPoints(service, file.id)).every(({ sparse }) => sparse !== null)).toBe(true);
    expect(await statusesOf(file.id)).toEqual(['queued']);
  });

  thoroughly('can be turned on and off by a later scrape of the same pages', async () => {
    site.pages.set('/turned.html', `<h1>Turned</h1><p>${PROSE} Turned on and off.</p>`);
    site.pages.set('/turned.xml', sitemapOf(site.origin, ['/turned.html']));
    for (const on of [false, true, true, false]) {
      const scrape = await user.scrape({ url: site.url('/turned.xml'), generate_sparse_vectors: on });
      await user.settled(scrape.id);
      const [page] = await user.children(scrape.id);
      await expectSparse(page as FileRecord, on);
    }
  });

  test('applies to chunks that the caller uploads if the file has the option', async () => {
    for (const on of [true, false]) {
      const file = await send({ store_file_only: true, generate_sparse_vectors: on });
      for (const embedding of [undefined, Array.from({ length: 1024 }, (_, at) => (at === 7 ? 1 : 0))]) {
        const chunks = [{ chunk_number: 0, chunk: 'Otters read sqlite3_open_v2.', embedding }];
        const answer = await user.post('/upload_chunks_and_embeddings', {
          embedding_model: 'COHERE_MULTILINGUAL_V3',
          overwrite_existing: true,
          chunks_and_embeddings: [{ file_id: file.id, chunks_and_embeddings: chunks }],
        });
        expect(answer).toMatchObject({ status: 200 });
        await expectSparse(await user.settled(file.id), on);
        expect((await storedPoints(service, file.id))[0]?.dense).toBe(embedding ? 1024 : 384);
      }
    }
  });
});

describe('SPARSE_VECTOR_QUEUE_STATUS', () => {
  test('is emitted once as queued, however often the file is retried, and once as failed when it fails', async () => {
    site.pages.set('/down.html', { status: 500 });
    site.pages.set('/down.xml', sitemapOf(site.origin, ['/down.html']));
    const scrape = await user.scrape({ url: site.url('/down.xml'), ...SPARSE });
    await user.settled(scrape.id);
    const [page] = await user.children(scrape.id);
    expect(page).toMatchObject({ sync_status: 'SYNC_ERROR' });
    expect(site.requests.filter((path) => path === '/down.html').length).toBeGreaterThan(2);
    expect(await statusesOf(page?.id ?? 0)).toEqual(['queued', 'failed']);
  });

  thoroughly('is aborted for a queued file whose run is cancelled', async () => {
    site.pages.set('/held.html', () => undefined);
    site.pages.set('/held.xml', sitemapOf(site.origin, ['/held.html']));
    for (const on of [true, false]) {
      const requestsBefore = site.requests.filter((path) => path === '/held.html').length;
      const scrape = await user.scrape({ url: site.url('/held.xml'), generate_sparse_vectors: on });
      await waitFor(
        () => site.requests.filter((path) => path === '/held.html').length,
        (now) => now > requestsBefore,
      );
      expect((await user.post('/cancel_sync', { file_id: scrape.id })).status).toBe(200);
      expect(await user.settled(scrape.id)).toMatchObject({ sync_status: 'SYNC_ABORTED' });
      const [page] = await user.children(scrape.id);
      // The second run emits no further events for the same page.
      expect(await statusesOf(page?.id ?? 0)).toEqual(['queued', 'aborted']);
    }
  });
});
