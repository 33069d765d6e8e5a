/** Tests of listings that may omit existing items: missing items are checked at the source before they are deleted. */
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';

import { deleteMissing } from '../../activities/connected/deleteMissing.js';
import type { ActivityDeps } from '../../activities/deps.js';
import { Fault } from '../../contract/failures.js';
import { DEFAULT_INGEST_OPTIONS } from '../../contract/files/ingestOptions.js';
import { runOfKind } from '../../contract/runs/runs.js';
import { acceptListing } from '../../store/connections/acceptRuns.js';
import type { ListedItem } from '../../store/items/items.js';
import type { DataSourceDoc } from '../../store/models/dataSources.js';
import { connectSource } from '../support/dataSources.js';
import { faultOf } from '../support/faultOf.js';
import { type SharedService, sharedService } from '../support/sharedService.js';

// The source is a fake; the stores are real.
const NEVER = new AbortController().signal;
/** As many items as one listing checks. */
const MAX_CHECKED = 2_000;

let service: SharedService;
let owner: { organizationId: number; userId: number; customerId: string };
let source: DataSourceDoc;
let customers = 0;
/** Items that exist at the source. */
const atSource = new Set<string>();
/** Ids of each call of `findExisting`. */
const checks: (readonly string[])[] = [];
/** Thrown by the next calls of `findExisting`; null: none. */
let failure: Fault | null = null;
/** Number of calls before those that fail. */
let successes = 0;
const logged: { level: string; fields: unknown; message: string }[] = [];

const account = {
  grantVersion: () => null,
  findExisting: (ids: readonly string[]) => {
    checks.push(ids);
    if (failure !== null && checks.length > successes) return Promise.reject(failure);
    return Promise.resolve(ids.filter((id) => atSource.has(id)));
  },
};

beforeAll(async () => {
  service = await sharedService({ worker: false });
});
afterAll(() => service.close());
beforeEach(async () => {
  atSource.clear();
  checks.length = 0;
  logged.length = 0;
  failure = null;
  successes = 0;
  customers += 1;
  const customerId = `confirm ${customers}`;
  await service.user(customerId);
  owner = await service.store.users.ensure(service.organizationId, customerId);
  source = await connectSource(service, owner, { type: 'NOTION', externalId: `NOTION|${customers}` });
});

const itemOf = (externalId: string): ListedItem => ({
  ...{ externalId, parentExternalId: null, rootExternalId: null, name: externalId, itemType: 'PAGE' },
  ...{ externalUrl: null, fileFormat: null, isSelectable: true, isExpandable: true, version: null, source: 'NOTION' },
});
const pages = (count: number, prefix = 'page'): string[] =>
  Array.from({ length: count }, (_, nth) => `${prefix} ${String(nth).padStart(4, '0')}`);

/** Begins a listing that finds the given items, which then exist at the source. Returns its run. */
async function listing(found: readonly string[]) {
  const { store } = service;
  const runId = await store.runs.nextId();
  await store.transaction(async (session) => {
    await store.dataSources.queueListing(owner, source._id, runId, session);
    await acceptListing(owner as never, { runId, requestId: `${runId}`, dataSourceId: source._id }, store, session);
  });
  for (const id of found) atSource.add(id);
  await store.items.upsert(source, runId, found.map(itemOf));
  return runOfKind((await store.runs.find(runId))!, 'syncItems');
}
type Listing = Awaited<ReturnType<typeof listing>>;

/** Runs the step that deletes missing items. @param mayOmit whether listings of the source may omit items */
async function removeMissing(run: Listing, { attempt = 1, mayOmit = true } = {}): Promise<void> {
  const level = (name: string) => (fields: unknown, message: string) =>
    void logged.push({ level: name, fields, message });
  const deps = {
    store: { ...service.store, accountCredentials: () => '{}' },
    connectors: { mayOmitItems: () => mayOmit, account: () => account },
    settings: { massDeletePercent: 30, quarantineMs: 1_000_000 },
    log: { info: level('info'), warn: level('warn'), error: level('error'), debug: level('debug') },
  } as unknown as ActivityDeps;
  await deleteMissing(run, await current(), deps, NEVER, attempt);
}
const current = async (): Promise<DataSourceDoc> => (await service.store.dataSources.find(owner, source._id))!;

/** Accepts items as files, as a selection does. */
async function sync(ids: readonly string[]): Promise<void> {
  await service.store.files.acceptMany(
    owner,
    ids.map((externalFileId) => ({
      ...{ source: source.type, externalFileId, externalUrl: null, name: externalFileId, parentId: null },
      ...{ isContainer: false, dataSource: source, tags: {}, options: DEFAULT_INGEST_OPTIONS, sourceOptions: null },
      ...{ enableAutoSync: null, requestId: 'sync', runId: 1, workflowOf: () => 'sync' },
    })),
  );
}
const page = { limit: 5_000, offset: 0, startingId: 0 };
const order = { filters: {}, orderBy: 'name', orderDir: 'asc', page } as const;
async function itemIds(): Promise<string[]> {
  const ids: string[] = [];
  for await (const part of service.store.items.list(source, order))
    ids.push(...part.map(({ item }) => item.externalId));
  return ids;
}
async function fileIds(): Promise<string[]> {
  const ids: string[] = [];
  for await (const part of service.store.files.list(owner, order))
    ids.push(...part.map(({ externalFileId }) => externalFileId));
  return ids;
}

test('keeps omitted items that exist, and their files; deletes missing ones; each listing checks again', async () => {
  const all = ['a', 'b', 'c', 'no file', 'gone without a file'];
  await listing(all);
  await sync(['a', 'b', 'c']);
  atSource.delete('c');
  atSource.delete('gone without a file');
  await removeMissing(await listing(['a']));
  expect(await fileIds()).toEqual(['a', 'b']);
  expect(await itemIds()).toEqual(['a', 'b', 'no file']);
  expect(checks.flat().toSorted()).toEqual(all.filter((id) => id !== 'a').toSorted());
  expect(logged).toMatchObject([{ level: 'info', fields: { existing: 2, gone: 2, dataSourceId: source._id } }]);
  atSource.delete('b');
  checks.length = 0;
  await removeMissing(await listing(['a']));
  expect(checks.flat().toSorted()).toEqual(['b', 'no file']);
  expect([await fileIds(), await itemIds()]).toEqual([['a'], ['a', 'no file']]);
});

test('checks files of items that no listing has found', async () => {
  await listing(['a']);
  await sync(['a', 'selected', 'selected and deleted']);
  atSource.add('selected');
  await removeMissing(await listing(['a']));
  expect(await fileIds()).toEqual(['a', 'selected']);
});

test('deletes nothing if the source fails; retries skip existing items; attempt 5 ignores retryable faults', async () => {
  const ids = pages(150);
  await listing(ids);
  await sync(['page 0000', 'page 0149', 'gone']);
  const run = await listing([]);
  successes = 1;
  for (const kind of ['server_error', 'rate_limited', 'unreachable', 'not_configured'] as const) {
    failure = new Fault(kind, 'no');
    await faultOf(removeMissing(run), kind);
    expect([await fileIds(), await itemIds()]).toEqual([['gone', 'page 0000', 'page 0149'], ids]);
  }
  // The first call stored that the first 100 items exist, so the retries check only the other 51.
  expect(checks.map((checked) => checked.length)).toEqual([100, 51, 51, 51, 51]);
  failure = new Fault('server_error', 'no');
  await removeMissing(run, { attempt: 5 });
  expect([await fileIds(), await itemIds()]).toEqual([['gone', 'page 0000', 'page 0149'], ids]);
  expect(logged.at(-1)).toMatchObject({
    level: 'warn',
    fields: { err: failure },
    message: expect.stringMatching(/failed/),
  });
  failure = new Fault('not_configured', 'no');
  await faultOf(removeMissing(run, { attempt: 5 }), 'not_configured');
  failure = null;
  await removeMissing(run, { attempt: 6 });
  expect([await fileIds(), await itemIds()]).toEqual([['page 0000', 'page 0149'], ids]);
});

test('holds deletions by the number of items that are gone, not by those that a listing omitted', async () => {
  const ids = pages(30);
  await listing(ids);
  await sync(ids);
  await removeMissing(await listing([]));
  expect(await fileIds()).toEqual(ids);
  expect((await current()).metadata['deletions_held'] ?? null).toBeNull();
  for (const id of ids.slice(0, 20)) atSource.delete(id);
  await removeMissing(await listing([]));
  expect(await fileIds()).toEqual(ids);
  expect((await current()).metadata['deletions_held']).toBe(20);
  await service.store.dataSources.approveDeletions(source._id);
  await removeMissing(await listing([]));
  expect([await fileIds(), await itemIds()]).toEqual([ids.slice(20), ids.slice(20)]);
  expect(await current()).toMatchObject({ deletionsApproved: false });
});

test('checks 2,000 items per listing; unchecked items and the approval of deletions stay for the next listing', async () => {
  const [gone, omitted] = [pages(MAX_CHECKED + 20, 'gone'), pages(20, 'omitted')];
  await listing([...omitted, ...gone]);
  const goneFiles = gone.slice(MAX_CHECKED, MAX_CHECKED + 15);
  await sync([...goneFiles, ...omitted]);
  for (const id of gone) atSource.delete(id);
  await removeMissing(await listing([]));
  expect(checks.flat()).toHaveLength(MAX_CHECKED);
  const message = expect.stringMatching(/more/);
  expect(logged.at(0)).toMatchObject({ level: 'warn', fields: { limit: MAX_CHECKED }, message });
  // Files that were not checked count as missing, so their deletion is held.
  expect((await current()).metadata['deletions_held']).toBe(goneFiles.length);
  expect(await itemIds()).toHaveLength(gone.length + omitted.length);
  await service.store.dataSources.approveDeletions(source._id);
  // Items that were checked before are checked last.
  await removeMissing(await listing([]));
  expect([await fileIds(), await itemIds()]).toEqual([
    [...goneFiles, ...omitted],
    [...gone.slice(MAX_CHECKED), ...omitted],
  ]);
  expect(await current()).toMatchObject({ deletionsApproved: true });
  await removeMissing(await listing([]));
  expect([await fileIds(), await itemIds()]).toEqual([omitted, omitted]);
  expect(await current()).toMatchObject({ deletionsApproved: false });
});

test('checks nothing for sources whose listings omit nothing, and after an incomplete listing', async () => {
  await listing(['a', 'b']);
  await sync(['a', 'b']);
  const run = await listing(['a']);
  await removeMissing({ ...run, progress: { ...run.progress, walk: { ...run.progress.walk, refused: 1 } } });
  expect(await fileIds()).toEqual(['a', 'b']);
  await removeMissing(run, { mayOmit: false });
  expect([await fileIds(), await itemIds()]).toEqual([['a'], ['a']]);
  expect([checks, logged]).toEqual([[], []]);
});
