import { expect, test } from '@jest/globals';

import { isRunOf, runOfKind, workOf } from '../../contract/runs/runs.js';
import { pageOptionsOf, skipsOf } from '../../contract/runs/scrapeSitemap.js';
import { crawlCutMessage, crawlId } from '../../contract/runs/webScrape.js';
import {
  CONTAINER_WORKFLOW_IDS,
  deliveryQueue,
  fairnessKeys,
  ocrQueue,
  scheduleIds,
  transcriptionQueue,
  workflowIds,
} from '../../contract/runs/workflowIds.js';

test('gives each kind of work its own workflow id, with the number of its record', () => {
  const ids = Object.values({ ...workflowIds, ...scheduleIds }).map((idOf) => idOf(4711));
  expect(new Set(ids).size).toBe(ids.length);
  expect(ids.filter((id) => !id.endsWith(':4711'))).toEqual([]);
  // Temporal finds the workflows of a schedule by the prefix, so no id may be the start of another kind's id.
  const kinds = ids.map((id) => id.replace('4711', ''));
  expect(kinds.filter((kind) => kinds.some((other) => other !== kind && other.startsWith(kind)))).toEqual([]);
  expect(Object.values(CONTAINER_WORKFLOW_IDS).map((idOf) => idOf(7))).toEqual(['scrape:7', 'scrape:7', 'feed:7']);
});

test('separates the task queues, and the fairness keys of users, organizations and deletions', () => {
  expect(new Set(['queue', transcriptionQueue('queue'), deliveryQueue('queue'), ocrQueue('queue')]).size).toBe(4);
  const keys = [fairnessKeys.work(1, 2), fairnessKeys.work(2, 1), fairnessKeys.work(1, 3), fairnessKeys.work(12, 3)];
  expect(new Set([...keys, fairnessKeys.deletes(1, 2), fairnessKeys.deletes(1, 3)]).size).toBe(6);
});

test('narrows a run to its kind, and returns its work with request and progress', () => {
  const run = { _id: 5, kind: 'moveStorage', request: { move: 'toCold' }, progress: { modifiedTo: 3 } } as const;
  expect([isRunOf(run, 'moveStorage'), isRunOf(run, 'syncFeed' as 'moveStorage')]).toEqual([true, false]);
  expect(isRunOf(run, 'deleteFiles' as 'moveStorage', 'moveStorage')).toBe(true);
  expect(runOfKind(run, 'moveStorage')).toBe(run);
  expect(() => runOfKind(run, 'syncFeed' as 'moveStorage')).toThrow('Run 5 is a run of moveStorage, not of syncFeed');
  expect(workOf(run)).toEqual({ kind: run.kind, request: run.request, progress: run.progress });
});

const PAGE = {
  htmlTagsToSkip: ['nav'],
  cssClassesToSkip: ['menu'],
  cssSelectorsToSkip: ['#top'],
  downloadCssAndMedia: true,
  usePremiumProxies: true,
};

test('stores with each page the options that its next scrape needs, not those that select pages', () => {
  expect(pageOptionsOf({ ...PAGE, urlPathsToInclude: ['/docs'] } as never)).toEqual(PAGE);
  expect(pageOptionsOf({ ...PAGE, removeRepeatedBlocks: true } as never)).toEqual(PAGE);
  expect(pageOptionsOf({ ...PAGE, removeRepeatedBlocks: false })).toEqual({ ...PAGE, removeRepeatedBlocks: false });
  expect(skipsOf(PAGE)).toEqual({ tags: ['nav'], classes: ['menu'], selectors: ['#top'] });
});

test('reports a crawl that the limit of pages ended, and gives the crawl another id than its start page', () => {
  expect(crawlCutMessage({})).toBeNull();
  expect(crawlCutMessage({ cutAt: 0 })).toMatch(/^0 pages were accepted, and the site has more\./);
  expect(crawlId('https://site.example/')).toBe('web_scrape:https://site.example/');
});
