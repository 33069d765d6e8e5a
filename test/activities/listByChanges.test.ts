import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';

import { deleteMissing } from '../../activities/connected/deleteMissing.js';
import { createItemActivities } from '../../activities/connected/listItems.js';
import { listPage } from '../../activities/connected/listPage.js';
import type { ActivityDeps } from '../../activities/deps.js';
import type { Change, SourceItem } from '../../connectors/connector.js';
import type { Account } from '../../connectors/account.js';
import { isListed } from '../../contract/connections.js';
import { runOfKind } from '../../contract/runs.js';
import { Fault } from '../../contract/failures.js';
import { DEFAULT_INGEST_OPTIONS } from '../../contract/ingestOptions.js';
import { acceptListing } from '../../store/connections/acceptRuns.js';
import type { DataSourceDoc } from '../../store/dataSources/model.js';
import { connectSource } from '../support/dataSources.js';
import { startService, type TestService } from '../support/service.js';

/** Here the steps meet a source of the test's own, which tells what happened; their stores are real. */
const NEVER = new AbortController().signal;
const AT_ONCE = 2;

let service: TestService;
let owner: { organizationId: number; userId: number; customerId: string };
let source: DataSourceDoc;
let customers = 0;
/** What the account holds, by id, each with what it lies in. */
const tree = new Map<string, string | null>();
/** What happened, as the source tells it, and how much of it the source has forgotten. */
const told: Change[] = [];
let forgotten = 0;
/** What the source was asked. */
const asked: string[] = [];
/** What the feed says of itself. */
let says: { coveredRoots?: readonly string[]; isDeep?: true } = {};
/** Called before each answer. */
let meanwhile: () => unknown = () => undefined;

/** Folders that the account may not look into, and what is refused where the outermost things are listed. */
const closed = new Set<string>();
let refusedRoots: readonly string[] = [];
/** Whether things tell where they lie. */
let hasPlaces = false;
/** Places that are told to be empty, by the number of what is told with them. */
const emptied = new Map<number, readonly string[]>();
const placeOf = (id: string): string => {
  const parent = tree.get(id) ?? null;
  return `${parent === null ? '' : placeOf(parent)}/${id}`;
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
  version: null,
  ...(hasPlaces ? { place: placeOf(id) } : {}),
});
const childrenOf = (parent: string | null): string[] => [...tree].flatMap(([id, at]) => (at === parent ? [id] : []));
const below = (id: string): string[] => [id, ...childrenOf(id).flatMap(below)];

/** Puts something somewhere, and tells of that alone. */
function put(id: string, parent: string | null): void {
  tree.set(id, parent);
  told.push({ item: itemOf(id) });
}
/** Takes something away with all that lies in it, and tells of that alone. */
function take(id: string): void {
  for (const one of below(id)) tree.delete(one);
  told.push({ gone: id });
}

const account = {
  sourceOf: () => 'GOOGLE_DRIVE',
  listRoots: async (_cursor: string | null) => {
    asked.push('roots');
    await meanwhile();
    return { items: childrenOf(null).map(itemOf), next: null, refused: refusedRoots };
  },
  listDescendants: (id: string) => {
    asked.push(`below ${id}`);
    if (!tree.has(id)) return Promise.reject(new Fault('not_found', 'none'));
    if (closed.has(id)) return Promise.reject(new Fault('access_denied', 'closed'));
    return Promise.resolve({ items: below(id).map(itemOf), next: null });
  },
  changes: {
    now: () => {
      asked.push('now');
      return Promise.resolve(String(told.length));
    },
    since: (point: string) => {
      asked.push(`since ${point}`);
      const from = Number(point);
      if (from < forgotten) return Promise.reject(new Fault('stale_cursor', 'too old'));
      const changes = told.slice(from, from + AT_ONCE);
      const next = from + changes.length;
      const goneAt = changes.flatMap((_change, index) => emptied.get(from + index) ?? []);
      return Promise.resolve({ changes, goneAt, next: String(next), more: next < told.length, ...says });
    },
  },
} as unknown as Account;

beforeAll(async () => {
  service = await startService({}, { worker: false });
});
afterAll(() => service.close());
beforeEach(async () => {
  tree.clear();
  told.length = 0;
  emptied.clear();
  hasPlaces = false;
  says = {};
  closed.clear();
  refusedRoots = [];
  forgotten = 0;
  asked.length = 0;
  meanwhile = () => undefined;
  customers += 1;
  const customerId = `list ${customers}`;
  await service.user(customerId);
  owner = await service.store.users.ensure(1, customerId);
  source = await connectSource(service, owner, { externalId: `GOOGLE_DRIVE|${customers}` });
});

const now = async (): Promise<DataSourceDoc> => (await service.store.dataSources.find(owner, source._id))!;

/** One listing by its steps, as the workflow takes them. */
async function list(outcome: 'finished' | 'aborted' = 'finished'): Promise<void> {
  const { store } = service;
  const runId = await store.runs.nextId();
  await store.transaction(async (session) => {
    await store.dataSources.queueListing(owner, source._id, runId, session);
    const run = { runId, requestId: `list ${runId}`, dataSourceId: source._id };
    await acceptListing(owner as never, run, store, session);
  });
  const nobody = () => undefined;
  const log = { info: nobody, warn: nobody, error: nobody, debug: nobody };
  const deps = { store, settings: { massDeletePercent: 30, quarantineMs: 1_000_000 }, log } as unknown as ActivityDeps;
  const { beginListing, endListing } = createItemActivities(deps);
  expect(await beginListing({ runId })).toEqual({ finished: false });
  const row = async () => runOfKind((await store.runs.find(runId))!, 'syncItems');
  for (let { progress } = await row(); !isListed(progress);) {
    progress = await listPage({ source: await now(), account }, progress, { runId, items: store.items }, NEVER);
    await store.runs.saveProgress(await row(), progress);
  }
  if (outcome === 'finished') await deleteMissing(await row(), await now(), deps, NEVER);
  await endListing({ runId, outcome });
}

/** Makes files of items, as a selection does. */
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

describe('a source that tells what happened', () => {
  test('is listed whole once, from a point taken before; later listings ask for what happened since', async () => {
    put('A', null);
    put('a', 'A');
    // While it is listed: its page was answered, and knows nothing of it.
    meanwhile = () => {
      meanwhile = () => undefined;
      put('late', null);
      tree.delete('late');
    };
    await list();
    expect(asked).toEqual(['now', 'roots', 'below A']);
    expect(await itemIds()).toEqual(['A', 'a']);
    expect((await now()).changeToken).toBe('2');
    tree.set('late', null);
    asked.length = 0;
    await sync(['a']);
    put('b', 'A');
    take('a');
    await list();
    expect(asked).toEqual(['since 2', 'since 4']);
    expect(await itemIds()).toEqual(['A', 'b', 'late']);
    expect(await fileIds()).toEqual([]);
    expect(await now()).toMatchObject({ changeToken: '5', syncStatus: 'READY' });
    await list();
    expect(asked.at(-1)).toBe('since 5');
    expect(await itemIds()).toEqual(['A', 'b', 'late']);
  });

  test('a folder that is gone takes along what lay in it, but not what was moved out; one that is back is walked', async () => {
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
    take('A');
    put('D', 'B');
    tree.set('e', 'D');
    asked.length = 0;
    await list();
    expect(await itemIds()).toEqual(['B', 'D', 'c', 'e']);
    expect(await fileIds()).toEqual(['c', 'e']);
    expect(asked).toContain('below D');
    expect(asked).not.toContain('roots');
  });

  test('places that are told to be empty take along what lay there and below, but not what the same page puts there', async () => {
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
    hasPlaces = true;
    await list();
    await sync(['b', 'c', 'd', 'e']);
    // Told by its place alone, as all below it; what only begins alike stays.
    for (const id of below('A')) tree.delete(id);
    told.push({ item: itemOf('d') });
    emptied.set(told.length - 1, ['/A', '/Ab/d']);
    await list();
    expect(await itemIds()).toEqual(['Ab', 'E', 'd', 'e']);
    expect(await fileIds()).toEqual(['d', 'e']);
    // One that was moved has another place, and is walked for what lies in it.
    tree.set('E', 'Ab');
    told.push({ item: itemOf('E') });
    emptied.set(told.length - 1, ['/E', '/Ab/E']);
    asked.length = 0;
    await list();
    expect(asked).toContain('below E');
    expect(await itemIds()).toEqual(['Ab', 'E', 'd', 'e']);
    expect(await fileIds()).toEqual(['d', 'e']);
  });

  test('that tells of some outermost things alone has the others listed whole by each pass', async () => {
    for (const [id, at] of [
      ['A', null],
      ['a', 'A'],
      ['B', null],
      ['b', 'B'],
      ['c', 'B'],
    ] as const)
      put(id, at);
    says = { coveredRoots: ['A'] };
    await list();
    await sync(['a', 'b', 'c']);
    // Of A nothing is told that is not in the feed; of B and what is new nothing is told at all.
    tree.delete('a');
    tree.delete('b');
    tree.set('C', null);
    tree.set('d', 'C');
    asked.length = 0;
    await list();
    expect(asked).toEqual(['since 5', 'roots', 'below B', 'below C']);
    expect([await fileIds(), await itemIds()]).toEqual([
      ['a', 'c'],
      ['A', 'B', 'C', 'a', 'c', 'd'],
    ]);
    told.push({ gone: 'a' });
    await list();
    expect([await fileIds(), await itemIds()]).toEqual([['c'], ['A', 'B', 'C', 'c', 'd']]);
  });

  test('a page that is taken in again after a death finds new what it found new', async () => {
    put('A', null);
    await list();
    put('B', null);
    tree.set('b', 'B');
    const { keep } = service.store.items;
    const dying = {
      ...service.store.items,
      keep: (...given: Parameters<typeof keep>) =>
        keep(...given).then(() => {
          throw new Error('died');
        }),
    };
    const request = { walk: { open: [], at: null, roots: null, refused: 0 }, listed: 0, since: '1', point: '1' };
    const step = (items: typeof dying | typeof service.store.items) =>
      now().then((current) => listPage({ source: current, account }, request, { runId: 987_654, items }, NEVER));
    await expect(step(dying)).rejects.toThrow('died');
    expect((await step(service.store.items)).walk.open).toEqual(['B']);
  });

  test('what is gone in great number stays until an operator approves it, though it is told only once', async () => {
    put('A', null);
    const many = Array.from({ length: 12 }, (_, index) => `m${index}`);
    for (const id of many) put(id, 'A');
    await list();
    await sync(many);
    take('A');
    await list();
    expect((await now()).metadata).toMatchObject({ deletions_held: 12 });
    expect(await fileIds()).toHaveLength(12);
    await list();
    expect((await now()).metadata).toMatchObject({ deletions_held: 12 });
    expect(await service.store.dataSources.approveDeletions(source._id)).toBe(true);
    await list();
    expect((await now()).metadata).not.toHaveProperty('deletions_held');
    expect([await fileIds(), await itemIds()]).toEqual([[], []]);
    expect(asked.filter((one) => one === 'roots')).toHaveLength(1);
  });

  test('that no longer knows the point is listed whole again; what it forgot to tell is seen by that', async () => {
    for (const id of ['a', 'b', 'c']) put(id, null);
    await list();
    await sync(['a', 'b']);
    take('a');
    forgotten = told.length + 1;
    tree.delete('b');
    told.push({ item: itemOf('x') }, { gone: 'x' });
    asked.length = 0;
    await list();
    expect(asked).toEqual(['since 3', 'now', 'roots']);
    expect([await fileIds(), await itemIds()]).toEqual([[], ['c']]);
    expect((await now()).changeToken).toBe('6');
  });

  test('a listing that does not come to its end leaves the point where it was; connecting again lists all', async () => {
    put('a', null);
    await list('aborted');
    expect((await now()).changeToken ?? null).toBeNull();
    await list();
    put('b', null);
    await list('aborted');
    expect((await now()).changeToken).toBe('1');
    take('b');
    await list();
    expect(await itemIds()).toEqual(['a']);
    await connectSource(service, owner, { externalId: `GOOGLE_DRIVE|${customers}` });
    asked.length = 0;
    await list();
    expect(asked).toEqual(['now', 'roots']);
  });

  const connectAgain = () => connectSource(service, owner, { externalId: `GOOGLE_DRIVE|${customers}` });

  test('a folder that stays closed keeps what was known of it, and holds nothing else: not deletions, not the point', async () => {
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
    closed.add('B');
    tree.delete('a');
    await connectAgain();
    await list();
    expect([await fileIds(), await itemIds()]).toEqual([['b'], ['A', 'B', 'C', 'b']]);
    expect(await now()).toMatchObject({ metadata: { items_refused: 1 }, changeToken: '5' });
    // It is tried again each time; of all else what happened is asked.
    asked.length = 0;
    put('d', 'A');
    await list();
    expect(asked).toEqual(['since 5', 'below B']);
    expect(await itemIds()).toEqual(['A', 'B', 'C', 'b', 'd']);
    expect(await now()).toMatchObject({ metadata: { items_refused: 1 }, changeToken: '6' });
    // Nobody told of what happened in it.
    closed.clear();
    tree.delete('b');
    tree.set('c', 'C');
    await list();
    expect(await itemIds()).toEqual(['A', 'B', 'C', 'b', 'c', 'd']);
    expect((await now()).metadata).not.toHaveProperty('items_refused');
    asked.length = 0;
    await list();
    expect(asked).toEqual(['now', 'roots', 'below A', 'below B']);
    expect([await fileIds(), await itemIds()]).toEqual([[], ['A', 'B', 'C', 'c', 'd']]);
    asked.length = 0;
    await list();
    expect(asked).toEqual(['since 6']);
  });

  test('a closed folder that went is gone with what lay in it', async () => {
    put('A', null);
    put('a', 'A');
    await list();
    await sync(['a']);
    closed.add('A');
    await connectAgain();
    await list();
    expect(await fileIds()).toEqual(['a']);
    take('A');
    await list();
    expect([await fileIds(), await itemIds()]).toEqual([[], []]);
  });

  test('something refused that no listing knows holds deletions, for nobody can say what lay in it', async () => {
    put('A', null);
    put('a', 'A');
    await list();
    await sync(['a']);
    tree.delete('a');
    refusedRoots = ['elsewhere'];
    await connectAgain();
    await list();
    expect([await fileIds(), await itemIds()]).toEqual([['a'], ['A', 'a']]);
    expect(await now()).toMatchObject({ metadata: { items_refused: 1 }, changeToken: null });
  });

  test('a whole listing deletes files that it did not find, except those that were created after it began', async () => {
    put('a', null);
    await sync(['a', 'missing']);
    meanwhile = async () => {
      meanwhile = () => undefined;
      await sync(['late', 'later']);
    };
    await list();
    expect(await fileIds()).toEqual(['a', 'late', 'later']);
    // The next whole listing began after them.
    put('late', null);
    await connectAgain();
    await list();
    expect(await fileIds()).toEqual(['a', 'late']);
  });
});
