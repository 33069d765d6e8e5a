/**
 * What attempts write, publish and delete, and in which order: a crash in between must leave no file without its data
 * and no data without its file. The store is a fake.
 */
import { expect, test } from '@jest/globals';

import { cleanUpMoves } from '../../activities/coldStorage/cleanUpMoves.js';
import { cleanUp } from '../../activities/generations/cleanUp.js';
import { eraseContents } from '../../activities/generations/eraseContents.js';
import { settleInterrupted } from '../../activities/generations/interruptedAttempts.js';
import { settlePointTags } from '../../activities/generations/pointTags.js';
import { publishWithTags } from '../../activities/generations/publishWithTags.js';
import { commitFiles } from '../../activities/ingest/commitFiles.js';
import { settleAttempts } from '../../activities/reembed/settleAttempts.js';
import type { Store } from '../../store/connect.js';
import { TAKEN_OVER } from '../../store/files/deletion.js';
import { everyRow } from '../support/everyRow.js';
import { type Answers, recorder } from '../support/recorder.js';

const ADA = { organizationId: 1, userId: 7 };
const FILE = {
  ...{ _id: 5, ...ADA, generation: 0, vectorSpace: 'space', numChunks: 2, cleanupPending: false, parentId: null },
  ...{ source: 'TEXT', fileTypeAtSource: null, tagPairs: [], tagsRevision: 3 },
  options: { embeddingModel: 'OPENAI', chunkOverlap: 0 },
};

function open(answers: Answers = {}) {
  const recorded = recorder({
    ...{ 'files.ancestorsOf': new Map(), 'vectors.countOf': 0, 'chunks.countOf': 0, 'contents.countOf': 0 },
    ...{ 'originals.countOf': 0, 'recognizedPages.countOf': 0, 'siteBlocks.countOf': 0 },
    ...answers,
  });
  return { ...recorded, store: recorded.stores as Store };
}
const scope = (generations: object, fileId = 5) => ({ ...ADA, fileId, generations });

/** A prepared file: its published generation, and the one that the attempt writes. */
const prepared = (generation: number, attempt: number, isEmbedded = true) => ({
  started: { file: { ...FILE, generation }, generation: attempt },
  content: { bytes: 1 },
  document: { text: 'Text.', prefix: '', cuts: [] },
  finished: { file: { ...FILE, generation }, tagsRevision: 3, content: { statistics: null, hasText: true } },
  ...{ space: isEmbedded ? 'space' : null, vectors: isEmbedded ? [new Float32Array(1)] : [], sparseOf: null },
});

type Commit = readonly [
  what: string,
  generation: number,
  attempt: number,
  isPublished: boolean,
  deleted: object | null,
];
const COMMITS: readonly Commit[] = [
  ['a first sync', 0, 1, true, null],
  ['a second sync', 1, 2, true, { below: 2 }],
  ['a first sync after a crashed attempt', 0, 2, true, { below: 2 }],
  ['a sync that another run replaced', 1, 2, false, { exactly: 2 }],
  ['a first sync that another run replaced', 0, 1, false, { exactly: 1 }],
];

test('a commit writes texts before points, publishes after both, and then deletes what nothing refers to', () =>
  everyRow(
    COMMITS,
    ([what]) => what,
    async ([, generation, attempt, isPublished, deleted]) => {
      const answers = { 'files.finish': isPublished ? [5] : [], 'files.findTags': [] };
      const { store, names, of } = open(answers);
      await commitFiles(store, [prepared(generation, attempt)] as never);
      const at = (name: string) => names().indexOf(name);
      expect([at('contents.write') >= 0, at('chunks.write') >= 0]).toEqual([true, true]);
      expect(Math.max(at('contents.write'), at('chunks.write'))).toBeLessThan(at('vectors.upsert'));
      expect(at('vectors.upsert')).toBeLessThan(at('files.finish'));
      const [[points]] = of('vectors.upsert') as [[object[]]];
      expect(points).toEqual([expect.objectContaining({ ...ADA, fileId: 5, generation: attempt, space: 'space' })]);
      expect(of('chunks.write')).toEqual([
        [[{ ...ADA, fileId: 5, generation: attempt, text: 'Text.', prefix: '', cuts: [] }]],
      ]);
      for (const name of ['chunks.deleteGenerations', 'contents.deleteGenerations']) {
        expect(of(name)).toEqual(deleted === null ? [] : [[[scope(deleted)]]]);
        if (deleted !== null) expect(at('files.finish')).toBeLessThan(at(name));
      }
      expect(of('files.markCleanedUp')).toEqual(isPublished && deleted !== null ? [[[5]]] : []);
    },
  ));

test('a file without vectors, text and content is committed without points, chunks and contents', async () => {
  const { store, of } = open({ 'files.finish': [5] });
  await commitFiles(store, [{ ...prepared(0, 1, false), document: null, content: null }] as never);
  expect([of('vectors.upsert'), of('chunks.write'), of('contents.write')]).toEqual([[[[]]], [[[]]], [[[]]]]);
  expect(of('files.finish')).toHaveLength(1);
});

const KNOWN = [{ fileId: 5, generation: 3, space: 'space', count: 2 }];
type CleanUp = readonly [what: string, file: object, generation: number, points: object[], generations: object[]];
const CLEAN_UPS: readonly CleanUp[] = [
  ['the next generation', {}, 4, KNOWN, []],
  ['a file that had no vectors', { vectorSpace: null }, 4, [], []],
  ['a generation after a crashed attempt', {}, 5, [], [scope({ below: 5 })]],
  ['an interrupted clean-up', { cleanupPending: true }, 4, [], [scope({ below: 4 })]],
  ['the published generation itself', {}, 3, [], [scope({ below: 3 })]],
];

test('clean-up deletes points by id if the record determines all ids, else by generation, then marks the file', () =>
  everyRow(
    CLEAN_UPS,
    ([what]) => what,
    async ([, file, generation, points, generations]) => {
      const { store, of, names } = open();
      await cleanUp(store, [{ file: { ...FILE, generation: 3, ...file }, generation }]);
      expect([of('vectors.deletePoints'), of('vectors.deleteGenerations')]).toEqual([[[points]], [[generations]]]);
      for (const name of ['chunks.deleteGenerations', 'contents.deleteGenerations'])
        expect(of(name)).toEqual([[[scope({ below: generation })]]]);
      expect([names().at(-1), of('files.markCleanedUp')]).toEqual(['files.markCleanedUp', [[[5]]]]);
    },
  ));

const COUNTS = ['vectors', 'chunks', 'contents', 'originals', 'recognizedPages', 'siteBlocks'];
test('a deletion fails while a store has data of its files, and deletes points unknown to the record', async () => {
  const all = { below: Number.MAX_SAFE_INTEGER };
  const { store, of } = open();
  await eraseContents(store, ADA, [FILE] as never, [5]);
  expect(of('vectors.deletePoints')).toEqual([[[{ ...KNOWN[0], generation: 0 }]]]);
  for (const name of ['chunks.deleteGenerations', 'contents.deleteGenerations'])
    expect(of(name)).toEqual([[[scope(all)]]]);
  for (const name of ['originals.deleteOf', 'recognizedPages.deleteOf', 'siteBlocks.deleteOf'])
    expect(of(name)).toEqual([[ADA, [5]]]);
  // No point of the file is left after the deletion by id, so none is deleted by generation.
  expect(of('vectors.deleteGenerations')).toEqual([]);
  await everyRow(COUNTS, String, async (name) => {
    const left = open({ [`${name}.countOf`]: 1 });
    await expect(eraseContents(left.store, ADA, [FILE] as never, [5])).rejects.toThrow(/^1 points, chunks or contents/);
    expect(left.of('vectors.deleteGenerations')).toEqual(name === 'vectors' ? [[[scope(all)]]] : []);
    expect(left.of(`${name}.countOf`).at(-1)).toEqual([ADA, [5]]);
  });
});

test('attempts of a re-embedding that ended early: published files are done, the data of others is deleted', async () => {
  const run = { _id: 9, ...ADA } as never;
  const published = { ...FILE, generation: 2, statistics: { numTokens: 4 } };
  const changed = { ...FILE, _id: 6, generation: 4 };
  const { store, of, names } = open({ 'files.byIds': [published, changed] });
  await settleAttempts(store, run, [
    { fileId: 5, from: 1, generation: 2 },
    { fileId: 6, from: 1, generation: 3 },
    // Deleted meanwhile.
    { fileId: 7, from: 1, generation: 2 },
    { fileId: 8, from: null, generation: null },
  ]);
  // Publication is prevented before the files are read, so no attempt can publish a file afterwards.
  expect(names().slice(0, 2)).toEqual(['files.discardVectors', 'files.byIds']);
  const begun = [5, 6, 7].map((fileId) => ({ fileId, from: 1, generation: fileId === 6 ? 3 : 2 }));
  expect(of('files.discardVectors')).toEqual([[run, begun]]);
  expect(of('files.byIds')).toEqual([[ADA, [5, 6, 7]]]);
  expect(of('chunks.deleteGenerations')).toEqual([
    [[scope({ below: 2 })]],
    [[scope({ exactly: 3 }, 6), scope({ exactly: 2 }, 6), scope({ exactly: 2 }, 7)]],
  ]);
  expect(of('reembeds.end')).toEqual([[run, [{ fileId: 5, outcome: 'reembedded', chunks: 2, tokens: 4 }]]]);
  const none = open();
  await settleAttempts(none.store, run, [{ fileId: 8, from: null, generation: null }]);
  expect(none.names()).toEqual([]);
});

test('data of interrupted attempts is deleted for 500 files at a time, until a page has fewer', async () => {
  const page = (count: number, first: number) =>
    Array.from({ length: count }, (_, nth) => ({ ...FILE, _id: first + nth, generation: 1, lastGeneration: 2 }));
  const uncleaned = [page(500, 1), page(3, 501)];
  const aborted = [page(500, 1_001), page(0, 0)];
  const { store, of } = open({
    'files.listNeedingCleanUp': () => uncleaned.shift(),
    'files.listAbortedAttempts': () => aborted.shift(),
  });
  await settleInterrupted(store, 9);
  expect(of('files.listNeedingCleanUp')).toEqual([
    [[9], 500],
    [[9], 500],
  ]);
  expect(of('files.listAbortedAttempts')).toEqual([
    [9, 0, 500],
    [9, 1_500, 500],
  ]);
  const sizes = (name: string) => of(name).map(([scopes]) => (scopes as unknown[]).length);
  expect(sizes('chunks.deleteGenerations')).toEqual([500, 3, 500]);
  expect(sizes('files.markCleanedUp')).toEqual([500, 3]);
});

const BY = { ...ADA, runId: 3, requestId: 'r', workflowId: 'w', token: 'mine' };
const OURS = { ...FILE, generation: 2, move: { runId: 3, token: 'mine' }, coldCopy: { key: 'copy' } };
const ALL = { below: Number.MAX_SAFE_INTEGER };
type MoveEnd = readonly [
  what: string,
  row: object | null,
  scopes: { points?: object; contents?: object },
  kept?: string | null,
];
const MOVE_ENDS: readonly MoveEnd[] = [
  ['in hot storage', { ...OURS, embeddingStorageStatus: 'HOT_STORAGE' }, { points: { below: 2 } }, null],
  ['in cold storage', { ...OURS, embeddingStorageStatus: 'COLD_STORAGE' }, { points: { below: 3 } }, 'copy'],
  ['of another attempt', { ...OURS, move: { runId: 3, token: 'later' } }, {}],
  ['of another run', { ...OURS, move: { runId: 4, token: 'mine' } }, {}],
  ['synced since', { ...OURS, move: null, generation: 3 }, { points: { exactly: 2 }, contents: { exactly: 2 } }],
  [
    'that another run has taken over for its deletion',
    { ...OURS, ...TAKEN_OVER, move: { runId: 3, token: null } },
    { points: { exactly: 2 }, contents: { exactly: 2 } },
  ],
  ['that another run has claimed for its move', { ...OURS, syncStatus: 'READY', move: { runId: 4, token: null } }, {}],
  ['that was deleted', null, { points: ALL, contents: ALL }],
];

test('after a move, only obsolete data is deleted, by the storage status and the run of the move in the record', () =>
  everyRow(
    MOVE_ENDS,
    ([what]) => `a file ${what}`,
    async ([, row, { points, contents }, kept]) => {
      const rows = row ? [row] : [];
      const { store, of, names } = open({ 'files.byIds': rows, 'quarantine.filterQuarantined': new Set() });
      await cleanUpMoves(store, BY, [5], [OURS] as never);
      expect(names()[0]).toBe('moves.revert');
      expect(of('vectors.deleteGenerations')).toEqual([[points ? [scope(points)] : []]]);
      expect(of('contents.deleteGenerations')).toEqual([[contents ? [scope(contents)] : []]]);
      const isOurs = kept !== undefined;
      expect(of('coldCopies.deleteOthers')).toEqual(isOurs ? [[{ organizationId: 1, fileId: 5 }, kept]] : []);
      expect([names().at(-1), of('moves.release')]).toEqual(['moves.release', [[BY, isOurs ? [5] : []]]]);
    },
  ));

test('the data of a file that went into quarantine, or came back from it, is not deleted after a move', async () => {
  const quarantined = open({ 'files.byIds': [], 'quarantine.filterQuarantined': new Set([5]) });
  await cleanUpMoves(quarantined.store, BY, [5], [OURS] as never);
  expect(quarantined.of('vectors.deleteGenerations')).toEqual([[[]]]);
  const reads = [[], [OURS]];
  const restored = open({ 'files.byIds': () => reads.shift(), 'quarantine.filterQuarantined': new Set() });
  await cleanUpMoves(restored.store, BY, [5], [OURS] as never);
  expect(restored.of('vectors.deleteGenerations')).toEqual([[[]]]);
});

test('tags that change before a file is published are copied to its points, a limited number of times', async () => {
  const tagged = (tagsRevision: number) => ({ ...FILE, tagsRevision });
  const one = { file: FILE, tagsRevision: 3 } as never;
  // The tags changed once: the points get revision 4, which is then published.
  const changing = open({ 'files.findTags': [tagged(4)] });
  const tried: (number | null)[] = [];
  const publishAt = (revision: number | null) => (files: readonly { readonly tagsRevision: number | null }[]) => {
    tried.push(...files.map(({ tagsRevision }) => tagsRevision));
    return Promise.resolve(files.some(({ tagsRevision }) => tagsRevision === revision) ? [5] : []);
  };
  expect(await publishWithTags(changing.store, [one], publishAt(4))).toEqual([5]);
  expect([tried, changing.of('vectors.setTags')]).toEqual([[3, 4], [[[tagged(4)]]]]);
  // The tags did not change: the file was not published because another run owns it, so there is no second try.
  const taken = open({ 'files.findTags': [tagged(3)] });
  expect(await publishWithTags(taken.store, [one], publishAt(null))).toEqual([]);
  // The tags change all the time.
  let revision = 3;
  const busy = open({ 'files.findTags': () => [tagged((revision += 1) - (revision % 2))] });
  tried.length = 0;
  expect(await publishWithTags(busy.store, [one], publishAt(null))).toEqual([]);
  expect(tried).toHaveLength(6);
  let next = 0;
  const restless = open({ 'files.findTags': () => [tagged((next += 1))] });
  await expect(settlePointTags(restless.store, [5])).rejects.toThrow(/change faster/);
  expect(restless.of('vectors.setTags')).toHaveLength(10);
});
