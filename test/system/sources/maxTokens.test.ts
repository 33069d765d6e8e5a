/** Runs with a token limit: they pause before they would exceed it, and continue when they are resumed. */
import type { Client } from '@temporalio/client';
import { afterAll, beforeAll, expect, test } from '@jest/globals';

import { DAY_MS } from '../../../contract/files/coldStorage.js';
import type { FileRecord } from '../../../contract/files/records.js';
import { RESUME_SIGNAL } from '../../../contract/runs/orchestration.js';
import { scheduleIds } from '../../../contract/runs/workflowIds.js';
import { createTemporalClient } from '../../../dispatch/client.js';
import { endEmptyPauses, reapOnce } from '../../../dispatch/reaper.js';
import { countTokens } from '../../../documents/chunking/countTokens.js';
import { createLog } from '../../../observability/log.js';
import type { RunDoc } from '../../../store/models/runs.js';
import { linkedPage } from '../../emulators/linkedSite.js';
import { type GitBookEmulator, ORGANIZATION, startGitBook } from '../../emulators/gitbook.js';
import { samplePage, type Site, sitemapOf, startSite } from '../../emulators/site.js';
import { readStoredState } from '../../support/storedState.js';
import { apiClient, type TestUser } from '../../support/client.js';
import { testEngines } from '../../support/engines.js';
import { runScheduledSync } from '../../support/scheduledSyncs.js';
import { startProcess } from '../../support/processes.js';
import { startService, type TestService } from '../../support/service.js';
import { waitFor } from '../../support/waitFor.js';
import { thoroughly } from '../../support/thorough.js';
import { connectMongo } from '../../support/mongo.js';

const PAGES = 8;
const log = createLog({ level: 'silent', name: 'test' });
let service: TestService;
let site: Site;
let gitbook: GitBookEmulator;
let client: Client;
let seed = 0;

beforeAll(async () => {
  site = await startSite();
  gitbook = await startGitBook({
    pier: {
      title: 'Pier',
      pages: { one: { title: 'One', text: 'Lit in 1901.' }, two: { title: 'Two', text: 'Dredged in 1902.' } },
    },
  });
  service = await startService({ ALLOWED_PRIVATE_HOSTS: '127.0.0.1', SOURCE_URLS: gitbook.settings });
  client = createTemporalClient({ address: testEngines().temporalAddress, namespace: 'default' });
});
afterAll(async () => {
  await service.close();
  await Promise.all([site.close(), gitbook.close()]);
  await client.connection.close();
});

/** Adds a sitemap with pages that have not been embedded before. Returns its address. */
function freshSitemap(): string {
  seed += PAGES;
  const paths = Array.from({ length: PAGES }, (_, index) => `/${seed + index}.html`);
  paths.forEach((path, index) => site.pages.set(path, samplePage(seed + index, 3)));
  site.pages.set(`/${seed}.xml`, sitemapOf(site.origin, paths));
  return site.url(`/${seed}.xml`);
}

const runOf = async (user: TestUser, fileId: number): Promise<RunDoc> => {
  const file = await user.file(fileId);
  const [record] = await service.store.files.byIds(
    { organizationId: file.organization_id, userId: file.organization_user_id ?? 0 },
    [fileId],
  );
  const run = await service.store.runs.find(record?.runId ?? 0);
  if (!run) throw new Error(`file ${fileId} has no run`);
  return run;
};
/** Waits until a run has paused: its file then has the message of the pause, and no work is in progress. */
const paused = async (user: TestUser, fileId: number): Promise<{ run: RunDoc; parent: FileRecord }> => {
  const parent = await waitFor(
    () => user.file(fileId),
    ({ sync_error_message: message }) => message?.startsWith('Paused at max_tokens') === true,
  );
  return { run: await runOf(user, fileId), parent };
};
/** Requests /sync_runs with each status filter. Returns the status of the run in each list that contains it. */
async function statesInLedger(user: TestUser, runId: number): Promise<string[]> {
  const found: string[] = [];
  for (const status of ['queued', 'running', 'paused', 'finished']) {
    const { body } = await user.get<{ results: { id: number; status: string }[] }>(`/sync_runs?statuses=${status}`);
    for (const run of body.results.filter(({ id }) => id === runId)) found.push(run.status);
  }
  return found;
}
const resume = (user: TestUser, runId: number, max_tokens: number | null) =>
  user.post(`/sync_runs/${runId}/resume`, { max_tokens });
const statuses = (files: readonly FileRecord[]) => {
  const count: Record<string, number> = {};
  for (const { sync_status: status } of files) count[status] = (count[status] ?? 0) + 1;
  return count;
};
const tokensOf = async (user: TestUser, files: readonly FileRecord[]): Promise<number> => {
  const { results } = await user.chunks({ ids: files.map(({ id }) => id) }, { pagination: { limit: 1_000 } });
  return results.reduce((sum, { source_content: text }) => sum + countTokens(text), 0);
};
/** Returns how many events report that the run of a request has reached a limit. */
const limitEventsOf = async (requestId: string | null): Promise<number> => {
  const organization = apiClient(service.url, { authorization: `Bearer ${service.apiKey}` });
  const { body } = await organization.get<{ results: unknown[] }>('/events?limit=1000');
  const eventTexts = body.results.map((one) => JSON.stringify(one));
  return eventTexts.filter((one) => one.includes('FILE_SYNC_LIMIT_REACHED') && one.includes(requestId ?? '?')).length;
};

/** Backdates the pause of a run by this many days. */
async function backdatePause(runId: number, days: number): Promise<void> {
  const connection = await connectMongo(service.env['MONGODB_URI'] ?? '');
  const at = new Date(Date.now() - days * DAY_MS);
  await connection.collection<RunDoc>('runs').updateOne({ _id: runId }, { $set: { 'pause.at': at } });
  await connection.close();
}

test('pauses a scrape below its limit, keeps the remaining pages queued, and continues with a higher limit', async () => {
  const user = await service.user('ada');
  const url = freshSitemap();
  const { id } = await user.scrape({ url, chunk_size: 100, max_tokens: 1_200 });
  const { run, parent } = await paused(user, id);
  const pages = await user.children(id);
  expect(parent).toMatchObject({ sync_status: 'QUEUED_FOR_SYNC' });
  const { READY: ready = 0, QUEUED_FOR_SYNC: queued = 0, ...others } = statuses(pages);
  expect({ all: ready + queued, others }).toEqual({ all: PAGES, others: {} });
  expect(ready).toBeGreaterThan(0);
  expect(queued).toBeGreaterThan(0);
  const taken = run.tokensTaken ?? 0;
  expect(taken).toBeLessThanOrEqual(1_200);
  expect(taken).toBe(
    await tokensOf(
      user,
      pages.filter((page) => page.sync_status === 'READY'),
    ),
  );
  expect(run).toMatchObject({ finishedAt: null, pause: { reason: 'max_tokens', resumedAt: null } });
  expect(await statesInLedger(user, run._id)).toEqual(['paused']);
  expect(taken + (run.pause?.wanted ?? 0)).toBeGreaterThan(1_200);
  await waitFor(
    () => limitEventsOf(parent.request_id),
    (count) => count === 1,
  );

  // The run would pause again at once.
  expect((await resume(user, run._id, taken)).status).toBe(422);
  const more = taken + (run.pause?.wanted ?? 0);
  expect(await resume(user, run._id, more)).toMatchObject({ status: 200, body: { id: run._id, max_tokens: more } });
  const again = await waitFor(
    () => service.store.runs.find(run._id),
    (one) => one?.pause !== undefined && one.pause.resumedAt === null && one.maxTokens === more,
  );
  expect(again?.tokensTaken).toBeLessThanOrEqual(more);
  expect((await resume(user, run._id, null)).status).toBe(200);
  expect(await user.settled(id)).toMatchObject({
    sync_status: 'READY',
    sync_error_message: null,
    file_metadata: { pages_total: PAGES, pages_ready: PAGES },
  });
  const allPages = await user.children(id);
  expect(statuses(allPages)).toEqual({ READY: PAGES });
  const ended = await waitFor(
    () => service.store.runs.find(run._id),
    (one) => one?.finishedAt !== null,
  );
  expect(ended).toMatchObject({ outcome: 'finished', maxTokens: null, tokensTaken: await tokensOf(user, allPages) });
  expect(ended?.pause).toBeUndefined();
  // The run is not paused any longer.
  expect((await resume(user, run._id, null)).status).toBe(409);

  // Texts with stored vectors use no tokens: the same pages, for another user of the organization.
  const other = await service.user('bob');
  const same = await other.scrape({ url, chunk_size: 100, max_tokens: 0 });
  expect(await other.settled(same.id)).toMatchObject({ sync_status: 'READY' });
  expect((await runOf(other, same.id)).tokensTaken).toBe(0);
});

thoroughly('cancels, deletes and restarts a paused scrape', async () => {
  const user = await service.user('cleo');
  const url = freshSitemap();
  const first = await user.scrape({ url, max_tokens: 0 });
  const { run } = await paused(user, first.id);
  expect((await user.post('/cancel_sync', { file_id: first.id })).status).toBe(200);
  expect(await user.settled(first.id)).toMatchObject({ sync_status: 'SYNC_ABORTED' });
  const cancelled = await waitFor(
    () => service.store.runs.find(run._id),
    (one) => one?.finishedAt !== null,
  );
  expect(cancelled).toMatchObject({ outcome: 'aborted' });
  expect(cancelled?.pause).toBeUndefined();
  expect(statuses(await user.children(first.id))).toEqual({ SYNC_ABORTED: PAGES });

  // A new run does not wait for a paused one.
  expect((await user.scrape({ url, max_tokens: 0 })).id).toBe(first.id);
  const { run: secondRun } = await paused(user, first.id);
  await user.scrape({ url });
  expect(await user.settled(first.id)).toMatchObject({ sync_status: 'READY', sync_error_message: null });
  expect(statuses(await user.children(first.id))).toEqual({ READY: PAGES });
  expect(await service.store.runs.find(secondRun._id)).toMatchObject({ outcome: 'aborted' });

  const deleted = await user.scrape({ url: freshSitemap(), max_tokens: 0 });
  const { run: empty } = await paused(user, deleted.id);
  expect(await endEmptyPauses(service.store)).toBe(0);
  await user.post('/delete_files_v2', { filters: { parent_file_ids: [deleted.id], include_all_children: true } });
  await user.post('/delete_files_v2', { filters: { ids: [deleted.id] } });
  await waitFor(
    async () =>
      (await user.post<{ results: unknown[] }>('/user_files_v2', { filters: { ids: [deleted.id] } })).body.results,
    (files) => files.length === 0,
  );
  expect(
    await waitFor(
      () => endEmptyPauses(service.store),
      (ended) => ended === 1,
    ),
  ).toBe(1);
  await waitFor(
    () => service.store.runs.find(empty._id),
    (one) => one?.finishedAt !== null,
  );
  expect((await readStoredState(service.env)).findInconsistencies('cleo')).toEqual([]);
});

// test/long/pauseKill.test.ts kills workers of paused runs.
thoroughly(
  'resumes a paused run after its worker was replaced; the reaper and scheduled syncs leave a paused run alone',
  async () => {
    const user = await service.user('dora');
    const { id } = await user.scrape({ url: freshSitemap(), chunk_size: 100, max_tokens: 700, enable_auto_sync: true });
    const { run } = await paused(user, id);
    const before = statuses(await user.children(id));
    expect(await reapOnce({ client, names: service.names }, service.store, log, Date.now() + 60_000)).toBe(0);
    expect(await runScheduledSync(client, service.names, scheduleIds.container(id))).toEqual({
      outcome: 'paused',
      parts: 0,
    });
    await service.stopWorker();
    expect(statuses(await user.children(id))).toEqual(before);
    // Resume the run while no worker runs, without the signal.
    expect(
      await service.store.pauses.resume({ organizationId: run.organizationId, userId: run.userId }, run._id, 100_000),
    ).toBe(true);
    const worker = await startProcess('worker/main', service.env);
    expect(await user.settled(id)).toMatchObject({ sync_status: 'READY', file_metadata: { pages_ready: PAGES } });
    await worker.stop();
    await service.startWorker();
    expect((await readStoredState(service.env)).findInconsistencies('dora')).toEqual([]);
  },
);

thoroughly('ends a run by itself when it is not resumed in time', async () => {
  const user = await service.user('emil');
  const { id } = await user.scrape({ url: freshSitemap(), max_tokens: 0 });
  const { run } = await paused(user, id);
  const handle = client.workflow.getHandle(service.names.idOf(run.workflowId));
  // A signal alone does not resume the run.
  await handle.signal(RESUME_SIGNAL);
  await backdatePause(run._id, 29);
  await handle.signal(RESUME_SIGNAL);
  expect((await user.file(id)).sync_status).toBe('QUEUED_FOR_SYNC');
  await backdatePause(run._id, 31);
  await handle.signal(RESUME_SIGNAL);
  expect(await user.settled(id)).toMatchObject({
    sync_status: 'SYNC_ERROR',
    sync_error_message: expect.stringContaining('was not resumed in time'),
  });
  await waitFor(
    () => service.store.runs.find(run._id),
    (one) => one?.outcome === 'failed',
  );
  expect(statuses(await user.children(id))).toEqual({ SYNC_ABORTED: PAGES });
});

thoroughly('applies the limit to crawls and to syncs of an account', async () => {
  const user = await service.user('finn');
  site.pages.set('/start.html', linkedPage('start', ['/left.html', '/right.html']));
  site.pages.set('/left.html', samplePage(900, 3));
  site.pages.set('/right.html', samplePage(901, 3));
  const crawls = await user.post<FileRecord[]>('/web_scrape', [{ url: site.url('/start.html'), max_tokens: 20 }]);
  const crawl = crawls.body[0]!;
  const { run } = await paused(user, crawl.id);
  expect((await resume(user, run._id, null)).status).toBe(200);
  expect(await user.settled(crawl.id)).toMatchObject({ sync_status: 'READY', file_metadata: { pages_ready: 3 } });

  gitbook.tokens.set('gb_api_finn', ORGANIZATION);
  await user.post('/integrations/gitbook', {
    organization: ORGANIZATION,
    access_token: 'gb_api_finn',
    sync_files_on_connection: false,
  });
  const sourceOf = async () =>
    (await user.post<{ results: { id: number; source_metadata?: unknown }[] }>('/user_data_sources', {})).body
      .results[0]!;
  const { id: data_source_id } = await sourceOf();
  expect((await user.post('/integrations/files/sync', { data_source_id, ids: ['pier'], max_tokens: 0 })).status).toBe(
    200,
  );
  const sourceWhenPaused = await waitFor(sourceOf, (source) => JSON.stringify(source).includes('Paused at max_tokens'));
  const runId = Number(/sync_runs\/(\d+)/.exec(JSON.stringify(sourceWhenPaused))?.[1]);
  expect((await resume(await service.user('someone'), runId, null)).status).toBe(404);
  expect((await resume(user, runId, null)).status).toBe(200);
  await waitFor(sourceOf, (source) => !JSON.stringify(source).includes('Paused'));
  const finished = await waitFor(
    () => service.store.runs.find(runId),
    (one) => one?.finishedAt !== null,
  );
  expect(finished).toMatchObject({ outcome: 'finished', counts: { ready: 2 } });
});
