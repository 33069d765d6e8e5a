import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';

import type { DataSourceRecord, FileRecord } from '../../contract/files/records.js';
import { feedOf, linkedPage } from '../emulators/linkedSite.js';
import { type Site, startSite } from '../emulators/site.js';
import { readStoredState } from '../support/storedState.js';
import { startService, type TestService } from '../support/service.js';
import { waitFor } from '../support/waitFor.js';
import type { Listed, TestUser } from '../support/client.js';
import { thoroughly } from '../support/thorough.js';

let service: TestService;
let user: TestUser;
let site: Site;
let customers = 0;

beforeAll(async () => {
  service = await startService({ ALLOWED_PRIVATE_HOSTS: '127.0.0.1' });
});
afterAll(() => service.close());
beforeEach(async () => {
  customers += 1;
  user = await service.user(`reader ${customers}`);
  site = await startSite({
    '/news/two': linkedPage('two', []),
    '/feed.xml': feedOf({ one: 'The lighthouse was lit in 1901.' }).replace(
      '</channel>',
      `${summary('two')}${summary('lost')}</channel>`,
    ),
  });
});
afterEach(() => site.close());

const summary = (id: string): string =>
  `<item><guid>${id}</guid><title>News ${id}</title><link>/news/${id}</link><description>In short: ${id}</description></item>`;

async function feedFile(): Promise<FileRecord> {
  const { results } = (
    await user.post<Listed<FileRecord>>('/user_files_v2', { filters: { source: 'RSS_FEED', root_files_only: true } })
  ).body;
  expect(results).toHaveLength(1);
  return results[0]!;
}

async function addFeed(body: Record<string, unknown> = {}): Promise<{ feed: FileRecord; entries: FileRecord[] }> {
  expect(await user.post('/integrations/rss_feed', { url: site.url('/feed.xml'), ...body })).toMatchObject({
    status: 200,
    body: { success: true },
  });
  const feed = await user.settled((await feedFile()).id);
  return { feed, entries: await user.children(feed.id) };
}
const textOf = async (file: FileRecord): Promise<string> =>
  (await user.chunks({ ids: [file.id] })).results.map((chunk) => chunk.source_content).join('\n');

test('a feed becomes a container, its entries become files with the text of the feed, of the page or of the summary', async () => {
  const { feed, entries } = await addFeed({ tags: { team: 'docs' }, request_id: 'mine', chunk_size: 200 });
  expect(feed).toMatchObject({
    source: 'RSS_FEED',
    sync_status: 'READY',
    external_url: site.url('/feed.xml'),
    request_id: 'mine',
    file_metadata: { is_feed_url: true, title: 'Harbour news', pages_total: 3, pages_ready: 3, pages_failed: 0 },
  });
  const [lost, one, two] = entries;
  expect(one).toMatchObject({
    source: 'RSS_FEED',
    name: 'News one',
    external_url: site.url('/news/one'),
    parent_id: feed.id,
    source_created_at: '2026-03-03T10:00:00.000Z',
    request_id: 'mine',
    chunk_size: 200,
    file_statistics: { file_format: 'RSS_FEED', mime_type: 'text/html' },
    tags: { team: 'docs' },
    file_metadata: { content_from: 'feed', title: 'News one', published: '2026-03-03T10:00:00.000Z' },
  });
  expect([two?.file_metadata, lost?.file_metadata]).toMatchObject([
    { content_from: 'page' },
    { content_from: 'summary' },
  ]);
  expect(await textOf(one!)).toBe('# News one\n\nThe lighthouse was lit in 1901.');
  expect(await textOf(two!)).toContain('how the harbour of two was built');
  expect(await textOf(lost!)).toContain('In short: lost');
  // One request reads all entries. The page of an entry is not requested if the feed contains the complete text.
  expect(site.requests.filter((path) => path === '/feed.xml')).toHaveLength(1);
  expect(site.requests).not.toContain('/news/one');
  expect((await user.search({ query: 'When was the lighthouse lit?', k: 1 }))[0]?.file_id).toBe(one!.id);
  expect((await readStoredState(service.env)).findInconsistencies()).toEqual([]);
});

test('a feed added again adds and updates entries, keeps files of removed entries, and rewrites no other file', async () => {
  site.pages.set('/feed.xml', feedOf({ one: 'Old words.', still: 'Same words.' }));
  const firstSync = await addFeed();
  site.pages.set('/feed.xml', feedOf({ new: 'New words.', still: 'Same words.' }));
  const { feed, entries } = await addFeed();
  expect(feed.id).toBe(firstSync.feed.id);
  expect(feed.file_metadata).toMatchObject({ pages_total: 2, pages_ready: 2 });
  expect(entries.map(({ name }) => name)).toEqual(['News new', 'News one', 'News still']);
  const fileNamed = (files: readonly FileRecord[], name: string) => files.find((file) => file.name === name)!;
  expect(fileNamed(entries, 'News one')).toEqual(fileNamed(firstSync.entries, 'News one'));
  expect(fileNamed(entries, 'News still').id).toBe(fileNamed(firstSync.entries, 'News still').id);

  // An entry that is no longer in the feed cannot be synced with other options; its stored text stays.
  const removed = fileNamed(entries, 'News one');
  expect((await user.post('/resync_file', { file_id: removed.id, chunk_size: 50 })).status).toBe(200);
  expect((await user.settled(removed.id)).sync_error_message).toContain('no longer in its feed');
  expect(await textOf(removed)).toContain('Old words.');
  // The stored chunks have the options of the last successful sync, so a resync with these options succeeds.
  expect((await user.post('/resync_file', { file_id: removed.id, chunk_size: 1500 })).status).toBe(200);
  expect(await user.settled(removed.id)).toMatchObject({ sync_status: 'READY', sync_error_message: null });

  site.pages.set('/feed.xml', feedOf({ still: 'Other words.' }));
  expect((await user.post('/resync_file', { file_id: feed.id })).status).toBe(200);
  expect(await user.settled(feed.id)).toMatchObject({ sync_status: 'READY', file_metadata: { pages_total: 1 } });
  expect(await textOf(fileNamed(entries, 'News still'))).toContain('Other words.');
});

describe('feed with validators', () => {
  /** If-None-Match of each request for the feed. */
  let validators: (string | undefined)[];
  const serve = (body: string, etag: string): void => {
    site.pages.set('/feed.xml', (request, response) => {
      validators.push(request.headers['if-none-match']);
      if (request.headers['if-none-match'] === etag) response.writeHead(304, { etag }).end();
      else response.writeHead(200, { 'content-type': 'application/rss+xml', etag }).end(body);
    });
  };
  const resync = async (id: number): Promise<FileRecord> => {
    expect((await user.post('/resync_file', { file_id: id })).status).toBe(200);
    return user.settled(id);
  };
  const lastSyncTime = async () => {
    const [source] = (await user.post<Listed<DataSourceRecord>>('/user_data_sources', {})).body.results;
    return Date.parse(source?.files_synced_at ?? '');
  };
  beforeEach(() => {
    validators = [];
  });

  test('is not read again while unchanged, and its sync times advance', async () => {
    serve(feedOf({ one: 'Old words.', two: 'More words.' }), '"v1"');
    const { feed, entries } = await addFeed();
    const syncedBefore = await lastSyncTime();
    expect(syncedBefore).toBeGreaterThanOrEqual(Date.parse(entries[0]!.last_sync ?? ''));
    const resyncedFeed = await resync(feed.id);
    expect(validators).toEqual([undefined, '"v1"']);
    expect(resyncedFeed).toMatchObject({ sync_status: 'READY', file_metadata: feed.file_metadata });
    expect(Date.parse(resyncedFeed.last_sync ?? '')).toBeGreaterThan(Date.parse(feed.last_sync ?? ''));
    expect(await user.children(feed.id)).toEqual(entries);
    expect(await lastSyncTime()).toBeGreaterThan(syncedBefore);

    serve(feedOf({ one: 'New words.', two: 'More words.' }), '"v2"');
    await resync(feed.id);
    expect(validators.slice(2)).toEqual(['"v1"']);
    expect(await textOf(entries[0]!)).toContain('New words.');
    expect((await readStoredState(service.env)).findInconsistencies()).toEqual([]);
  });

  // test/activities/runs.test.ts tests when a feed may be skipped.
  thoroughly.each<[string, (feed: FileRecord, entries: FileRecord[]) => Promise<unknown>]>([
    ['other options are requested', async (feed) => user.post('/resync_file', { file_id: feed.id, chunk_size: 60 })],
    [
      'an entry was deleted',
      async (feed, [entry]) => {
        await user.post('/delete_files_v2', { filters: { ids: [entry?.id] } });
        await waitFor(
          () => user.children(feed.id),
          ({ length }) => length === 1,
        );
        return user.post('/resync_file', { file_id: feed.id });
      },
    ],
  ])('is read completely when %s', async (_what, change) => {
    serve(feedOf({ one: 'Old words.', two: 'More words.' }), '"v1"');
    const { feed, entries } = await addFeed();
    await change(feed, entries);
    expect(await user.settled(feed.id)).toMatchObject({ file_metadata: { pages_total: 2, pages_ready: 2 } });
    expect(validators).toEqual([undefined, undefined]);
    expect(await user.children(feed.id)).toHaveLength(2);
  });

  thoroughly('is read completely if its entries link to pages, which may have changed', async () => {
    site.pages.set('/news/far', linkedPage('far', []));
    serve(feedOf({ one: 'Words.' }).replace('</channel>', `${summary('far')}</channel>`), '"v1"');
    const { feed } = await addFeed();
    await resync(feed.id);
    // Each sync reads the feed completely, without If-None-Match.
    expect(validators.filter((etag) => etag !== undefined)).toEqual([]);
  });
});

test('a feed is a data source; its data_source_tags are upserted, and its entries inherit them', async () => {
  site.pages.set('/feed.xml', feedOf({ one: 'Words.' }));
  const sources = async () =>
    (await user.post<Listed<DataSourceRecord>>('/user_data_sources', { filters: { source: 'RSS_FEED' } })).body.results;
  const { feed, entries } = await addFeed({ data_source_tags: { shelf: 'news', level: 1 } });
  const [source, ...otherSources] = await sources();
  expect(otherSources).toEqual([]);
  expect(source).toMatchObject({
    data_source_type: 'RSS_FEED',
    data_source_external_id: `RSS_FEED|${site.url('/feed.xml')}`,
    tags: { shelf: 'news', level: 1 },
    last_sync_action: 'ADD',
  });
  expect(entries.map((file) => file.organization_user_data_source_id)).toEqual(entries.map(() => source!.id));
  const countByLevel = async (level: number) =>
    (await user.chunks({ parent_file_ids: [feed.id], tags: { shelf: 'news', level } })).count;
  expect(await countByLevel(1)).toBe(1);
  await addFeed({ data_source_tags: { level: 2 } });
  expect((await sources())[0]?.tags).toEqual({ shelf: 'news', level: 2 });
  expect(await countByLevel(1)).toBe(0);
  expect(await countByLevel(2)).toBe(1);
});

test('an unreadable feed ends in SYNC_ERROR with a message', async () => {
  const { feed } = await addFeed({ url: site.url('/news/two') });
  expect(feed).toMatchObject({ sync_status: 'SYNC_ERROR', file_metadata: { is_feed_url: true } });
  expect(feed.sync_error_message).toContain('is a web page, not a feed');
});

test('two feeds may have entries with the same id', async () => {
  site.pages.set('/feed.xml', feedOf({ one: 'Of this feed.' }));
  const { entries } = await addFeed();
  site.pages.set('/other.xml', feedOf({ one: 'Of another feed.' }));
  expect((await user.post('/integrations/rss_feed', { url: site.url('/other.xml') })).status).toBe(200);
  const list = async () =>
    (await user.post<Listed<FileRecord>>('/user_files_v2', { filters: { external_urls: [site.url('/other.xml')] } }))
      .body;
  const otherFeed = await user.settled((await list()).results[0]!.id);
  expect(await user.children(otherFeed.id)).toHaveLength(1);
  expect(await user.children(entries[0]!.parent_id ?? 0)).toEqual(entries);
});

describe('request validation', () => {
  test.each([
    [{}, ['body', 'url'], 'missing'],
    [{ url: 'ftp://a.example/' }, ['body', 'url'], 'url_type'],
    [{ url: 'a.example', data_source_tags: null }, ['body', 'data_source_tags'], 'dict_type'],
    [{ url: 'a.example', tags: { user_id: 1 } }, ['body', 'tags', 'user_id'], 'value_error'],
  ])('answers %j with 422', async (body, loc, type) => {
    expect(await user.post('/integrations/rss_feed', body)).toMatchObject({
      status: 422,
      body: { detail: [{ loc, type }] },
    });
    expect((await user.post<{ count: number }>('/user_files_v2', {})).body.count).toBe(0);
  });
});
