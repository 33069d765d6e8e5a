/** Auto-sync: its schedules, and the effects of the syncs that they start. */
import type { Client } from '@temporalio/client';
import { afterAll, beforeAll, expect, test } from '@jest/globals';

import type { DataSourceRecord, FileRecord } from '../../../contract/files/records.js';
import type { AutoSyncInput, AutoSyncResult } from '../../../contract/runs/autoSync.js';
import { scheduleIds } from '../../../contract/runs/workflowIds.js';
import { createTemporalClient } from '../../../dispatch/client.js';
import { reapOnce } from '../../../dispatch/reaper.js';
import { createLog } from '../../../observability/log.js';
import { feedOf } from '../../emulators/linkedSite.js';
import { samplePage, sitemapOf, type Site, startSampleSite } from '../../emulators/site.js';
import { type ApiClient, apiClient, type Listed, type TestUser } from '../../support/client.js';
import { testEngines } from '../../support/engines.js';
import { runScheduledSync, scheduleOf, scheduleWhen, triggerScheduledSync } from '../../support/scheduledSyncs.js';
import { startService, type TestService } from '../../support/service.js';
import { waitFor } from '../../support/waitFor.js';
import { fixtureForGitBook } from '../../support/sourceFixtures/gitbook.js';
import type { SourceFixture, FixtureContent } from '../../support/sourceFixtures/fixture.js';
import { thoroughly, thoroughRows } from '../../support/thorough.js';

const HOUR_MS = 3_600_000;

let service: TestService;
let fixture: SourceFixture;
let site: Site;
let client: Client;
let organization: ApiClient;

beforeAll(async () => {
  [fixture, site] = await Promise.all([fixtureForGitBook(), startSampleSite(6)]);
  service = await startService({ ALLOWED_PRIVATE_HOSTS: '127.0.0.1', SOURCE_URLS: fixture.settings });
  client = createTemporalClient({ address: testEngines().temporalAddress, namespace: 'default' });
  organization = apiClient(service.url, { authorization: `Bearer ${service.apiKey}` });
});
afterAll(async () => {
  await service.close();
  await Promise.all([fixture.close(), site.close(), client.connection.close()]);
});

const pathOf = (file: FileRecord): string => file.external_url?.slice(site.origin.length) ?? '';
const updateUser = async (customerId: string, settings: Record<string, unknown>): Promise<void> => {
  const answer = await organization.post('/update_users', { customer_ids: [customerId], ...settings });
  expect(answer).toMatchObject({ status: 200 });
};
const everyMs = (schedule: Awaited<ReturnType<typeof scheduleOf>>): number | undefined =>
  schedule?.spec.intervals?.[0]?.every;
const exists = (schedule: unknown): boolean => schedule !== null;
const sourceOf = async (user: TestUser): Promise<DataSourceRecord> =>
  (await user.post<Listed<DataSourceRecord>>('/user_data_sources', {})).body.results[0]!;
const filesOf = async (user: TestUser): Promise<FileRecord[]> =>
  (
    await user.post<Listed<FileRecord>>('/user_files_v2', {
      pagination: { limit: 100 },
      order_by: 'id',
      order_dir: 'asc',
    })
  ).body.results;
const settledFiles = (user: TestUser, number: number): Promise<FileRecord[]> =>
  waitFor(
    () => filesOf(user),
    (files) => files.length === number && files.every(({ sync_status: status }) => status === 'READY'),
  );

test('an account has a schedule while auto-sync is enabled; a sync without changes only lists the account', async () => {
  const user = await service.user('ada');
  const content: FixtureContent = fixture.reset();
  expect(await fixture.connect(user, { sync_files_on_connection: true })).toMatchObject({ status: 200 });
  const files = await settledFiles(user, 2 + content.others.length);
  const { id } = await sourceOf(user);
  const scheduleId = scheduleIds.source(id);
  expect(await scheduleOf(client, service.names, scheduleId)).toBeNull();

  await updateUser('ada', { auto_sync_enabled_sources: ['GITBOOK'], auto_sync_interval: 6 });
  const schedule = await scheduleWhen(client, service.names, scheduleId, exists);
  expect(schedule).toMatchObject({
    policies: { overlap: 'SKIP', catchupWindow: 6 * HOUR_MS, pauseOnFailure: false },
    state: { paused: false },
    action: { taskQueue: service.names.taskQueue, workflowId: service.names.idOf(scheduleId) },
    searchAttributes: { DataSourceId: [String(id)], OrganizationId: ['1'] },
  });
  expect(everyMs(schedule)).toBe(6 * HOUR_MS);
  await updateUser('ada', { auto_sync_interval: 12 });
  await scheduleWhen(client, service.names, scheduleId, (one) => everyMs(one) === 12 * HOUR_MS);

  // Nothing has changed: no file is fetched or updated.
  const requests = content.others.concat(content.lighthouse).map((one) => fixture.contentRequests?.(one));
  expect(await triggerScheduledSync(client, service.names, scheduleId)).toEqual({ outcome: 'finished', parts: 2 });
  expect(content.others.concat(content.lighthouse).map((one) => fixture.contentRequests?.(one))).toEqual(requests);
  const same = ({ id: fileId, sync_status, last_sync, request_id }: FileRecord) => ({
    fileId,
    sync_status,
    last_sync,
    request_id,
  });
  expect((await filesOf(user)).map(same)).toEqual(files.map(same));
  const requestsOf = async (act: () => Promise<unknown>): Promise<number> => {
    const countBefore = fixture.requestCount();
    await act();
    return fixture.requestCount() - countBefore;
  };
  const listing = await requestsOf(async () => {
    expect((await user.post('/integrations/items/sync', { data_source_id: id })).status).toBe(200);
    await waitFor(
      () => sourceOf(user),
      ({ sync_status }) => sync_status === 'READY',
    );
  });
  // The requested listing may have found changes that no sync has applied, so the next sync reads the selection again.
  expect(await triggerScheduledSync(client, service.names, scheduleId)).toEqual({ outcome: 'finished', parts: 2 });
  // The listing is equal to the previous one, so the sync ends after this part. The second part would list the account
  // again, to sync its selected items.
  const unchanged = await requestsOf(async () =>
    expect(await triggerScheduledSync(client, service.names, scheduleId)).toEqual({ outcome: 'finished', parts: 1 }),
  );
  expect(unchanged).toBeGreaterThan(0);
  expect(unchanged).toBeLessThanOrEqual(listing);

  fixture.write(content.lighthouse, 'The lighthouse was moved in 1950.');
  fixture.remove(content.others[0]!);
  expect(await triggerScheduledSync(client, service.names, scheduleId)).toEqual({ outcome: 'finished', parts: 2 });
  const after = await settledFiles(user, files.length - 1);
  const syncedAgain = after.filter(({ last_sync }) => !files.some((file) => file.last_sync === last_sync));
  expect(syncedAgain.map((file) => file.external_file_id)).toEqual([content.lighthouse]);

  // The schedule pauses with the connection, and resumes when the account is connected again.
  expect((await user.post('/revoke_access_token', { data_source_id: id })).status).toBe(200);
  await scheduleWhen(client, service.names, scheduleId, (one) => one?.state.paused === true);
  expect(await triggerScheduledSync(client, service.names, scheduleId)).toEqual({ outcome: 'revoked', parts: 0 });
  expect(await fixture.connect(user, { sync_files_on_connection: false })).toMatchObject({ status: 200 });
  await scheduleWhen(client, service.names, scheduleId, (one) => one?.state.paused === false);

  await updateUser('ada', { auto_sync_enabled_sources: [] });
  await scheduleWhen(client, service.names, scheduleId, (one) => one === null);
  const config = { auto_sync_enabled_sources: 'ALL', auto_sync_interval: 3 };
  expect(await organization.post('/organization/update', { global_user_config: config })).toMatchObject({
    status: 200,
  });
  // A user's own auto_sync_enabled_sources overrides that of the organization, even when empty.
  const other = await service.user('bob');
  expect(await fixture.connect(other, { sync_files_on_connection: false })).toMatchObject({ status: 200 });
  const others = scheduleIds.source((await sourceOf(other)).id);
  expect(everyMs(await scheduleWhen(client, service.names, others, exists))).toBe(3 * HOUR_MS);
  expect(await scheduleOf(client, service.names, scheduleId)).toBeNull();
  await organization.post('/organization/update', { global_user_config: { auto_sync_enabled_sources: [] } });
  await scheduleWhen(client, service.names, others, (one) => one === null);
});

thoroughly('does not restore deleted files, and adds new files of selected folders', async () => {
  const user = await service.user('carl');
  const content = fixture.reset();
  expect(await fixture.connect(user, { sync_files_on_connection: false })).toMatchObject({ status: 200 });
  const { id, organization_user_id: userId } = await sourceOf(user);
  const select = async (ids: readonly string[]): Promise<void> => {
    expect(await user.post('/integrations/files/sync', { data_source_id: id, ids })).toMatchObject({ status: 200 });
  };
  await select([content.containers[0]!]);
  // The keeper is in the selected folder, and is also selected by its own id, with the same options. Scheduled syncs
  // must not restore its deleted file for that reason.
  await select([content.keeper]);
  await settledFiles(user, 2);
  await updateUser('carl', { auto_sync_enabled_sources: ['GITBOOK'] });
  const scheduleId = scheduleIds.source(id);
  expect(everyMs(await scheduleWhen(client, service.names, scheduleId, exists))).toBe(3 * HOUR_MS);
  const owner = { organizationId: 1, userId };
  expect(await service.store.selections.nextGroup(owner, id, [])).toMatchObject({ externalIds: expect.any(Array) });
  expect(await service.store.selections.nextGroup({ ...owner, userId: userId + 1 }, id, [])).toBeNull();

  const [keeper] = (await filesOf(user)).filter((file) => file.external_file_id === content.keeper);
  await user.post('/delete_files_v2', { filters: { ids: [keeper?.id] } });
  await settledFiles(user, 1);
  expect(await triggerScheduledSync(client, service.names, scheduleId)).toMatchObject({ outcome: 'finished' });
  expect((await settledFiles(user, 1)).map((file) => file.external_file_id)).toEqual([content.lighthouse]);
  // The folder has more files now than when it was selected.
  fixture.reset(2);
  expect(await triggerScheduledSync(client, service.names, scheduleId)).toMatchObject({ outcome: 'finished' });
  const more = await settledFiles(user, 3);
  expect(more.map((file) => file.external_file_id)).not.toContain(content.keeper);
  // When it is selected again, the file is added, and later scheduled syncs keep it.
  await select([content.keeper]);
  await settledFiles(user, 4);
  expect(await triggerScheduledSync(client, service.names, scheduleId)).toMatchObject({ outcome: 'finished' });
  expect(await settledFiles(user, 4)).toHaveLength(4);
  expect((await organization.post('/delete_users', { customer_ids: ['carl'] })).status).toBe(200);
  await scheduleWhen(client, service.names, scheduleId, (one) => one === null);
  expect(await outcomeOfOrphanedSync(scheduleId)).toBe('gone');
});

/** Returns the outcome of a sync that its schedule started just before the schedule was deleted. */
const outcomeOfOrphanedSync = async (scheduleId: string): Promise<string> =>
  (await runScheduledSync(client, service.names, scheduleId)).outcome;

test('syncs a site automatically only when its request enables that', async () => {
  const user = await service.user('dora');
  await updateUser('dora', { auto_sync_enabled_sources: 'ALL', auto_sync_interval: 6 });
  const paths = ['/pages/0.html', '/pages/1.html', '/pages/2.html'];
  site.pages.set('/sitemap.xml', sitemapOf(site.origin, paths));
  site.pages.set('/other.xml', sitemapOf(site.origin, paths.slice(0, 1)));
  // Both sitemaps list the first page. Its file becomes a child of the scrape that ran last, so /other.xml is scraped
  // first.
  const unscheduled = await user.settled((await user.scrape({ url: site.url('/other.xml') })).id);
  const parent = await user.settled((await user.scrape({ url: site.url('/sitemap.xml'), enable_auto_sync: true })).id);
  const scheduleId = scheduleIds.container(parent.id);
  expect(everyMs(await scheduleWhen(client, service.names, scheduleId, exists))).toBe(6 * HOUR_MS);
  expect(await scheduleOf(client, service.names, scheduleIds.container(unscheduled.id))).toBeNull();
  const pageStates = async () =>
    (await user.children(parent.id)).map(({ id, last_sync, sync_status }) => ({ id, last_sync, sync_status }));
  const before = await pageStates();

  expect(await triggerScheduledSync(client, service.names, scheduleId)).toEqual({ outcome: 'finished', parts: 1 });
  expect(await pageStates()).toEqual(before);

  const page = site.pages.get(paths[0]!);
  if (typeof page !== 'string') throw new Error('a page of the sample site is a text');
  site.pages.set(paths[0]!, page.replace('</main>', '<p>A lamp was lit at the pier.</p></main>'));
  site.pages.set('/sitemap.xml', sitemapOf(site.origin, [...paths, '/pages/3.html']));
  const [second] = (await user.children(parent.id)).filter((file) => file.external_url?.endsWith(paths[1]!));
  await user.post('/delete_files_v2', { filters: { ids: [second?.id] } });
  await waitFor(pageStates, (files) => files.length === 2);
  expect(await triggerScheduledSync(client, service.names, scheduleId)).toEqual({ outcome: 'finished', parts: 1 });
  const after = await user.children(parent.id);
  expect(after.map(pathOf).toSorted()).toEqual(['/pages/0.html', '/pages/2.html', '/pages/3.html']);
  const changed = after.filter(({ last_sync }) => !before.some((file) => file.last_sync === last_sync));
  expect(changed.map(pathOf).toSorted()).toEqual(['/pages/0.html', '/pages/3.html']);

  for (const query of [`FileId = '${parent.id}'`, `OrganizationId = '1'`]) {
    const found: string[] = [];
    for await (const one of client.schedule.list({ query })) found.push(one.scheduleId);
    expect(found).toContain(service.names.idOf(scheduleId));
  }
  await user.post('/delete_files_v2', { filters: { ids: [parent.id], include_containers: true } });
  await scheduleWhen(client, service.names, scheduleId, (one) => one === null);
});

test('creates a schedule for a sitemap and for a crawl only if enable_auto_sync is true', async () => {
  const user = await service.user('ines');
  await updateUser('ines', { auto_sync_enabled_sources: 'ALL' });
  const started: { enableAutoSync: boolean | null; file: FileRecord }[] = [];
  // The last requests are those with true: when their schedules exist, a schedule of another request would exist, too.
  for (const [index, enableAutoSync] of [null, ...thoroughRows([false]), true].entries()) {
    const options = { enable_auto_sync: enableAutoSync };
    site.pages.set(`/wish-${index}.xml`, sitemapOf(site.origin, [`/pages/${2 * index}.html`]));
    const sitemap = await user.scrape({ url: site.url(`/wish-${index}.xml`), ...options });
    const url = site.url(`/pages/${2 * index + 1}.html`);
    const crawl = { url, recursion_depth: 0, max_pages_to_scrape: 1, ...options };
    const [crawled] = (await user.post<FileRecord[]>('/web_scrape', [crawl])).body;
    for (const file of [sitemap, crawled!]) started.push({ enableAutoSync, file });
  }
  const scheduled = started.filter(({ enableAutoSync }) => enableAutoSync === true);
  expect(scheduled).toHaveLength(2);
  for (const { file } of scheduled) await scheduleWhen(client, service.names, scheduleIds.container(file.id), exists);
  for (const { enableAutoSync, file } of started) {
    await user.settled(file.id);
    // Null counts as absent.
    expect((await user.file(file.id)).enable_auto_sync).toBe(enableAutoSync ?? false);
    if (enableAutoSync !== true)
      expect(await scheduleOf(client, service.names, scheduleIds.container(file.id))).toBeNull();
  }
  expect((await organization.post('/delete_users', { customer_ids: ['ines'] })).status).toBe(200);
  for (const { file } of scheduled)
    await scheduleWhen(client, service.names, scheduleIds.container(file.id), (one) => one === null);
});

thoroughly('syncs a feed automatically when its user enables that, and stops when the feed is gone', async () => {
  const user = await service.user('gro');
  const path = '/feed.xml';
  site.pages.set(path, feedOf({ one: 'Lit in 1901.' }));
  expect(await user.post('/integrations/rss_feed', { url: site.url(path) })).toMatchObject({ status: 200 });
  const isRead = (files: FileRecord[]): boolean =>
    files.length > 0 && files.every((file) => file.sync_status === 'READY') && files.some((file) => file.last_sync);
  const before = await waitFor(() => filesOf(user), isRead);
  await updateUser('gro', { auto_sync_enabled_sources: ['RSS_FEED'] });
  const scheduleId = scheduleIds.source((await sourceOf(user)).id);
  await scheduleWhen(client, service.names, scheduleId, exists);
  site.pages.set(path, feedOf({ one: 'Lit in 1901.', two: 'Dredged in 1902.' }));
  expect(await triggerScheduledSync(client, service.names, scheduleId)).toEqual({ outcome: 'finished', parts: 1 });
  await settledFiles(user, before.length + 1);
  site.pages.set(path, { status: 410 });
  expect(await triggerScheduledSync(client, service.names, scheduleId)).toEqual({ outcome: 'finished', parts: 1 });
  const requests = site.requests.filter((one) => one === path).length;
  expect(await triggerScheduledSync(client, service.names, scheduleId)).toEqual({ outcome: 'finished', parts: 0 });
  expect(site.requests.filter((one) => one === path)).toHaveLength(requests);
});

test('resets files that a terminated sync was evaluating', async () => {
  const user = await service.user('finn');
  const path = '/looked.html';
  site.pages.set(path, samplePage(7, 1));
  site.pages.set('/looked.xml', sitemapOf(site.origin, [path]));
  const parent = await user.settled((await user.scrape({ url: site.url('/looked.xml'), enable_auto_sync: true })).id);
  const [page] = await user.children(parent.id);
  const scheduleId = scheduleIds.container(parent.id);
  await scheduleWhen(client, service.names, scheduleId, exists);
  let isRequested = false;
  site.pages.set(path, () => void (isRequested = true));
  await client.schedule.getHandle(service.names.idOf(scheduleId)).trigger();
  await waitFor(
    () => isRequested,
    (requested) => requested,
  );
  expect(await user.file(page?.id ?? 0)).toMatchObject({ sync_status: 'EVALUATING_RESYNC' });
  // The worker dies, and then its workflows are terminated.
  await service.stopWorker();
  const inProgress = await service.store.runs.listActiveStartedUntil(new Date(), 100);
  const runsOfPage = inProgress.filter(({ fileId }) => fileId === parent.id);
  expect(runsOfPage.map(({ kind }) => kind).toSorted()).toEqual(['autoSync', 'scrapeSitemap']);
  for (const { workflowId } of runsOfPage)
    await client.workflow
      .getHandle(service.names.idOf(workflowId))
      .terminate('test')
      .catch(() => undefined);
  const log = createLog({ level: 'silent', name: 'test' });
  expect(await reapOnce({ client, names: service.names }, service.store, log, Date.now() + 60_000)).toBe(2);
  const { last_sync: lastSync } = page!;
  expect(await user.file(page?.id ?? 0)).toMatchObject({ sync_status: 'READY', last_sync: lastSync });
  site.pages.set(path, samplePage(7, 1));
  await service.startWorker();
  expect(await triggerScheduledSync(client, service.names, scheduleId)).toEqual({ outcome: 'finished', parts: 1 });
  expect(await user.file(page?.id ?? 0)).toMatchObject({ sync_status: 'READY', last_sync: lastSync });
});

test('runs one sync at a time, however often its schedule fires; both have search attributes', async () => {
  const user = await service.user('edda');
  const content = fixture.reset();
  expect(await fixture.connect(user, { sync_files_on_connection: true })).toMatchObject({ status: 200 });
  await settledFiles(user, 2 + content.others.length);
  await updateUser('edda', { auto_sync_enabled_sources: 'ALL', auto_sync_interval: 3 });
  const { id, organization_user_id: userId } = await sourceOf(user);
  const scheduleId = scheduleIds.source(id);
  await scheduleWhen(client, service.names, scheduleId, exists);
  fixture.hold();
  // As after a downtime of a day: one sync replaces all missed syncs.
  const now = Date.now();
  await client.schedule
    .getHandle(service.names.idOf(scheduleId))
    .backfill({ start: new Date(now - 24 * HOUR_MS), end: new Date(now), overlap: 'SKIP' });
  const workflowIdsOf = async (query: string): Promise<string[]> => {
    const found: string[] = [];
    const ours = `${query} AND TaskQueue = '${service.names.taskQueue}'`;
    for await (const { workflowId, type } of client.workflow.list({ query: ours }))
      if (type === 'autoSync') found.push(workflowId);
    return found;
  };
  const [scheduledWorkflowId = ''] = await waitFor(
    () => workflowIdsOf(`DataSourceId = '${id}'`),
    (found) => found.length > 0,
  );
  await waitFor(
    () => fixture.requestsInProgress(),
    (requests) => requests > 0,
  );
  await client.schedule.getHandle(service.names.idOf(scheduleId)).trigger('SKIP');
  const skipped = await scheduleWhen(
    client,
    service.names,
    scheduleId,
    (one) => (one?.info.numActionsSkippedOverlap ?? 0) >= 8,
  );
  expect(skipped?.info.numActionsTaken).toBe(1);
  // A sync that an operator starts detects the running one.
  expect(await runOnce(scheduleId)).toBe('busy');

  const { requestId } = (await service.store.scheduledSyncs.findByTemporalRunId(
    (await client.workflow.getHandle(scheduledWorkflowId).describe()).runId,
  ))!;
  for (const [name, value] of [
    ['DataSourceId', String(id)],
    ['UserId', String(userId)],
    ['OrganizationId', '1'],
    ['RequestId', requestId],
  ] as const)
    expect(
      await waitFor(
        () => workflowIdsOf(`${name} = '${value}'`),
        (found) => found.includes(scheduledWorkflowId),
      ),
    ).toContain(scheduledWorkflowId);
  const schedulesOf = async (query: string): Promise<string[]> => {
    const found: string[] = [];
    for await (const one of client.schedule.list({ query })) found.push(one.scheduleId);
    return found;
  };
  for (const query of [`DataSourceId = '${id}'`, `UserId = '${userId}'`, `OrganizationId = '1'`])
    expect(await schedulesOf(query)).toContain(service.names.idOf(scheduleId));

  // The user is deleted during the sync: the schedule is deleted, the sync ends, then the data source and its
  // selections are deleted.
  expect((await organization.post('/delete_users', { customer_ids: ['edda'] })).status).toBe(200);
  await client.workflow
    .getHandle(scheduledWorkflowId)
    .result()
    .catch(() => undefined);
  await scheduleWhen(client, service.names, scheduleId, (one) => one === null);
  const owner = { organizationId: 1, userId };
  await waitFor(
    async () => service.store.dataSources.find(owner, id),
    (source) => source === null,
  );
  expect(await service.store.selections.nextGroup(owner, id, [])).toBeNull();
  fixture.reset();
});

test('files above max_files_per_upload are added once the limit is raised, without a change at the source', async () => {
  const user = await service.user('max');
  const content = fixture.reset();
  const fileCount = 2 + content.others.length;
  expect(await fixture.connect(user, { sync_files_on_connection: false })).toMatchObject({ status: 200 });
  const { id } = await waitFor(
    () => sourceOf(user),
    ({ sync_status }) => sync_status === 'READY',
  );
  await updateUser('max', { auto_sync_enabled_sources: ['GITBOOK'], max_files_per_upload: 1 });
  const scheduleId = scheduleIds.source(id);
  await scheduleWhen(client, service.names, scheduleId, exists);
  expect((await user.post('/integrations/files/sync', { data_source_id: id, ids: content.containers })).status).toBe(
    200,
  );
  await settledFiles(user, 1);
  for (let number = 0; number < 2; number += 1)
    expect(await runScheduledSync(client, service.names, scheduleId)).toEqual({ outcome: 'finished', parts: 2 });
  await updateUser('max', { max_files_per_upload: fileCount });
  expect(await runScheduledSync(client, service.names, scheduleId)).toEqual({ outcome: 'finished', parts: 2 });
  await settledFiles(user, fileCount);
});

/** Starts a scheduled sync now, whatever else is running. Returns its outcome. */
const runOnce = async (scheduleId: string): Promise<string> => {
  const { idOf, taskQueue } = service.names;
  const workflowId = idOf(`${scheduleId}-forced`);
  const args: [AutoSyncInput] = [{ scheduleId }];
  const input = { workflowId, taskQueue, args };
  return (await client.workflow.execute<(one: AutoSyncInput) => Promise<AutoSyncResult>>('autoSync', input)).outcome;
};
