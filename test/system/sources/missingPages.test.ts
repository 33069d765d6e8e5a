/** Scrapes with auto-sync: the handling of pages that are missing at their site. */
import type { Client } from '@temporalio/client';
import { afterAll, beforeAll, expect, test } from '@jest/globals';

import type { FileRecord } from '../../../contract/files/records.js';
import { scheduleIds, workflowIds } from '../../../contract/runs/workflowIds.js';
import { createTemporalClient } from '../../../dispatch/client.js';
import { samplePage, sitemapOf, type Site, startSampleSite } from '../../emulators/site.js';
import { readStoredState } from '../../support/storedState.js';
import { type ApiClient, apiClient, type Listed, type TestUser } from '../../support/client.js';
import { eventKindsOf } from '../../support/coldFiles.js';
import { withDatabase } from '../../support/mongo.js';
import { testEngines } from '../../support/engines.js';
import { runScheduledSync, scheduleOf } from '../../support/scheduledSyncs.js';
import { startService, type TestService } from '../../support/service.js';
import { thoroughRows } from '../../support/thorough.js';
import { waitFor } from '../../support/waitFor.js';

/** Enough pages for the mass-deletion limit to apply. */
const PAGES = 12;

let service: TestService;
let site: Site;
let client: Client;
let organization: ApiClient;
let user: TestUser;
let parent: FileRecord;

const pathOf = (index: number): string => `/pages/${index}.html`;
const paths = Array.from({ length: PAGES }, (_, index) => pathOf(index));
const setSitemap = (listedPaths: readonly string[]): void =>
  void site.pages.set('/sitemap.xml', sitemapOf(site.origin, listedPaths));
const syncNow = async (): Promise<void> => {
  const ended = await runScheduledSync(client, service.names, scheduleIds.container(parent.id));
  expect(ended).toEqual({ outcome: 'finished', parts: 1 });
  await waitFor(
    () => withDatabase(service, (db) => db.collection('runs').countDocuments({ finishedAt: null })),
    (runs) => runs === 0,
  );
};
/** Returns the numbers of the existing pages. */
const existingPages = async (): Promise<number[]> =>
  (await user.children(parent.id))
    .map((file) => Number(/(\d+)\.html$/.exec(file.external_url ?? '')?.[1]))
    .toSorted((a, b) => a - b);
const numbers = (from: number, to = PAGES): number[] => Array.from({ length: to - from }, (_, index) => from + index);
const heldDeletions = async (): Promise<unknown> => (await user.file(parent.id)).file_metadata?.['deletions_held'];
const quarantined = async () =>
  (await organization.get<Listed<{ file_id: number }>>(`/quarantined_files?parent_id=${parent.id}`)).body.results;

beforeAll(async () => {
  site = await startSampleSite(PAGES, 1);
  service = await startService({ ALLOWED_PRIVATE_HOSTS: '127.0.0.1' });
  client = createTemporalClient({ address: testEngines().temporalAddress, namespace: 'default' });
  organization = apiClient(service.url, { authorization: `Bearer ${service.apiKey}` });
  user = await service.user('hilda');
  setSitemap(paths);
  parent = await user.settled((await user.scrape({ url: site.url('/sitemap.xml'), enable_auto_sync: true })).id);
  await waitFor(
    () => scheduleOf(client, service.names, scheduleIds.container(parent.id)),
    (schedule) => schedule !== null,
  );
});
afterAll(async () => {
  await service.close();
  await Promise.all([site.close(), client.connection.close()]);
});

test('deletes pages missing from the sitemap or gone at their site, and keeps a page that fails otherwise', async () => {
  const files = await user.children(parent.id);
  const fileOf = (index: number): number => files.find((file) => file.external_url?.endsWith(pathOf(index)))?.id ?? 0;
  site.pages.set(pathOf(1), { status: 410 });
  site.pages.delete(pathOf(2));
  site.pages.set(pathOf(3), { status: 403 });
  setSitemap(paths.slice(1));
  await syncNow();
  expect(await existingPages()).toEqual(numbers(3));
  expect((await user.file(fileOf(3))).sync_status).toBe('SYNC_ERROR');
  for (const index of [0, 1, 2])
    expect((await eventKindsOf(service.env, fileOf(index))).filter((kind) => kind === 'FILE_DELETED')).toHaveLength(1);
  expect((await user.file(parent.id)).file_metadata).toMatchObject({ pages_total: PAGES - 3, pages_failed: 1 });
  expect(new Set((await quarantined()).map((one) => one.file_id))).toEqual(new Set([0, 1, 2].map(fileOf)));
  expect((await readStoredState(service.env)).findInconsistencies()).toEqual([]);

  // Restored pages stay, whether their site still lists them or not.
  const restored = await organization.post('/quarantined_files/restore', { file_ids: [fileOf(0), fileOf(1)] });
  expect(restored.body).toEqual({ restoring: 2 });
  await waitFor(existingPages, (pages) => pages.length === PAGES - 1);
  await syncNow();
  expect(await existingPages()).toEqual([0, 1, ...numbers(3)]);
  for (const index of [0, 1]) expect((await user.file(fileOf(index))).sync_status).toBe('READY');

  // All pages return to the site and its sitemap. Then page 0 disappears from the sitemap, and returns.
  for (const index of [1, 2, 3]) site.pages.set(pathOf(index), samplePage(index, 1));
  setSitemap(paths);
  await syncNow();
  expect(await existingPages()).toEqual(numbers(0));
  setSitemap(paths.slice(1));
  await syncNow();
  expect(await existingPages()).toEqual(numbers(1));
  setSitemap(paths);
  await syncNow();
  expect(await existingPages()).toEqual(numbers(0));
});

test('deletes no page after a sitemap with a failing part or without entries', async () => {
  const index = (parts: readonly string[]): string =>
    `<sitemapindex>${parts.map((part) => `<sitemap><loc>${site.url(part)}</loc></sitemap>`).join('')}</sitemapindex>`;
  site.pages.set('/first.xml', sitemapOf(site.origin, paths.slice(0, 8)));
  site.pages.set('/sitemap.xml', index(['/first.xml', '/broken.xml']));
  await syncNow();
  expect(await existingPages()).toEqual(numbers(0));
  for (const emptySitemap of [sitemapOf(site.origin, []), ...thoroughRows([{ status: 404 }, ''])]) {
    site.pages.set('/sitemap.xml', emptySitemap);
    await syncNow();
    expect(await existingPages()).toEqual(numbers(0));
  }
});

test('reports correct page counts after a cancelled scheduled sync', async () => {
  const waiting: (() => void)[] = [];
  const added = [PAGES, PAGES + 1, PAGES + 2];
  site.pages.set(pathOf(added[0] ?? 0), samplePage(PAGES, 1));
  for (const index of added.slice(1))
    site.pages.set(pathOf(index), (_request, response) => void waiting.push(() => response.end(samplePage(index, 1))));
  setSitemap([...paths, ...added.map(pathOf)]);
  const passing = runScheduledSync(client, service.names, scheduleIds.container(parent.id));
  await waitFor(
    () => user.file(parent.id),
    (file) => file.file_metadata?.['pages_total'] === PAGES + 3 && waiting.length > 0,
  );
  await client.workflow.getHandle(service.names.idOf(workflowIds.scrape(parent.id))).cancel();
  await passing;
  const { sync_status: status, file_metadata: facts } = await user.file(parent.id);
  const statuses = (await user.children(parent.id)).map((file) => file.sync_status);
  const countOf = (one: string): number => statuses.filter((other) => other === one).length;
  expect({ status, facts, aborted: countOf('SYNC_ABORTED') > 0 }).toMatchObject({
    status: 'SYNC_ABORTED',
    facts: {
      pages_total: PAGES + 3,
      pages_ready: countOf('READY'),
      pages_failed: 0,
      pages_aborted: PAGES + 3 - countOf('READY'),
    },
    aborted: true,
  });
  for (const answer of waiting) answer();
  for (const index of added) site.pages.delete(pathOf(index));
  setSitemap(paths);
  await syncNow();
  expect(await existingPages()).toEqual(numbers(0));
  expect((await user.file(parent.id)).file_metadata).toMatchObject({ pages_total: PAGES, pages_ready: PAGES });
});

test('deletes nothing when most pages are missing, until an operator approves', async () => {
  setSitemap(paths.slice(11));
  await syncNow();
  expect(await existingPages()).toEqual(numbers(0));
  expect(await heldDeletions()).toBe(11);
  const listed = await organization.get<Listed<FileRecord>>('/files/held_deletions');
  expect(listed.body).toMatchObject({ results: [{ id: parent.id }], count: 1 });
  const other = await service.store.organizations.create('other');
  const stranger = apiClient(service.url, { authorization: `Bearer ${other.apiKey}` });
  expect((await stranger.get('/files/held_deletions')).body).toEqual({ results: [], count: 0 });
  const decide = (what: string, caller = organization) =>
    caller.post(`/files/${parent.id}/held_deletions/${what}`, undefined);
  expect((await decide('approve', stranger)).status).toBe(404);
  expect((await decide('refuse')).status).toBe(200);
  expect(await heldDeletions()).toBeUndefined();
  expect((await decide('approve')).status).toBe(409);
  await syncNow();
  expect(await heldDeletions()).toBe(11);
  // The quarantine still contains files of the first test. Their pages returned, and are stored as new files.
  const before = (await quarantined()).length;
  expect((await decide('approve')).status).toBe(200);
  await syncNow();
  expect(await existingPages()).toEqual(numbers(11));
  expect(await heldDeletions()).toBeUndefined();
  expect((await quarantined()).length).toBe(before + 11);
  // Deleting the scrape erases its quarantined pages.
  await user.post('/delete_files_v2', { filters: { ids: [parent.id], include_containers: true } });
  await waitFor(quarantined, (rows) => rows.length === 0);
});
