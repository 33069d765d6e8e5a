/**
 * The items of a connected account: how a listing stores them, which of them no longer exist, and which file belongs to
 * which item.
 */
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import type { Connection, Model } from 'mongoose';

import { DEFAULT_INGEST_OPTIONS } from '../../../contract/files/ingestOptions.js';
import { createSequence } from '../../../store/database/sequence.js';
import { createItems, type Items, type ListedItem } from '../../../store/items/items.js';
import { type FileDoc, fileModel } from '../../../store/models/files.js';
import { type ItemDoc, itemModel } from '../../../store/models/items.js';
import { ADA, AGO, AHEAD, dropDatabase, NOW, openDatabase, seed } from './writes.js';

const SOURCE = { ...ADA, _id: 40, type: 'BOX' } as never;
const OTHER = { ...ADA, _id: 41, type: 'BOX' } as never;

let connection: Connection;
let rows: Model<ItemDoc>;
let files: Model<FileDoc>;
let items: Items;
beforeAll(async () => {
  connection = await openDatabase();
  rows = itemModel(connection);
  files = fileModel(connection);
  items = createItems(rows, files, createSequence(connection));
});
beforeEach(async () => {
  await rows.deleteMany({});
  await files.deleteMany({});
});
afterAll(() => dropDatabase(connection));

const item = (externalId: string, parentExternalId: string | null, fields: Partial<ListedItem> = {}): ListedItem => ({
  ...{ externalId, parentExternalId, rootExternalId: parentExternalId === null ? null : 'A', name: externalId },
  ...{ itemType: 'file', externalUrl: null, fileFormat: null, isSelectable: true, isExpandable: false },
  ...{ version: 'v1', source: 'BOX' as const, ...fields },
});
/** A tree: A contains a and AA, which contains aa. B is another root. */
const TREE = [item('A', null), item('a', 'A'), item('AA', 'A'), item('aa', 'AA'), item('B', null)];
const ids = (...names: string[]) => new Set(names);
const where = async (query: object): Promise<string[]> =>
  (await rows.find({ dataSourceId: 40, ...query }).lean()).map(({ externalId }) => externalId).toSorted();
const seedFiles = (states: Readonly<Record<string, Partial<FileDoc>>>) =>
  seed(
    files,
    () => ({
      ...{ ...new files().toObject({ minimize: false }), ...ADA, source: 'BOX', dataSourceId: 40, accountId: 40 },
      ...{ syncStatus: 'READY', generation: 1, createdAt: AGO, updatedAt: AGO, options: DEFAULT_INGEST_OPTIONS },
    }),
    Object.fromEntries(Object.entries(states).map(([name, fields]) => [name, { externalFileId: name, ...fields }])),
  );

test('upsert() returns new items, even if a listing repeats a page; hasChanged() detects changed items too', async () => {
  expect(await items.upsert(SOURCE, 1, [...TREE, item('a', 'A')])).toEqual(ids('A', 'a', 'AA', 'aa', 'B'));
  expect(await items.upsert(SOURCE, 1, TREE.slice(0, 2))).toEqual(ids('A', 'a'));
  expect(await rows.countDocuments()).toBe(5);
  expect(await items.hasChanged(SOURCE, 1)).toBe(true);
  expect(await items.upsert(SOURCE, 2, TREE)).toEqual(ids());
  expect(await items.hasChanged(SOURCE, 2)).toBe(false);
  expect(await items.upsert(SOURCE, 3, [...TREE.slice(1), item('A', null, { version: 'v2' })])).toEqual(ids());
  expect(await items.hasChanged(SOURCE, 3)).toBe(true);
  expect(await items.hasChanged(OTHER, 3)).toBe(false);
  // The same ids in another account are other items.
  expect(await items.upsert(OTHER, 4, TREE.slice(0, 1))).toEqual(ids('A'));
  expect(await where({ listedBy: 3 })).toHaveLength(5);
  await items.unlist(SOURCE, 3);
  expect([await where({ listedBy: 3 }), await rows.countDocuments({ listedBy: 4 })]).toEqual([[], 1]);
});

test('more items than one write contains are all stored', async () => {
  const many = Array.from({ length: 1_001 }, (_, nth) => item(`item ${nth}`, null));
  expect((await items.upsert(SOURCE, 1, many)).size).toBe(1_001);
  expect(await rows.countDocuments({ listedBy: 1 })).toBe(1_001);
});

test('files whose items a listing did not find are missing, except newer and restored ones', async () => {
  await items.upsert(SOURCE, 1, TREE);
  await items.upsert(SOURCE, 2, TREE.slice(0, 2));
  await items.upsert(OTHER, 2, [item('aa', null)]);
  const byName = await seedFiles({
    a: { restoredAt: AGO },
    AA: {},
    aa: {},
    unknown: {},
    restored: { restoredAt: AGO },
    newer: { createdAt: AHEAD },
    folder: { isContainer: true },
    ofOther: { dataSourceId: 41, accountId: 41 },
  });
  const listing = { runId: 2, begun: NOW };
  expect(await items.countMissing(SOURCE, listing)).toEqual({ files: 5, vanished: 3, items: 2 });
  const missing: number[] = [];
  for (let afterId: number | null = 0, pages = 0; afterId !== null && pages < 10; pages += 1) {
    const page: Awaited<ReturnType<Items['missingFiles']>> = await items.missingFiles(SOURCE, listing, afterId, 2);
    missing.push(...page.files.map(({ id }) => id));
    ({ afterId } = page);
  }
  expect(missing).toEqual(['AA', 'aa', 'unknown'].map((name) => byName.get(name)));
  // A restored file that exists at its source again is an ordinary file.
  expect((await files.findOne({ externalFileId: 'a' }).lean())?.restoredAt ?? null).toBeNull();
  expect((await files.findOne({ externalFileId: 'restored' }).lean())?.restoredAt).toEqual(AGO);
  await items.deleteMissing(SOURCE, 2);
  expect(await where({})).toEqual(['A', 'a']);
  expect(await rows.countDocuments({ dataSourceId: 41 })).toBe(1);
});

test('a deleted item is marked with its descendants until its rows are deleted, or until it is listed again', async () => {
  await items.upsert(SOURCE, 1, TREE);
  await items.upsert(OTHER, 1, TREE);
  const byName = await seedFiles({ a: {}, aa: {}, B: {}, folder: { isContainer: true, externalFileId: 'AA' } });
  await items.markDeleted(SOURCE, ['A']);
  expect(await where({ isGone: true })).toEqual(['A', 'AA', 'a', 'aa']);
  expect(await rows.countDocuments({ isGone: true })).toBe(4);
  expect(await items.countDeleted(SOURCE)).toEqual({ files: 3, vanished: 2 });
  expect(await items.upsert(SOURCE, 2, [item('a', 'A')])).toEqual(ids('a'));
  expect(await where({ isGone: true })).toEqual(['A', 'AA', 'aa']);
  expect(await where({ foundBy: 2 })).toEqual(['a']);
  const page = await items.listDeleted(SOURCE, 2);
  expect([page.items.length, page.files]).toEqual([2, []]);
  const all = await items.listDeleted(SOURCE, 10);
  expect([all.items.length, all.files]).toEqual([3, [byName.get('aa')]]);
  // An item that was listed again meanwhile stays.
  await items.upsert(SOURCE, 3, [item('AA', 'A')]);
  await items.deleteRows(SOURCE, all.items);
  expect(await where({})).toEqual(['AA', 'B', 'a']);
  expect(await items.listDeleted(SOURCE, 10)).toEqual({ items: [], files: [] });
  await items.markDeleted(SOURCE, ['B']);
  await items.unmarkDeleted(OTHER);
  expect(await where({ isGone: true })).toEqual(['B']);
  await items.unmarkDeleted(SOURCE);
  expect(await where({ isGone: true })).toEqual([]);
});

test('files of more deleted items than one query reads are counted once each', async () => {
  const many = Array.from({ length: 1_001 }, (_, nth) => item(`item ${nth}`, null));
  await items.upsert(SOURCE, 1, many);
  await items.markDeleted(
    SOURCE,
    many.map(({ externalId }) => externalId),
  );
  await seedFiles({ 'item 0': {}, 'item 999': {}, 'item 1000': {} });
  expect(await items.countDeleted(SOURCE)).toEqual({ files: 3, vanished: 3 });
});

test('a deleted path is deleted with everything below it, and nothing else', async () => {
  const paths = ['/x', '/x/y', '/x/y/z', '/xy', '/x.txt', '/w'];
  await items.upsert(
    SOURCE,
    1,
    paths.map((path) => item(path, null, { path })),
  );
  const unknown = Array.from({ length: 100 }, (_, nth) => `/unknown ${nth}`);
  await items.markPathsDeleted(OTHER, ['/w']);
  await items.markPathsDeleted(SOURCE, [...unknown, '/x']);
  expect(await where({ isGone: true })).toEqual(['/x', '/x/y', '/x/y/z']);
});

test('items not found by a listing are marked as gone, except roots that a feed covers and what is below them', async () => {
  await items.upsert(SOURCE, 1, [...TREE, item('C', null), item('c', 'C', { rootExternalId: 'C' })]);
  await items.upsert(SOURCE, 2, [item('C', null)]);
  await items.markUnlisted(SOURCE, 2, ['A']);
  expect(await where({ isGone: true })).toEqual(['B', 'c']);
});

test('the stored contents of a folder that cannot be listed count as found until it can be listed again', async () => {
  await items.upsert(SOURCE, 1, TREE);
  await items.upsert(SOURCE, 2, [item('B', null)]);
  expect(await items.markClosed(SOURCE, 2, ['A', 'unknown'])).toEqual(ids('A'));
  expect(await where({ listedBy: 2 })).toEqual(['A', 'AA', 'B', 'a', 'aa']);
  expect([await items.listClosed(SOURCE, 10), await items.listClosed(OTHER, 10)]).toEqual([['A'], []]);
  expect([await items.countReopened(SOURCE, 2), await items.countReopened(SOURCE, 3)]).toEqual([0, 1]);
  await items.unmarkReopened(SOURCE, 2);
  expect(await items.listClosed(SOURCE, 10)).toEqual(['A']);
  await items.unmarkReopened(SOURCE, 3);
  expect(await items.listClosed(SOURCE, 10)).toEqual([]);
});

test('lists the root items that a listing has not found, also after it marked them as unreadable (closed)', async () => {
  await items.upsert(SOURCE, 1, [...TREE, item('C', null), item('D', null)]);
  await items.markDeleted(SOURCE, ['D']);
  await items.upsert(SOURCE, 2, [item('B', null)]);
  const unlisted = async (limit = 10) => (await items.listUnlistedRoots(SOURCE, 2, limit)).toSorted();
  expect([await unlisted(), await items.listUnlistedRoots(OTHER, 2, 10)]).toEqual([['A', 'C'], []]);
  expect(await unlisted(1)).toHaveLength(1);
  // A crash may have interrupted this before it reached the descendants.
  await items.markClosed(SOURCE, 2, ['A']);
  expect(await unlisted()).toEqual(['A', 'C']);
});

test('an unchanged item has a READY file of its version; a synced copy has equal options and any version', async () => {
  const many = Array.from({ length: 1_000 }, (_, nth) => `missing ${nth}`);
  await items.upsert(SOURCE, 1, [
    ...['same', 'newer', 'failed', 'unknown', 'empty', 'otherOptions'].map((name) => item(name, null)),
    item('folder', null, { isExpandable: true }),
    item('unversioned', null, { version: null }),
  ]);
  await seedFiles({
    same: { version: 'v1' },
    newer: { version: 'v0' },
    failed: { version: 'v1', syncStatus: 'SYNC_ERROR' },
    folder: { version: 'v1' },
    unversioned: { version: null },
    empty: { version: null, generation: 0 },
    otherOptions: { version: 'v1', options: { ...DEFAULT_INGEST_OPTIONS, chunkSize: 7 } as never },
    ofOther: { version: 'v1', dataSourceId: 41, accountId: 41 },
  });
  const all = ['same', 'newer', 'failed', 'unknown', 'folder', 'unversioned', 'empty', 'otherOptions', 'ofOther'];
  expect(await items.unchanged(SOURCE, [...many, ...all])).toEqual(ids('same', 'otherOptions'));
  const copies = await items.syncedCopies(SOURCE, all, DEFAULT_INGEST_OPTIONS);
  expect([...copies.keys()].toSorted()).toEqual(['folder', 'newer', 'same', 'unversioned']);
});

test('a list shows each item with the file of its own account, and finds items by text, kind and parent', async () => {
  const fields = {
    'a.b': { itemType: 'PAGE', fileFormat: 'PDF' },
    axb: { itemType: 'PAGE' },
    c: { fileFormat: 'PDF' },
  };
  const rest = Object.entries(fields).map(([name, more]) => item(name, 'AA', { ...more, name: `Name ${name}` }));
  await items.upsert(SOURCE, 1, [...TREE, ...rest]);
  await items.upsert(OTHER, 1, TREE);
  const byName = await seedFiles({
    ...{ a: {}, aa: { accountId: 41, dataSourceId: 41 }, AA: { source: 'GMAIL' }, B: { userId: 8 }, axb: {} },
    ...{ other: { externalFileId: 'a', accountId: 41, dataSourceId: 41 } },
  });
  const list = async (filters: object, page: object = {}) => {
    const found: (readonly [string, number | null])[] = [];
    const listing = { filters, orderBy: 'id', orderDir: 'asc', page: { limit: 99, offset: 0, startingId: 0, ...page } };
    for await (const part of items.list(SOURCE, listing as never))
      found.push(...part.map(({ item: { externalId }, fileId }) => [externalId, fileId] as const));
    expect(await items.count(SOURCE, listing as never)).toBe(found.length);
    return found;
  };
  const all = await list({});
  expect(all.map(([name]) => name)).toEqual(['A', 'a', 'AA', 'aa', 'B', 'a.b', 'axb', 'c']);
  expect(all.filter(([, fileId]) => fileId !== null)).toEqual([
    ['a', byName.get('a')],
    ['axb', byName.get('axb')],
  ]);
  const names = async (filters: object) => (await list(filters)).map(([name]) => name).join(' ');
  expect(await names({ name: 'NAME A.B' })).toBe('a.b');
  expect(await names({ itemTypes: ['PAGE'], fileFormats: ['PDF', 'TXT'] })).toBe('a.b');
  expect([await names({ rootsOnly: true }), await names({ parentExternalId: 'A' })]).toEqual(['A B', 'a AA']);
  expect([await names({ externalIds: ['aa', 'B'] }), await names({ externalIds: [] })]).toEqual([
    ...['aa B', 'A a AA aa B a.b axb c'],
  ]);
  expect(await items.parents(SOURCE, ['A', 'a', 'AA', 'B'])).toEqual(ids('A', 'AA'));
  const last = (await rows.findOne({ dataSourceId: 40, externalId: 'axb' }).lean())!._id;
  expect((await list({}, { startingId: last })).map(([name]) => name)).toEqual(['c']);
});

test('descendants are found at any depth, over more items than one query reads, and once each in a cycle', async () => {
  const children = Array.from({ length: 1_001 }, (_, nth) => item(`child ${nth}`, 'root'));
  await items.upsert(SOURCE, 1, [
    item('root', null),
    ...children,
    item('deep', 'child 1000'),
    item('x', 'y'),
    item('y', 'x'),
  ]);
  await items.upsert(OTHER, 1, [item('of other', 'root')]);
  await items.markDeleted(SOURCE, ['root', 'x']);
  expect(await rows.countDocuments({ dataSourceId: 40, isGone: true })).toBe(1_005);
  expect(await rows.countDocuments({ dataSourceId: 41, isGone: true })).toBe(0);
});

test('missing items are found from the one that was listed longest ago, then items that have only a file', async () => {
  await items.upsert(SOURCE, 2, [item('newer', null)]);
  await items.upsert(SOURCE, 1, [item('older', null)]);
  await items.upsert(SOURCE, 3, [item('listed', null)]);
  await items.upsert(OTHER, 1, [item('of other', null)]);
  await seedFiles({ listed: {}, newer: {}, unlisted: {}, existing: {}, recent: { createdAt: AHEAD } });
  const listing = { runId: 3, begun: NOW, existing: ids('existing') };
  expect(await items.findUnlisted(SOURCE, listing, 9)).toEqual(['older', 'newer', 'unlisted']);
  expect(await items.findUnlisted(SOURCE, listing, 1)).toEqual(['older']);
  await items.markListed(SOURCE, 3, ['older', 'of other']);
  expect(await items.findUnlisted(SOURCE, listing, 9)).toEqual(['newer', 'unlisted']);
  await items.upsert(SOURCE, 1, [item('spared', null)]);
  await items.deleteMissing(SOURCE, 3, ['newer', 'listed', 'of other']);
  expect(await where({})).toEqual(['listed', 'older', 'spared']);
  expect(await rows.countDocuments({ dataSourceId: 41 })).toBe(1);
  for (const stranger of [{ userId: 8 }, { organizationId: 2 }]) await items.removeAll({ ...ADA, ...stranger });
  expect(await rows.countDocuments()).toBe(4);
  await items.removeAll(ADA);
  expect(await rows.countDocuments()).toBe(0);
});

test('finding root items that a listing has not found reads only root items', async () => {
  const within = Array.from({ length: 500 }, (_, nth) => item(`inside ${nth}`, 'A'));
  await items.upsert(SOURCE, 1, [...TREE, ...within]);
  await rows.init();
  const db = connection.db!;
  const from = new Date();
  await db.command({ profile: 2, filter: { ns: `${db.databaseName}.items` } });
  await items.listUnlistedRoots(SOURCE, 2, 10);
  await db.command({ profile: 0 });
  const queries = await db
    .collection<{ ts: Date; docsExamined?: number }>('system.profile')
    .find({ ts: { $gte: from } })
    .toArray();
  expect(queries.map(({ docsExamined }) => docsExamined)).toEqual([2]);
});
