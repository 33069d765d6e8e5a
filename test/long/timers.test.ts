/**
 * Tests waits of minutes to weeks on a Temporal server that skips time: each effect occurs once, at its time and not
 * earlier.
 */
import type { Client, WorkflowExecutionDescription } from '@temporalio/client';
import { afterAll, beforeAll, expect, test } from '@jest/globals';

import { workflowIds } from '../../contract/runs/workflowIds.js';
import type { DataSourceRecord, FileRecord } from '../../contract/files/records.js';
import { createTemporalClient } from '../../dispatch/client.js';
import { coldSweepOnce } from '../../dispatch/coldSweep.js';
import { quarantineSweepOnce } from '../../dispatch/quarantineSweep.js';
import { type GitBookEmulator, ORGANIZATION, startGitBook, TOKEN } from '../emulators/gitbook.js';
import { type GoogleDriveEmulator, startGoogleDrive } from '../emulators/googleDrive.js';
import { CLIENT_ID, CLIENT_SECRET } from '../emulators/oauthProvider.js';
import { type Received, type Receiver, startReceiver } from '../emulators/receiver.js';
import { samplePage, type Site, sitemapOf, startSite } from '../emulators/site.js';
import { apiClient, type Listed, type TestUser } from '../support/client.js';
import { consentTo } from '../support/consent.js';
import { withDatabase } from '../support/mongo.js';
import { quietTemporal } from '../support/quietTemporal.js';
import { startService, type TestService } from '../support/service.js';
import { waitFor } from '../support/waitFor.js';
import { startTimeSkipping, type TimeSkipping } from '../support/timeSkipping.js';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

let time: TimeSkipping;
let service: TestService;
let client: Client;
let site: Site;
let drive: GoogleDriveEmulator;
let gitbook: GitBookEmulator;

/** By activity name, a function that returns whether a call fails. This simulates an unavailable store. */
const outages = new Map<string, () => boolean>();

beforeAll(async () => {
  // The Temporal SDK would log a warning for each attempt that fails.
  await quietTemporal('ERROR');
  time = await startTimeSkipping();
  [site, drive, gitbook] = await Promise.all([startSite(), startGoogleDrive(), startGitBook()]);
  service = await startService(
    {
      ALLOWED_PRIVATE_HOSTS: '127.0.0.1',
      // The time-skipping server does not support schedules, so each comparison of schedules would log an error.
      LOG_LEVEL: 'silent',
      TEMPORAL_ADDRESS: time.address,
      SOURCE_URLS: `${drive.settings},${gitbook.settings}`,
      OAUTH_CLIENTS: `GOOGLE_DRIVE=${CLIENT_ID}:${CLIENT_SECRET}`,
      // The default, which startService() otherwise replaces by shorter delays.
      RETRY_DELAYS_S: '5,30,120',
    },
    { worker: false },
  );
  client = createTemporalClient({ address: time.address, namespace: 'default' });
  await service.startWorker((activities) =>
    time.follow(
      {
        ...activities,
        async ingestBatch(input) {
          if (outages.get('ingestBatch')?.()) throw new Error('a store is down');
          return activities.ingestBatch(input);
        },
      },
      // Rate limits of hosts depend on MongoDB's clock, which does not skip time, so their ends are moved.
      async (byMs) =>
        withDatabase(service, async (db) => {
          const earlier = { $dateSubtract: { startDate: '$pausedUntil', unit: 'millisecond', amount: byMs } };
          await db
            .collection('hostRateLimits')
            .updateMany({ pausedUntil: { $type: 'date' } }, [{ $set: { pausedUntil: earlier } }]);
        }),
    ),
  );
});
afterAll(async () => {
  await service.close();
  await client.connection.close();
  await Promise.all([site.close(), drive.close(), gitbook.close()]);
  await time.close();
});

const describeWorkflow = (workflowId: string): Promise<WorkflowExecutionDescription> =>
  client.workflow.getHandle(service.names.idOf(workflowId)).describe();
const isRunning = async (workflowId: string): Promise<boolean> =>
  (await describeWorkflow(workflowId)).status.name === 'RUNNING';
/** Duration of a workflow that ends, by Temporal's clock. */
async function tookMs(workflowId: string): Promise<number> {
  const { startTime, closeTime } = await waitFor(
    () => describeWorkflow(workflowId),
    ({ status }) => status.name !== 'RUNNING',
  );
  return (closeTime?.getTime() ?? 0) - startTime.getTime();
}
/** Extra time (ms) that a slow machine may add to a duration. */
const SLOWNESS_MS = 45 * SECOND;
function expectAbout(ms: number, expectedMs: number): void {
  expect(ms).toBeGreaterThan(expectedMs - 2 * SECOND);
  expect(ms).toBeLessThan(expectedMs + SLOWNESS_MS);
}
const gaps = (times: readonly number[]): number[] => times.slice(1).map((at, index) => at - (times[index] ?? 0));
function expectGaps(times: readonly number[], expectedGaps: readonly number[]): void {
  const actualGaps = gaps(times);
  expect(actualGaps).toHaveLength(expectedGaps.length);
  actualGaps.forEach((ms, index) => expectAbout(ms, expectedGaps[index] ?? 0));
}
const statusesBelow = async (user: TestUser, id: number): Promise<string[]> =>
  (await user.children(id)).map((file) => file.sync_status);

let scrapes = 0;
/** Adds a sitemap with new pages to the site. */
function freshSitemap(pages: number): { readonly url: string; readonly paths: readonly string[] } {
  scrapes += 1;
  const paths = Array.from({ length: pages }, (_, index) => `/${scrapes}/${index}.html`);
  paths.forEach((path, index) => site.pages.set(path, samplePage(scrapes * 100 + index, 2)));
  site.pages.set(`/${scrapes}.xml`, sitemapOf(site.origin, paths));
  return { url: site.url(`/${scrapes}.xml`), paths };
}
/**
 * Makes a path of the site answer `requests` times with 503, then as before. Returns an array to which each request
 * adds its time.
 */
function failFirst(path: string, requests: number): readonly number[] {
  const body = site.pages.get(path) as string;
  const requestTimes: number[] = [];
  site.pages.set(path, (_request, response) => {
    requestTimes.push(Date.now());
    const isBroken = requestTimes.length <= requests;
    response.writeHead(isBroken ? 503 : 200, {
      'content-type': path.endsWith('.xml') ? 'application/xml' : 'text/html',
    });
    response.end(isBroken ? 'unavailable' : body);
  });
  return requestTimes;
}

/** Connects an account of GitBook and syncs one of its spaces. */
async function connectGitBook(customerId: string, pages: readonly string[]): Promise<{ id: number; space: string }> {
  const user = await service.user(customerId);
  const token = `${TOKEN}-${customerId}`;
  gitbook.tokens.set(token, ORGANIZATION);
  for (const space of Object.keys(gitbook.spaces)) delete gitbook.spaces[space];
  gitbook.spaces[customerId] = {
    title: customerId,
    pages: Object.fromEntries(pages.map((name) => [name, { title: name, text: `On ${name}.` }])),
  };
  const connected = await user.post('/integrations/gitbook', {
    organization: ORGANIZATION,
    access_token: token,
    sync_files_on_connection: false,
  });
  expect(connected).toMatchObject({ status: 200 });
  const { results } = (await user.post<Listed<DataSourceRecord>>('/user_data_sources', {})).body;
  const id = results[0]?.id ?? 0;
  await waitFor(
    () => user.post('/integrations/files/sync', { data_source_id: id, ids: [customerId] }),
    ({ status }) => status === 200,
  );
  await waitFor(
    () => files(user),
    (records) => records.length === pages.length && records.every(({ sync_status: status }) => status === 'READY'),
  );
  return { id, space: customerId };
}
const files = async (user: TestUser): Promise<FileRecord[]> =>
  (await user.post<Listed<FileRecord>>('/user_files_v2', { filters: { source: 'GITBOOK' } })).body.results;

test('ends an abandoned connection attempt after half an hour, and a completed one immediately', async () => {
  const beginConsent = async (customerId: string): Promise<string> => {
    const user = await service.user(customerId);
    const request = { service: 'GOOGLE_DRIVE', connecting_new_account: true, sync_source_items: false };
    return (await user.post<{ oauth_url: string }>('/integrations/oauth_url', request)).body.oauth_url;
  };
  const attempts = (): Promise<{ _id: number; state: string }[]> =>
    withDatabase(service, (db) =>
      db.collection<{ _id: number; state: string }>('connection_attempts').find().sort({ _id: 1 }).toArray(),
    );
  await beginConsent('ada');
  const authorizationUrl = await beginConsent('ben');
  const [abandoned, completed] = (await attempts()).map(({ _id }) => workflowIds.connect(_id)) as [string, string];
  for (const workflowId of [abandoned, completed])
    await waitFor(() => isRunning(workflowId).catch(() => false), Boolean);
  await time.advance(20 * MINUTE);
  await consentTo(authorizationUrl);
  expectAbout(await tookMs(completed), 20 * MINUTE);
  await time.advance(9 * MINUTE);
  expect((await attempts()).map(({ state }) => state)).toEqual(['waiting', 'connected']);
  await time.advance(2 * MINUTE);
  expectAbout(await tookMs(abandoned), 30 * MINUTE);
  expect((await attempts()).map(({ state }) => state)).toEqual(['expired', 'connected']);
});

test('ends a paused run after thirty days, and continues a run that is resumed on the twentieth day', async () => {
  const user = await service.user('bea');
  const bound = { chunk_size: 100, max_tokens: 0 };
  const [abandoned, resumed] = [
    await user.scrape({ url: freshSitemap(2).url, ...bound }),
    await user.scrape({ url: freshSitemap(2).url, ...bound }),
  ];
  const pausedRunOf = async (id: number): Promise<string> => {
    const { sync_error_message: message } = await waitFor(
      async () => (await service.user('bea')).file(id),
      (file) => file.sync_error_message?.startsWith('Paused at max_tokens') === true,
    );
    return /\d+(?=\/resume)/.exec(message ?? '')?.[0] ?? '';
  };
  await pausedRunOf(abandoned.id);
  const runId = await pausedRunOf(resumed.id);
  await time.advance(20 * DAY);
  const later = await service.user('bea');
  expect((await later.post(`/sync_runs/${runId}/resume`, { max_tokens: null })).status).toBe(200);
  expect(await later.settled(resumed.id)).toMatchObject({ sync_status: 'READY' });
  expectAbout(await tookMs(workflowIds.scrape(resumed.id)), 20 * DAY);
  await time.advance(9 * DAY);
  await pausedRunOf(abandoned.id);
  await time.advance(DAY + MINUTE);
  const last = await service.user('bea');
  expectAbout(await tookMs(workflowIds.scrape(abandoned.id)), 30 * DAY);
  expect((await last.settled(abandoned.id)).sync_error_message).toMatch(/was not resumed in time/);
  expect(await statusesBelow(last, abandoned.id)).toEqual(['SYNC_ABORTED', 'SYNC_ABORTED']);
  expect(await statusesBelow(last, resumed.id)).toEqual(['READY', 'READY']);
});

/** Creates an organization with a receiver, and functions that emit its events and list its deliveries. */
async function startReceivingOrganization(name: string) {
  const receiver: Receiver = await startReceiver();
  const { organizationId } = await service.store.organizations.create(name);
  const webhook = await service.store.transaction((session) =>
    service.store.webhooks.add(organizationId, receiver.url, '00'.repeat(32), session),
  );
  const emit = (id: number) =>
    service.store.events.write(
      [{ kind: 'FILE_READY', organizationId, customerId: name, objectId: String(id), info: null }],
      null,
    );
  const tried = (id: number): number[] =>
    receiver.received
      .filter(({ event }) => event.obj.object_id === String(id))
      .map(({ headers }) => Number(headers['webhook-timestamp']) * SECOND);
  return { receiver, emit, tried, find: () => service.store.webhooks.find(webhook?._id ?? 0) };
}

test('retries a delivery over seventeen hours, then never again', async () => {
  const { receiver, emit, tried, find } = await startReceivingOrganization('gives up');
  receiver.reactWith(() => 500);
  await emit(1);
  await waitFor(() => tried(1).length, Boolean);
  await time.advance(17 * HOUR);
  const delays = [5 * SECOND, 5 * MINUTE, 30 * MINUTE, 2 * HOUR, 5 * HOUR];
  expectGaps(tried(1), delays);
  expect(await find()).not.toMatchObject({ status: 'FLAGGED' });
  await time.advance(HOUR);
  expectGaps(tried(1), [...delays, 10 * HOUR]);
  expect(await waitFor(find, (webhook) => webhook?.status === 'FLAGGED')).toMatchObject({ status: 'FLAGGED' });
  await time.advance(3 * DAY);
  expect(tried(1)).toHaveLength(7);
  await receiver.close();
});

test('delivers missed events at the next retry after a receiver recovers, and new events immediately', async () => {
  const { receiver, emit, tried } = await startReceivingOrganization('comes back');
  const recoveredAt = Date.now() + 3 * HOUR;
  receiver.reactWith(({ event }: Received) => (event.obj.object_id === '1' && Date.now() < recoveredAt ? 503 : 200));
  await emit(1);
  await waitFor(() => tried(1).length, Boolean);
  await time.advance(HOUR);
  await emit(2);
  expect(await receiver.waitForAccepted(1)).toEqual(['FILE_READY 2']);
  await time.advance(6 * HOUR);
  expect(receiver.accepted()).toHaveLength(1);
  await time.advance(DAY);
  expect(receiver.accepted()).toEqual(['FILE_READY 2', 'FILE_READY 1']);
  expectGaps(tried(1), [5 * SECOND, 5 * MINUTE, 30 * MINUTE, 2 * HOUR, 5 * HOUR]);
  await receiver.close();
});

test('retries a page after 5, 30 and 120 seconds', async () => {
  const user = await service.user('cleo');
  const { url, paths } = freshSitemap(2);
  const [mended, broken] = [failFirst(paths[0] ?? '', 3), failFirst(paths[1] ?? '', Infinity)];
  const { id } = await user.scrape({ url, chunk_size: 100 });
  await waitFor(() => mended.length * broken.length, Boolean);
  await time.advance(10 * MINUTE);
  await user.settled(id);
  expectGaps(mended, [5 * SECOND, 30 * SECOND, 2 * MINUTE]);
  expectGaps(broken, [5 * SECOND, 30 * SECOND, 2 * MINUTE]);
  expect(await statusesBelow(user, id)).toEqual(['READY', 'SYNC_ERROR']);
});

test('fetches a failing sitemap four times with growing pauses', async () => {
  const user = await service.user('dora');
  const { url } = freshSitemap(1);
  const requestTimes = failFirst(new URL(url).pathname, Infinity);
  const { id } = await user.scrape({ url, chunk_size: 100 });
  await waitFor(() => requestTimes.length, Boolean);
  await time.advance(10 * MINUTE);
  expect(await user.settled(id)).toMatchObject({ sync_status: 'SYNC_ERROR' });
  expectGaps(requestTimes, [5 * SECOND, 25 * SECOND, 2 * MINUTE]);
});

test('retries a batch with growing pauses, at most half a minute, while a store is down for two hours', async () => {
  const user = await service.user('eve');
  const backAt = Date.now() + 2 * HOUR;
  const tried: number[] = [];
  outages.set('ingestBatch', () => {
    tried.push(Date.now());
    return Date.now() < backAt;
  });
  // A scrape has a workflow of its own, whose duration is measured. All small uploads of a user share one workflow.
  const { id } = await user.scrape({ url: freshSitemap(1).url });
  await waitFor(() => tried.length, Boolean);
  await time.advance(3 * HOUR);
  outages.clear();
  const later = await service.user('eve');
  expect(await later.settled(id)).toMatchObject({ sync_status: 'READY' });
  expectGaps(
    tried.slice(0, 7),
    [1, 2, 4, 8, 16, 30].map((seconds) => seconds * SECOND),
  );
  for (const gap of gaps(tried).slice(5)) expectAbout(gap, 30 * SECOND);
  expectAbout((tried.at(-1) ?? 0) - backAt, 0);
  expectAbout(await tookMs(workflowIds.scrape(id)), 2 * HOUR);
});

/**
 * A dispatcher that starts no workflow. The sweep stores a run and an outbox entry, from which the service starts the
 * workflow.
 */
const idleDispatcher = { start: () => Promise.resolve() };

test('moves unused vectors out of Qdrant after their time to live, and not earlier', async () => {
  const query = { enable_cold_storage: true, hot_storage_time_to_live: 3 };
  const user = await service.user('gwen');
  const { id } = await user.send({ name: 'notes.md', content: 'Lit in 1901.' }, query);
  await user.settled(id);
  await time.advance(3 * DAY - HOUR);
  expect(await coldSweepOnce(service.store, idleDispatcher)).toBe(0);
  await time.advance(HOUR + MINUTE);
  expect(await coldSweepOnce(service.store, idleDispatcher)).toBe(1);
  const later = await service.user('gwen');
  await waitFor(
    () => later.file(id),
    (file) => file.embedding_storage_status === 'COLD_STORAGE',
  );
});

test('keeps missing files restorable for seven days, then erases them', async () => {
  const { id, space } = await connectGitBook('hera', ['one', 'two', 'three']);
  const organization = apiClient(service.url, { authorization: `Bearer ${service.apiKey}` });
  const restorable = async (): Promise<number[]> =>
    (await organization.get<Listed<{ file_id: number; state: string }>>('/quarantined_files')).body.results.flatMap(
      ({ file_id: fileId, state }) => (state === 'KEPT' ? [fileId] : []),
    );
  delete gitbook.spaces[space]!.pages['one'];
  delete gitbook.spaces[space]!.pages['two'];
  const user = await service.user('hera');
  expect((await user.post('/integrations/items/sync', { data_source_id: id })).status).toBe(200);
  const [restoredId = 0, erasedId = 0] = await waitFor(restorable, (ids) => ids.length === 2);
  await time.advance(7 * DAY - HOUR);
  expect(await quarantineSweepOnce(service.store, idleDispatcher)).toBe(0);
  expect((await organization.post('/quarantined_files/restore', { file_ids: [restoredId] })).body).toEqual({
    restoring: 1,
  });
  await waitFor(restorable, (ids) => ids.length === 1);
  await time.advance(HOUR + MINUTE);
  expect(await restorable()).toEqual([]);
  expect(await quarantineSweepOnce(service.store, idleDispatcher)).toBe(1);
  const rows = (): Promise<number> =>
    withDatabase(service, (db) =>
      db.collection<{ _id: number }>('files').countDocuments({ _id: { $in: [restoredId, erasedId] } }),
    );
  await waitFor(rows, (count) => count === 1);
  expect((await files(await service.user('hera'))).map(({ id: fileId }) => fileId)).toContain(restoredId);
});
