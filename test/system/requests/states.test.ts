import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';

import { operations } from '../../../api/routes.js';
import { scheduleIds } from '../../../contract/runs/workflowIds.js';
import { RUN_KINDS, type RunKind } from '../../../contract/runs/runKinds.js';
import type { DataSourceRecord, FileRecord } from '../../../contract/files/records.js';
import {
  DATA_SOURCE_ACTIONS,
  DATA_SOURCE_SYNC_STATUSES,
  type DataSourceAction,
  type DataSourceSyncStatus,
  EMBEDDING_STORAGE_STATUSES,
  type EmbeddingStorageStatus,
  FILE_SYNC_STATUSES,
  type FileSyncStatus,
} from '../../../contract/files/statuses.js';
import { type GitBookEmulator, ORGANIZATION, startGitBook, TOKEN } from '../../emulators/gitbook.js';
import { feedOf } from '../../emulators/linkedSite.js';
import { type Site, samplePage, sitemapOf, startSite } from '../../emulators/site.js';
import { apiClient, type Listed, type TestUser } from '../../support/client.js';
import { adoptFiles } from '../../support/dataSources.js';
import { createTemporalClient } from '../../../dispatch/client.js';
import { coldSweepOnce } from '../../../dispatch/coldSweep.js';
import { letDaysPass } from '../../support/coldFiles.js';
import { testEngines } from '../../support/engines.js';
import { runScheduledSync } from '../../support/scheduledSyncs.js';
import { drawPicture } from '../../support/pictures.js';
import { waitFor } from '../../support/waitFor.js';
import { startService, type TestService } from '../../support/service.js';

/**
 * What sets a record to a state: a kind of run, or an API operation itself. `elsewhere` names the suite that tests the
 * state. The tests below start the runs and call the operations, and observe the states through the API.
 */
type Trigger = { readonly run: RunKind } | { readonly operation: string } | { readonly elsewhere: string };

const FILE: Record<FileSyncStatus, readonly Trigger[]> = {
  QUEUED_FOR_SYNC: [
    { operation: 'POST /scrape_sitemap' },
    { operation: 'POST /resync_file' },
    { run: 'scrapeSitemap' },
  ],
  SYNCING: [{ run: 'scrapeSitemap' }, { run: 'resyncFile' }],
  READY: [{ run: 'scrapeSitemap' }, { run: 'resyncFile' }],
  SYNC_ERROR: [{ run: 'scrapeSitemap' }, { run: 'resyncFile' }],
  SYNC_ABORTED: [
    { run: 'scrapeSitemap' },
    { run: 'resyncFile' },
    { run: 'deleteFiles' },
    { operation: 'POST /revoke_access_token' },
  ],
  READY_TO_SYNC: [{ run: 'resyncFile' }, { run: 'deleteFiles' }],
  // Pages of the sitemap are delayed by a full queue, those of the crawl by a limit of the user.
  DELAYED: [{ run: 'scrapeSitemap' }, { run: 'webScrape' }],
  RATE_LIMITED: [{ run: 'resyncFile' }],
  EVALUATING_RESYNC: [{ run: 'autoSync' }],
  QUEUED_FOR_OCR: [{ run: 'syncUpload' }],
};
const DATA_SOURCE: Record<DataSourceSyncStatus, readonly Trigger[]> = {
  READY: [
    { operation: 'POST /integrations/rss_feed' },
    { operation: 'POST /integrations/gitbook' },
    { operation: 'POST /integrations/items/sync/cancel' },
    { run: 'syncItems' },
  ],
  QUEUED_FOR_SYNCING: [{ operation: 'POST /integrations/items/sync' }],
  SYNCING: [{ run: 'syncItems' }],
  SYNC_ERROR: [{ run: 'syncItems' }],
};
const STORAGE: Record<EmbeddingStorageStatus, readonly Trigger[]> = {
  HOT_STORAGE: [{ run: 'scrapeSitemap' }, { run: 'moveStorage' }],
  HOT_TO_COLD: [{ run: 'moveStorage' }],
  COLD_STORAGE: [{ run: 'moveStorage' }],
  COLD_TO_HOT: [{ run: 'moveStorage' }],
};
const ACTION: Record<DataSourceAction, readonly Trigger[]> = {
  ADD: [{ operation: 'POST /integrations/rss_feed' }, { operation: 'POST /integrations/gitbook' }],
  UPDATE: [{ operation: 'POST /integrations/files/sync' }],
  CANCEL: [{ elsewhere: 'oauthConnect.test.ts' }],
  REVOKE: [{ operation: 'POST /revoke_access_token' }, { run: 'syncItems' }],
};

const TABLES = [
  ['file', FILE, FILE_SYNC_STATUSES],
  ['data source', DATA_SOURCE, DATA_SOURCE_SYNC_STATUSES],
  ['storage', STORAGE, EMBEDDING_STORAGE_STATUSES],
  ['action', ACTION, DATA_SOURCE_ACTIONS],
] as const;
type Table = (typeof TABLES)[number][0];

/** States that only other suites cover. */
const COVERED_ELSEWHERE: Record<Table, readonly string[]> = {
  file: [],
  'data source': [],
  storage: [],
  action: ['CANCEL'],
};

const nameOf = (trigger: Trigger): string =>
  'run' in trigger ? trigger.run : 'operation' in trigger ? trigger.operation : trigger.elsewhere;

/** Observed states, as `file READY by scrapeSitemap`. */
const observed = new Set<string>();
const note = (table: Table, state: string, trigger: string): void =>
  void observed.add(`${table} ${state} by ${trigger}`);

/** Paths of two pages that answer at once, one that is missing, and nine whose responses the test holds. */
const PATHS = [
  '/0.html',
  '/1.html',
  '/missing.html',
  ...Array.from({ length: 9 }, (_, index) => `/held/${index}.html`),
];
/**
 * MAX_QUEUED_FILES of the service. Of the 12 pages, eight are queued and four are delayed. The first batch has four of
 * the queued pages; the other four stay in the queue while it runs.
 */
const MAX_QUEUED = 8;

let service: TestService;
let site: Site;
let gitbook: GitBookEmulator;
let user: TestUser;
/** Functions that send the responses of held pages. */
const releases: (() => void)[] = [];
const hold = (path: string): void =>
  void site.pages.set(path, (_request, response) => {
    releases.push(() => void response.writeHead(200, { 'content-type': 'text/html' }).end(samplePage(1, 1)));
  });

const inState = (id: number, status: FileSyncStatus): Promise<FileRecord> =>
  waitFor(
    () => user.file(id),
    (file) => file.sync_status === status,
  );
const sources = async (): Promise<DataSourceRecord[]> =>
  (await user.post<Listed<DataSourceRecord>>('/user_data_sources', {})).body.results;

/** Runs a scrape with five states at once, then cancels it. */
async function scrape(): Promise<FileRecord[]> {
  const parent = await user.scrape({ url: site.url('/sitemap.xml') });
  note('file', parent.sync_status, 'POST /scrape_sitemap');
  const expected = { READY: 2, SYNC_ERROR: 1, SYNCING: 1, QUEUED_FOR_SYNC: 4, DELAYED: 4 };
  const pages = await waitFor(
    () => user.children(parent.id),
    (currentPages) =>
      Object.entries(expected).every(
        ([status, count]) => currentPages.filter((page) => page.sync_status === status).length === count,
      ),
  );
  for (const page of pages) note('file', page.sync_status, 'scrapeSitemap');
  for (const page of pages) note('storage', page.embedding_storage_status, 'scrapeSitemap');
  await user.post('/cancel_sync', { file_id: parent.id });
  await user.settled(parent.id);
  const aborted = (await user.children(parent.id)).find((page) => page.sync_status === 'SYNC_ABORTED');
  if (aborted) note('file', aborted.sync_status, 'scrapeSitemap');
  return pages;
}

/** Resyncs one file repeatedly, to each final state. */
async function resync(id: number, path: string): Promise<void> {
  const requestResync = async (options: Record<string, unknown> = {}): Promise<void> => {
    const { body } = await user.post<FileRecord>('/resync_file', { file_id: id, ...options });
    note('file', body.sync_status, 'POST /resync_file');
  };
  const expectState = async (status: FileSyncStatus): Promise<void> => {
    note('file', (await inState(id, status)).sync_status, 'resyncFile');
  };
  // Drop the responses of the cancelled scrape: only requests of the resync are released below.
  releases.length = 0;
  hold(path);
  await requestResync();
  await expectState('SYNCING');
  await waitFor(
    () => releases.length,
    (count) => count > 0,
  );
  releases.splice(0).forEach((answer) => answer());
  await expectState('READY');
  await requestResync();
  await expectState('SYNCING');
  await user.post('/cancel_sync', { file_id: id });
  await expectState('SYNC_ABORTED');
  site.pages.set(path, { status: 429, headers: { 'retry-after': '600' } });
  await requestResync();
  await expectState('RATE_LIMITED');
  await user.post('/cancel_sync', { file_id: id });
  await expectState('SYNC_ABORTED');
  site.pages.delete(path);
  await requestResync();
  await expectState('SYNC_ERROR');
  await requestResync({ skip_file_processing: true });
  await expectState('READY_TO_SYNC');
}

/** Deletes a file but keeps its record, observed during the delete and after its end. */
async function deleteKeeping(id: number): Promise<void> {
  const { vectors } = service.store;
  const real = vectors.deletePoints;
  let release: () => void = () => undefined;
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  Object.assign(vectors, {
    deletePoints: async (...args: Parameters<typeof real>) => {
      await released;
      return real(...args);
    },
  });
  await user.post('/delete_files_v2', { filters: { ids: [id] }, preserve_file_record: true });
  note('file', (await inState(id, 'SYNC_ABORTED')).sync_status, 'deleteFiles');
  release();
  Object.assign(vectors, { deletePoints: real });
  note('file', (await inState(id, 'READY_TO_SYNC')).sync_status, 'deleteFiles');
}

/** Runs a crawl in which max_files of the user delays a page. */
async function crawl(): Promise<void> {
  const { body } = await user.post<FileRecord[]>('/web_scrape', [{ url: site.url('/crawl.html') }]);
  const id = body[0]?.id ?? 0;
  const pages = await waitFor(
    () => user.children(id),
    (currentPages) => currentPages.some((page) => page.sync_status === 'DELAYED'),
  );
  for (const page of pages) if (page.sync_status === 'DELAYED') note('file', page.sync_status, 'webScrape');
  await user.post('/cancel_sync', { file_id: id });
  await user.settled(id);
}

/** Uploads a picture, observed during OCR. */
async function recognize(): Promise<void> {
  const content = drawPicture(['The lighthouse was lit in 1901.']);
  const { id } = await user.send({ name: 'lit.png', content }, { use_ocr: true });
  note('file', (await inState(id, 'QUEUED_FOR_OCR')).sync_status, 'syncUpload');
  await user.settled(id);
}

/** Runs a scheduled sync over a page whose site delays its response. */
async function evaluate(): Promise<void> {
  const path = '/evaluated.html';
  site.pages.set(path, samplePage(1, 1));
  site.pages.set('/auto.xml', sitemapOf(site.origin, [path]));
  const parent = await user.settled((await user.scrape({ url: site.url('/auto.xml'), enable_auto_sync: true })).id);
  const [page] = await user.children(parent.id);
  releases.length = 0;
  hold(path);
  const client = createTemporalClient({ address: testEngines().temporalAddress, namespace: 'default' });
  const passing = runScheduledSync(client, service.names, scheduleIds.container(parent.id));
  note('file', (await inState(page?.id ?? 0, 'EVALUATING_RESYNC')).sync_status, 'autoSync');
  await waitFor(
    () => releases.length,
    (count) => count > 0,
  );
  releases.splice(0).forEach((answer) => answer());
  await passing;
  await client.connection.close();
}

/** Moves vectors to cold storage and back, observed during each move. */
async function moveVectors(): Promise<void> {
  const { coldCopies, vectors } = service.store;
  const { save } = coldCopies;
  const { writePoints } = vectors;
  let release: () => void = () => undefined;
  const createGate = (): Promise<void> =>
    new Promise((resolve) => {
      release = resolve;
    });
  const cold = { enable_cold_storage: true, hot_storage_time_to_live: 1 };
  const { id } = await user.send({ name: 'old.md', content: 'The lighthouse was lit in 1901.' }, cold);
  await user.settled(id);
  const expectStatus = async (status: EmbeddingStorageStatus): Promise<void> => {
    const file = await waitFor(
      () => user.file(id),
      (record) => record.embedding_storage_status === status,
    );
    note('storage', file.embedding_storage_status, 'moveStorage');
  };
  let gate = createGate();
  Object.assign(coldCopies, { save: async (...given: Parameters<typeof save>) => gate.then(() => save(...given)) });
  await letDaysPass(service.env, 2, [id]);
  await coldSweepOnce(service.store, { start: async () => undefined });
  await expectStatus('HOT_TO_COLD');
  release();
  await expectStatus('COLD_STORAGE');
  gate = createGate();
  Object.assign(vectors, {
    writePoints: async (...given: Parameters<typeof writePoints>) => gate.then(() => writePoints(...given)),
  });
  await user.post('/move_to_hot_storage', { filters: { ids: [id] } });
  await expectStatus('COLD_TO_HOT');
  release();
  await expectStatus('HOT_STORAGE');
  Object.assign(coldCopies, { save });
  Object.assign(vectors, { writePoints });
}

/**
 * Connects an account whose source does not answer the first listing, answers the second, and then refuses the token.
 */
async function connect(): Promise<void> {
  const selma = await service.user('selma');
  const source = async (): Promise<DataSourceRecord> =>
    (await selma.post<Listed<DataSourceRecord>>('/user_data_sources', {})).body.results[0]!;
  const untilStatus = (status: DataSourceSyncStatus) => waitFor(source, (record) => record.sync_status === status);
  const withoutSync = { sync_source_items: false, sync_files_on_connection: false };
  await selma.post('/integrations/gitbook', { organization: ORGANIZATION, access_token: TOKEN, ...withoutSync });
  const added = await source();
  note('data source', added.sync_status, 'POST /integrations/gitbook');
  note('action', added.last_sync_action, 'POST /integrations/gitbook');
  const list = () => selma.post<DataSourceRecord>('/integrations/items/sync', { data_source_id: added.id });
  gitbook.injectFault(() => 'hang');
  note('data source', (await list()).body.sync_status, 'POST /integrations/items/sync');
  note('data source', (await untilStatus('SYNCING')).sync_status, 'syncItems');
  const cancelled = await selma.post<DataSourceRecord>('/integrations/items/sync/cancel', { data_source_id: added.id });
  note('data source', cancelled.body.sync_status, 'POST /integrations/items/sync/cancel');
  gitbook.injectFault(() => null);
  await list();
  note('data source', (await untilStatus('READY')).sync_status, 'syncItems');
  await selma.post('/integrations/files/sync', { data_source_id: added.id, ids: [] });
  note('action', (await source()).last_sync_action, 'POST /integrations/files/sync');
  gitbook.tokens.clear();
  await list();
  const failed = await untilStatus('SYNC_ERROR');
  note('data source', failed.sync_status, 'syncItems');
  note('action', failed.last_sync_action, 'syncItems');
}

/** Connects a feed as a data source, and revokes it while a file waits. */
async function feed(): Promise<void> {
  await user.post('/integrations/rss_feed', { url: site.url('/feed.xml') });
  const [source] = await sources();
  note('data source', source?.sync_status ?? '', 'POST /integrations/rss_feed');
  note('action', source?.last_sync_action ?? '', 'POST /integrations/rss_feed');
  await service.stopWorker();
  const waiting = await user.scrape({ url: site.url('/other.xml') });
  await adoptFiles(service, source?.id ?? 0, [waiting.id]);
  await user.post('/revoke_access_token', { data_source_id: source?.id });
  note('action', (await sources())[0]?.last_sync_action ?? '', 'POST /revoke_access_token');
  note('file', (await user.file(waiting.id)).sync_status, 'POST /revoke_access_token');
}

beforeAll(async () => {
  gitbook = await startGitBook();
  service = await startService({
    ALLOWED_PRIVATE_HOSTS: '127.0.0.1',
    BATCH_CONCURRENCY: '1',
    // The worker does not compare the first pages of the site: to compare them, it would fetch all 12 in one batch.
    SITE_SAMPLE_PAGES: '0',
    MAX_QUEUED_FILES: String(MAX_QUEUED),
    LIMIT_RECHECK_S: '0.3',
    SOURCE_URLS: gitbook.settings,
  });
  site = await startSite({ '/feed.xml': feedOf({ one: 'The lighthouse was lit in 1901.' }) });
  for (const path of PATHS.filter((name) => name.startsWith('/held'))) hold(path);
  for (const path of ['/0.html', '/1.html', '/crawl.html']) site.pages.set(path, samplePage(1, 1));
  site.pages.set('/sitemap.xml', sitemapOf(site.origin, PATHS));
  user = await service.user('stella');
  const pages = await scrape();
  const [first, second] = pages.filter((page) => page.sync_status === 'READY');
  await resync(first?.id ?? 0, new URL(first?.external_url ?? '').pathname);
  await deleteKeeping(second?.id ?? 0);
  const key = apiClient(service.url, { authorization: `Bearer ${service.apiKey}` });
  await key.post('/update_users', { customer_ids: ['stella'], max_files: 0 });
  await crawl();
  await key.post('/update_users', { customer_ids: ['stella'], max_files: -1 });
  await recognize();
  await moveVectors();
  await evaluate();
  await connect();
  await feed();
});
afterAll(async () => {
  await service.close();
  await Promise.all([site.close(), gitbook.close()]);
});

const operationNames = operations.map(({ method, path }) => `${method.toUpperCase()} ${path}`);

describe.each(TABLES)('%s states', (name, table, states) => {
  const rows = Object.entries(table as Record<string, readonly Trigger[]>);
  const triggers = rows.flatMap(([state, causes]) =>
    causes.map((trigger) => [state, nameOf(trigger), 'elsewhere' in trigger] as const),
  );

  test('the table has at least one cause for each state, and no other states', () => {
    expect(rows.map(([state]) => state).toSorted()).toEqual([...states].toSorted());
    expect(rows.filter(([, causes]) => causes.length === 0)).toEqual([]);
  });
  test('the runs and operations in the table exist', () => {
    for (const trigger of rows.flatMap(([, causes]) => causes)) {
      if ('run' in trigger) expect(RUN_KINDS).toContain(trigger.run);
      if ('operation' in trigger) expect(operationNames).toContain(trigger.operation);
    }
  });
  test.each(triggers.filter(([, , isElsewhere]) => !isElsewhere))('%s is reached by %s', (state, trigger) => {
    expect([...observed]).toContain(`${name} ${state} by ${trigger}`);
  });
  test('the states that only other suites cover are listed in COVERED_ELSEWHERE', () => {
    const statesElsewhere = rows
      .filter(([, causes]) => causes.every((trigger) => 'elsewhere' in trigger))
      .map(([state]) => state);
    expect(statesElsewhere.toSorted()).toEqual(COVERED_ELSEWHERE[name]);
  });
});

test('every observed state is in the tables', () => {
  const rows = TABLES.flatMap(([name, table]) =>
    Object.entries(table as Record<string, readonly Trigger[]>).flatMap(([state, triggers]) =>
      triggers.map((trigger) => `${name} ${state} by ${nameOf(trigger)}`),
    ),
  );
  expect([...observed].filter((name) => !rows.includes(name))).toEqual([]);
});
