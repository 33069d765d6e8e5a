/** Rows of work in progress: of re-embedding runs, of selections in an account, and of crawls. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Connection } from 'mongoose';

import { DEFAULT_INGEST_OPTIONS } from '../../../contract/files/ingestOptions.js';
import { scheduleIds } from '../../../contract/runs/workflowIds.js';
import { createFrontier } from '../../../store/frontier/frontier.js';
import type { FileDoc } from '../../../store/models/files.js';
import { crawlPageModel } from '../../../store/models/frontier.js';
import { reembedModel } from '../../../store/models/reembeds.js';
import { selectionModel, skippedItemModel } from '../../../store/models/selections.js';
import { createReembeds } from '../../../store/reembeds/reembeds.js';
import { createSelections } from '../../../store/selections/selections.js';
import { ADA, dropDatabase, openDatabase, STRANGERS } from './writes.js';

let connection: Connection;
beforeAll(async () => {
  connection = await openDatabase();
});
afterAll(() => dropDatabase(connection));

test('the first outcome of a re-embedded file is final, and the sums count each file of the run once', async () => {
  const reembeds = createReembeds(reembedModel(connection));
  const [run, other] = [
    { ...ADA, _id: 1 },
    { ...ADA, _id: 2 },
  ];
  const started = [11, 12, 13].map((_id) => ({ file: { _id, generation: 1 } as FileDoc, generation: 2 }));
  await reembeds.begin(run, started);
  await reembeds.begin(other, started.slice(0, 1));
  await reembeds.begin(run, [{ file: { _id: 11, generation: 1 } as FileDoc, generation: 3 }]);
  expect((await reembeds.listOpen(1)).map(({ fileId, from, generation }) => [fileId, from, generation])).toEqual([
    [11, 1, 3],
    [12, 1, 2],
    [13, 1, 2],
  ]);
  expect((await reembeds.listOpen(1, [12, 99])).map(({ fileId }) => fileId)).toEqual([12]);
  await reembeds.end(run, [
    { fileId: 11, outcome: 'reembedded', chunks: 4, tokens: 40 },
    { fileId: 12, outcome: 'failed', message: 'first' },
    { fileId: 9, outcome: 'failed', message: 'not started' },
    { fileId: 14, outcome: 'skipped', reason: 'syncing' },
    { fileId: 15, outcome: 'skipped', reason: 'container' },
    { fileId: 16, outcome: 'skipped', reason: 'syncing' },
  ]);
  await reembeds.end(run, [
    { fileId: 12, outcome: 'reembedded', chunks: 100, tokens: 100 },
    { fileId: 13, outcome: 'reembedded', chunks: 5, tokens: 50 },
  ]);
  const skipped = { syncing: 2, container: 1 };
  expect(await reembeds.sums(1)).toEqual({ reembedded: 2, failed: 2, chunks: 9, tokens: 90, skipped });
  expect(await reembeds.sums(2)).toEqual({ reembedded: 0, failed: 0, chunks: 0, tokens: 0, skipped: {} });
  const failures = async (limit: number) =>
    (await reembeds.failures(1, limit)).map(({ fileId, message }) => [fileId, message]);
  expect([await failures(1), await failures(9)]).toEqual([
    [[9, 'not started']],
    [
      [9, 'not started'],
      [12, 'first'],
    ],
  ]);
  expect((await reembeds.listEnded(1, [11, 13])).map(({ fileId }) => fileId)).toEqual([11, 13]);
  expect([await reembeds.listEnded(2, [11]), (await reembeds.listOpen(2)).length, await reembeds.listOpen(1)]).toEqual([
    ...[[], 1],
    [],
  ]);
});

test('selected items are returned once each with their latest options, the latest first; deleted ones are skipped until unskip()', async () => {
  const [rows, skippedItems] = [selectionModel(connection), skippedItemModel(connection)];
  const selections = createSelections({ selections: rows, skippedItems });
  const choose = (externalIds: readonly string[] | null, tags: Record<string, string>, dataSourceId = 40) =>
    selections.save(ADA, dataSourceId, { externalIds, tags, ingest: DEFAULT_INGEST_OPTIONS }, null);
  const setTime = (externalId: string | null, time: number) =>
    rows.updateMany({ dataSourceId: 40, externalId }, { $set: { chosenAt: new Date(time) } });
  await choose(['a', 'b', 'a'], { t: 'old' });
  await choose(['b', 'c'], { t: 'new' });
  await choose(['x'], { t: 'new' }, 41);
  await setTime('a', 1);
  await setTime('b', 2);
  await setTime('c', 3);
  const groups = async (tenant = ADA) => {
    const found: unknown[] = [];
    const done: string[] = [];
    for (let group = await selections.nextGroup(tenant, 40, done); group && done.length < 9;) {
      found.push([group.externalIds, group.tags]);
      done.push(group.key);
      group = await selections.nextGroup(tenant, 40, done);
    }
    return found;
  };
  expect(await groups()).toEqual([
    [['b', 'c'], { t: 'new' }],
    [['a'], { t: 'old' }],
  ]);
  await choose(null, { t: 'all' });
  await setTime(null, 4);
  expect((await groups())[0]).toEqual([null, { t: 'all' }]);
  for (const stranger of STRANGERS) {
    expect(await groups(stranger)).toEqual([]);
    await selections.removeAll(stranger);
  }
  expect(await rows.countDocuments()).toBe(5);

  const file = (externalFileId: string, fields: Partial<FileDoc>) =>
    ({ externalFileId, isContainer: false, dataSourceId: null, parentId: null, ...fields }) as FileDoc;
  const deleted = [
    file('c', { dataSourceId: 40 }),
    file('p', { parentId: 7 }),
    file('q', { parentId: 8 }),
    file('folder', { dataSourceId: 40, isContainer: true }),
    file('single', {}),
  ];
  await selections.skip(ADA, deleted, new Set([7]));
  const [source, site] = [scheduleIds.source(40), scheduleIds.container(7)];
  const all = ['a', 'c', 'p', 'q', 'folder', 'single'];
  const skips = async (schedule: string, tenant = ADA) => [...(await selections.filterSkipped(tenant, schedule, all))];
  expect([await skips(source), await skips(site), await skips(scheduleIds.container(8))]).toEqual([['c'], ['p'], []]);
  expect((await groups()).at(1)).toEqual([['b'], { t: 'new' }]);
  for (const stranger of STRANGERS) {
    expect(await skips(source, stranger)).toEqual([]);
    await selections.unskip(stranger, source, ['c']);
  }
  await selections.unskip(ADA, site, ['c']);
  await selections.unskip(ADA, source, ['a']);
  expect(await skips(source)).toEqual(['c']);
  await selections.unskip(ADA, source, ['c']);
  expect([await skips(source), await skips(site)]).toEqual([[], ['p']]);
  await selections.removeAll(ADA);
  expect([await rows.countDocuments(), await skippedItems.countDocuments()]).toEqual([0, 0]);
});

test('a crawl follows each page once from its smallest depth, and keeps the progress of other runs', async () => {
  const frontier = createFrontier(crawlPageModel(connection));
  const url = (nth: number) => `http://site.example/${nth}`;
  const pages = Array.from({ length: 1_001 }, (_, nth) => ({ url: url(nth), depth: 2 }));
  await frontier.add(1, pages);
  await frontier.add(2, pages.slice(0, 3));
  await frontier.add(1, [{ url: url(0), depth: 5 }]);
  const depths = await frontier.findDepths(1, [...pages.map((page) => page.url), 'http://unknown.example/']);
  expect([depths.size, depths.get(url(0)), depths.get(url(1_000))]).toEqual([1_001, 2, 2]);
  expect([await frontier.count(1), await frontier.count(2)]).toEqual([1_001, 3]);

  const read = (runId: number, nth: number, links: string[]) => ({
    runId,
    url: url(nth),
    finalUrl: `${url(nth)}#`,
    links,
  });
  await frontier.saveLinks([read(1, 0, ['l0']), read(1, 1, ['l1']), read(1, 5_000, ['unknown'])]);
  expect([await frontier.count(1), await frontier.findFinalUrl(1, url(0))]).toEqual([1_001, `${url(0)}#`]);
  expect([await frontier.findFinalUrl(1, url(2)), await frontier.findFinalUrl(2, url(0))]).toEqual([null, null]);
  const unfollowed = async (runId = 1) =>
    (await frontier.listUnfollowed(runId, 10)).map((page) => [page.url, page.depth, page.links]);
  expect(await unfollowed()).toEqual([
    [url(0), 2, ['l0']],
    [url(1), 2, ['l1']],
  ]);
  expect(await unfollowed(2)).toEqual([]);
  // A shorter path was found after the links of the page were read.
  await frontier.lowerDepths(1, [{ url: url(1), depth: 1 }]);
  await frontier.markFollowed(1, [
    { url: url(0), depth: 2 },
    { url: url(1), depth: 2 },
  ]);
  expect(await unfollowed()).toEqual([[url(1), 1, ['l1']]]);
  await frontier.lowerDepths(1, [
    { url: url(0), depth: 2 },
    { url: url(2), depth: 1 },
  ]);
  expect(await unfollowed()).toEqual([[url(1), 1, ['l1']]]);
  await frontier.lowerDepths(1, [{ url: url(0), depth: 0 }]);
  expect(await unfollowed()).toEqual([
    [url(0), 0, ['l0']],
    [url(1), 1, ['l1']],
  ]);
  // New links of a followed page are followed too.
  await frontier.markFollowed(1, [{ url: url(0), depth: 0 }]);
  await frontier.saveLinks([read(1, 0, ['new'])]);
  expect((await unfollowed())[0]).toEqual([url(0), 0, ['new']]);
  await frontier.clear(1);
  expect([await frontier.count(1), await frontier.count(2)]).toEqual([0, 3]);
});
