/** Tests of which links of a crawl are followed. Stores and sites are fakes. */
import { expect, test } from '@jest/globals';
import { asyncLocalStorage } from '@temporalio/activity';

import { createCrawlActivities } from '../../activities/discover/followLinks.js';
import { openCrawlBatch } from '../../activities/ingest/crawlBatch.js';
import { everyRow } from '../support/everyRow.js';
import { type Answers, recorder } from '../support/recorder.js';

const SITE = 'https://site.example';
const RUN = {
  ...{ _id: 7, organizationId: 1, userId: 2, customerId: 'ada', fileId: 3, requestId: 'r', workflowId: 'w' },
  ...{ dataSourceId: null, kind: 'webScrape' },
};
const scrape = {
  ...{ recursionDepth: 2, maxPagesToScrape: 1_000, urlPathsToInclude: [], urlPathsToExclude: [], urlsToScrape: [] },
  ...{ enableAutoSync: false },
};
const inActivity = <T>(work: () => Promise<T>): Promise<T> =>
  asyncLocalStorage.run({ cancellationSignal: new AbortController().signal } as never, work);

interface Page {
  readonly url: string;
  readonly depth: number;
  readonly links: readonly string[];
}

/** Follows the links of pages. @param known depths of the pages that the crawl has found */
async function follow(pages: readonly Page[], known: Readonly<Record<string, number>> = {}, answers: Answers = {}) {
  const waiting = [...pages];
  const recorded = recorder({
    'runs.find': { ...RUN, request: { url: SITE, scrape, ingest: {}, tags: {} } },
    'limits.get': { max_files_per_upload: null },
    'frontier.count': 1,
    'frontier.findFinalUrl': null,
    'frontier.findDepths': new Map(Object.entries(known)),
    'frontier.listUnfollowed': (_run: number, limit: number) => waiting.splice(0, limit),
    'files.acceptMany': (_run: unknown, accepted: readonly unknown[]) => accepted.length,
    'files.countRun': { total: 2, failed: 1 },
    ...{ 'files.nextDueTime': null, 'files.hasDelayed': false },
    ...answers,
  });
  const sources = { mayFetch: () => Promise.resolve(true) };
  const { files, ...others } = recorded.stores as { files: object };
  const list = async function* () {
    yield await Promise.resolve([{ syncErrorMessage: 'The server answered HTTP 500.' }]);
  };
  const listing = new Proxy(files, { get: (of, key) => (key === 'list' ? list : Reflect.get(of, key)) });
  const store = { ...others, files: listing };
  const deps = { store, sources, settings: { maxPagesPerScrape: 1_000 } } as never;
  const end = await inActivity(() => createCrawlActivities(deps).followLinks({ runId: 7 })).catch(
    (error: unknown) => error as Error,
  );
  const queued = recorded
    .of('files.acceptMany')
    .flatMap(([, accepted]) => (accepted as { externalFileId: string }[]).map(({ externalFileId }) => externalFileId));
  return { ...recorded, end, queued };
}

test('a link is followed up to the depth of the request, with its shortest distance from the start', async () => {
  const pages = [
    { url: SITE, depth: 0, links: [`${SITE}/a`] },
    { url: `${SITE}/x`, depth: 1, links: [`${SITE}/a`, `${SITE}/b`] },
    { url: `${SITE}/y`, depth: 2, links: [`${SITE}/too-deep`] },
  ];
  const { of, queued } = await follow(pages);
  expect(queued).toEqual([`${SITE}/a`, `${SITE}/b`]);
  expect(of('frontier.add')).toEqual([
    [
      7,
      [
        { url: `${SITE}/a`, depth: 1 },
        { url: `${SITE}/b`, depth: 2 },
      ],
    ],
  ]);
  expect(of('frontier.markFollowed')).toEqual([[7, pages]]);
});

test('links of other hosts are ignored, except of the host to which the start redirects', async () => {
  const hosts = ['https://www.site.example', 'https://other.example', 'https://site.example:8443'];
  const pages = [{ url: SITE, depth: 0, links: hosts.map((host) => `${host}/a`) }];
  expect((await follow(pages)).queued).toEqual([]);
  const redirected = await follow(pages, {}, { 'frontier.findFinalUrl': 'https://www.site.example/' });
  expect(redirected.queued).toEqual(['https://www.site.example/a']);
});

test('a known page is queued again only if it is found closer to the start and its links were not collected', async () => {
  const pages = [{ url: SITE, depth: 0, links: ['/known', '/closer', '/deepest'].map((path) => `${SITE}${path}`) }];
  const known = { [`${SITE}/known`]: 1, [`${SITE}/closer`]: 1.5, [`${SITE}/deepest`]: 2 };
  const { of, queued, end } = await follow(pages, known);
  expect(queued).toEqual([`${SITE}/deepest`]);
  expect([of('frontier.add'), (end as { discovered: number }).discovered]).toEqual([[[7, []]], 1]);
  expect(of('frontier.lowerDepths')).toEqual([
    [
      7,
      [
        { url: `${SITE}/closer`, depth: 1 },
        { url: `${SITE}/deepest`, depth: 1 },
      ],
    ],
  ]);
});

test('the links of all pages are followed in one call, and pages are queued before they count as known', async () => {
  await everyRow([0, 9, 10, 11, 25], String, async (count) => {
    const pages = Array.from({ length: count }, (_, nth) => ({ url: `${nth}`, depth: 0, links: [`${SITE}/${nth}`] }));
    const { of, names, queued, end } = await follow(pages);
    expect(queued).toEqual(pages.map(({ links }) => links[0]));
    expect(of('frontier.markFollowed').flatMap(([, followed]) => followed)).toEqual(pages);
    expect((end as { discovered: number }).discovered).toBe(1 + count);
    const order = names().filter((name) => /acceptMany|frontier\.add|markFollowed/.test(name));
    expect(order.slice(0, 3)).toEqual(['files.acceptMany', 'frontier.add', 'frontier.markFollowed']);
  });
});

test('a crawl fails only if its only page failed, with the reason of that page', () =>
  everyRow(
    [
      [1, 1, 'The server answered HTTP 500.'],
      [1, 0, null],
      [2, 2, null],
    ] as const,
    String,
    async ([total, failed, reason]) => {
      const { end } = await follow([], {}, { 'files.countRun': { total, failed } });
      expect(end).toMatchObject(reason === null ? { discovered: 1, dueInMs: null } : { message: reason });
    },
  ));

test('the first call queues the start only, and fails if a sitemap scrape already has a file of it', async () => {
  const first = await follow([{ url: SITE, depth: 0, links: [`${SITE}/a`] }], {}, { 'frontier.count': 0 });
  expect([first.queued, first.of('frontier.add')]).toEqual([[SITE], [[7, [{ url: SITE, depth: 0 }]]]]);
  expect(first.end).toMatchObject({ discovered: 1 });
  const taken = await follow([], {}, { 'frontier.count': 0, 'files.acceptMany': 0 });
  expect(taken.end).toMatchObject({ kind: 'bad_response' });
  expect(taken.of('frontier.add')).toEqual([]);
});

test('links are saved only for pages whose depth is known and less than recursion_depth', async () => {
  const keptLinks: unknown[] = [];
  const files = [0, 1, 2].map((depth) => ({ _id: depth, externalFileId: `${SITE}/${depth}` }));
  const { stores } = recorder({
    'runs.find': { ...RUN, request: { scrape } },
    'files.byIds': files,
    'frontier.findDepths': new Map(files.map(({ _id, externalFileId }) => [externalFileId, _id])),
  });
  const { linkSaverOf } = await openCrawlBatch(7, [0, 1, 2], stores, async (found) => void keptLinks.push(found));
  const savers = [...files, { externalFileId: `${SITE}/unknown` }].map((file) => linkSaverOf(file as never));
  expect(savers.map((saver) => saver !== null)).toEqual([true, true, false, false]);
  await savers[1]?.({ urls: new Set([`${SITE}/a`]), finalUrl: `${SITE}/final` } as never);
  expect(keptLinks).toEqual([{ runId: 7, url: `${SITE}/1`, finalUrl: `${SITE}/final`, links: [`${SITE}/a`] }]);
});
