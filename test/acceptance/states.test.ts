import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';

import { operations } from '../../api/routes.js';
import { RUN_KINDS, type RunKind, scheduleIds } from '../../contract/orchestration.js';
import type { DataSourceRecord, FileRecord } from '../../contract/records.js';
import {
  DATA_SOURCE_ACTIONS,
  DATA_SOURCE_SYNC_STATUSES,
  type DataSourceAction,
  type DataSourceSyncStatus,
  EMBEDDING_STORAGE_STATUSES,
  type EmbeddingStorageStatus,
  FILE_SYNC_STATUSES,
  type FileSyncStatus,
} from '../../contract/statuses.js';
import { type GitBookEmulator, ORGANIZATION, startGitBook, TOKEN } from '../emulators/gitbook.js';
import { feedOf } from '../emulators/linkedSite.js';
import { type Site, samplePage, sitemapOf, startSite } from '../emulators/site.js';
import { apiClient, type Listed, type TestUser } from '../support/client.js';
import { adoptFiles } from '../support/dataSources.js';
import { createTemporalClient } from '../../dispatch/client.js';
import { coldSweepOnce } from '../../dispatch/coldSweep.js';
import { letDaysPass } from '../support/coldFiles.js';
import { testEngines } from '../support/engines.js';
import { runPass } from '../support/passes.js';
import { drawPicture } from '../support/pictures.js';
import { waitFor } from '../support/waitFor.js';
import { startService, type TestService } from '../support/service.js';

/**
 * What brings a record into a state: a kind of run, an operation that writes it at once, or the issue that will. Runs and
 * operations are made below, on real engines, and what they lead to is seen by a client; the rows of later issues are
 * replaced by theirs, and none is left after the last.
 */
type Way = { readonly run: RunKind } | { readonly operation: string } | { readonly later: Later };
type Later = 'connect';

const FILE: Record<FileSyncStatus, readonly Way[]> = {
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
  // By a full queue, and by a limit of the user.
  DELAYED: [{ run: 'scrapeSitemap' }, { run: 'webScrape' }],
  RATE_LIMITED: [{ run: 'resyncFile' }],
  EVALUATING_RESYNC: [{ run: 'autoSync' }],
  QUEUED_FOR_OCR: [{ run: 'syncUpload' }],
};
const DATA_SOURCE: Record<DataSourceSyncStatus, readonly Way[]> = {
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
const STORAGE: Record<EmbeddingStorageStatus, readonly Way[]> = {
  HOT_STORAGE: [{ run: 'scrapeSitemap' }, { run: 'moveStorage' }],
  HOT_TO_COLD: [{ run: 'moveStorage' }],
  COLD_STORAGE: [{ run: 'moveStorage' }],
  COLD_TO_HOT: [{ run: 'moveStorage' }],
};
const ACTION: Record<DataSourceAction, readonly Way[]> = {
  ADD: [{ operation: 'POST /integrations/rss_feed' }, { operation: 'POST /integrations/gitbook' }],
  UPDATE: [{ operation: 'POST /integrations/files/sync' }],
  CANCEL: [{ later: 'connect' }],
  REVOKE: [{ operation: 'POST /revoke_access_token' }, { run: 'syncItems' }],
};

const TABLES = [
  ['file', FILE, FILE_SYNC_STATUSES],
  ['data source', DATA_SOURCE, DATA_SOURCE_SYNC_STATUSES],
  ['storage', STORAGE, EMBEDDING_STORAGE_STATUSES],
  ['action', ACTION, DATA_SOURCE_ACTIONS],
] as const;
type Table = (typeof TABLES)[number][0];

/** States that wait for an issue: shrinks, and is empty after the last one. */
const WAITING: Record<Table, readonly string[]> = {
  file: [],
  'data source': [],
  storage: [],
  action: ['CANCEL'],
};

const nameOf = (way: Way): string => ('run' in way ? way.run : 'operation' in way ? way.operation : way.later);

/** Every state that was seen, as `file READY by scrapeSitemap`. */
const seen = new Set<string>();
const note = (table: Table, state: string, way: string): void => void seen.add(`${table} ${state} by ${way}`);

/** Pages that answer at once, that are missing, and that answer when they are let. */
const PATHS = [
  '/0.html',
  '/1.html',
  '/missing.html',
  ...Array.from({ length: 9 }, (_, index) => `/held/${index}.html`),
];
/** Of the pages four are in the first batch, four more in the queue, and four wait for a place in it. */
const MAX_QUEUED = 8;

let service: TestService;
let site: Site;
let gitbook: GitBookEmulator;
let user: TestUser;
/** Answers what a held page was asked. */
const letGo: (() => void)[] = [];
const hold = (path: string): void =>
  void site.pages.set(path, (_request, response) => {
    letGo.push(() => void response.writeHead(200, { 'content-type': 'text/html' }).end(samplePage(1, 1)));
  });

const inState = (id: number, status: FileSyncStatus): Promise<FileRecord> =>
  waitFor(
    () => user.file(id),
    (file) => file.sync_status === status,
  );
const sources = async (): Promise<DataSourceRecord[]> =>
  (await user.post<Listed<DataSourceRecord>>('/user_data_sources', {})).body.results;

/** A scrape in whose middle five states are to be seen at once; then it is cancelled. */
async function scrape(): Promise<FileRecord[]> {
  const parent = await user.scrape({ url: site.url('/sitemap.xml') });
  note('file', parent.sync_status, 'POST /scrape_sitemap');
  const expected = { READY: 2, SYNC_ERROR: 1, SYNCING: 1, QUEUED_FOR_SYNC: 4, DELAYED: 4 };
  const pages = await waitFor(
    () => user.children(parent.id),
    (found) =>
      Object.entries(expected).every(
        ([status, count]) => found.filter((page) => page.sync_status === status).length === count,
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

/** One file, synced again and again, to each end that there is. */
async function resync(id: number, path: string): Promise<void> {
  const ask = async (more: Record<string, unknown> = {}): Promise<void> => {
    const { body } = await user.post<FileRecord>('/resync_file', { file_id: id, ...more });
    note('file', body.sync_status, 'POST /resync_file');
  };
  const ends = async (status: FileSyncStatus): Promise<void> => {
    note('file', (await inState(id, status)).sync_status, 'resyncFile');
  };
  // Those of the scrape were given up when it was cancelled: what is let go below is what this asks for.
  letGo.length = 0;
  hold(path);
  await ask();
  await ends('SYNCING');
  await waitFor(
    () => letGo.length,
    (count) => count > 0,
  );
  letGo.splice(0).forEach((answer) => answer());
  await ends('READY');
  await ask();
  await ends('SYNCING');
  await user.post('/cancel_sync', { file_id: id });
  await ends('SYNC_ABORTED');
  site.pages.set(path, { status: 429, headers: { 'retry-after': '600' } });
  await ask();
  await ends('RATE_LIMITED');
  await user.post('/cancel_sync', { file_id: id });
  await ends('SYNC_ABORTED');
  site.pages.delete(path);
  await ask();
  await ends('SYNC_ERROR');
  await ask({ skip_file_processing: true });
  await ends('READY_TO_SYNC');
}

/** A delete, seen while it is at work and when it has ended. */
async function deleteKeeping(id: number): Promise<void> {
  const { vectors } = service.store;
  const real = vectors.deletePoints;
  let goOn: () => void = () => undefined;
  const held = new Promise<void>((resolve) => {
    goOn = resolve;
  });
  Object.assign(vectors, {
    deletePoints: async (...given: Parameters<typeof real>) => {
      await held;
      return real(...given);
    },
  });
  await user.post('/delete_files_v2', { filters: { ids: [id] }, preserve_file_record: true });
  note('file', (await inState(id, 'SYNC_ABORTED')).sync_status, 'deleteFiles');
  goOn();
  Object.assign(vectors, { deletePoints: real });
  note('file', (await inState(id, 'READY_TO_SYNC')).sync_status, 'deleteFiles');
}

/** A crawl of which the user's limit holds a page back. */
async function crawl(): Promise<void> {
  const { body } = await user.post<FileRecord[]>('/web_scrape', [{ url: site.url('/crawl.html') }]);
  const id = body[0]?.id ?? 0;
  const pages = await waitFor(
    () => user.children(id),
    (found) => found.some((page) => page.sync_status === 'DELAYED'),
  );
  for (const page of pages) if (page.sync_status === 'DELAYED') note('file', page.sync_status, 'webScrape');
  await user.post('/cancel_sync', { file_id: id });
  await user.settled(id);
}

/** A picture, seen while it is read. */
async function recognize(): Promise<void> {
  const content = drawPicture(['The lighthouse was lit in 1901.']);
  const { id } = await user.send({ name: 'lit.png', content }, { use_ocr: true });
  note('file', (await inState(id, 'QUEUED_FOR_OCR')).sync_status, 'syncUpload');
  await user.settled(id);
}

/** A page that a pass of auto-sync looks at, and that its site holds meanwhile. */
async function evaluate(): Promise<void> {
  const path = '/looked.html';
  site.pages.set(path, samplePage(1, 1));
  site.pages.set('/auto.xml', sitemapOf(site.origin, [path]));
  const parent = await user.settled((await user.scrape({ url: site.url('/auto.xml'), enable_auto_sync: true })).id);
  const [page] = await user.children(parent.id);
  letGo.length = 0;
  hold(path);
  const client = createTemporalClient({ address: testEngines().temporalAddress, namespace: 'default' });
  const passing = runPass(client, service.names, scheduleIds.container(parent.id));
  note('file', (await inState(page?.id ?? 0, 'EVALUATING_RESYNC')).sync_status, 'autoSync');
  await waitFor(
    () => letGo.length,
    (count) => count > 0,
  );
  letGo.splice(0).forEach((answer) => answer());
  await passing;
  await client.connection.close();
}

/** Vectors that go to file storage and come back, each way seen while it is held. */
async function moveVectors(): Promise<void> {
  const { coldCopies, vectors } = service.store;
  const { keep } = coldCopies;
  const { writePoints } = vectors;
  let goOn: () => void = () => undefined;
  const closed = (): Promise<void> =>
    new Promise((resolve) => {
      goOn = resolve;
    });
  const cold = { enable_cold_storage: true, hot_storage_time_to_live: 1 };
  const { id } = await user.send({ name: 'old.md', content: 'The lighthouse was lit in 1901.' }, cold);
  await user.settled(id);
  const becomes = async (status: EmbeddingStorageStatus): Promise<void> => {
    const file = await waitFor(
      () => user.file(id),
      (one) => one.embedding_storage_status === status,
    );
    note('storage', file.embedding_storage_status, 'moveStorage');
  };
  let held = closed();
  Object.assign(coldCopies, { keep: async (...given: Parameters<typeof keep>) => held.then(() => keep(...given)) });
  await letDaysPass(service.env, 2, [id]);
  await coldSweepOnce(service.store, { start: async () => undefined });
  await becomes('HOT_TO_COLD');
  goOn();
  await becomes('COLD_STORAGE');
  held = closed();
  Object.assign(vectors, {
    writePoints: async (...given: Parameters<typeof writePoints>) => held.then(() => writePoints(...given)),
  });
  await user.post('/move_to_hot_storage', { filters: { ids: [id] } });
  await becomes('COLD_TO_HOT');
  goOn();
  await becomes('HOT_STORAGE');
  Object.assign(coldCopies, { keep });
  Object.assign(vectors, { writePoints });
}

/** A feed is a data source; what waits in it ends when access is revoked. */
/** An account whose source hangs while it is listed, answers, and then takes its token no more. */
async function connect(): Promise<void> {
  const selma = await service.user('selma');
  const source = async (): Promise<DataSourceRecord> =>
    (await selma.post<Listed<DataSourceRecord>>('/user_data_sources', {})).body.results[0]!;
  const comeTo = (wanted: DataSourceSyncStatus) => waitFor(source, (one) => one.sync_status === wanted);
  const quiet = { sync_source_items: false, sync_files_on_connection: false };
  await selma.post('/integrations/gitbook', { organization: ORGANIZATION, access_token: TOKEN, ...quiet });
  const added = await source();
  note('data source', added.sync_status, 'POST /integrations/gitbook');
  note('action', added.last_sync_action, 'POST /integrations/gitbook');
  const list = () => selma.post<DataSourceRecord>('/integrations/items/sync', { data_source_id: added.id });
  gitbook.misbehave(() => 'hang');
  note('data source', (await list()).body.sync_status, 'POST /integrations/items/sync');
  note('data source', (await comeTo('SYNCING')).sync_status, 'syncItems');
  const cancelled = await selma.post<DataSourceRecord>('/integrations/items/sync/cancel', { data_source_id: added.id });
  note('data source', cancelled.body.sync_status, 'POST /integrations/items/sync/cancel');
  gitbook.misbehave(() => null);
  await list();
  note('data source', (await comeTo('READY')).sync_status, 'syncItems');
  await selma.post('/integrations/files/sync', { data_source_id: added.id, ids: [] });
  note('action', (await source()).last_sync_action, 'POST /integrations/files/sync');
  gitbook.tokens.clear();
  await list();
  const failed = await comeTo('SYNC_ERROR');
  note('data source', failed.sync_status, 'syncItems');
  note('action', failed.last_sync_action, 'syncItems');
}

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
    MAX_QUEUED_FILES: String(MAX_QUEUED),
    LIMIT_RECHECK_S: '0.3',
    SOURCE_URLS: gitbook.settings,
  });
  site = await startSite({ '/feed.xml': feedOf({ one: 'The lighthouse was lit in 1901.' }) });
  for (const path of PATHS.filter((one) => one.startsWith('/held'))) hold(path);
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

const built = operations.map(({ method, path }) => `${method.toUpperCase()} ${path}`);

describe.each(TABLES)('%s states', (name, table, states) => {
  const rows = Object.entries(table as Record<string, readonly Way[]>);
  const ways = rows.flatMap(([state, some]) => some.map((way) => [state, nameOf(way), 'later' in way] as const));

  test('each has at least one way into it, and the table has no other', () => {
    expect(rows.map(([state]) => state).toSorted()).toEqual([...states].toSorted());
    expect(rows.filter(([, some]) => some.length === 0)).toEqual([]);
  });
  test('runs and operations that are named exist', () => {
    for (const way of rows.flatMap(([, some]) => some)) {
      if ('run' in way) expect(RUN_KINDS).toContain(way.run);
      if ('operation' in way) expect(built).toContain(way.operation);
    }
  });
  test.each(ways.filter(([, , later]) => !later))('%s is reached by %s', (state, way) => {
    expect([...seen]).toContain(`${name} ${state} by ${way}`);
  });
  test('just these wait for a later issue', () => {
    const waiting = rows.filter(([, some]) => some.every((way) => 'later' in way)).map(([state]) => state);
    expect(waiting.toSorted()).toEqual(WAITING[name]);
  });
});

test('whatever was seen is in the tables', () => {
  const rows = TABLES.flatMap(([name, table]) =>
    Object.entries(table as Record<string, readonly Way[]>).flatMap(([state, ways]) =>
      ways.map((way) => `${name} ${state} by ${nameOf(way)}`),
    ),
  );
  expect([...seen].filter((one) => !rows.includes(one))).toEqual([]);
});
