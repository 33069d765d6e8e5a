import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { asyncLocalStorage } from '@temporalio/activity';

import { DEFAULT_INGEST_OPTIONS, type ScrapeOptions } from '../../contract/ingestOptions.js';
import { createDiscoveryActivities } from '../../activities/discover/discoverPages.js';
import { createGonePagesActivities } from '../../activities/discover/deleteGonePages.js';
import type { ActivityDeps } from '../../activities/deps.js';
import { countHeld } from '../../activities/quarantine/massDelete.js';
import type { SitemapProblem } from '../../connectors/types.js';
import { Fault } from '../../contract/failures.js';
import { runOfKind } from '../../contract/runs.js';
import type { FileDoc } from '../../store/files/model.js';
import { everyRow } from '../support/everyRow.js';
import { seedFiles } from '../support/seedFiles.js';
import { startService, type TestService } from '../support/service.js';

/** What becomes of pages that are at their site no more; stores are real, and no site is asked. */
let service: TestService;
let owner = { organizationId: 1, userId: 100, customerId: 'ada' };
let lastId = 1_000;
let parentId: number;
let runId: number;

beforeAll(async () => {
  service = await startService({}, { worker: false });
});
afterAll(() => service.close());
beforeEach(async () => {
  lastId += 1_000;
  parentId = lastId;
  const customerId = `user ${lastId}`;
  await service.user(customerId);
  owner = await service.store.users.ensure(1, customerId);
  runId = await begin();
  await seedFiles(service, owner, [{ id: parentId, fields: { isContainer: true, syncStatus: 'SYNCING', runId } }]);
});

/** A pass over the site that has read its sitemap whole, or not. */
async function begin(readWhole = false): Promise<number> {
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
const toldGone = (): Partial<FileDoc> => ({ runId, goneBy: runId, syncStatus: 'SYNC_ERROR' });
const logged: unknown[] = [];
async function drop(): Promise<void> {
  const log = { warn: (fields: unknown) => void logged.push(fields), info: () => undefined };
  const settings = { massDeletePercent: 30, quarantineMs: 0 };
  const deps = { store: service.store, settings, log } as unknown as ActivityDeps;
  const context = { heartbeat: () => undefined, cancellationSignal: new AbortController().signal } as never;
  await asyncLocalStorage.run(context, () => createGonePagesActivities(deps).deleteGonePages({ runId }));
}
const left = async (ids: readonly number[]): Promise<number> => (await service.store.files.byIds(owner, ids)).length;
const parent = async (): Promise<FileDoc> => (await service.store.files.byIds(owner, [parentId]))[0]!;

test('an approval of deletions is used up by the pass that it was for', async () => {
  await pages(20, { runId });
  const gone = await pages(20, toldGone());
  await drop();
  expect([await left(gone), (await parent()).fileMetadata['deletions_held']]).toEqual([20, 20]);
  expect(logged.at(-1)).toMatchObject({ fileId: parentId, gone: 20, pages: 40 });
  await service.store.files.decideDeletions(await parent(), true);
  await drop();
  expect([await left(gone), (await parent()).deletionsApproved]).toEqual([0, false]);
  expect((await parent()).fileMetadata['deletions_held'] ?? null).toBeNull();
  const more = await pages(20, toldGone());
  await drop();
  expect([await left(more), (await parent()).fileMetadata['deletions_held']]).toEqual([20, 20]);
});

test('a refusal takes what is held back, and approves nothing', async () => {
  await pages(20, { runId });
  const gone = await pages(20, toldGone());
  await drop();
  const refused = await service.store.files.decideDeletions(await parent(), false);
  expect([refused!.deletionsApproved, refused!.fileMetadata['deletions_held']]).toEqual([false, undefined]);
  await drop();
  expect(await left(gone)).toBe(20);
});

/** Pages below the site by what is known of them, and whether a pass lets them go: told, or having read the whole sitemap. */
const PAGES: [what: string, fields: () => Partial<FileDoc>, isGone: boolean, isMissed: boolean][] = [
  ['told to be gone', toldGone, true, true],
  ['told to be gone to an earlier pass', () => ({ ...toldGone(), goneBy: 1 }), false, false],
  ['told to be gone, and had back since', () => ({ ...toldGone(), restoredAt: new Date() }), false, false],
  ['found by this pass', () => ({ runId, syncStatus: 'READY' }), false, false],
  ['not found', () => ({ runId: 1, syncStatus: 'READY' }), false, true],
  ['not found, failed before', () => ({ runId: 1, syncStatus: 'SYNC_ERROR' }), false, true],
  ['not found, aborted before', () => ({ runId: 1, syncStatus: 'SYNC_ABORTED' }), false, true],
  ['not found, in motion', () => ({ runId: 1, syncStatus: 'SYNCING' }), false, false],
  ['not found, had back', () => ({ runId: 1, restoredAt: new Date() }), false, false],
  ['not found, changed since', () => ({ runId: 1, updatedAt: new Date(Date.now() + 60_000) }), false, false],
  ['a part of the site with pages of its own', () => ({ runId: 1, isContainer: true }), false, false],
  ['of another site', () => ({ runId: 1, parentId: 1 }), false, false],
];

test('a pass lets go what it was told to be gone, and what it did not find only if it read everything', async () => {
  await everyRow([false, true], String, async (readWhole) => {
    runId = await begin(readWhole);
    // Enough that what is missing is not held back.
    const filler = await pages(readWhole ? 120 : 20, { runId, syncStatus: 'READY' });
    const made: number[] = [];
    for (const [, fields] of PAGES) made.push(...(await pages(1, fields())));
    await drop();
    const there = new Set((await service.store.files.byIds(owner, made)).map(({ _id }) => _id));
    const seen = PAGES.map(([what], index) => `${what}: ${there.has(made[index]!) ? 'stays' : 'goes'}`);
    const wanted = PAGES.map(
      ([what, , isGone, isMissed]) => `${what}: ${(readWhole ? isMissed : isGone) ? 'goes' : 'stays'}`,
    );
    expect(seen).toEqual(wanted);
    expect(await left(filler)).toBe(filler.length);
  });
});

/** How much is missing of how many files, and how much of that is held. */
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

test('more than ten and more than the percentage, or all there is, are held until they are approved', async () => {
  await everyRow(HELD, JSON.stringify, ([missing, files, isEmpty, isApproved, held]) => {
    expect(countHeld({ missing, files, isEmpty, isApproved }, 30)).toBe(held);
  });
});

/** What reading a sitemap finds, and whether the pages that it does not name count as gone. */
const SITEMAPS: [what: string, pages: number, unread: number, maxPages: number, readWhole: boolean][] = [
  ['all of it', 3, 0, 10, true],
  ['all of it, as many as are taken', 3, 0, 3, true],
  ['a file of its index could not be read', 3, 1, 10, false],
  ['no page', 0, 0, 10, false],
  ['no page, and a file that could not be read', 0, 1, 10, false],
  ['more pages than are taken', 3, 0, 2, false],
];

test('pages that a sitemap does not name count as gone only if all of it was read', async () => {
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
