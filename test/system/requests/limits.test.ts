import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { afterAll, beforeAll, expect, test } from '@jest/globals';

import type { FileRecord } from '../../../contract/files/records.js';
import type { FileSyncStatus } from '../../../contract/files/statuses.js';
import { startLinkedSite } from '../../emulators/linkedSite.js';
import { samplePage, type Site, sitemapOf, startSampleSite } from '../../emulators/site.js';
import { readStoredState } from '../../support/storedState.js';
import { type ApiClient, apiClient, type Listed, type TestUser } from '../../support/client.js';
import { startService, type TestService } from '../../support/service.js';
import { TIME_LIMIT_MS } from '../../support/waitFor.js';
import { thoroughly } from '../../support/thorough.js';

const PAGES = 6;
let service: TestService;
let site: Site;
let organization: ApiClient;

beforeAll(async () => {
  service = await startService({ ALLOWED_PRIVATE_HOSTS: '127.0.0.1', LIMIT_RECHECK_S: '0.3' });
  site = await startSampleSite(PAGES, 1);
  organization = apiClient(service.url, { authorization: `Bearer ${service.apiKey}` });
});
afterAll(async () => {
  await service.close();
  await site.close();
});

async function userWithLimits(name: string, limits: Record<string, number>): Promise<TestUser> {
  const user = await service.user(name);
  await setLimits(name, limits);
  return user;
}
async function setLimits(name: string, limits: Record<string, number>): Promise<void> {
  expect((await organization.post('/update_users', { customer_ids: [name], ...limits })).status).toBe(200);
}
/** Scrapes without vectors, which take processor time and count towards no limit. */
const scrape = (user: TestUser, url = site.url('/sitemap.xml')): Promise<FileRecord> =>
  user.scrape({ url, skip_embedding_generation: true });

type Counts = Partial<Record<FileSyncStatus, number>>;

/** Waits for the expected number of pages per state. Returns the actual numbers. */
async function waitForStates(
  user: TestUser,
  parents: FileRecord | readonly FileRecord[],
  expected: Counts,
): Promise<Counts> {
  const deadline = Date.now() + TIME_LIMIT_MS;
  for (;;) {
    const pages = await Promise.all([parents].flat().map((parent) => user.children(parent.id)));
    const found: Counts = {};
    for (const { sync_status: status } of pages.flat()) found[status] = (found[status] ?? 0) + 1;
    if (Date.now() > deadline || isDeepStrictEqual(found, expected)) return found;
    await sleep(100);
  }
}

const characters = (pages: readonly FileRecord[]): number =>
  pages.reduce((sum, page) => sum + (page.file_statistics?.num_characters ?? 0), 0);

test('delays pages above max_files until files are deleted or the limit is raised', async () => {
  const user = await userWithLimits('max-files', { max_files: 3 });
  const parent = await scrape(user);
  expect(await waitForStates(user, parent, { READY: 3, DELAYED: 3 })).toEqual({ READY: 3, DELAYED: 3 });
  expect(await user.file(parent.id)).toMatchObject({
    sync_status: 'SYNCING',
    file_metadata: { limit_reached: 'max_files' },
  });
  const [delayed] = (await user.children(parent.id)).filter((page) => page.sync_status === 'DELAYED');
  expect(delayed?.sync_error_message).toMatch(/limit/);
  const [ready] = (await user.children(parent.id)).filter((page) => page.sync_status === 'READY');

  await user.post('/delete_files_v2', { filters: { ids: [ready?.id] } });
  expect(await waitForStates(user, parent, { READY: 3, DELAYED: 2 })).toEqual({ READY: 3, DELAYED: 2 });
  // The pages stay delayed, because the deleted file's place has been used.
  await sleep(1_000);
  expect(await waitForStates(user, parent, { READY: 3, DELAYED: 2 })).toEqual({ READY: 3, DELAYED: 2 });

  await setLimits('max-files', { max_files: -1 });
  expect(await user.settled(parent.id)).toMatchObject({
    sync_status: 'READY',
    file_metadata: { pages_total: 5, pages_ready: 5 },
  });
  expect((await user.chunks({ parent_file_ids: [parent.id] })).count).toBeGreaterThanOrEqual(5);
});

test('counts no file again at a re-sync', async () => {
  const user = await userWithLimits('resync', { max_files: PAGES });
  const parent = await user.settled((await scrape(user)).id);
  await setLimits('resync', { max_files: 1 });
  expect((await scrape(user)).id).toBe(parent.id);
  expect(await user.settled(parent.id)).toMatchObject({ sync_status: 'READY', file_metadata: { pages_ready: PAGES } });
});

thoroughly('applies max_files to concurrent scrapes together', async () => {
  const user = await userWithLimits('side-by-side', { max_files: 4 });
  const sites = await Promise.all([startSampleSite(5, 1), startSampleSite(5, 1)]);
  const parents = await Promise.all(sites.map((source) => user.scrape({ url: source.url('/sitemap.xml') })));
  const expectedCounts = { READY: 4, DELAYED: 6 };
  expect(await waitForStates(user, parents, expectedCounts)).toEqual(expectedCounts);
  // The pages stay delayed: the other scrape has used the free places.
  await sleep(1_000);
  expect(await waitForStates(user, parents, expectedCounts)).toEqual(expectedCounts);
  for (const parent of parents) await user.post('/cancel_sync', { file_id: parent.id });
  await Promise.all(parents.map((parent) => user.settled(parent.id)));
  await Promise.all(sites.map((source) => source.close()));
});

test('cancels a delayed scrape, whose waiting pages become SYNC_ABORTED', async () => {
  const user = await userWithLimits('cancelled', { max_files: 2 });
  const parent = await scrape(user);
  await waitForStates(user, parent, { READY: 2, DELAYED: 4 });
  const [delayed] = (await user.children(parent.id)).filter((page) => page.sync_status === 'DELAYED');
  expect((await user.post('/resync_file', { file_id: delayed?.id })).status).toBe(409);
  expect((await user.post('/cancel_sync', { file_id: parent.id })).status).toBe(200);
  expect((await user.settled(parent.id)).sync_status).toBe('SYNC_ABORTED');
  expect(await waitForStates(user, parent, { READY: 2, SYNC_ABORTED: 4 })).toEqual({ READY: 2, SYNC_ABORTED: 4 });
});

test('ends a scrape at max_files_per_upload pages, and stores this limit in the metadata of its parent', async () => {
  const user = await userWithLimits('per-upload', { max_files_per_upload: 2 });
  const parent = await user.settled((await scrape(user)).id);
  expect(parent).toMatchObject({
    sync_status: 'READY',
    file_metadata: { pages_total: 2, pages_ready: 2, limit_reached: 'max_files_per_upload' },
  });
  expect(await user.children(parent.id)).toHaveLength(2);
  await setLimits('per-upload', { max_files_per_upload: PAGES });
  await scrape(user);
  const settledParent = await user.settled(parent.id);
  expect(settledParent.file_metadata).toMatchObject({ pages_total: PAGES });
  expect(settledParent.file_metadata).not.toHaveProperty('limit_reached');
});

thoroughly('applies max_files_per_upload to crawls and feeds, and max_files to crawls', async () => {
  const linked = await startLinkedSite({ '/': ['/a', '/b', '/c'], '/a': [], '/b': [], '/c': [] });
  const entries = ['/a', '/b', '/c'].map((path) => `<item><guid>${path}</guid><link>${linked.url(path)}</link></item>`);
  linked.pages.set('/feed.xml', `<rss version="2.0"><channel><title>Feed</title>${entries.join('')}</channel></rss>`);
  const facts = { pages_total: 2, pages_ready: 2, limit_reached: 'max_files_per_upload' };
  const [perUpload, inAll] = await Promise.all([
    userWithLimits('crawl-per-upload', { max_files_per_upload: 2 }),
    userWithLimits('crawl', { max_files: 2 }),
  ]);
  const crawl = async (user: TestUser): Promise<FileRecord> => {
    const { body } = await user.post<FileRecord[]>('/web_scrape', [{ url: linked.url('/') }]);
    return body[0]!;
  };
  expect(await perUpload.settled((await crawl(perUpload)).id)).toMatchObject({ file_metadata: facts });
  const feedUrl = linked.url('/feed.xml');
  expect((await perUpload.post('/integrations/rss_feed', { url: feedUrl })).status).toBe(200);
  const byUrl = { filters: { external_urls: [feedUrl] } };
  const [feed] = (await perUpload.post<Listed<FileRecord>>('/user_files_v2', byUrl)).body.results;
  expect(await perUpload.settled(feed?.id ?? 0)).toMatchObject({ file_metadata: facts });

  const parent = await crawl(inAll);
  expect(await waitForStates(inAll, parent, { READY: 2, DELAYED: 2 })).toEqual({ READY: 2, DELAYED: 2 });
  await setLimits('crawl', { max_files: -1 });
  expect(await inAll.settled(parent.id)).toMatchObject({ sync_status: 'READY', file_metadata: { pages_ready: 4 } });
  await linked.close();
});

test('fails a page above max_characters_per_file with the name of the limit, and syncs the others', async () => {
  site.pages.set('/long.html', samplePage(3, 12));
  site.pages.set('/mixed.xml', sitemapOf(site.origin, ['/pages/0.html', '/long.html']));
  const user = await userWithLimits('per-file', { max_characters_per_file: 3_000 });
  const parent = await user.settled((await scrape(user, site.url('/mixed.xml'))).id);
  const pages = await user.children(parent.id);
  expect(parent.file_metadata).toMatchObject({ pages_ready: 1, pages_failed: 1 });
  const long = pages.find((page) => page.external_url?.endsWith('/long.html'));
  expect(long).toMatchObject({ sync_status: 'SYNC_ERROR' });
  expect(long?.sync_error_message).toContain('max_characters_per_file');
  expect((await user.chunks({ ids: [long?.id] })).count).toBe(0);
});

let measured: Promise<number> | null = null;
/** Returns the number of characters of one page of the site, measured once by a user without limits. */
const pageCharacters = (): Promise<number> =>
  (measured ??= (async () => {
    const user = await service.user('measure');
    const parent = await user.settled((await scrape(user)).id);
    return characters(await user.children(parent.id)) / PAGES;
  })());

test('fails texts above max_characters_per_upload, and stores no more than the limit', async () => {
  const limit = Math.floor(2.5 * (await pageCharacters()));
  const user = await userWithLimits('characters-per-upload', { max_characters_per_upload: limit });
  const parent = await user.settled((await scrape(user)).id);
  const pages = await user.children(parent.id);
  expect(parent.file_metadata).toMatchObject({ pages_ready: 2, pages_failed: PAGES - 2 });
  expect(characters(pages)).toBeLessThanOrEqual(limit);
});

test('delays texts above max_characters until there is room, and never stores more than the limit', async () => {
  const perPage = await pageCharacters();
  const limit = Math.floor(2.5 * perPage);
  const user = await userWithLimits('characters', { max_characters: limit });
  const parent = await scrape(user);
  expect(await waitForStates(user, parent, { READY: 2, DELAYED: 4 })).toEqual({ READY: 2, DELAYED: 4 });
  expect(characters(await user.children(parent.id))).toBeLessThanOrEqual(limit);
  const requestsBefore = site.requests.length;
  // Pages that do not fit are not fetched repeatedly.
  await sleep(1_000);
  expect(site.requests).toHaveLength(requestsBefore);
  await setLimits('characters', { max_characters: Math.ceil(PAGES * perPage * 1.1) });
  expect(await user.settled(parent.id)).toMatchObject({ sync_status: 'READY', file_metadata: { pages_ready: PAGES } });
  expect((await readStoredState(service.env)).findInconsistencies('characters')).toEqual([]);
});

thoroughly(
  'applies the limits of the organization to users without their own, and none to a user with -1',
  async () => {
    await service.user('free');
    await setLimits('free', { max_files_per_upload: -1 });
    await organization.post('/organization/update', { global_user_config: { max_files_per_upload: 1 } });
    const [limitedUser, free] = [await service.user('bound'), await service.user('free')];
    const counts = [];
    for (const user of [limitedUser, free]) {
      const parent = await user.settled((await scrape(user)).id);
      counts.push((await user.children(parent.id)).length);
    }
    await organization.post('/organization/update', { global_user_config: { max_files_per_upload: -1 } });
    expect(counts).toEqual([1, PAGES]);
  },
);
