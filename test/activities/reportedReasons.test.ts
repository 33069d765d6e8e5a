/** Tests of the reasons and limits that a run reports at its end. Stores and sources are fakes. */
import { expect, test } from '@jest/globals';
import { asyncLocalStorage } from '@temporalio/activity';

import { createConnectActivities } from '../../activities/connected/connect.js';
import type { ActivityDeps } from '../../activities/deps.js';
import { createDiscoveryActivities } from '../../activities/discover/discoverPages.js';
import { createCrawlActivities } from '../../activities/discover/followLinks.js';
import { createReembedPlan } from '../../activities/reembed/planReembed.js';
import { createRunActivities } from '../../activities/runs/runs.js';
import { everyRow } from '../support/everyRow.js';
import { type Answers, recorder } from '../support/recorder.js';

const run = { ...{ _id: 7, organizationId: 1, userId: 2, dataSourceId: 5, fileId: null }, requestId: 'r', request: {} };

/** Creates activities with fake stores that record their calls. */
function open(answers: Answers) {
  const recorded = recorder(answers);
  const log = { info: () => undefined, warn: () => undefined };
  return { ...recorded, deps: { store: recorded.stores, log } as unknown as ActivityDeps };
}

const REFUSED = { kind: 'bad_response', message: 'Refused.', at: new Date(0) };
const CONNECTIONS: readonly (readonly [
  what: string,
  end: object,
  lastError: object | null,
  runEnd: object | undefined,
])[] = [
  ['refused', { outcome: 'failed', message: 'Refused.' }, REFUSED, { message: 'Refused.', error: 'bad_response' }],
  [
    'ended by a defect',
    { outcome: 'failed', message: 'A defect.' },
    null,
    { message: 'A defect.', error: 'run_failed' },
  ],
  [
    'ended by a later defect',
    { outcome: 'failed', message: 'A defect.' },
    REFUSED,
    { message: 'A defect.', error: 'run_failed' },
  ],
  ['cancelled', { outcome: 'cancelled' }, REFUSED, undefined],
];
test('the run of a failed connection has the same reason as the connection', () =>
  everyRow(
    CONNECTIONS,
    ([what]) => `a connection ${what}`,
    async ([, end, lastError, runEnd]) => {
      const { deps, of } = open({ 'runs.find': { ...run, lastError }, 'attempts.changeState': false });
      await createConnectActivities(deps).endConnection({ runId: 7, ...end } as never);
      const outcome = runEnd ? 'failed' : 'aborted';
      expect(of('runs.finish')).toEqual([[7, outcome, {}, runEnd]]);
    },
  ));

const RE_EMBEDDINGS: readonly (readonly [
  outcome: 'finished' | 'failed' | 'aborted',
  lastError: object | null,
  runEnd: object | undefined,
])[] = [
  ['failed', REFUSED, { message: 'Refused.', error: 'bad_response' }],
  ['failed', null, { message: expect.stringContaining('internal error'), error: 'run_failed' }],
  ['finished', REFUSED, undefined],
  ['aborted', REFUSED, undefined],
];
test('a failed re-embedding run has the reason of its last attempt', () =>
  everyRow(
    RE_EMBEDDINGS,
    ([outcome, lastError]) => `${outcome} ${JSON.stringify(lastError)}`,
    async ([outcome, lastError, runEnd]) => {
      const sums = { skipped: { syncing: 2 }, reembedded: 1 };
      const { deps, of } = open({ 'runs.find': { ...run, lastError }, 'reembeds.listOpen': [], 'reembeds.sums': sums });
      await createReembedPlan(deps).finishReembed({ runId: 7, outcome });
      expect(of('runs.finish')).toEqual([[7, outcome, { reembedded: 1, skipped_syncing: 2 }, runEnd]]);
    },
  ));

/**
 * Limits of a crawl that has accepted three pages and finds three more, of which one may not be fetched, or of a sitemap
 * with five pages. `added`: accepted pages after the first three.
 */
const LIMITS: readonly (readonly [
  what: string,
  limits: { readonly request?: number; readonly setting?: number; readonly perUpload?: number },
  added: number,
  reported: string | null,
])[] = [
  ['no limit', {}, 2, null],
  ['exactly as many pages as the limit', { setting: 5 }, 2, null],
  ['the limit of its request', { request: 4 }, 1, null],
  ['the limit of its user', { perUpload: 4 }, 1, 'max_files_per_upload'],
  ['the setting', { setting: 4 }, 1, 'MAX_PAGES_PER_SCRAPE'],
  ['a request of as many pages as the setting', { request: 4, setting: 4 }, 1, null],
  ['a request of as many pages as the limit of its user', { request: 4, perUpload: 4 }, 1, null],
  ['the smaller limit of its user', { setting: 5, perUpload: 4 }, 1, 'max_files_per_upload'],
];
test('a crawl reports the limit that ended it, but not the one of its request', () =>
  everyRow(
    LIMITS,
    ([what]) => what,
    async ([, { request = 100, setting = 100, perUpload = null }, added, reported]) => {
      const site = 'https://site.example';
      const scrape = { recursionDepth: 3, maxPagesToScrape: request, urlPathsToInclude: [], enableAutoSync: false };
      const links = ['/private', '/1', '/2'].map((path) => `${site}${path}`);
      const { deps, of } = open({
        'runs.find': { ...run, kind: 'webScrape', fileId: 3, request: { url: site, scrape, ingest: {}, tags: {} } },
        'limits.get': { max_files_per_upload: perUpload },
        'frontier.count': 3,
        'frontier.findFinalUrl': null,
        'frontier.findDepths': new Map(),
        'frontier.listUnfollowed': [{ url: site, depth: 0, links }],
        'files.countRun': { total: 3, failed: 0 },
        'files.nextDueTime': null,
        'files.hasDelayed': false,
      });
      const sources = { mayFetch: (url: string) => Promise.resolve(!url.endsWith('/private')) };
      const { followLinks } = createCrawlActivities({
        ...deps,
        sources,
        settings: { maxPagesPerScrape: setting },
      } as never);
      const signal = { cancellationSignal: new AbortController().signal } as never;
      const { discovered } = await asyncLocalStorage.run(signal, () => followLinks({ runId: 7 }));
      expect(discovered).toBe(3 + added);
      const [[, , change] = []] = of('files.moveContainer');
      expect(change).toEqual({
        status: 'SYNCING',
        metadata: { pages_total: discovered, ...(reported !== null && { limit_reached: reported }) },
      });
      const progress = of('runs.saveProgress').map(([, saved]) => saved);
      expect(progress).toEqual(reported === 'MAX_PAGES_PER_SCRAPE' ? [{ cutAt: 4 }] : []);
    },
  ));

test('a scrape of a sitemap reports the limit that ended it, but not the one of its request', () =>
  everyRow(
    LIMITS,
    ([what]) => what,
    async ([, { request = null, setting = 100, perUpload = null }, added, reported]) => {
      const scrape = { maxPagesToScrape: request, urlPathsToInclude: [], urlPathsToExclude: [], urlsToScrape: [] };
      const url = 'https://site.example/sitemap.xml';
      const { deps, of } = open({
        'runs.find': { ...run, kind: 'scrapeSitemap', fileId: 3, request: { url, scrape, ingest: {}, tags: {} } },
        'limits.get': { max_files_per_upload: perUpload },
        'files.acceptMany': (_owner: unknown, pages: readonly unknown[]) => pages.length,
      });
      const sources = {
        async *discover() {
          for (const page of [1, 2, 3, 4, 5]) yield await Promise.resolve({ url: `https://site.example/${page}` });
        },
      };
      const settings = { maxPagesPerScrape: setting };
      const { discoverPages } = createDiscoveryActivities({ ...deps, sources, settings } as never);
      const signal = { cancellationSignal: new AbortController().signal } as never;
      const { discovered } = await asyncLocalStorage.run(signal, () => discoverPages({ runId: 7 }));
      expect(discovered).toBe(3 + added);
      const [[, , change] = []] = of('files.moveContainer');
      expect(change).toMatchObject({ metadata: { pages_total: discovered, limit_reached: reported } });
      const progress = of('runs.saveProgress').map(([, saved]) => saved);
      const isCapped = reported === 'MAX_PAGES_PER_SCRAPE';
      expect(progress).toEqual([{ readWhole: discovered === 5, cutAt: isCapped ? 4 : null }]);
    },
  ));

test('pages of a sitemap that are not accepted do not count towards the limit', async () => {
  const scrape = { maxPagesToScrape: null, urlPathsToInclude: [], urlPathsToExclude: [], urlsToScrape: [] };
  const url = 'https://site.example/sitemap.xml';
  const deletedPage = 'https://site.example/2';
  const { deps, of } = open({
    'runs.find': { ...run, kind: 'scrapeSitemap', fileId: 3, request: { url, scrape, ingest: {}, tags: {} } },
    'limits.get': { max_files_per_upload: null },
    'files.acceptMany': (_owner: unknown, pages: readonly { readonly externalUrl: string }[]) =>
      pages.filter(({ externalUrl }) => externalUrl !== deletedPage).length,
  });
  const sources = {
    async *discover() {
      for (const page of [1, 2, 3, 4]) yield await Promise.resolve({ url: `https://site.example/${page}` });
    },
  };
  const { discoverPages } = createDiscoveryActivities({
    ...deps,
    sources,
    settings: { maxPagesPerScrape: 2 },
  } as never);
  const signal = { cancellationSignal: new AbortController().signal } as never;
  expect(await asyncLocalStorage.run(signal, () => discoverPages({ runId: 7 }))).toEqual({ discovered: 2 });
  expect(of('runs.saveProgress').map(([, saved]) => saved)).toEqual([{ readWhole: false, cutAt: 2 }]);
});

test('a finished scrape that MAX_PAGES_PER_SCRAPE ended has a message with the number of pages that it allowed (cutAt)', () =>
  everyRow(
    [
      ['webScrape', { cutAt: 4 }, true],
      ['webScrape', {}, false],
      ['scrapeSitemap', { cutAt: 4 }, true],
      ['scrapeSitemap', { cutAt: null }, false],
      ['syncFeed', {}, false],
    ] as const,
    ([kind, progress]) => `${kind} ${JSON.stringify(progress)}`,
    async ([kind, progress, isReported]) => {
      const { deps, of } = open({ 'runs.find': { ...run, kind, fileId: 3, progress }, 'files.countRun': { total: 4 } });
      await createRunActivities(deps).finishRun({ runId: 7 });
      const message = expect.stringMatching(/^4 pages .* at most 4 \(setting MAX_PAGES_PER_SCRAPE\)/);
      expect(of('runs.finish')[0]?.[3]).toEqual(isReported ? { message, error: null } : undefined);
    },
  ));
