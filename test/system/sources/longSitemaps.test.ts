import { randomBytes } from 'node:crypto';
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

const MAX_PAGES = 4;
const MB = 1024 * 1024;
let service: TestService;
let user: TestUser;
let site: Site;

beforeAll(async () => {
  service = await startService({ ALLOWED_PRIVATE_HOSTS: '127.0.0.1', MAX_PAGES_PER_SCRAPE: String(MAX_PAGES) });
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
