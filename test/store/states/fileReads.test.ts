/**
 * Which files the queries of deletions, re-embeddings, copies of tags and searches for missing pages select, and how
 * failed files, totals and vector spaces are read.
 */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Connection, Model } from 'mongoose';

import { DEFAULT_INGEST_OPTIONS } from '../../../contract/files/ingestOptions.js';
import { storedTags } from '../../../contract/files/tags.js';
import { itemEnd } from '../../../contract/runs/ledger.js';
import { BEING_DELETED } from '../../../contract/runs/reembed.js';
import { createIndexes } from '../../../store/database/driver.js';
import { createFileAncestors } from '../../../store/files/ancestors.js';
import { createFileDeletion, type FileDeletion } from '../../../store/files/deletion.js';
import { createFileFailures } from '../../../store/files/failures.js';
import { createMissingPages } from '../../../store/files/missingPages.js';
import { createFileQueries, type FileQueries } from '../../../store/files/queries.js';
import { createFileReembedding } from '../../../store/files/reembed.js';
import { createFileSums } from '../../../store/files/statistics.js';
import type { SumCache } from '../../../store/files/sumCache.js';
import { createFileTags } from '../../../store/files/tags.js';
import { type FileDoc, fileModel } from '../../../store/models/files.js';
import { createStalls } from '../../../store/runs/stalls.js';
import { everyRow } from '../../support/everyRow.js';
import { ADA, AGO, AHEAD, dropDatabase, NOW, openDatabase, seed, sorted, STRANGERS } from './writes.js';

const [RUN, OTHER] = [71, 72];
const FOREIGN = { userId: 8 };

let connection: Connection;
let files: Model<FileDoc>;
let queries: FileQueries;
let deletion: FileDeletion;
let ids: ReadonlyMap<string, number> = new Map();
const id = (name: string): number => ids.get(name)!;
const names = (found: readonly (number | { readonly _id: number })[]): string[] => {
  const nameOf = new Map([...ids].map(([name, _id]) => [_id, name]));
  return found.map((one) => nameOf.get(typeof one === 'number' ? one : one._id) ?? 'unknown');
};
/** Computes each sum again. */
const uncached = <T extends object | number>(): SumCache<T> => ({ get: (_tenant, _what, compute) => compute() });

beforeAll(async () => {
  connection = await openDatabase();
  files = fileModel(connection);
  await createIndexes(files);
  queries = createFileQueries(files, uncached);
  deletion = createFileDeletion({ files, queries } as never);
});
afterAll(() => dropDatabase(connection));

const seedFiles = async (states: Readonly<Record<string, Partial<FileDoc>>>) => {
  const blank = new files().toObject({ minimize: false });
  ids = await seed(
    files,
    (_id) => ({
      ...{ ...blank, ...ADA, source: 'BOX', externalFileId: `${_id}`, name: `${_id}`, syncStatus: 'READY', runId: 70 },
      ...{ options: DEFAULT_INGEST_OPTIONS, generation: 1, createdAt: AGO, updatedAt: AGO },
    }),
    states,
  );
};
/** Places files below their parents, given as `child: parent`. */
const nest = async (parents: Readonly<Record<string, string>>) => {
  for (const [child, parent] of Object.entries(parents))
    await files.updateOne({ _id: id(child) }, { $set: { parentId: id(parent) } });
};

test('a delete selects matching files that existed when it was accepted, and files that it marked before a crash', async () => {
  /** A file that the filters do not match, and that a delete has marked by `takeOver`. */
  const taken = { syncStatus: 'SYNC_ABORTED', syncErrorMessage: BEING_DELETED, source: 'GMAIL' } as const;
  await seedFiles({
    old: {},
    same: { createdAt: NOW },
    newer: { createdAt: AHEAD },
    otherSource: { source: 'GMAIL' },
    emptied: { runId: RUN, syncStatus: 'READY_TO_SYNC' },
    unread: { syncStatus: 'READY_TO_SYNC' },
    taken: { ...taken, runId: RUN },
    takenByOther: { ...taken, runId: OTHER },
    waiting: { syncStatus: 'DELAYED' },
    running: { syncStatus: 'QUEUED_FOR_OCR' },
    ownRunning: { syncStatus: 'SYNCING', runId: RUN },
    newerRunning: { syncStatus: 'SYNCING', createdAt: AHEAD },
    foreign: FOREIGN,
    foreignTaken: { ...taken, ...FOREIGN, runId: RUN },
  });
  const request = { filters: { sources: ['BOX'] }, preserveFileRecord: true, sendWebhook: true } as never;
  const run = { runId: RUN, acceptedAt: NOW };
  const list = async (afterId: number, limit: number) =>
    names(await deletion.listDeletable(ADA, run, request, afterId, limit));
  const all = ['old', 'same', 'unread', 'taken', 'waiting', 'running', 'ownRunning'];
  expect(await list(0, 100)).toEqual(all);
  expect(await list(id('unread'), 2)).toEqual(['taken', 'waiting']);
  expect(await list(id('taken'), 100)).toEqual(all.slice(4));
  const open = await deletion.listDeletableOpen(ADA, run, request, 100);
  expect(names(open).toSorted()).toEqual(sorted('waiting running'));
  expect(await deletion.listDeletableOpen(ADA, run, request, 1)).toHaveLength(1);
  for (const stranger of STRANGERS.slice(1))
    expect([
      await deletion.listDeletable(stranger, run, request, 0, 9),
      await deletion.listDeletableOpen(stranger, run, request, 9),
    ]).toEqual([...[[], []]]);
});

test('a delete includes all descendants of given parents (includeAllChildren) or of matching files (deleteChildren)', async () => {
  await seedFiles({
    ...Object.fromEntries(['root', 'folder', 'deep'].map((name) => [name, { isContainer: true }])),
    ...{ page: {}, deepPage: {}, elsewhere: {}, mail: { source: 'GMAIL' }, attachment: {}, foreignPage: FOREIGN },
  });
  await nest({
    folder: 'root',
    deep: 'folder',
    page: 'root',
    deepPage: 'deep',
    attachment: 'mail',
    foreignPage: 'root',
  });
  const common = { preserveFileRecord: false, sendWebhook: false };
  const deleted = async (request: object) => {
    const parents = await deletion.parentsOfDelete(ADA, { ...common, ...request } as never);
    const whole = { ...common, ...request, parents } as never;
    const run = { runId: RUN, acceptedAt: NOW };
    return names(await deletion.listDeletable(ADA, run, whole, 0, 100))
      .toSorted()
      .join(' ');
  };
  const inRoot = { parentFileIds: [id('root')] };
  await everyRow(
    [
      [{ filters: inRoot }, 'folder page'],
      [{ filters: { ...inRoot, includeAllChildren: true } }, 'deep deepPage folder page'],
      [{ filters: { ids: [id('root')] } }, 'root'],
      [{ filters: { ids: [id('root')] }, deleteChildren: true }, 'deep deepPage folder page root'],
      [{ filters: { sources: ['GMAIL'] }, deleteChildren: true }, 'attachment mail'],
      [{ filters: { ids: [id('page')] }, deleteChildren: true }, 'page'],
      [{ filters: { parentFileIds: [id('page')], includeAllChildren: true } }, ''],
    ] as const,
    ([request]) => JSON.stringify(request),
    async ([request, expected]) => expect(await deleted(request)).toBe(expected),
  );
});

test('the ancestors of a file begin with its parent, and end at another owner, an unknown id or a cycle', async () => {
  await seedFiles({
    ...{ root: {}, folder: {}, deep: {}, page: {}, sibling: {}, foreign: FOREIGN, ofForeign: {}, orphan: {} },
    ...{ first: {}, second: {}, otherOrganization: { organizationId: 2 } },
  });
  await nest({ folder: 'root', deep: 'folder', page: 'deep', sibling: 'root', ofForeign: 'foreign' });
  await nest({ first: 'second', second: 'first', otherOrganization: 'root' });
  await files.updateOne({ _id: id('orphan') }, { $set: { parentId: 999_999 } });
  const found = await createFileAncestors(files).ancestorsOf(await files.find().lean());
  const named = Object.fromEntries([...found].map(([file, ancestors]) => [names([file])[0], names(ancestors)]));
  expect(named).toEqual({
    ...{ root: [], folder: ['root'], deep: ['folder', 'root'], page: ['deep', 'folder', 'root'], sibling: ['root'] },
    ...{ foreign: [], ofForeign: [], orphan: [], otherOrganization: [] },
    ...{ first: ['second', 'first'], second: ['first', 'second'] },
  });
});

test('a re-embedding reads the matching files that existed when it was accepted, after a cursor', async () => {
  await seedFiles({
    ...{ first: {}, same: { createdAt: NOW }, newer: { createdAt: AHEAD }, mail: { source: 'GMAIL' } },
    ...{ foreign: FOREIGN, last: {} },
  });
  const reembedding = createFileReembedding(files, queries);
  const candidates = async (afterId: number, limit: number | null, tenant = ADA) => {
    const found: number[] = [];
    const filters = { sources: ['BOX'] } as never;
    for await (const { _id } of reembedding.candidates(tenant, filters, NOW, afterId, limit)) found.push(_id);
    return names(found);
  };
  expect(await candidates(0, null)).toEqual(['first', 'same', 'last']);
  expect([await candidates(0, 2), await candidates(id('first'), 1)]).toEqual([['first', 'same'], ['same']]);
  expect(await candidates(0, null, { ...ADA, organizationId: 2 })).toEqual([]);
});

test('files that lack the latest version of the tags of their account are listed in the order of ids', async () => {
  const behind = { dataSourceId: 40, sourceTagsVersion: 1 };
  await seedFiles({
    ...{ first: behind, current: { ...behind, sourceTagsVersion: 2 }, unset: { dataSourceId: 40 }, last: behind },
    ...{ ofOther: { ...behind, dataSourceId: 41 }, foreign: { ...behind, ...FOREIGN } },
  });
  const tags = createFileTags(files);
  const source = (tenant: typeof ADA) => ({ ...tenant, _id: 40, tagsVersion: 2 }) as never;
  const list = async (afterId: number, limit: number, tenant = ADA) =>
    names(await tags.listBehindSourceTags(source(tenant), afterId, limit));
  expect(await list(0, 10)).toEqual(['first', 'unset', 'last']);
  expect([await list(id('first'), 1), await list(0, 2)]).toEqual([['unset'], ['first', 'unset']]);
  expect(await list(0, 10, { ...ADA, organizationId: 2 })).toEqual([]);
});

test('pages of a site are missing if it reported them as gone, or if a complete run did not find them', async () => {
  const gone = { runId: RUN, goneBy: RUN, syncStatus: 'SYNC_ERROR' } as const;
  const pages: Readonly<Record<string, Partial<FileDoc>>> = {
    ...{ gone, failed: { ...gone, goneBy: null }, goneEarlier: { ...gone, goneBy: OTHER }, found: { runId: RUN } },
    ...{ missed: {}, missedFailed: { syncStatus: 'SYNC_ERROR' }, missedAborted: { syncStatus: 'SYNC_ABORTED' } },
    ...{ queued: { syncStatus: 'QUEUED_FOR_SYNC' }, changed: { updatedAt: NOW }, restored: { restoredAt: AGO } },
    ...{
      deleting: { syncStatus: 'SYNC_ABORTED', syncErrorMessage: BEING_DELETED },
      back: { ...gone, restoredAt: AGO },
    },
  };
  const outside = { nested: { isContainer: true }, elsewhere: gone, foreign: { ...gone, ...FOREIGN } };
  await seedFiles({ site: { isContainer: true }, ...pages, ...outside });
  await nest(Object.fromEntries([...Object.keys(pages), 'nested', 'foreign'].map((name) => [name, 'site'])));
  const missing = async (missed: boolean, owner: object = {}) => {
    const run = { _id: RUN, ...ADA, acceptedAt: NOW, ...owner } as never;
    const { pages: number, gone: found } = await createMissingPages(files).findMissingPages(run, id('site'), missed);
    return [number, ...names(found)];
  };
  const number = Object.keys(pages).length;
  expect(await missing(false)).toEqual([number, 'gone']);
  expect(await missing(true)).toEqual([number, 'gone', 'missed', 'missedFailed', 'missedAborted']);
  expect(await missing(true, { organizationId: 2 })).toEqual([0]);
});

test('failed files are grouped by their cause, the largest group first, and rate-limited files are counted', async () => {
  const failed = (cause: string | null, fields: Partial<FileDoc> = {}): Partial<FileDoc> => ({
    ...{ syncStatus: 'SYNC_ERROR', ended: itemEnd('failed', 'fetch', cause as never), dataSourceId: 40, ...fields },
  });
  await seedFiles({
    timedOut: failed('timed_out', { updatedAt: NOW }),
    timedOutEarlier: failed('timed_out'),
    timedOutOther: failed('timed_out', { dataSourceId: 41, updatedAt: AHEAD, ...FOREIGN }),
    gone: failed('gone'),
    unknown: { ...failed(null), ended: null },
    ready: { syncStatus: 'READY', ended: itemEnd('ok', null, 'gone' as never) },
    foreign: failed('gone', { organizationId: 2 }),
    limited: { syncStatus: 'RATE_LIMITED', dataSourceId: 40 },
    limitedToo: { syncStatus: 'RATE_LIMITED', dataSourceId: 40 },
    limitedOther: { syncStatus: 'RATE_LIMITED', dataSourceId: 41 },
    limitedForeign: { syncStatus: 'RATE_LIMITED', dataSourceId: 40, ...FOREIGN },
  });
  const failures = createFileFailures(files);
  const groups = async (scope: object, limit: number) =>
    (await failures.byCause({ organizationId: 1, ...scope }, limit)).map(({ cause, files: number, latest }) => [
      ...[cause, number, names([latest])[0]],
    ]);
  expect((await groups({}, 1))[0]).toEqual(['timed_out', 3, 'timedOutOther']);
  expect(new Set(await groups({}, 9))).toEqual(
    new Set([
      ['timed_out', 3, 'timedOutOther'],
      ['gone', 1, 'gone'],
      [null, 1, 'unknown'],
    ]),
  );
  expect((await groups({ dataSourceId: 40 }, 9))[0]).toEqual(['timed_out', 2, 'timedOut']);
  expect(await groups({ dataSourceId: 42 }, 9)).toEqual([]);
  const limited = (limit: number, change: object = {}) =>
    failures.waitingForLimit({ ...ADA, _id: 40, ...change }, limit);
  expect([await limited(9), await limited(1), await limited(9, { organizationId: 2 })]).toEqual([2, 1, 0]);
});

test('totals sum files with synced content by source and count them by format; tags are listed once each', async () => {
  const of = (fileFormat: string | null, size: number | null, fields: Partial<FileDoc> = {}): Partial<FileDoc> => ({
    statistics: { fileFormat, fileSize: size, numCharacters: 10, numTokens: 3, numEmbeddings: 2, mimeType: null },
    ...fields,
  });
  await seedFiles({
    ...{ text: of('TXT', 5), page: of('PDF', 7), unknown: of(null, null), mail: of('TXT', 1, { source: 'GMAIL' }) },
    ...{ folder: of('TXT', 100, { isContainer: true }), unread: of('TXT', 100, { generation: 0 }) },
    ...{ foreign: of('TXT', 100, FOREIGN), otherOrganization: of('TXT', 100, { organizationId: 2 }) },
  });
  const sums = createFileSums(files, uncached);
  const total = (number: number, fileSize: number) => ({
    ...{ files: number, fileSize, numCharacters: 10 * number, numTokens: 3 * number, numEmbeddings: 2 * number },
  });
  expect(await sums.totals(ADA)).toEqual({
    bySource: { BOX: total(3, 12), GMAIL: total(1, 1) },
    filesByFormat: { TXT: 2, PDF: 1 },
  });
  expect((await sums.totalsOfAll(1)).bySource.BOX).toEqual(total(4, 112));
  const red = { tags: storedTags({ team: 'red', year: 1 }) };
  await seedFiles({
    one: red,
    two: red,
    blue: { tags: storedTags({ team: 'blue' }) },
    foreign: { ...red, ...FOREIGN },
  });
  expect(await sums.uniqueTags(ADA)).toEqual([
    { key: 'team', value: 'blue' },
    { key: 'team', value: 'red' },
    { key: 'year', value: 1 },
  ]);
});

test('a run has progressed since a time if a file ended or was found after it, not if one was only started', async () => {
  const later = { runId: RUN, updatedAt: AHEAD };
  const rows: readonly (readonly [Partial<FileDoc>, boolean])[] = [
    [{ ...later, syncStatus: 'READY' }, true],
    [{ ...later, syncStatus: 'SYNC_ERROR' }, true],
    [{ ...later, syncStatus: 'SYNCING' }, false],
    [{ ...later, syncStatus: 'QUEUED_FOR_SYNC', createdAt: AHEAD }, true],
    [{ runId: RUN, syncStatus: 'READY', updatedAt: NOW }, false],
    [{ ...later, runId: OTHER, syncStatus: 'READY' }, false],
    [{ ...later, ...FOREIGN, syncStatus: 'READY' }, false],
  ];
  const stalls = createStalls(null as never, files);
  await everyRow(rows, JSON.stringify, async ([fields, hasProgressed]) => {
    await seedFiles({ one: fields });
    expect(await stalls.hasProgressedSince({ ...ADA, _id: RUN } as never, NOW)).toBe(hasProgressed);
  });
});

test('the vector spaces of a user, and their dimensions, are those of its own files with the model', async () => {
  const of = (vectorSpace: string | null, dimensions: number | null, fields: Partial<FileDoc> = {}) => ({
    ...{ vectorSpace, dimensions, ...fields },
  });
  const options = { ...DEFAULT_INGEST_OPTIONS, embeddingModel: 'COHERE_MULTILINGUAL_V3' } as never;
  await seedFiles({
    ...{ foreign: of('a', 9, { userId: 6 }), otherOrganization: of('a', 9, { organizationId: 0 }) },
    ...{ otherModel: of('a', 8, { options }), a: of('a', 3), again: of('a', 3), b: of('b', 4), none: of(null, null) },
  });
  const spaces = async (model: string) => (await queries.spacesOf(ADA, model as never)).toSorted();
  expect([await spaces('OPENAI'), await spaces('COHERE_MULTILINGUAL_V3')]).toEqual([['a', 'b'], ['a']]);
  const dimensions = (model: string, space: string) => queries.dimensionsIn(ADA, model as never, space);
  expect([await dimensions('OPENAI', 'a'), await dimensions('OPENAI', 'b')]).toEqual([3, 4]);
  expect([await dimensions('COHERE_MULTILINGUAL_V3', 'a'), await dimensions('COHERE_MULTILINGUAL_V3', 'b')]).toEqual([
    ...[8, null],
  ]);
  expect(await queries.ids(ADA, {}, 2)).toHaveLength(2);
  expect(names(await queries.byIds(ADA, [id('a'), id('foreign'), id('otherOrganization')]))).toEqual(['a']);
});
