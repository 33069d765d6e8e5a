import { afterAll, beforeAll, expect, test } from '@jest/globals';

import { createTemporalClient } from '../../../dispatch/client.js';
import { type HeldSite, startHeldSite } from '../../emulators/heldSite.js';
import { samplePage, type Site, sitemapOf, startSampleSite } from '../../emulators/site.js';
import { apiClient, type TestUser } from '../../support/client.js';
import { testEngines } from '../../support/engines.js';
import { startService, type TestService } from '../../support/service.js';
import { waitFor } from '../../support/waitFor.js';
import { fixtureForGitBook } from '../../support/sourceFixtures/gitbook.js';
import type { SourceFixture } from '../../support/sourceFixtures/fixture.js';

interface Run {
  id: number;
  kind: string;
  cause: string;
  status: string;
  file_id: number | null;
  request_id: string;
  finished_at: string | null;
  counts: Record<'discovered' | 'ok' | 'failed' | 'skipped' | 'aborted' | 'pending', number>;
  bytes_fetched: number;
  tokens_embedded: number;
  tokens_reused: number;
  workflow_id: string;
  workflow_url: string | null;
}
interface Item {
  id: string;
  file_id: number | null;
  external_id: string;
  outcome: string;
  stage: string | null;
  cause: string | null;
  message: string | null;
  remedy: string | null;
  bytes_fetched: number;
  workflow_url: string;
}
interface Items {
  results: Item[];
  next_cursor: string | null;
}
interface Retried {
  sync_run_id: number;
  queued: number;
  has_more: boolean;
}

const UI = 'http://temporal.example:8080';
let service: TestService;
let user: TestUser;
let site: Site;
let unansweredSite: HeldSite;
let fixture: SourceFixture;
let parentId: number;
let run: Run;

const runs = async (query = ''): Promise<Run[]> =>
  (await user.get<{ results: Run[] }>(`/sync_runs${query}`)).body.results;
const items = async (id: number, query = ''): Promise<Items> =>
  (await user.get<Items>(`/sync_runs/${id}/items${query}`)).body;
const waitForEnd = (id: number): Promise<Run> =>
  waitFor(
    async () => (await user.get<Run>(`/sync_runs/${id}`)).body,
    ({ finished_at }) => finished_at !== null,
  );
/** Scrapes, waits until the run has ended, which is after the final state of the record, and returns the run. */
async function scraped(body: Record<string, unknown>): Promise<Run> {
  const parent = await user.scrape(body);
  const [last] = await runs(`?request_id=${parent.request_id}`);
  return waitForEnd(last?.id ?? 0);
}

beforeAll(async () => {
  fixture = await fixtureForGitBook();
  service = await startService({
    ALLOWED_PRIVATE_HOSTS: '127.0.0.1',
    TEMPORAL_UI_URL: `${UI}/`,
    SOURCE_URLS: fixture.settings,
  });
  user = await service.user('lola');
  site = await startSampleSite(6, 1);
  unansweredSite = await startHeldSite(3);
  site.pages.delete('/pages/4.html');
  site.pages.set('/pages/5.html', { type: 'application/zip', body: 'PK' });
  run = await scraped({ url: site.url('/sitemap.xml'), tags: { of: 'ledger' } });
  parentId = run.file_id ?? 0;
});
afterAll(async () => {
  await service.close();
  await Promise.all([site.close(), unansweredSite.close(), fixture.close()]);
});

test('shows the cause, status and counts of a run, and links to its workflow', async () => {
  expect(run).toMatchObject({
    ...{ kind: 'scrapeSitemap', cause: 'request', status: 'finished', organization_supplied_user_id: 'lola' },
    counts: { discovered: 6, ok: 4, failed: 2, skipped: 0, aborted: 0, pending: 0 },
    ...{ tokens_reused: 0, workflow_id: service.names.idOf(`scrape:${parentId}`) },
    workflow_url: `${UI}/namespaces/default/workflows/${service.names.deploymentId}%3Ascrape%3A${parentId}`,
  });
  expect(run.bytes_fetched).toBeGreaterThan(4 * samplePage(0, 1).length - 100);
  expect(run.tokens_embedded).toBeGreaterThan(100);
});

test('shows outcome, stage, cause and remedy of each item; pages by cursor repeat no item, and filters select items', async () => {
  const { results, next_cursor } = await items(run.id);
  expect(next_cursor).toBeNull();
  expect(results.map(({ outcome, stage, cause }) => [outcome, stage, cause])).toEqual([
    ...Array.from({ length: 4 }, () => ['ok', null, null]),
    ['failed', 'fetch', 'not_found'],
    ['failed', 'fetch', 'unsupported_type'],
  ]);
  const missing = results.find(({ cause }) => cause === 'not_found');
  expect(missing).toMatchObject({ external_id: site.url('/pages/4.html'), workflow_url: run.workflow_url });
  expect(missing?.message).toBe((await user.file(missing?.file_id ?? 0)).sync_error_message);
  expect(missing?.remedy).toMatch(/\.$/);
  const paged: string[] = [];
  for (let after: string | null = ''; after !== null;) {
    const page: Items = await items(run.id, `?limit=2${after && `&after=${encodeURIComponent(after)}`}`);
    expect(page.results.length).toBeLessThanOrEqual(2);
    paged.push(...page.results.map(({ id }) => id));
    after = page.next_cursor;
  }
  expect(paged).toEqual(results.map(({ id }) => id));
  const found = async (query: string) => (await items(run.id, query)).results.length;
  expect(await found('?outcomes=failed')).toBe(2);
  expect(await found('?outcomes=failed&outcomes=ok')).toBe(6);
  expect(await found('?stages=fetch')).toBe(2);
  expect(await found('?stages=read')).toBe(0);
  expect(await found('?causes=not_found')).toBe(1);
  expect(await found('?outcomes=ok&causes=not_found')).toBe(0);
  expect((await user.get(`/sync_runs/${run.id}/items?outcomes=good`)).status).toBe(422);
});

test('skips unchanged items with the reason', async () => {
  const again = await scraped({ url: site.url('/sitemap.xml'), tags: { of: 'ledger' } });
  expect(again.counts).toEqual({ discovered: 6, ok: 0, failed: 2, skipped: 4, aborted: 0, pending: 0 });
  expect(again.tokens_embedded).toBe(0);
  const { results } = await items(again.id, '?outcomes=skipped');
  expect(results.every(({ cause, remedy }) => cause === 'unchanged' && remedy === null)).toBe(true);
  // The first run does not change.
  expect(await waitForEnd(run.id)).toEqual(run);
});

test('lists runs newest first, by each filter, for a user or the whole organization', async () => {
  const all = await runs();
  expect(all.map(({ id }) => id)).toContain(run.id);
  expect(all.at(-1)?.id).toBe(run.id);
  const { results } = await items(run.id, '?outcomes=failed');
  for (const [query, isIn] of [
    ['?kinds=scrapeSitemap', true],
    ['?kinds=webScrape', false],
    ['?statuses=finished', true],
    ['?statuses=failed&statuses=running', false],
    [`?file_id=${parentId}`, true],
    [`?file_id=${results[0]?.file_id}`, true],
    ['?file_id=1', false],
    ['?data_source_id=1', false],
    ['?causes=request', true],
    [`?since=${new Date(Date.now() + 60_000).toISOString()}`, false],
    [`?until=${new Date(Date.now() + 60_000).toISOString()}`, true],
  ] as const)
    expect([query, (await runs(query)).some(({ id }) => id === run.id)]).toEqual([query, isIn]);
  const bearer = { authorization: `Bearer ${service.apiKey}` };
  const byKey = async (query: string, headers = {}) =>
    (
      await apiClient(service.url, { ...bearer, ...headers }).get<{ results: Run[]; count: number }>(
        `/sync_runs${query}`,
      )
    ).body;
  expect((await byKey('?customer_ids=lola')).count).toBe(all.length);
  expect((await byKey('?customer_ids=nobody')).count).toBe(0);
  expect((await byKey('', { 'customer-id': 'mila' })).count).toBe(0);
  expect((await byKey('?limit=1&offset=1')).results).toHaveLength(1);
});

test('counts remaining items of a running run as pending, and items taken over by another run as skipped', async () => {
  const parent = await user.scrape({ url: unansweredSite.url('/sitemap.xml') });
  const [begun] = await runs(`?request_id=${parent.request_id}`);
  const id = begun?.id ?? 0;
  const first = await waitFor(
    async () => (await user.get<Run>(`/sync_runs/${id}`)).body,
    ({ counts }) => counts.ok === 2,
  );
  expect(first).toMatchObject({ status: 'running', counts: { discovered: 3, pending: 1 } });
  const [pendingItem] = (await items(id, '?outcomes=pending')).results;
  expect(pendingItem).toMatchObject({ external_id: unansweredSite.url('/pages/2.html'), stage: null, cause: null });
  expect((await items(id)).results).toHaveLength(3);

  unansweredSite.pages.set('/other.xml', sitemapOf(unansweredSite.origin, ['/pages/2.html']));
  const other = await user.scrape({ url: unansweredSite.url('/other.xml') });
  const [second] = await runs(`?request_id=${other.request_id}`);
  await waitFor(
    async () => (await items(id, '?causes=superseded')).results,
    (found) => found.length === 1,
  );
  unansweredSite.release();
  expect((await waitForEnd(id)).counts).toMatchObject({ discovered: 3, ok: 2, skipped: 1, pending: 0 });
  expect((await waitForEnd(second?.id ?? 0)).counts).toMatchObject({ discovered: 1, ok: 1 });
});

test('retries failed items, once per Idempotency-Key, and skips those synced meanwhile', async () => {
  const failed = (await items(run.id, '?outcomes=failed')).results;
  site.pages.set('/pages/4.html', samplePage(4, 1));
  const retry = (body: Record<string, unknown>, key?: string, id = run.id) =>
    user.post<Retried & { detail: unknown }>(`/sync_runs/${id}/retry`, body, key ? { 'idempotency-key': key } : {});
  expect((await retry({ outcomes: ['ok'] })).status).toBe(422);
  expect((await retry({ file_ids: [failed[0]?.file_id], causes: ['not_found'] })).status).toBe(422);
  expect((await retry({ file_ids: [parentId] })).status).toBe(404);
  expect((await retry({ item_ids: [`${failed[0]?.id}0`] })).status).toBe(404);
  expect((await retry({ causes: ['encrypted'] })).status).toBe(409);
  const { status, body } = await retry({}, 'once');
  expect({ status, body }).toMatchObject({ status: 200, body: { queued: 2, has_more: false } });
  expect((await retry({}, 'once')).body).toEqual(body);
  const again = await waitForEnd(body.sync_run_id);
  expect(again).toMatchObject({
    cause: 'retry',
    kind: 'resyncFile',
    workflow_id: service.names.idOf(`retry:${again.id}`),
  });
  expect(again.counts).toMatchObject({ discovered: 2, ok: 1, failed: 1 });
  expect((await user.file(failed[0]?.file_id ?? 0)).sync_status).toBe('READY');
  // One file is synced now: a filter no longer selects it, but its id does.
  expect((await retry({ causes: ['not_found'] })).status).toBe(409);
  const retryById = await retry({ item_ids: [failed[0]?.id] });
  expect(retryById.body.queued).toBe(1);
  expect((await waitForEnd(retryById.body.sync_run_id)).counts).toMatchObject({ discovered: 1, skipped: 1 });
});

test('links records and events to their workflow', async () => {
  const parent = await user.file(parentId);
  expect(parent).toMatchObject({
    workflow_id: service.names.idOf(`scrape:${parentId}`),
    workflow_url: run.workflow_url,
  });
  const bearer = { authorization: `Bearer ${service.apiKey}` };
  type EventRow = { webhook_type: string; obj: { object_id: unknown }; workflow_id?: string; workflow_url?: string };
  const emitted = await waitFor(
    async () => (await apiClient(service.url, bearer).get<{ results: EventRow[] }>('/events?limit=1000')).body.results,
    (events) => events.some((one) => one.webhook_type === 'ALL_FILES_PROCESSED'),
  );
  for (const kind of ['FILES_CREATED', 'FILE_READY', 'FILE_ERROR', 'WEBSCRAPE_URLS_READY', 'ALL_FILES_PROCESSED'])
    expect(emitted.find((one) => one.webhook_type === kind)).toMatchObject({
      workflow_id: service.names.idOf(`scrape:${parentId}`),
      workflow_url: run.workflow_url,
    });
});

test('links an event of a data source to the workflow that caused it or that its request started, else to null', async () => {
  const owner = await service.user('lena');
  const organization = apiClient(service.url, { authorization: `Bearer ${service.apiKey}` });
  interface EventRow {
    webhook_type: string;
    customer_id: string;
    workflow_id: string | null;
    workflow_url: string | null;
  }
  const eventsOf = async (kind: string) =>
    (await organization.get<{ results: EventRow[] }>('/events?limit=1000')).body.results.filter(
      ({ webhook_type: type, customer_id: of }) => type === kind && of === 'lena',
    );
  const last = (kind: string, number = 1) =>
    waitFor(
      () => eventsOf(kind),
      (found) => found.length === number,
    ).then((found) => found.at(-1));
  fixture.reset();
  expect((await fixture.connect(owner)).status).toBe(200);
  const { body } = await owner.post<{ results: { id: number }[] }>('/user_data_sources', {});
  const { id } = body.results[0]!;
  expect(await last('ADD')).toMatchObject({ workflow_id: service.names.idOf(`sync-items:${id}`) });
  expect(await last('DATA_SOURCE_READY')).toMatchObject({ workflow_id: service.names.idOf(`sync-items:${id}`) });
  const ids = ['atlas/lighthouse'];
  expect((await owner.post('/integrations/files/sync', { data_source_id: id, ids })).status).toBe(200);
  const sync = async () => (await owner.get<{ results: Run[] }>('/sync_runs?kinds=syncSource')).body.results[0];
  const update = await last('UPDATE');
  expect(update).toMatchObject({ workflow_id: (await sync())?.workflow_id });
  expect(update?.workflow_url).toMatch(/workflows\/[a-z0-9]{8}%3Async-source%3A\d+$/);
  await waitFor(sync, (one) => one?.status === 'finished');
  // The source revokes the access, which the next run detects.
  fixture.revokeAccess();
  expect((await owner.post('/integrations/items/sync', { data_source_id: id })).status).toBe(200);
  expect(await last('REVOKE')).toMatchObject({ workflow_id: service.names.idOf(`sync-items:${id}`) });
  // A user revokes it: no workflow runs.
  fixture.reset();
  expect((await fixture.connect(owner, { sync_source_items: false, sync_files_on_connection: false })).status).toBe(
    200,
  );
  expect(await last('ADD', 2)).toMatchObject({ workflow_id: null, workflow_url: null });
  expect((await owner.post('/revoke_access_token', { data_source_id: id })).status).toBe(200);
  expect(await last('REVOKE', 2)).toMatchObject({ workflow_id: null, workflow_url: null });
});

test('Temporal finds the workflow of a run by its file, request, user and organization', async () => {
  const file = await user.file(parentId);
  const [child] = await user.children(parentId);
  const settings = { address: testEngines().temporalAddress, namespace: 'default' };
  const client = createTemporalClient(settings);
  const { body: resynced } = await user.post<{ id: number; request_id: string }>('/resync_file', {
    file_id: child?.id,
  });
  const ids = async (query: string): Promise<string[]> => {
    const found: string[] = [];
    for await (const { workflowId } of client.workflow.list({
      query: `${query} AND TaskQueue = '${service.names.taskQueue}'`,
    }))
      found.push(workflowId);
    return found;
  };
  for (const query of [
    `FileId = '${child?.id}'`,
    `RequestId = '${resynced.request_id}'`,
    `UserId = '${file.organization_user_id}'`,
    "OrganizationId = '1'",
  ])
    expect([
      query,
      await waitFor(
        () => ids(query),
        (found) => found.includes(service.names.idOf(`resync:${child?.id}`)),
      ),
    ]).toEqual([query, expect.arrayContaining([service.names.idOf(`resync:${child?.id}`)])]);
  expect(await ids(`FileId = '${child?.id}'`)).toEqual([service.names.idOf(`resync:${child?.id}`)]);
  await client.connection.close();
  await user.settled(child?.id ?? 0);
});
