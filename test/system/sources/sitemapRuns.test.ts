/** Runs of sitemaps: long ones, and several of one sitemap. */
import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Client } from '@temporalio/client';

import { RESUME_SIGNAL } from '../../../contract/runs/orchestration.js';
import { workflowIds } from '../../../contract/runs/workflowIds.js';
import type { FileRecord } from '../../../contract/files/records.js';
import { createTemporalClient } from '../../../dispatch/client.js';
import { runOfKind } from '../../../contract/runs/runs.js';
import { startHeldSite } from '../../emulators/heldSite.js';
import { type Site, sitemapOf, startSampleSite } from '../../emulators/site.js';
import type { Listed, TestUser } from '../../support/client.js';
import { testEngines } from '../../support/engines.js';
import { startService, type TestService } from '../../support/service.js';
import { waitFor } from '../../support/waitFor.js';

/** Maximum number of pages of a sitemap: fewer than the concurrent requests to one site. */
const MAX_PAGES = 4;
const MB = 1024 * 1024;
let service: TestService;
let user: TestUser;
let site: Site;

beforeAll(async () => {
  service = await startService({
    ALLOWED_PRIVATE_HOSTS: '127.0.0.1',
    MAX_PAGES_PER_SCRAPE: String(MAX_PAGES),
    REAP_INTERVAL_S: '1',
  });
  user = await service.user('long');
  site = await startSampleSite(MAX_PAGES + 2, 1);
});
afterAll(async () => {
  await service.close();
  await site.close();
});

interface Run {
  readonly id: number;
  readonly status: string;
  readonly message: string | null;
  readonly error: string | null;
}

/**
 * Scrapes a sitemap of the first `pages` pages. @returns the parent, its run, and whether the sitemap was read to its
 * end
 */
async function scrapeFirst(pages: number, options: Record<string, unknown> = {}) {
  const path = '/some.xml';
  site.pages.set(
    path,
    sitemapOf(site.origin, [...site.pages.keys()].filter((key) => key.startsWith('/pages/')).slice(0, pages)),
  );
  const parent = await user.settled((await user.scrape({ url: site.url(path), ...options })).id);
  // The run ends only after its parent is READY.
  const run = await waitFor(
    async () => (await user.get<Listed<Run>>(`/sync_runs?request_id=${parent.request_id}`)).body.results[0],
    (latestRun) => latestRun?.status !== 'running',
  );
  const { id = 0, status, message, error } = run ?? {};
  const { progress } = runOfKind((await service.store.runs.find(id))!, 'scrapeSitemap');
  return { parent, run: { status, message, error }, readWhole: progress.readWhole };
}

test('truncates a sitemap at MAX_PAGES_PER_SCRAPE, and reports it in the run and the parent until the sitemap is shorter', async () => {
  const truncated = await scrapeFirst(MAX_PAGES + 1);
  expect(truncated).toMatchObject({
    parent: { sync_status: 'READY', file_metadata: { pages_total: MAX_PAGES, limit_reached: 'MAX_PAGES_PER_SCRAPE' } },
    run: {
      status: 'finished',
      message: expect.stringMatching(/^4 pages of a longer list were accepted\..*MAX_PAGES_PER_SCRAPE/),
      error: null,
    },
    readWhole: false,
  });
  const complete = await scrapeFirst(MAX_PAGES);
  expect(complete).toMatchObject({
    parent: { id: truncated.parent.id, sync_status: 'READY', file_metadata: { pages_total: MAX_PAGES } },
    run: { status: 'finished', message: null, error: null },
    readWhole: true,
  });
  expect(complete.parent.file_metadata).not.toHaveProperty('limit_reached');
});

test('does not report a truncation by max_pages_to_scrape', async () => {
  const { parent, run, readWhole } = await scrapeFirst(MAX_PAGES + 2, { max_pages_to_scrape: MAX_PAGES });
  expect({ run, readWhole }).toEqual({ run: { status: 'finished', message: null, error: null }, readWhole: false });
  expect(parent.file_metadata).not.toHaveProperty('limit_reached');
});

/**
 * Temporal suggests to continue as new from 4,096 events or 4 MiB of history. The test exceeds 4 MiB by a few large
 * signals.
 * https://github.com/temporalio/temporal/blob/main/common/dynamicconfig/constants.go
 * (limit.historySize.suggestContinueAsNew)
 */
test('a run with more than 4 MiB of history continues as new, and reads each page once', async () => {
  const client: Client = createTemporalClient({ address: testEngines().temporalAddress, namespace: 'default' });
  const heldSite = await startHeldSite(MAX_PAGES);
  const { id } = await user.scrape({ url: heldSite.url('/sitemap.xml') });
  const requestedPages = (): string[] => heldSite.requests.filter((path) => path.startsWith('/pages/'));
  await waitFor(requestedPages, (paths) => new Set(paths).size === MAX_PAGES);
  const workflow = client.workflow.getHandle(service.names.idOf(workflowIds.scrape(id)));
  const firstExecution = await workflow.describe();
  // Sends 7.5 MiB, well over 4 MiB: Temporal buffers signals that arrive during a workflow task, and does not count
  // them until that task ends.
  for (let sent = 0; sent <= 6 * MB; sent += 1.5 * MB)
    await workflow.signal(RESUME_SIGNAL, randomBytes(1.5 * MB * 0.75).toString('base64'));
  heldSite.release();
  const parent: FileRecord = await user.settled(id);
  expect(parent).toMatchObject({
    sync_status: 'READY',
    file_metadata: { pages_total: MAX_PAGES, pages_ready: MAX_PAGES },
  });
  expect(requestedPages().toSorted()).toEqual([...new Set(requestedPages())].toSorted());
  // The parent becomes READY with its last page; only then, the run continues as new.
  const endedExecution = await waitFor(
    () => client.workflow.getHandle(firstExecution.workflowId, firstExecution.runId).describe(),
    (description) => description.status.name !== 'RUNNING',
  );
  expect(endedExecution.status.name).toBe('CONTINUED_AS_NEW');
  await heldSite.close();
  await client.connection.close();
});

test('runs repeated scrapes of a sitemap one after another under the same parent, each with its own options', async () => {
  const owner = await service.user('twice');
  const heldSite = await startHeldSite(MAX_PAGES);
  const sitemapsRead = (): number => heldSite.requests.filter((path) => path === '/sitemap.xml').length;
  const pageRequests = (): string[] => heldSite.requests.filter((path) => path.startsWith('/pages/'));
  const url = heldSite.url('/sitemap.xml');
  const first = await owner.scrape({ url, chunk_size: 100, skip_embedding_generation: true, tags: { turn: 1 } });
  // The first run now waits for its unanswered pages.
  await waitFor(pageRequests, (paths) => new Set(paths).size === MAX_PAGES);

  const second = await owner.scrape({
    url,
    chunk_size: 40,
    chunk_overlap: 5,
    max_pages_to_scrape: 2,
    tags: { turn: 2 },
  });
  const third = await owner.scrape({
    url,
    store_file_only: true,
    url_paths_to_include: ['/pages/3'],
    tags: { turn: 3 },
  });
  expect([second.id, third.id]).toEqual([first.id, first.id]);
  expect(new Set([first, second, third].map((one) => one.request_id)).size).toBe(3);
  expect(second).toMatchObject({ sync_status: 'QUEUED_FOR_SYNC', chunk_size: 40, chunk_overlap: 5, tags: { turn: 2 } });

  // Waits longer than the retry delay of the second run, which must not start while the first is running.
  await sleep(3_500);
  expect(sitemapsRead()).toBe(1);
  expect(pageRequests()).toHaveLength(MAX_PAGES);
  expect((await owner.file(first.id)).sync_status).toBe('QUEUED_FOR_SYNC');

  heldSite.release();
  const parent = await owner.settled(first.id);
  expect(parent).toMatchObject({ sync_status: 'READY', tags: { turn: 3 }, request_id: third.request_id });
  expect(parent.file_metadata).toMatchObject({ pages_total: 1, pages_ready: 1, pages_failed: 0, pages_aborted: 0 });
  expect(sitemapsRead()).toBe(3);

  const pages = (await owner.children(first.id)) as FileRecord[];
  const shape = async ({ id, sync_status, tags, request_id, chunk_size }: FileRecord) => {
    const { results } = await owner.chunks({ ids: [id] }, { include_vectors: true });
    const vectors = results.filter((chunk) => chunk.embedding !== null).length;
    return { sync_status, tags, request_id, chunk_size, chunks: results.length > 1, vectors: vectors > 0 };
  };
  const byFirst = { tags: { turn: 1 }, request_id: first.request_id, chunk_size: 100, chunks: true, vectors: false };
  const bySecond = { tags: { turn: 2 }, request_id: second.request_id, chunk_size: 40, chunks: true, vectors: true };
  const byThird = { tags: { turn: 3 }, request_id: third.request_id, chunk_size: 1500, chunks: false, vectors: false };
  expect(await Promise.all(pages.map(shape))).toEqual(
    [bySecond, bySecond, byFirst, byThird].map((one) => ({ sync_status: 'READY', ...one })),
  );
  await heldSite.close();
});
