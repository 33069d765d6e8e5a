import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';

import { deleteMissing } from '../../activities/connected/deleteMissing.js';
import { createItemActivities } from '../../activities/connected/listItems.js';
import { listPage } from '../../activities/connected/listPage.js';
import type { ActivityDeps } from '../../activities/deps.js';
import type { Change, SourceItem } from '../../connectors/sourceItem.js';
import type { Account } from '../../connectors/account.js';
import { isListed } from '../../contract/accounts/connections.js';
import { runOfKind } from '../../contract/runs/runs.js';
import { createScheduledSyncParts } from '../../activities/runs/scheduledSyncParts.js';
import { Fault } from '../../contract/failures.js';
import { DEFAULT_INGEST_OPTIONS } from '../../contract/files/ingestOptions.js';
import { acceptListing } from '../../store/connections/acceptRuns.js';
import type { DataSourceDoc } from '../../store/models/dataSources.js';
import type { Run } from '../../store/models/runs.js';
import { connectSource } from '../support/dataSources.js';
import { type SharedService, sharedService } from '../support/sharedService.js';

// Tests of listings that read the change feed of a source. The source is a fake; the stores are real.
const NEVER = new AbortController().signal;
const PAGE_SIZE = 2;

let service: SharedService;
let owner: { organizationId: number; userId: number; customerId: string };
let source: DataSourceDoc;
let customers = 0;
/** The parent of each item of the account, by the item's id. */
const tree = new Map<string, string | null>();
/** All changes. The source no longer returns the oldest `expired` ones. */
const feed: Change[] = [];
let expired = 0;
/** Requests to the source. */
const requests: string[] = [];
/** Further fields of each page of the feed. */
let feedFields: { coveredRoots?: readonly string[]; isDeep?: true } = {};
/** Called before each page of roots. */
let beforeAnswer: () => unknown = () => undefined;

/** Folders whose children the account may not list. */
const forbidden = new Set<string>();
/** Folders whose listing the source rejects as an invalid request. */
const rejected = new Set<string>();
let refusedRoots: readonly string[] = [];
/** Root items that the source omits from its list of roots, which is then partial. */
const omitted = new Set<string>();
/** Whether items have a path. */
let hasPaths = false;
/** Paths reported as empty, by the index of the change that reports them. */
const emptied = new Map<number, readonly string[]>();
/** Number of steps that the source needs to prepare the first change token. */
let steps = 0;
let isLost = false;
/** Version of every item. */
let version: string | null = null;
let hasFeed = true;
const pathOf = (id: string): string => {
  const parent = tree.get(id) ?? null;
  return `${parent === null ? '' : pathOf(parent)}/${id}`;
};

const rootOf = (id: string | null): string | null => {
  const above = id === null ? null : (tree.get(id) ?? null);
  return above === null ? id : rootOf(above);
};
const isFolder = (id: string): boolean => /^[A-Z]/.test(id);
const itemOf = (id: string): SourceItem => ({
  externalId: id,
  parentExternalId: tree.get(id) ?? null,
  rootExternalId: rootOf(tree.get(id) ?? null),
  name: id,
  itemType: isFolder(id) ? 'FOLDER' : 'FILE',
  externalUrl: null,
  fileFormat: null,
  isSelectable: true,
  isExpandable: isFolder(id),
  hasContent: !isFolder(id),
  createdAt: null,
  version,
  ...(hasPaths ? { path: pathOf(id) } : {}),
});
const childrenOf = (parent: string | null): string[] => [...tree].flatMap(([id, at]) => (at === parent ? [id] : []));
const descendantsOf = (id: string): string[] => [id, ...childrenOf(id).flatMap(descendantsOf)];

/** Creates or moves an item, and reports a change of that item only. */
function put(id: string, parent: string | null): void {
  tree.set(id, parent);
  feed.push({ item: itemOf(id) });
}
/** Removes an item with its descendants, and reports a change of that item only. */
function remove(id: string): void {
  for (const descendant of descendantsOf(id)) tree.delete(descendant);
  feed.push({ gone: id });
}

const account = {
  sourceOf: () => 'GOOGLE_DRIVE',
  listRoots: async (_cursor: string | null) => {
    requests.push('roots');
    await beforeAnswer();
    const items = childrenOf(null).filter((id) => !omitted.has(id));
    const partial = omitted.size > 0 ? { isPartial: true } : {};
    return { items: items.map(itemOf), next: null, refused: refusedRoots, ...partial };
  },
  listDescendants: (id: string) => {
    requests.push(`below ${id}`);
    if (!tree.has(id)) return Promise.reject(new Fault('not_found', 'none'));
    if (forbidden.has(id)) return Promise.reject(new Fault('access_denied', 'forbidden'));
    if (rejected.has(id)) return Promise.reject(new Fault('bad_response', 'rejected'));
    return Promise.resolve({ items: descendantsOf(id).map(itemOf), next: null });
  },
  changes: {
    now: () => {
      requests.push('now');
      return Promise.resolve(String(feed.length));
    },
    prepare: (cursor: string) => {
      const [token = '', step = '0'] = cursor.split(' at ');
      const at = Number(step) + 1;
      if (steps === 0) return Promise.resolve({ next: token, more: false });
      requests.push(`prepare ${at} of ${steps}`);
      if (isLost) return Promise.reject(new Fault('stale_cursor', 'lost'));
      return Promise.resolve({ next: at < steps ? `${token} at ${at}` : token, more: at < steps });
    },
    since: (cursor: string) => {
      requests.push(`since ${cursor}`);
      const from = Number(cursor);
      if (from < expired) return Promise.reject(new Fault('stale_cursor', 'too old'));
      const changes = feed.slice(from, from + PAGE_SIZE);
      const nextIndex = from + changes.length;
      const deletedPaths = changes.flatMap((_change, index) => emptied.get(from + index) ?? []);
      return Promise.resolve({
        changes,
        deletedPaths,
        next: String(nextIndex),
        more: nextIndex < feed.length,
        ...feedFields,
      });
    },
  },
} as unknown as Account;

beforeAll(async () => {
  service = await sharedService({ worker: false });
});
afterAll(() => service.close());
beforeEach(async () => {
  tree.clear();
  feed.length = 0;
  emptied.clear();
  hasPaths = false;
  feedFields = {};
  steps = 0;
  isLost = false;
  version = null;
  hasFeed = true;
  forbidden.clear();
  rejected.clear();
  refusedRoots = [];
  omitted.clear();
  expired = 0;
  requests.length = 0;
  beforeAnswer = () => undefined;
  customers += 1;
  const customerId = `list ${customers}`;
  await service.user(customerId);
  owner = await service.store.users.ensure(service.organizationId, customerId);
  source = await connectSource(service, owner, { externalId: `GOOGLE_DRIVE|${customers}` });
});

const currentSource = async (): Promise<DataSourceDoc> => (await service.store.dataSources.find(owner, source._id))!;

/**
 * Runs the steps of one listing in the order of the workflow.
 * @param roots the items to list; absent: all
 * @param beforeEnd called after the step that deletes missing items
 * @returns the ended run
 */
async function list(
  outcome: 'finished' | 'aborted' = 'finished',
  { roots, beforeEnd }: { roots?: readonly string[]; beforeEnd?: () => Promise<unknown> } = {},
): Promise<Run<'syncItems'>> {
  const { store } = service;
  const runId = await store.runs.nextId();
  await store.transaction(async (session) => {
    await store.dataSources.queueListing(owner, source._id, runId, session);
    const run = { runId, requestId: `list ${runId}`, dataSourceId: source._id };
    await acceptListing(owner as never, run, store, session, roots);
  });
  const ignore = () => undefined;
  const log = { info: ignore, warn: ignore, error: ignore, debug: ignore };
  const settings = { massDeletePercent: 30, quarantineMs: 1_000_000 };
  const connectors = { mayOmitItems: () => false };
  const deps = { store, connectors, settings, log } as unknown as ActivityDeps;
  const { beginListing, endListing } = createItemActivities(deps);
  expect(await beginListing({ runId })).toEqual({ finished: false });
  const row = async () => runOfKind((await store.runs.find(runId))!, 'syncItems');
  // Each step continues from the stored progress, as after a crash.
  for (let { progress } = await row(); !isListed(progress); { progress } = await row()) {
    const open = { source: await currentSource(), account: hasFeed ? account : { ...account, changes: null } };
    const nextProgress = await listPage(open, progress, { isPartial: !!roots, runId, items: store.items }, NEVER);
    await store.runs.saveProgress(await row(), nextProgress);
  }
  if (outcome === 'finished' && !roots) await deleteMissing(await row(), await currentSource(), deps, NEVER);
  await beforeEnd?.();
  await endListing({ runId, outcome });
  return row();
}

/** Accepts items as files, as a selection does. */
async function sync(ids: readonly string[]): Promise<void> {
  await service.store.files.acceptMany(
    owner,
    ids.map((externalFileId) => ({
      source: source.type,
      externalFileId,
      externalUrl: null,
      name: externalFileId,
      parentId: null,
      isContainer: false,
      dataSource: source,
      tags: {},
      options: DEFAULT_INGEST_OPTIONS,
      sourceOptions: null,
      enableAutoSync: null,
      requestId: 'sync',
      runId: 1,
      workflowOf: () => 'sync',
    })),
  );
}
async function itemIds(): Promise<string[]> {
  const page = { limit: 1_000, offset: 0, startingId: 0 };
  const ids: string[] = [];
  for await (const part of service.store.items.list(source, { filters: {}, orderBy: 'name', orderDir: 'asc', page }))
    ids.push(...part.map(({ item }) => item.externalId));
  return ids;
}
async function fileIds(): Promise<string[]> {
  const page = { limit: 1_000, offset: 0, startingId: 0 };
  const ids: string[] = [];
  const listing = { filters: {}, orderBy: 'name', orderDir: 'asc', page } as const;
  for await (const part of service.store.files.list(owner, listing))
    ids.push(...part.map(({ externalFileId }) => externalFileId));
  return ids;
}

describe('source with a change feed', () => {
  test('is listed completely once, after its change token is read; later listings read the changes since that token', async () => {
    put('A', null);
    put('a', 'A');
    // Created and deleted during the listing: the page of roots does not contain it.
    beforeAnswer = () => {
      beforeAnswer = () => undefined;
      put('late', null);
      tree.delete('late');
    };
    await list();
    expect(requests).toEqual(['now', 'roots', 'below A']);
    expect(await itemIds()).toEqual(['A', 'a']);
    expect((await currentSource()).changeToken).toBe('2');
    tree.set('late', null);
    requests.length = 0;
    await sync(['a']);
    put('b', 'A');
    remove('a');
    await list();
    expect(requests).toEqual(['since 2', 'since 4']);
    expect(await itemIds()).toEqual(['A', 'b', 'late']);
    expect(await fileIds()).toEqual([]);
    expect(await currentSource()).toMatchObject({ changeToken: '5', syncStatus: 'READY' });
    await list();
    expect(requests.at(-1)).toBe('since 5');
    expect(await itemIds()).toEqual(['A', 'b', 'late']);
  });

  test('keeps the stored items of a folder whose listing the source rejects, and lists the other folders', async () => {
    for (const [id, at] of [
      ['A', null],
      ['a', 'A'],
      ['B', null],
      ['b', 'B'],
    ] as const)
      put(id, at);
    await list();
    expired = 1_000;
    rejected.add('A');
    put('c', 'B');
    await sync(['a', 'b']);
    await list();
    expect(await itemIds()).toEqual(['A', 'B', 'a', 'b', 'c']);
    expect(await fileIds()).toEqual(['a', 'b']);
    expect(await currentSource()).toMatchObject({ syncStatus: 'READY' });
  });

  test('without its feed, keeps root items that a partial list omits, and deletes other missing items', async () => {
    hasFeed = false;
    for (const [id, at] of [
      ['CATEGORY', null],
      ['FOLDER', 'CATEGORY'],
      ['article', 'FOLDER'],
      ['TICKETS', null],
      ['gone', 'TICKETS'],
      ['ticket', 'TICKETS'],
    ] as const)
      put(id, at);
    await list();
    await sync(['article', 'gone', 'ticket']);
    // The account loses access to CATEGORY: the source lists a placeholder instead, and refuses to list its contents.
    omitted.add('CATEGORY');
    put('SOLUTIONS', null);
    forbidden.add('SOLUTIONS');
    remove('gone');
    const { progress } = await list();
    expect(progress.walk).toMatchObject({ refused: 2, closed: 2, partialPages: 1 });
    expect(await itemIds()).toEqual(['CATEGORY', 'FOLDER', 'SOLUTIONS', 'TICKETS', 'article', 'ticket']);
    expect(await fileIds()).toEqual(['article', 'ticket']);
    expect(await service.store.items.listClosed(source, 10)).toEqual(['CATEGORY', 'SOLUTIONS']);
    // With access again, the listing removes the marks and deletes what no longer exists.
    omitted.clear();
    remove('SOLUTIONS');
    remove('article');
    await list();
    expect(await itemIds()).toEqual(['CATEGORY', 'FOLDER', 'TICKETS', 'ticket']);
    expect(await fileIds()).toEqual(['ticket']);
    expect(await service.store.items.listClosed(source, 10)).toEqual([]);
  });

  test('stores each step of preparing the first change token, so that an interrupted listing continues there', async () => {
    put('A', null);
    steps = 3;
    await list('aborted');
    expect(requests).toEqual(['now', 'prepare 1 of 3', 'prepare 2 of 3', 'prepare 3 of 3', 'roots', 'below A']);
    requests.length = 0;
    // After the source refuses the token, the listing does not prepare another one. Without a token, each listing lists
    // everything.
    steps = 3;
    isLost = true;
    await list();
    expect(requests).toEqual(['now', 'prepare 1 of 3', 'roots', 'below A']);
    expect((await currentSource()).changeToken).toBeNull();
  });

  test('deletes the descendants of a removed folder, except those moved elsewhere; lists a restored folder again', async () => {
    for (const [id, at] of [
      ['A', null],
      ['B', null],
      ['C', 'A'],
      ['c', 'C'],
      ['d', 'C'],
      ['D', 'A'],
      ['e', 'D'],
    ] as const)
      put(id, at);
    await list();
    await sync(['c', 'd', 'e']);
    put('c', 'B');
    remove('A');
    put('D', 'B');
    tree.set('e', 'D');
    requests.length = 0;
    await list();
    expect(await itemIds()).toEqual(['B', 'D', 'c', 'e']);
    expect(await fileIds()).toEqual(['c', 'e']);
    expect(requests).toContain('below D');
    expect(requests).not.toContain('roots');
  });

  test('deletes items at and below paths reported as empty, except items that the same page reports at these paths', async () => {
    for (const [id, at] of [
      ['A', null],
      ['B', 'A'],
      ['b', 'B'],
      ['c', 'A'],
      ['Ab', null],
      ['d', 'Ab'],
      ['E', null],
      ['e', 'E'],
    ] as const)
      put(id, at);
    hasPaths = true;
    await list();
    await sync(['b', 'c', 'd', 'e']);
    // The change contains only the path, and covers all items below it. A path with the same prefix (/Ab) is kept.
    for (const id of descendantsOf('A')) tree.delete(id);
    feed.push({ item: itemOf('d') });
    emptied.set(feed.length - 1, ['/A', '/Ab/d']);
    await list();
    expect(await itemIds()).toEqual(['Ab', 'E', 'd', 'e']);
    expect(await fileIds()).toEqual(['d', 'e']);
    // A moved folder has a new path, and its descendants are listed again.
    tree.set('E', 'Ab');
    feed.push({ item: itemOf('E') });
    emptied.set(feed.length - 1, ['/E', '/Ab/E']);
    requests.length = 0;
    await list();
    expect(requests).toContain('below E');
    expect(await itemIds()).toEqual(['Ab', 'E', 'd', 'e']);
    expect(await fileIds()).toEqual(['d', 'e']);
  });

  test('lists roots outside the change feed completely in each run', async () => {
    for (const [id, at] of [
      ['A', null],
      ['a', 'A'],
      ['B', null],
      ['b', 'B'],
      ['c', 'B'],
    ] as const)
      put(id, at);
    feedFields = { coveredRoots: ['A'] };
    await list();
    await sync(['a', 'b', 'c']);
    // The feed covers A, and has no change of it yet; it does not cover B and new roots.
    tree.delete('a');
    tree.delete('b');
    tree.set('C', null);
    tree.set('d', 'C');
    requests.length = 0;
    await list();
    expect(requests).toEqual(['since 5', 'roots', 'below B', 'below C']);
    expect([await fileIds(), await itemIds()]).toEqual([
      ['a', 'c'],
      ['A', 'B', 'C', 'a', 'c', 'd'],
    ]);
    feed.push({ gone: 'a' });
    await list();
    expect([await fileIds(), await itemIds()]).toEqual([['c'], ['A', 'B', 'C', 'c', 'd']]);
  });

  test('lists the contents of a new root only once if the change feed covers the root', async () => {
    put('b', null);
    feedFields = { coveredRoots: ['A', 'C'] };
    await list();
    // The account now has access to both roots. The feed reports neither them nor the contents that they already have.
    for (const [id, at] of [
      ['A', null],
      ['a', 'A'],
      ['C', null],
      ['c', 'C'],
    ] as const)
      tree.set(id, at);
    requests.length = 0;
    await list();
    expect(requests).toEqual(['since 1', 'roots', 'below A', 'below C']);
    expect(await itemIds()).toEqual(['A', 'C', 'a', 'b', 'c']);
    requests.length = 0;
    await list();
    expect(requests).toEqual(['since 1', 'roots']);
  });

  test('a forbidden folder outside the change feed keeps its files; deletions that the feed reports are applied', async () => {
    for (const [id, at] of [
      ['A', null],
      ['a', 'A'],
      ['B', null],
      ['C', 'B'],
      ['b', 'C'],
      ['D', null],
      ['d', 'D'],
    ] as const)
      put(id, at);
    feedFields = { coveredRoots: ['A'] };
    await list();
    await sync(['a', 'b', 'd']);
    forbidden.add('B');
    remove('a');
    tree.delete('d');
    await list();
    expect(await currentSource()).toMatchObject({ metadata: { items_refused: 1 } });
    expect([await fileIds(), await itemIds()]).toEqual([
      ['b', 'd'],
      ['A', 'B', 'C', 'D', 'b', 'd'],
    ]);
    // B is accessible again, so the listing of the roots outside the feed is complete: D lacks `d`, which is deleted.
    forbidden.clear();
    await list();
    expect([await fileIds(), await itemIds()]).toEqual([['b'], ['A', 'B', 'C', 'D', 'b']]);
  });

  test('a page that is processed again after a crash finds the same new folders', async () => {
    put('A', null);
    await list();
    put('B', null);
    tree.set('b', 'B');
    const { upsert } = service.store.items;
    const crashing = {
      ...service.store.items,
      upsert: (...args: Parameters<typeof upsert>) =>
        upsert(...args).then(() => {
          throw new Error('crashed');
        }),
    };
    const request = {
      walk: { open: [], at: null, roots: null, refused: 0 },
      listed: 0,
      changeToken: '1',
      nextChangeToken: '1',
    };
    const step = (items: typeof crashing | typeof service.store.items) =>
      currentSource().then((current) =>
        listPage({ source: current, account }, request, { runId: 987_654, items }, NEVER),
      );
    await expect(step(crashing)).rejects.toThrow('crashed');
    expect((await step(service.store.items)).walk.open).toEqual(['B']);
  });

  test('keeps many deleted items until an operator approves their deletion, although the feed reports them only once', async () => {
    put('A', null);
    put('B', null);
    const many = Array.from({ length: 12 }, (_, index) => `m${index}`);
    for (const id of many) put(id, 'A');
    await list();
    await sync(many);
    expect(await service.store.dataSources.approveDeletions(source._id)).toBe(false);
    remove('A');
    await list();
    expect((await currentSource()).metadata).toMatchObject({ deletions_held: 12 });
    expect(await fileIds()).toHaveLength(12);
    // The first listing had passed the step that deletes missing items before the approval was given. The second lists
    // only some items. Neither uses up the approval.
    await list('finished', { beforeEnd: () => service.store.dataSources.approveDeletions(source._id) });
    await list('finished', { roots: ['B'] });
    expect(await currentSource()).toMatchObject({ deletionsApproved: true, metadata: { deletions_held: 12 } });
    await list();
    expect((await currentSource()).metadata).not.toHaveProperty('deletions_held');
    expect((await currentSource()).deletionsApproved).toBe(false);
    expect([await fileIds(), await itemIds()]).toEqual([[], ['B']]);
    expect(requests.filter((request) => request === 'roots')).toHaveLength(1);
  });

  test('is listed completely again when its change token has expired, which also finds changes missing from the feed', async () => {
    for (const id of ['a', 'b', 'c']) put(id, null);
    await list();
    await sync(['a', 'b']);
    remove('a');
    expired = feed.length + 1;
    tree.delete('b');
    feed.push({ item: itemOf('x') }, { gone: 'x' });
    requests.length = 0;
    await list();
    expect(requests).toEqual(['since 3', 'now', 'roots']);
    expect([await fileIds(), await itemIds()]).toEqual([[], ['c']]);
    expect((await currentSource()).changeToken).toBe('6');
  });

  test('an aborted listing keeps the change token; reconnecting lists everything', async () => {
    put('a', null);
    await list('aborted');
    expect((await currentSource()).changeToken ?? null).toBeNull();
    await list();
    put('b', null);
    await list('aborted');
    expect((await currentSource()).changeToken).toBe('1');
    remove('b');
    await list();
    expect(await itemIds()).toEqual(['a']);
    await connectSource(service, owner, { externalId: `GOOGLE_DRIVE|${customers}` });
    requests.length = 0;
    await list();
    expect(requests).toEqual(['now', 'roots']);
  });

  const connectAgain = () => connectSource(service, owner, { externalId: `GOOGLE_DRIVE|${customers}` });

  test('a forbidden folder keeps its stored items, and blocks neither other deletions nor the change token', async () => {
    for (const [id, at] of [
      ['A', null],
      ['a', 'A'],
      ['B', null],
      ['C', 'B'],
      ['b', 'C'],
    ] as const)
      put(id, at);
    await list();
    await sync(['a', 'b']);
    forbidden.add('B');
    tree.delete('a');
    await connectAgain();
    await list();
    expect([await fileIds(), await itemIds()]).toEqual([['b'], ['A', 'B', 'C', 'b']]);
    expect(await currentSource()).toMatchObject({ metadata: { items_refused: 1 }, changeToken: '5' });
    // Each listing tries the folder again, and reads changes for everything else.
    requests.length = 0;
    put('d', 'A');
    await list();
    expect(requests).toEqual(['since 5', 'below B']);
    expect(await itemIds()).toEqual(['A', 'B', 'C', 'b', 'd']);
    expect(await currentSource()).toMatchObject({ metadata: { items_refused: 1 }, changeToken: '6' });
    // The feed reports no change inside the folder.
    forbidden.clear();
    tree.delete('b');
    tree.set('c', 'C');
    await list();
    expect(await itemIds()).toEqual(['A', 'B', 'C', 'b', 'c', 'd']);
    expect((await currentSource()).metadata).not.toHaveProperty('items_refused');
    requests.length = 0;
    await list();
    expect(requests).toEqual(['now', 'roots', 'below A', 'below B']);
    expect([await fileIds(), await itemIds()]).toEqual([[], ['A', 'B', 'C', 'c', 'd']]);
    requests.length = 0;
    await list();
    expect(requests).toEqual(['since 6']);
  });

  test('known forbidden folders block no deletions in the folders that are listed after them', async () => {
    for (const [id, at] of [
      ['A', null],
      ['a', 'A'],
      ['B', null],
      ['b', 'B'],
      ['C', null],
      ['c', 'C'],
      ['d', 'C'],
    ] as const)
      put(id, at);
    await list();
    await sync(['a', 'b', 'c', 'd']);
    forbidden.add('A').add('B');
    tree.delete('c');
    await connectAgain();
    requests.length = 0;
    await list();
    expect(requests).toEqual(['now', 'roots', 'below A', 'below B', 'below C']);
    expect(await fileIds()).toEqual(['a', 'b', 'd']);
    expect(await currentSource()).toMatchObject({ metadata: { items_refused: 2 }, changeToken: '7' });
  });

  test('a forbidden folder that is removed is deleted with its descendants', async () => {
    put('A', null);
    put('a', 'A');
    await list();
    await sync(['a']);
    forbidden.add('A');
    await connectAgain();
    await list();
    expect(await fileIds()).toEqual(['a']);
    remove('A');
    await list();
    expect([await fileIds(), await itemIds()]).toEqual([[], []]);
  });

  test('a refused root that was never listed blocks deletions, because its contents are unknown', async () => {
    put('A', null);
    put('a', 'A');
    await list();
    await sync(['a']);
    tree.delete('a');
    refusedRoots = ['elsewhere'];
    await connectAgain();
    await list();
    expect([await fileIds(), await itemIds()]).toEqual([['a'], ['A', 'a']]);
    expect(await currentSource()).toMatchObject({ metadata: { items_refused: 1 }, changeToken: null });
  });

  test('a complete listing deletes files that it did not find, except those created after it began', async () => {
    put('a', null);
    await sync(['a', 'missing']);
    beforeAnswer = async () => {
      beforeAnswer = () => undefined;
      await sync(['late', 'later']);
    };
    await list();
    expect(await fileIds()).toEqual(['a', 'late', 'later']);
    // The next complete listing begins after their creation.
    put('late', null);
    await connectAgain();
    await list();
    expect(await fileIds()).toEqual(['a', 'late']);
  });
});

describe('source without a change feed', () => {
  /** Lists the account, as a scheduled sync does. @returns whether the sync then has nothing else to do */
  async function isUpToDate(): Promise<boolean> {
    const { sourceItemsSyncedAt: listedBefore } = await currentSource();
    const listing = await list();
    const { isUpToDate: decide } = createScheduledSyncParts({ store: service.store });
    return decide({ progress: { listedBefore } } as Run<'autoSync'>, await currentSource(), listing);
  }
  const markApplied = async (): Promise<void> =>
    service.store.dataSources.markListingApplied(owner, source._id, (await currentSource()).sourceItemsSyncedAt!);

  test('is up to date if the applied listing and the next one are the same, and no listing in between was stopped', async () => {
    [hasFeed, version] = [false, '1'];
    put('a', null);
    expect(await isUpToDate()).toBe(false);
    await markApplied();
    expect(await isUpToDate()).toBe(true);
    await markApplied();
    version = '2';
    await list('aborted');
    // The stopped listing has stored the new version, but no sync has read it.
    expect(await isUpToDate()).toBe(false);
    await markApplied();
    expect(await isUpToDate()).toBe(true);
  });

  test('an incomplete listing changes neither the deletions that await approval nor their approval', async () => {
    hasFeed = false;
    put('A', null);
    const many = Array.from({ length: 12 }, (_, index) => `m${index}`);
    for (const id of many) put(id, 'A');
    await list();
    await sync(many);
    remove('A');
    put('b', null);
    await list();
    await service.store.dataSources.approveDeletions(source._id);
    refusedRoots = ['unknown'];
    await list();
    expect(await currentSource()).toMatchObject({ deletionsApproved: true, metadata: { deletions_held: 12 } });
    refusedRoots = [];
    await list();
    expect(await currentSource()).toMatchObject({ deletionsApproved: false });
    expect([await fileIds(), await itemIds()]).toEqual([[], ['b']]);
  });
});
