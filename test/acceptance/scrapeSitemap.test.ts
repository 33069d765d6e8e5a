import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';

import type { FileRecord } from '../../contract/files/records.js';
import { type Site, startSampleSite, startSite } from '../emulators/site.js';
import { EXTENSIONS } from '../../api/extensions.js';
import { type SharedService, sharedService } from '../support/sharedService.js';
import type { TestUser } from '../support/client.js';
import { thoroughly } from '../support/thorough.js';

/** Keys that api/extensions.ts adds to records. */
const OUR_KEYS = Object.keys(EXTENSIONS.records);
/** The 39 keys of a file record in the public API. */
const FILE_KEYS = [
  'id',
  'source',
  'organization_id',
  'organization_user_id',
  'organization_supplied_user_id',
  'organization_user_data_source_id',
  'external_file_id',
  'external_url',
  'sync_status',
  'sync_error_message',
  'last_sync',
  'tags',
  'file_statistics',
  'file_metadata',
  'embedding_properties',
  'chunk_size',
  'chunk_overlap',
  'chunk_properties',
  'ocr_properties',
  'ocr_job_started_at',
  'name',
  'parent_id',
  'enable_auto_sync',
  'presigned_url',
  'parsed_text_url',
  'additional_presigned_urls',
  'skip_embedding_generation',
  'source_created_at',
  'generate_sparse_vectors',
  'request_id',
  'upload_id',
  'sync_properties',
  'messages_metadata',
  'file_contents_deleted',
  'supports_cold_storage',
  'hot_storage_time_to_live',
  'embedding_storage_status',
  'created_at',
  'updated_at',
];

let service: SharedService;
let user: TestUser;
const sites: Site[] = [];

async function site(make: Promise<Site>): Promise<Site> {
  const started = await make;
  sites.push(started);
  return started;
}

beforeAll(async () => {
  service = await sharedService();
  user = await service.user('alice');
});

afterAll(async () => {
  await service.close();
  await Promise.all(sites.map((startedSite) => startedSite.close()));
});

describe('site of 12 pages', () => {
  let pages: Site;
  let accepted: FileRecord;
  let parent: FileRecord;
  let children: FileRecord[];

  beforeAll(async () => {
    pages = await site(startSampleSite(12, 2));
    accepted = await user.scrape({
      url: pages.url('/sitemap.xml'),
      chunk_size: 120,
      chunk_overlap: 10,
      tags: { team: 'docs', level: 3 },
    });
    parent = await user.settled(accepted.id);
    children = await user.children(parent.id);
  });

  test('is accepted as one parent file', () => {
    expect(accepted).toMatchObject({
      source: 'WEB_SCRAPE',
      sync_status: 'QUEUED_FOR_SYNC',
      external_url: pages.url('/sitemap.xml'),
      parent_id: null,
      organization_supplied_user_id: 'alice',
      chunk_size: 120,
      chunk_overlap: 10,
      tags: { team: 'docs', level: 3 },
    });
    expect(accepted.request_id).toMatch(/^[0-9a-f-]{36}$/);
  });

  test('ends READY with consistent counts', () => {
    expect(parent).toMatchObject({ sync_status: 'READY', sync_error_message: null });
    expect(parent.file_metadata).toMatchObject({
      pages_total: 12,
      pages_ready: 12,
      pages_failed: 0,
      pages_aborted: 0,
    });
    expect(children).toHaveLength(12);
    expect(new Set(children.map((child) => child.sync_status))).toEqual(new Set(['READY']));
  });

  test('fetches every page once', () => {
    const fetched = pages.requests.filter((path) => path.startsWith('/pages/'));
    expect(fetched).toHaveLength(12);
    expect(new Set(fetched).size).toBe(12);
  });

  test('extracts the main text of a page without navigation and styles', async () => {
    const child = children.find((file) => file.external_url?.endsWith('/pages/7.html'));
    expect(child).toMatchObject({
      parent_id: parent.id,
      tags: { team: 'docs', level: 3 },
      request_id: accepted.request_id,
    });
    expect(child?.file_metadata).toMatchObject({ title: 'Page 7 on telescopes', language: 'en' });
    const { results } = await user.chunks({ ids: [child?.id] });
    const text = results.map((chunk) => chunk.source_content).join('\n');
    expect(text).toContain('# Page 7 on telescopes');
    expect(text).toContain('Fact 7.1.4 about telescopes');
    expect(text).not.toContain('All rights reserved');
    expect(text).not.toContain('About us');
    expect(text).not.toContain('color:red');
  });

  test('has correct file_statistics', async () => {
    for (const child of children.slice(0, 3)) {
      const { results, count } = await user.chunks({ ids: [child.id] }, { include_vectors: true });
      const body = pages.pages.get(new URL(child.external_url ?? '').pathname) as string;
      expect(child.file_statistics).toMatchObject({
        file_format: 'HTML',
        mime_type: 'text/html',
        file_size: Buffer.byteLength(body),
        num_embeddings: count,
      });
      expect(results).toHaveLength(count);
      expect(child.file_statistics?.num_tokens).toBeGreaterThan(200);
      expect(child.file_statistics?.num_characters).toBeGreaterThan(1000);
    }
  });

  test('counts chunks before paging, and returns vectors on request', async () => {
    const allChunks = await user.chunks({ parent_file_ids: [parent.id] });
    const sum = children.reduce((total, child) => total + (child.file_statistics?.num_embeddings ?? 0), 0);
    expect(allChunks.count).toBe(sum);
    expect(allChunks.results).toHaveLength(sum);
    expect(allChunks.results.every((chunk) => chunk.embedding === null)).toBe(true);

    const page = await user.chunks(
      { parent_file_ids: [parent.id] },
      { pagination: { limit: 7, offset: 11 }, include_vectors: true },
    );
    expect(page.count).toBe(sum);
    expect(page.results.map(({ user_file_id, chunk_index }) => [user_file_id, chunk_index])).toEqual(
      allChunks.results.slice(11, 18).map(({ user_file_id, chunk_index }) => [user_file_id, chunk_index]),
    );
    for (const chunk of page.results) {
      expect(chunk.embedding).toHaveLength(384);
      expect(Math.hypot(...(chunk.embedding ?? []))).toBeCloseTo(1, 3);
      expect(Number.isInteger(chunk.chunk_index)).toBe(true);
      expect(chunk.content_metadata).toEqual({});
    }
  });

  test('a search finds the page that answers a question', async () => {
    const documents = await user.search({ query: 'Who keeps bees for honey?', k: 3, parent_file_ids: [parent.id] });
    expect(documents).toHaveLength(3);
    expect(documents.map((document) => document.rank)).toEqual([1, 2, 3]);
    const scores = documents.map((document) => document.score ?? 0);
    expect(scores).toEqual([...scores].sort((a, b) => b - a));
    // Page 6 is about beekeeping.
    expect(documents.every((document) => document.source_url?.endsWith('6.html'))).toBe(true);
    expect(documents[0]).toMatchObject({
      parent_file_id: parent.id,
      source_type: 'WEB_SCRAPE',
      vector: null,
      tags: null,
    });
  });

  test('a search with file_ids returns only chunks of these files, with vectors and tags on request', async () => {
    const ids = children.slice(0, 2).map((child) => child.id);
    const documents = await user.search({
      query: 'counted with care',
      k: 50,
      file_ids: ids,
      include_vectors: true,
      include_tags: true,
    });
    expect(documents.length).toBeGreaterThan(2);
    expect(new Set(documents.map((document) => document.file_id))).toEqual(new Set(ids));
    expect(documents.every((document) => document.vector?.length === 384 && document.tags?.['team'] === 'docs')).toBe(
      true,
    );
  });

  test('a search with another model finds nothing', async () => {
    expect(await user.search({ query: 'counted with care', k: 3, embedding_model: 'SOLAR_1_MINI' })).toEqual([]);
  });

  test('filters by ids, statuses, source, parents and roots', async () => {
    const count = async (filters: Record<string, unknown>) =>
      (await user.chunks(filters, { pagination: { limit: 1 } })).count;
    const [first, second] = children as [FileRecord, FileRecord];
    const embeddingsOf = (file: FileRecord) => file.file_statistics?.num_embeddings ?? 0;
    const total = await count({ parent_file_ids: [parent.id] });
    expect(await count({ ids: [first.id, second.id] })).toBe(embeddingsOf(first) + embeddingsOf(second));
    expect(await count({ parent_file_ids: [parent.id], sync_statuses: ['READY'] })).toBe(total);
    expect(await count({ parent_file_ids: [parent.id], sync_statuses: ['SYNC_ERROR', 'SYNCING'] })).toBe(0);
    expect(await count({ parent_file_ids: [parent.id], source: 'WEB_SCRAPE' })).toBe(total);
    expect(await count({ parent_file_ids: [parent.id], source: ['GITBOOK', 'WEB_SCRAPE'] })).toBe(total);
    expect(await count({ parent_file_ids: [parent.id], source: 'GITBOOK' })).toBe(0);
    expect(await count({ root_files_only: true })).toBe(0);
    expect(await count({ parent_file_ids: [2 ** 40] })).toBe(0);
  });

  test('orders by each field in both directions, ties by id', async () => {
    const fields: Record<string, (file: FileRecord) => string | number> = {
      id: (file) => file.id,
      name: (file) => file.name ?? '',
      created_at: (file) => file.created_at,
      updated_at: (file) => file.updated_at,
      last_sync: (file) => file.last_sync ?? '',
      file_size: (file) => file.file_statistics?.file_size ?? 0,
    };
    for (const [order_by, key] of Object.entries(fields)) {
      for (const order_dir of ['asc', 'desc']) {
        const answer = await user.post<{ results: FileRecord[] }>('/user_files_v2', {
          filters: { parent_file_ids: [parent.id] },
          order_by,
          order_dir,
          pagination: { limit: 1000 },
        });
        const sign = order_dir === 'asc' ? 1 : -1;
        const sorted = [...children].sort((a, b) => sign * (key(a) < key(b) ? -1 : key(a) > key(b) ? 1 : a.id - b.id));
        expect({ order_by, order_dir, ids: answer.body.results.map((file) => file.id) }).toEqual({
          order_by,
          order_dir,
          ids: sorted.map((file) => file.id),
        });
      }
    }
  });

  test('a second scrape reuses the records', async () => {
    pages.pages.set(
      '/pages/3.html',
      '<html><head><title>New</title></head><body><main><h1>Changed</h1><p>Entirely new words about umbrellas.</p></main></body></html>',
    );
    const secondScrape = await user.scrape({
      url: pages.url('/sitemap.xml'),
      chunk_size: 120,
      chunk_overlap: 10,
      url_paths_to_include: ['/pages/3.html'],
    });
    expect(secondScrape.id).toBe(parent.id);
    expect(secondScrape.request_id).not.toBe(parent.request_id);
    await user.settled(secondScrape.id);
    const childrenAfter = await user.children(parent.id);
    expect(childrenAfter.map((file) => file.id)).toEqual(children.map((file) => file.id));
    const changed = childrenAfter.find((file) => file.external_url?.endsWith('/pages/3.html'));
    const { results } = await user.chunks({ ids: [changed?.id] });
    expect(results.map((chunk) => chunk.source_content).join('\n')).toContain('umbrellas');
    expect(results.map((chunk) => chunk.source_content).join('\n')).not.toContain('Fact 3.0.0');
    const documents = await user.search({ query: 'umbrellas', k: 1, file_ids: [changed?.id] });
    expect(documents[0]?.content).toContain('umbrellas');
  });
});

describe('options of a request', () => {
  let small: Site;
  beforeAll(async () => {
    small = await site(startSampleSite(2, 1));
  });

  test('are shown with defaults if absent; records have 39 keys and those of api/extensions.ts', async () => {
    const accepted = await user.scrape({ url: small.url('/sitemap.xml') });
    expect(Object.keys(accepted).sort()).toEqual([...FILE_KEYS, ...OUR_KEYS].sort());
    expect(FILE_KEYS).toHaveLength(39);
    expect(accepted).toMatchObject({
      chunk_size: 1500,
      chunk_overlap: 20,
      skip_embedding_generation: false,
      generate_sparse_vectors: false,
      enable_auto_sync: false,
      tags: {},
      embedding_properties: { OPENAI: { chunk_size: 1500, chunk_overlap: 20 } },
      chunk_properties: { set_page_as_boundary: false, prepend_filename_to_chunks: false },
      ocr_properties: {},
      sync_properties: {},
      messages_metadata: {},
      last_sync: null,
      presigned_url: null,
      file_contents_deleted: false,
      supports_cold_storage: false,
      embedding_storage_status: 'HOT_STORAGE',
      hot_storage_time_to_live: null,
    });
    await user.settled(accepted.id);
    for (const child of await user.children(accepted.id)) {
      expect(Object.keys(child).sort()).toEqual([...FILE_KEYS, ...OUR_KEYS].sort());
      expect(child.embedding_properties).toEqual({
        OPENAI: { chunk_size: 1500, chunk_overlap: 20, served_by: 'minilm-l6-v2-384', dimensions: 384 },
      });
    }
  });

  // test/api/requestContract.test.ts tests the defaults of absent and null fields of all operations.
  thoroughly('have their defaults for null where the public API allows null', async () => {
    const nulls = Object.fromEntries(
      [
        'tags',
        'max_pages_to_scrape',
        'chunk_size',
        'chunk_overlap',
        'skip_embedding_generation',
        'enable_auto_sync',
        'generate_sparse_vectors',
        'prepend_filename_to_chunks',
        'html_tags_to_skip',
        'css_classes_to_skip',
        'css_selectors_to_skip',
        'embedding_model',
        'url_paths_to_include',
        'url_paths_to_exclude',
        'urls_to_scrape',
        'download_css_and_media',
      ].map((field) => [field, null]),
    );
    const accepted = await user.scrape({ url: small.url('/sitemap.xml'), ...nulls });
    expect(accepted).toMatchObject({
      chunk_size: 1500,
      chunk_overlap: 20,
      tags: {},
      embedding_properties: { OPENAI: {} },
    });
    expect((await user.settled(accepted.id)).file_metadata).toMatchObject({ pages_total: 2 });
  });

  test.each(['generate_chunks_only', 'store_file_only', 'use_premium_proxies'])('refuse null for %s', async (field) => {
    const { status, body } = await user.post<{ detail: { loc: unknown }[] }>('/scrape_sitemap', {
      url: small.url('/sitemap.xml'),
      [field]: null,
    });
    expect(status).toBe(422);
    expect(body.detail[0]?.loc).toEqual(['body', field]);
  });

  test('combine max_pages_to_scrape, include and exclude', async () => {
    const many = await site(startSampleSite(30, 1));
    const accepted = await user.scrape({
      url: many.url('/sitemap.xml'),
      store_file_only: true,
      url_paths_to_include: ['/pages/1', '/pages/2'],
      url_paths_to_exclude: ['/pages/12'],
      max_pages_to_scrape: 6,
    });
    await user.settled(accepted.id);
    const fetched = many.requests.filter((path) => path.startsWith('/pages/')).sort();
    expect(fetched).toEqual([
      '/pages/1.html',
      '/pages/10.html',
      '/pages/11.html',
      '/pages/13.html',
      '/pages/14.html',
      '/pages/2.html',
    ]);
  });

  // test/contract/scrapeSitemap.test.ts tests which pages the lists of a request select.
  thoroughly('scrape all pages with an empty urls_to_scrape', async () => {
    const accepted = await user.scrape({ url: small.url('/sitemap.xml'), urls_to_scrape: [] });
    expect((await user.settled(accepted.id)).file_metadata).toMatchObject({ pages_total: 2 });
  });
});

describe('failures of a scrape', () => {
  test('end the parent in SYNC_ERROR if the sitemap is missing', async () => {
    const empty = await site(startSite());
    const parent = await user.settled((await user.scrape({ url: empty.url('/sitemap.xml') })).id);
    expect(parent.sync_status).toBe('SYNC_ERROR');
    expect(parent.sync_error_message).toMatch(/sitemap/i);
    expect(parent.sync_error_message).toContain('404');
  });

  test('of one page do not affect others; temporary ones are retried, redirects to forbidden addresses are not', async () => {
    const broken = await site(startSampleSite(5, 1));
    let attempts = 0;
    broken.pages.set('/pages/1.html', { status: 404 });
    broken.pages.set('/pages/2.html', (_request, response) => {
      attempts += 1;
      if (attempts < 3) response.writeHead(500).end();
      else response.writeHead(200, { 'content-type': 'text/html' }).end('<main><p>Third time lucky.</p></main>');
    });
    broken.pages.set('/pages/3.html', { status: 503 });
    const metadata = 'http://169.254.169.254/latest/meta-data/';
    broken.pages.set('/pages/4.html', { status: 302, headers: { location: metadata } });
    const parent = await user.settled((await user.scrape({ url: broken.url('/sitemap.xml') })).id);
    expect(parent).toMatchObject({ sync_status: 'READY' });
    expect(parent.file_metadata).toMatchObject({ pages_total: 5, pages_ready: 2, pages_failed: 3, pages_aborted: 0 });
    const [fine, missing, flaky, down, forbidden] = await user.children(parent.id);
    expect(fine?.sync_status).toBe('READY');
    expect(missing).toMatchObject({ sync_status: 'SYNC_ERROR' });
    expect(missing?.sync_error_message).toContain('/pages/1.html');
    expect(flaky).toMatchObject({ sync_status: 'READY', sync_error_message: null });
    expect(attempts).toBe(3);
    expect(down).toMatchObject({ sync_status: 'SYNC_ERROR' });
    expect(forbidden).toMatchObject({ sync_status: 'SYNC_ERROR' });
    expect(forbidden?.sync_error_message).toMatch(/address/i);
    expect(broken.requests.filter((path) => path === '/pages/4.html')).toHaveLength(1);
    // One attempt and three retries.
    expect(broken.requests.filter((path) => path === '/pages/3.html')).toHaveLength(4);
    expect(broken.requests.filter((path) => path === '/pages/1.html')).toHaveLength(1);
  });
});
