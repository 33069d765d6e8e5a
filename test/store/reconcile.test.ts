import { describe, expect, test } from '@jest/globals';

import { DELETE_STOPPED, TAKEN_OVER } from '../../store/files/deletion.js';
import { blobKey } from '../../store/contents/blobs.js';
import { originalKey } from '../../store/originals/originals.js';
import { DIFFERENCES, type DifferenceKind, type Finding, type Repair } from '../../store/reconcile/differences.js';
import { findDifferences, findQuarantinedDifferences, findStrayData } from '../../store/reconcile/findDifferences.js';
import type { StoredOfFile } from '../../store/reconcile/measure.js';
import { isSettled, isSame, rangeOf, type RecordOfFile } from '../../store/reconcile/records.js';
import { createRepairer, type RepairStores } from '../../store/reconcile/repair.js';
import { createDifferenceReport } from '../../store/reconcile/report.js';
import type { FilePointTags } from '../../store/vectors/vectors.js';
import { everyRow } from '../support/everyRow.js';

// Tests of the differences between the record and the stored data of a file in a final state, and of their repairs.
// test/system/storage/reconcile.test.ts uses real stores.
const GENERATION = 3;
const SPACE = 'a-space';
const TAGS = JSON.stringify(['a', 'b']);
const KEYS = {
  content: blobKey({ organizationId: 1, fileId: 7, generation: GENERATION }),
  original: originalKey({ organizationId: 1, _id: 70 }),
  cold: 'cold/7',
};

const recordOf = (fields: object = {}): RecordOfFile =>
  ({
    ...{ _id: 7, organizationId: 1, userId: 2, customerId: 'ada', dataSourceId: null, isContainer: false },
    ...{ syncStatus: 'READY', syncErrorMessage: null, fileMetadata: {}, generation: GENERATION, lastGeneration: 3 },
    ...{ numChunks: 4, vectorSpace: SPACE, hasContent: true, embeddingStorageStatus: 'HOT_STORAGE', coldCopy: null },
    ...{ original: null, callerChunks: null, cleanupPending: false, tagPairs: ['b', 'a'], runId: 5, move: null },
    ...{ updatedAt: new Date(1), tagsRevision: 2 },
    ...fields,
  }) as unknown as RecordOfFile;
const points = (fields: object = {}) => ({
  ...{ space: SPACE, generation: GENERATION, count: 4, last: 3, tags: new Set([TAGS]) },
  ...fields,
});
const chunks = (fields: object = {}) => ({ generation: GENERATION, count: 4, isWhole: true, ...fields });
const heldOf = (fields: object = {}): StoredOfFile =>
  ({
    ...{ chunks: [chunks()], points: [points()], contents: [GENERATION], originals: [], pages: 0, withoutSparse: 0 },
    ...fields,
  }) as unknown as StoredOfFile;
const brief = (findings: readonly Finding[]): [DifferenceKind, Repair['do'] | null][] =>
  findings.map(({ kind, repair }) => [kind, repair?.do ?? null]);

interface Row {
  readonly what: string;
  readonly file?: object;
  readonly held?: object | null;
  readonly stored?: readonly (readonly [string, number | null])[];
  readonly checksTags?: boolean;
  readonly checksPoints?: boolean;
  readonly found: readonly (readonly [DifferenceKind, Repair['do'] | null])[];
}
const COLD = { embeddingStorageStatus: 'COLD_STORAGE', coldCopy: { generation: GENERATION, key: KEYS.cold, bytes: 9 } };
const COPIED = [[KEYS.cold, 9]] as const;
const NO_CHUNKS = ['missing_chunks', 'resync'] as const;
const NO_POINTS = ['missing_points', 'resync'] as const;
const NO_CONTENT = ['missing_content', 'resync'] as const;
const NO_COPY = ['missing_cold_copy', 'resync'] as const;
const NO_ORIGINAL = ['missing_original', null] as const;
const STRAY_POINTS = ['stray_points', 'deletePoints'] as const;
const MISCOUNTED = ['wrong_count', 'setCount'] as const;
const site = (total: number | undefined, ready?: number, failed?: number, aborted?: number) => ({
  isContainer: true,
  fileMetadata: { pages_total: total, pages_ready: ready, pages_failed: failed, pages_aborted: aborted },
});

const ROWS: readonly Row[] = [
  { what: 'everything present', found: [] },
  { what: 'nothing present', held: null, found: [NO_CHUNKS, NO_POINTS, NO_CONTENT] },
  // Counts
  { what: 'one chunk missing', held: { chunks: [chunks({ count: 3 })] }, found: [NO_CHUNKS] },
  { what: 'a gap between chunks', held: { chunks: [chunks({ isWhole: false })] }, found: [NO_CHUNKS] },
  { what: 'one point missing', held: { points: [points({ count: 3, last: 3 })] }, found: [NO_POINTS] },
  { what: 'one point too many', held: { points: [points({ count: 5, last: 4 })] }, found: [STRAY_POINTS] },
  {
    what: 'chunks and points agree, the record differs',
    held: { chunks: [chunks({ count: 6 })], points: [points({ count: 6, last: 5 })] },
    found: [MISCOUNTED],
  },
  {
    what: 'chunks and points agree, the record differs, with a gap',
    held: { chunks: [chunks({ count: 3, isWhole: false })], points: [points({ count: 3, last: 3 })] },
    found: [NO_CHUNKS, NO_POINTS],
  },
  {
    what: 'one chunk missing, no space',
    file: { vectorSpace: null },
    held: { points: [], chunks: [chunks({ count: 3 })] },
    found: [NO_CHUNKS],
  },
  { what: 'no space, no points', file: { vectorSpace: null }, held: { points: [] }, found: [] },
  { what: 'points that cannot be counted', held: { points: [] }, checksPoints: false, found: [] },
  {
    what: 'points that cannot be counted, one chunk missing',
    held: { points: [], chunks: [chunks({ count: 3 })] },
    checksPoints: false,
    found: [NO_CHUNKS],
  },
  { what: 'points without sparse vectors', held: { withoutSparse: 2 }, found: [['missing_sparse', 'resync']] },
  {
    what: 'fewer points, without sparse vectors',
    held: { withoutSparse: 2, points: [points({ count: 3 })] },
    found: [NO_POINTS],
  },
  // Cold storage
  { what: 'cold', file: COLD, held: { points: [] }, stored: COPIED, found: [] },
  { what: 'cold, with its points', file: COLD, stored: COPIED, found: [STRAY_POINTS] },
  { what: 'cold, without a copy', file: COLD, held: { points: [] }, found: [NO_COPY] },
  { what: 'cold, without a copy but with its points', file: COLD, found: [NO_COPY] },
  {
    what: 'cold, with a truncated copy',
    file: COLD,
    held: { points: [] },
    stored: [[KEYS.cold, 8]],
    found: [NO_COPY],
  },
  {
    what: 'cold, with a copy of an earlier generation',
    file: { ...COLD, coldCopy: { ...COLD.coldCopy, generation: 2 } },
    held: { points: [] },
    stored: COPIED,
    found: [NO_COPY],
  },
  { what: 'cold, without chunks', file: { ...COLD, numChunks: 0, hasContent: false }, held: null, found: [] },
  // Deleted halfway
  ...[TAKEN_OVER.syncErrorMessage, DELETE_STOPPED].map((syncErrorMessage) => ({
    what: `deleted halfway: ${syncErrorMessage}`,
    file: { syncStatus: TAKEN_OVER.syncStatus, syncErrorMessage, original: { id: 70 } },
    held: null,
    found: [],
  })),
  {
    what: 'failed for another reason',
    file: { syncStatus: TAKEN_OVER.syncStatus, syncErrorMessage: 'another' },
    held: null,
    found: [NO_CHUNKS, NO_POINTS, NO_CONTENT],
  },
  // Others
  {
    what: 'chunks of another generation',
    held: { chunks: [chunks(), chunks({ generation: 2 })] },
    found: [['stray_chunks', 'deleteChunks']],
  },
  {
    what: 'points of another generation',
    held: { points: [points(), points({ generation: 4 })] },
    found: [STRAY_POINTS],
  },
  { what: 'points of another space', held: { points: [points(), points({ space: 'other' })] }, found: [STRAY_POINTS] },
  {
    what: 'content of another generation',
    held: { contents: [GENERATION, 2] },
    found: [['stray_contents', 'deleteContents']],
  },
  { what: 'content although none is kept', file: { hasContent: false }, found: [['stray_contents', 'deleteContents']] },
  {
    what: 'originals that the record does not name',
    file: { original: { id: 70 }, callerChunks: { id: 71 } },
    held: {
      originals: [
        { id: 70, isInMongoDB: true },
        { id: 71, isInMongoDB: true },
        { id: 72, isInMongoDB: true },
      ],
    },
    found: [['stray_originals', 'releaseOriginal']],
  },
  { what: 'recognized pages', held: { pages: 2 }, found: [] },
  // Contents
  { what: 'content in file storage', held: { contents: [] }, stored: [[KEYS.content, 5]], found: [] },
  {
    what: 'content missing from file storage',
    held: { contents: [] },
    stored: [[KEYS.content, null]],
    found: [NO_CONTENT],
  },
  { what: 'no content, and none is kept', file: { hasContent: false }, held: { contents: [] }, found: [] },
  {
    what: 'an original in a row',
    file: { original: { id: 70 } },
    held: { originals: [{ id: 70, isInMongoDB: true }] },
    found: [],
  },
  {
    what: 'an original in file storage',
    file: { original: { id: 70 } },
    held: { originals: [{ id: 70, isInMongoDB: false }] },
    stored: [[KEYS.original, 5]],
    found: [],
  },
  {
    what: 'an original missing from file storage',
    file: { original: { id: 70 } },
    held: { originals: [{ id: 70, isInMongoDB: false }] },
    stored: [[KEYS.original, null]],
    found: [NO_ORIGINAL],
  },
  {
    what: 'an original without a row',
    file: { original: { id: 70 } },
    stored: [[KEYS.original, 5]],
    found: [NO_ORIGINAL],
  },
  { what: "caller's chunks without a row", file: { callerChunks: { id: 70 } }, found: [NO_ORIGINAL] },
  // Pages, tags, clean-up
  { what: 'page counts that add up', file: site(6, 3, 2, 1), found: [] },
  ...[site(6, 3, 2), site(6, 3, undefined, 2), site(7, 3, 2, 1)].map((file, nth) => ({
    ...{ what: `page counts that do not add up ${nth}`, file, found: [['wrong_page_counts', 'countPages']] as const },
  })),
  { what: 'pages not counted yet', file: site(6), found: [] },
  { what: 'page counts of a file other than a container', file: { ...site(6, 1), isContainer: false }, found: [] },
  {
    what: 'other tags on points',
    held: { points: [points({ tags: new Set([TAGS, '["c"]']) })] },
    found: [['other_tags', 'setTags']],
  },
  {
    what: 'other tags while tags are being copied',
    held: { points: [points({ tags: new Set(['["c"]']) })] },
    checksTags: false,
    found: [],
  },
  { what: 'an unfinished clean-up', file: { cleanupPending: true }, found: [['unfinished_cleanup', 'cleanUp']] },
];

const findingsOf = ({ file, held, stored = [], checksTags = true, checksPoints = true }: Row) =>
  findDifferences(
    recordOf(file),
    { held: new Map(held === null ? [] : [[7, heldOf(held)]]), stored: new Map(stored) },
    checksTags,
    checksPoints,
  );

describe('settled file', () => {
  test('has a reported difference, with its repair, for each contradiction between record and stores', () =>
    everyRow(
      ROWS,
      ({ what }) => what,
      (row) => expect(brief(findingsOf(row))).toEqual(row.found),
    ));

  test('is repaired with the counts of its stored data', () => {
    const repairs = (row: Omit<Row, 'what' | 'found'>) =>
      findingsOf({ what: '', found: [], ...row }).map(({ repair }) => repair);
    expect(repairs({ held: { points: [points({ count: 5, last: 4 })] } })).toEqual([
      { do: 'deletePoints', space: SPACE, generation: GENERATION, fromChunk: 4 },
    ]);
    expect(repairs({ file: COLD, stored: COPIED })).toEqual([
      { do: 'deletePoints', space: SPACE, generation: GENERATION, fromChunk: 0 },
    ]);
    expect(repairs({ held: { points: [points(), points({ space: 'other', generation: 2 })] } })).toEqual([
      { do: 'deletePoints', space: 'other', generation: 2, fromChunk: 0 },
    ]);
    expect(repairs({ held: { chunks: [chunks({ count: 6 })], points: [points({ count: 6, last: 5 })] } })).toEqual([
      { do: 'setCount', numChunks: 6 },
    ]);
    expect(repairs({ held: { originals: [{ id: 72, isInMongoDB: true }] } })).toEqual([
      { do: 'releaseOriginal', id: 72 },
    ]);
  });

  test('in quarantine only loses its stray data; missing data is reported, and not repaired', () => {
    const held = heldOf({ points: [points({ generation: 2 })], chunks: [chunks({ count: 3 })] });
    const stored = new Map<string, number | null>();
    const judged = findQuarantinedDifferences(recordOf(COLD), { held: new Map([[7, held]]), stored });
    expect(brief(judged)).toEqual([
      ['missing_chunks', null],
      ['stray_points', 'deletePoints'],
      ['missing_cold_copy', null],
    ]);
    expect(judged.map(({ what }) => what.startsWith('in quarantine: '))).toEqual([true, false, true]);
  });
});

test('all data under an id without a record is stray', () => {
  const held = heldOf({ originals: [{ id: 70, isInMongoDB: false }], pages: 2 });
  expect(findStrayData(held).map(({ repair }) => repair)).toEqual([
    { do: 'deleteChunks', generation: GENERATION },
    { do: 'deletePoints', space: SPACE, generation: GENERATION, fromChunk: 0 },
    { do: 'deleteContents', generation: GENERATION },
    { do: 'releaseOriginal', id: 70 },
    { do: 'deletePages' },
  ]);
  expect(findStrayData(heldOf({ chunks: [], points: [], contents: [] }))).toEqual([]);
});

/** Changes of a record when a run or a user begins to work on its file. */
const CHANGES: readonly object[] = [
  ...[{ updatedAt: new Date(2) }, { syncStatus: 'QUEUED_FOR_SYNC' }, { runId: 6 }, { generation: 4 }],
  ...[{ lastGeneration: 4 }, { numChunks: 5 }, { vectorSpace: 'other' }, { cleanupPending: true }],
  ...[{ tagsRevision: 3 }, { coldCopy: { key: 'other' } }, { move: { runId: 9 } }, { isQuarantined: true }],
];
test('a record counts as unchanged only if no run or request has changed it', async () => {
  expect(isSame(recordOf(), recordOf())).toBe(true);
  expect(isSame(recordOf({ tagsRevision: undefined }), recordOf({ tagsRevision: null }))).toBe(true);
  expect(isSame(recordOf(), undefined)).toBe(false);
  await everyRow(CHANGES, JSON.stringify, (change) => expect(isSame(recordOf(), recordOf(change))).toBe(false));
});

test('a file is settled in its final states', () => {
  const states = ['READY', 'SYNC_ERROR', 'SYNC_ABORTED', 'QUEUED_FOR_SYNC', 'SYNCING', 'EVALUATING_RESYNC'] as const;
  expect(states.filter((syncStatus) => isSettled({ syncStatus }))).toEqual(['READY', 'SYNC_ERROR', 'SYNC_ABORTED']);
});

test('a range of ids ends at its last record, or is open if there are no more records', () => {
  const records = [7, 9].map((_id) => recordOf({ _id }));
  expect(rangeOf(5, records, 2)).toEqual({ above: 5, upTo: 9 });
  expect(rangeOf(5, records, 3)).toEqual({ above: 5, upTo: null });
});

test('after a repair, points have the current tags of their record, even if a request changes them during the repair', async () => {
  const record = { tagPairs: ['team=red'], tagsRevision: 2 };
  const written: (readonly string[])[] = [];
  const stores = {
    files: { findTags: async () => [{ _id: 7, organizationId: 1, userId: 2, ...record }] },
    vectors: {
      setTags: async ([file]: FilePointTags[]) => {
        written.push(file!.tagPairs);
        Object.assign(record, { tagPairs: ['team=blue'], tagsRevision: 3 });
      },
    },
  };
  const finding = { kind: 'other_tags', what: '', repair: { do: 'setTags' } } as const;
  const difference = { ...finding, organizationId: 1, userId: 2, fileId: 7 };
  const repair = createRepairer(stores as unknown as RepairStores);
  const never = () => Promise.reject(new Error('no resync'));
  expect(await repair(difference, recordOf({ tagPairs: ['team=red'] }), never)).toEqual({ done: true });
  expect(written).toEqual([['team=red'], ['team=blue']]);
});

test('a report counts each kind with five examples, and all unrepaired differences', () => {
  const report = createDifferenceReport();
  const of = { organizationId: 4, userId: 2, fileId: 7, repair: null };
  for (let at = 0; at < 7; at += 1) report.add({ ...of, kind: 'stuck', what: `file ${at}` }, null);
  report.add({ ...of, kind: 'stray_chunks', what: 'file 8' }, { done: true });
  report.add({ ...of, kind: 'stray_chunks', what: 'file 9' }, { done: false, why: 'a reason' });
  expect([...report.kinds()]).toEqual([
    [
      'stray_chunks',
      { count: 2, mended: 1, examples: ['organization 4, file 8', 'organization 4, file 9 (not repaired: a reason)'] },
    ],
    ['stuck', { count: 7, mended: 0, examples: [0, 1, 2, 3, 4].map((at) => `organization 4, file ${at}`) }],
  ]);
  expect(report.countUnrepaired()).toBe(8);
  expect(Object.keys(DIFFERENCES).indexOf('stray_chunks')).toBeLessThan(Object.keys(DIFFERENCES).indexOf('stuck'));
});
