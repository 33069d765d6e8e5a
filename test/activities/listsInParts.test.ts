/** Tests of steps that process long lists in parts: pages of a sitemap, and files whose tags are outdated. */
import { expect, test } from '@jest/globals';
import { asyncLocalStorage } from '@temporalio/activity';

import { createDiscoveryActivities } from '../../activities/discover/discoverPages.js';
import { createTagActivities } from '../../activities/runs/updateTags.js';
import { Fault } from '../../contract/failures.js';
import { everyRow } from '../support/everyRow.js';
import { recorder } from '../support/recorder.js';

const SITE = 'https://site.example';
const RUN = {
  ...{ _id: 7, organizationId: 1, userId: 2, customerId: 'ada', fileId: 3, requestId: 'r', workflowId: 'w' },
  dataSourceId: null,
};
const scrape = { urlPathsToInclude: [], urlPathsToExclude: [], urlsToScrape: [], enableAutoSync: false };

/** Discovers pages of a sitemap. @param unreadable number of parts of the sitemap that cannot be read */
async function discover(urls: readonly string[], { unreadable = 0, request = {} as object } = {}) {
  const url = `${SITE}/sitemap.xml`;
  const recorded = recorder({
    'runs.find': {
      ...RUN,
      ...{ kind: 'scrapeSitemap', parentRunId: 9 },
      request: { url, scrape: { ...scrape, maxPagesToScrape: null, usePremiumProxies: true, ...request }, ingest: {} },
    },
    'limits.get': { max_files_per_upload: null },
    'files.acceptMany': (_owner: unknown, pages: readonly unknown[]) => pages.length,
  });
  const asked: unknown[] = [];
  const sources = {
    async *discover(of: string, _signal: unknown, onProblem: (problem: object) => void, usePremiumProxies: boolean) {
      asked.push(of, usePremiumProxies);
      for (let nth = 0; nth < unreadable; nth += 1)
        onProblem({ url: `${SITE}/part-${nth}.xml`, fault: new Fault('not_found', 'It does not exist.') });
      for (const page of urls) yield await Promise.resolve({ url: page });
    },
  };
  const deps = { store: recorded.stores, sources, settings: { maxPagesPerScrape: 100_000 } } as never;
  const { discovered } = await asyncLocalStorage.run(
    { cancellationSignal: new AbortController().signal } as never,
    () => createDiscoveryActivities(deps).discoverPages({ runId: 7 }),
  );
  const parts = recorded.of('files.acceptMany').map(([, pages]) => pages as { externalFileId: string }[]);
  const [[, , change] = []] = recorded.of('files.moveContainer');
  const [[, progress] = []] = recorded.of('runs.saveProgress');
  return { discovered, parts, change, progress, asked };
}

test('each page of a long sitemap is queued once, in parts', () =>
  everyRow([1, 499, 500, 501, 1_250], String, async (count) => {
    const urls = Array.from({ length: count }, (_, nth) => `${SITE}/${nth}`);
    const { discovered, parts, asked } = await discover(urls);
    expect(parts.flat().map(({ externalFileId }) => externalFileId)).toEqual(urls);
    expect([discovered, Math.max(...parts.map(({ length }) => length)) <= 500]).toEqual([count, true]);
    expect(parts.flat()[0]).toMatchObject({ parentId: 3, runId: 7, isScheduled: true, isContainer: false });
    expect(asked).toEqual([`${SITE}/sitemap.xml`, true]);
  }));

test('a sitemap with an unreadable part, or without pages, does not count as read completely', async () => {
  expect((await discover([`${SITE}/1`])).progress).toMatchObject({ readWhole: true });
  expect((await discover([])).progress).toMatchObject({ readWhole: false });
  const { progress, change } = await discover([`${SITE}/1`], { unreadable: 25 });
  expect(progress).toMatchObject({ readWhole: false });
  const { metadata } = change as { metadata: { sitemap_problems: readonly object[] } };
  expect(metadata.sitemap_problems).toHaveLength(20);
  expect(metadata.sitemap_problems[0]).toEqual({ url: `${SITE}/part-0.xml`, message: 'It does not exist.' });
});

test('the sitemap itself and pages that the request excludes are not queued', async () => {
  const urls = ['/sitemap.xml', '/a/1', '/b/1'].map((path) => `${SITE}${path}`);
  const { parts, change } = await discover(urls, { request: { urlPathsToExclude: ['/b'] } });
  expect(parts.flat().map(({ externalFileId }) => externalFileId)).toEqual([`${SITE}/a/1`]);
  expect(change).toMatchObject({ metadata: { pages_listed: 3, pages_total: 1 } });
});

test('the tags of a source count as copied when a scan from the first file finds no outdated file', () =>
  everyRow(
    [
      [0, [], true, { done: true, afterId: 0 }],
      // The tags changed during the last scan.
      [0, [], false, { done: false, afterId: 0 }],
      // Files before the cursor may have changed meanwhile.
      [9, [], true, { done: false, afterId: 0 }],
      [0, [{ _id: 4 }, { _id: 6 }], true, { done: false, afterId: 6 }],
    ] as const,
    JSON.stringify,
    async ([afterId, outdated, isCurrent, expected]) => {
      const { stores, of } = recorder({
        'runs.find': { ...RUN, kind: 'updateTags', dataSourceId: 5 },
        'dataSources.find': { _id: 5, tagsVersion: 8, organizationId: 1, userId: 2 },
        'files.listBehindSourceTags': outdated,
        'files.findTags': [],
        'dataSources.markTagsCopied': isCurrent,
      });
      const log = { info: () => undefined };
      expect(await createTagActivities({ store: stores, log } as never).copyTags({ runId: 7, afterId })).toEqual(
        expected,
      );
      expect(of('files.listBehindSourceTags').map(([, after, limit]) => [after, limit])).toEqual([[afterId, 200]]);
      const isScan = afterId === 0 && outdated.length === 0;
      expect(of('dataSources.markTagsCopied')).toEqual(isScan ? [[{ organizationId: 1, userId: 2 }, 5, 8]] : []);
    },
  ));
