import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { asyncLocalStorage } from '@temporalio/activity';

import { DEFAULT_INGEST_OPTIONS, type ScrapeOptions } from '../../contract/files/ingestOptions.js';
import { createDiscoveryActivities } from '../../activities/discover/discoverPages.js';
import { createGonePagesActivities } from '../../activities/discover/deleteGonePages.js';
import type { ActivityDeps } from '../../activities/deps.js';
import { countHeld } from '../../activities/quarantine/massDelete.js';
import type { SitemapProblem } from '../../connectors/types.js';
import { Fault } from '../../contract/failures.js';
import { runOfKind } from '../../contract/runs/runs.js';
import type { FileDoc } from '../../store/models/files.js';
import { everyRow } from '../support/everyRow.js';
import { seedFiles } from '../support/seedFiles.js';
import { type SharedService, sharedService } from '../support/sharedService.js';

// Tests of the deletion of pages that no longer exist at their site. The stores are real; no site is requested.
let service: SharedService;
let owner: { organizationId: number; userId: number; customerId: string };
let lastId: number;
let parentId: number;
let runId: number;

beforeAll(async () => {
  service = await sharedService({ worker: false });
  lastId = service.firstId;
});
afterAll(() => service.close());
beforeEach(async () => {
  lastId += 1_000;
  parentId = lastId;
  const customerId = `user ${lastId}`;
  await service.user(customerId);
  owner = await service.store.users.ensure(service.organizationId, customerId);
  runId = await acceptScrape();
  await seedFiles(service, owner, [{ id: parentId, fields: { isContainer: true, syncStatus: 'SYNCING', runId } }]);
});

/** Accepts a run over the site. @param readWhole whether the run has read the complete sitemap */
async function acceptScrape(readWhole = false): Promise<number> {
  const { runs, transaction } = service.store;
  const id = await runs.nextId();
  const scrape = { urlPathsToInclude: [], urlPathsToExclude: [], urlsToScrape: [] } as unknown as ScrapeOptions;
  const request = { url: 'http://a.test/', tags: {}, ingest: DEFAULT_INGEST_OPTIONS, scrape };
  const run = {
    kind: 'scrapeSitemap',
    request,
    workflowId: `scrape:${id}`,
    owner,
    fileId: parentId,
    requestId: 'r',
  } as const;
  await transaction((session) => runs.accept(id, { ...run, progress: { readWhole } }, session));
  return id;
}
async function pages(count: number, fields: Partial<FileDoc>): Promise<number[]> {
  const seeds = Array.from({ length: count }, () => ({ id: (lastId += 1), fields: { parentId, ...fields } }));
  await seedFiles(service, owner, seeds);
  return seeds.map(({ id }) => id);
}
const reportedGone = (): Partial<FileDoc> => ({ runId, goneBy: runId, syncStatus: 'SYNC_ERROR' });
const logged: unknown[] = [];
async function deleteGone(): Promise<void> {
  const log = { warn: (fields: unknown) => void logged.push(fields), info: () => undefined };
  const settings = { massDeletePercent: 30, quarantineMs: 0 };
  const deps = { store: service.store, settings, log } as unknown as ActivityDeps;
  const context = { heartbeat: () => undefined, cancellationSignal: new AbortController().signal } as never;
  await asyncLocalStorage.run(context, () => createGonePagesActivities(deps).deleteGonePages({ runId }));
}
const countLeft = async (ids: readonly number[]): Promise<number> =>
  (await service.store.files.byIds(owner, ids)).length;
const parent = async (): Promise<FileDoc> => (await service.store.files.byIds(owner, [parentId]))[0]!;

test('an approval of deletions applies to one run only', async () => {
  await pages(20, { runId });
  const goneIds = await pages(20, reportedGone());
  await deleteGone();
  expect([await countLeft(goneIds), (await parent()).fileMetadata['deletions_held']]).toEqual([20, 20]);
  expect(logged.at(-1)).toMatchObject({ fileId: parentId, gone: 20, pages: 40 });
  await service.store.files.decideDeletions(await parent(), true);
  await deleteGone();
  expect([await countLeft(goneIds), (await parent()).deletionsApproved]).toEqual([0, false]);
  expect((await parent()).fileMetadata['deletions_held'] ?? null).toBeNull();
  const laterGoneIds = await pages(20, reportedGone());
  await deleteGone();
  expect([await countLeft(laterGoneIds), (await parent()).fileMetadata['deletions_held']]).toEqual([20, 20]);
});

test('a refusal clears the held deletions and approves none of them', async () => {
  await pages(20, { runId });
  const goneIds = await pages(20, reportedGone());
  await deleteGone();
  const refused = await service.store.files.decideDeletions(await parent(), false);
  expect([refused!.deletionsApproved, refused!.fileMetadata['deletions_held']]).toEqual([false, undefined]);
  await deleteGone();
  expect(await countLeft(goneIds)).toBe(20);
});

/**
 * Pages of the site. `isGone`: a run that read a part of the sitemap deletes the page; `isMissed`: one that read all.
 */
const PAGES: [what: string, fields: () => Partial<FileDoc>, isGone: boolean, isMissed: boolean][] = [
  ['reported as gone', reportedGone, true, true],
  ['reported as gone to an earlier run', () => ({ ...reportedGone(), goneBy: 1 }), false, false],
  ['reported as gone, restored since', () => ({ ...reportedGone(), restoredAt: new Date() }), false, false],
  ['found by this run', () => ({ runId, syncStatus: 'READY' }), false, false],
  ['not found', () => ({ runId: 1, syncStatus: 'READY' }), false, true],
  ['not found, failed before', () => ({ runId: 1, syncStatus: 'SYNC_ERROR' }), false, true],
  ['not found, aborted before', () => ({ runId: 1, syncStatus: 'SYNC_ABORTED' }), false, true],
  ['not found, being synced', () => ({ runId: 1, syncStatus: 'SYNCING' }), false, false],
  ['not found, restored', () => ({ runId: 1, restoredAt: new Date() }), false, false],
  ['not found, changed since', () => ({ runId: 1, updatedAt: new Date(Date.now() + 60_000) }), false, false],
  ['a container with its own pages', () => ({ runId: 1, isContainer: true }), false, false],
  ['of another site', () => ({ runId: 1, parentId: 1 }), false, false],
];

test('a run deletes pages that are reported as gone, and pages that it did not find only if it read the whole sitemap', async () => {
  await everyRow([false, true], String, async (readWhole) => {
    runId = await acceptScrape(readWhole);
    // So many pages are found that the deletions stay below the limit for mass deletion.
    const filler = await pages(readWhole ? 120 : 20, { runId, syncStatus: 'READY' });
    const ids: number[] = [];
    for (const [, fields] of PAGES) ids.push(...(await pages(1, fields())));
    await deleteGone();
    const keptIds = new Set((await service.store.files.byIds(owner, ids)).map(({ _id }) => _id));
    const seen = PAGES.map(([what], index) => `${what}: ${keptIds.has(ids[index]!) ? 'kept' : 'deleted'}`);
    const expected = PAGES.map(
      ([what, , isGone, isMissed]) => `${what}: ${(readWhole ? isMissed : isGone) ? 'deleted' : 'kept'}`,
    );
    expect(seen).toEqual(expected);
    expect(await countLeft(filler)).toBe(filler.length);
  });
});

/**
 * Numbers of missing files and of all files, whether the listing is empty, whether an operator approved the deletions,
 * and how many deletions are held for approval.
 */
const HELD: [missing: number, files: number, isEmpty: boolean, isApproved: boolean, held: number][] = [
  [0, 0, true, false, 0],
  [0, 100, false, false, 0],
  [10, 11, false, false, 0],
  [11, 11, false, false, 11],
  [30, 100, false, false, 0],
  [31, 100, false, false, 31],
  [31, 100, false, true, 0],
  [1, 1, true, false, 1],
  [1, 1, true, true, 0],
  [11, 36, false, false, 11],
  [11, 37, false, false, 0],
];

test('without approval, more than ten deletions are held above 30 %, and all after an empty listing', async () => {
  await everyRow(HELD, JSON.stringify, ([missing, files, isEmpty, isApproved, heldCount]) => {
    expect(countHeld({ missing, files, isEmpty, isApproved }, 30)).toBe(heldCount);
  });
});

/** Results of reading a sitemap, and whether pages that are missing from it count as gone. */
const SITEMAPS: [what: string, pages: number, unread: number, maxPages: number, readWhole: boolean][] = [
  ['the whole sitemap', 3, 0, 10, true],
  ['the whole sitemap, exactly the maximum of pages', 3, 0, 3, true],
  ['a file of its index could not be read', 3, 1, 10, false],
  ['no page', 0, 0, 10, false],
  ['no page, and a file that could not be read', 0, 1, 10, false],
  ['more pages than the maximum', 3, 0, 2, false],
];

test('pages missing from a sitemap count as gone only if the whole sitemap was read', async () => {
  await everyRow(
    SITEMAPS,
    ([what]) => what,
    async ([, count, unread, maxPagesPerScrape, expected]) => {
      await service.store.files.moveContainer(runId, parentId, { status: 'SYNCING' });
      async function* discover(_url: string, _signal: AbortSignal, note: (problem: SitemapProblem) => void) {
        for (let file = 0; file < unread; file += 1)
          note({ url: `http://a.test/${file}.xml`, fault: new Fault('server_error', 'a.test is away.') });
        for (let page = 0; page < count; page += 1) yield { url: `http://a.test/${page}.html` };
      }
      const deps = { store: service.store, settings: { maxPagesPerScrape }, sources: { discover } };
      const { discoverPages } = createDiscoveryActivities(deps as unknown as ActivityDeps);
      const context = { heartbeat: () => undefined, cancellationSignal: new AbortController().signal } as never;
      await asyncLocalStorage.run(context, () => discoverPages({ runId }));
      const run = await service.store.runs.find(runId);
      expect(runOfKind(run!, 'scrapeSitemap').progress.readWhole).toBe(expected);
    },
  );
});
