/**
 * Tests of moves of vectors between Qdrant and file storage, for cold storage and quarantine. Vectors count as lost
 * only if their copy is broken; during an outage of a store, the step fails.
 */
import { expect, test } from '@jest/globals';

import { moveVectors } from '../../activities/coldStorage/moveVectors.js';
import { advanceQuarantine } from '../../activities/quarantine/quarantineSteps.js';
import { storedTags, tagPairs } from '../../contract/files/tags.js';
import { BrokenPointFile } from '../../store/coldStorage/pointFile.js';
import { everyRow } from '../support/everyRow.js';
import { type Answers, recorder } from '../support/recorder.js';

const NEVER = new AbortController().signal;
const COPY = { key: 'k', generation: 1, points: 1, bytes: 9 };
const FILE = {
  ...{ _id: 3, organizationId: 1, userId: 2, generation: 1, vectorSpace: 's', dimensions: 2, numChunks: 1 },
  ...{ embeddingStorageStatus: 'COLD_TO_HOT', coldCopy: COPY, tagPairs: [], parentId: null },
};
const ROW = { _id: 3, organizationId: 1, userId: 2, state: 'returning', copy: COPY };
const QUARANTINED = { ...ROW, dataSourceId: null, file: { ...FILE, embeddingStorageStatus: 'HOT_STORAGE' } };

type FailingCall = 'reading the copy' | 'writing the points' | null;

/** Returns dependencies of which the given call fails with an error. */
function depsOf(fails: FailingCall, error: Error, answers: Answers = {}) {
  const recorded = recorder({
    'moves.beginAttempt': [FILE],
    'moves.markHot': [3],
    'moves.markCold': [],
    'files.ancestorsOf': new Map(),
    'quarantine.listClaimed': [QUARANTINED],
    'quarantine.findReplaced': new Set(),
    'vectors.writePoints': () => (fails === 'writing the points' ? Promise.reject(error) : undefined),
    ...answers,
  });
  const coldCopies = {
    async *read() {
      if (fails === 'reading the copy') throw error;
      yield await Promise.resolve([]);
    },
  };
  const ignore = (): void => undefined;
  const log = { info: ignore, warn: ignore, error: ignore, debug: ignore };
  const store = { ...(recorded.stores as object), coldCopies };
  return {
    ...recorded,
    deps: { store, log, isBrokenCopy: (thrown: unknown) => thrown instanceof BrokenPointFile } as never,
  };
}

const broken = (): Error => new BrokenPointFile('truncated');
const outage = (): Error => new Error('the store does not answer');

/** Failures, and whether the vectors count as lost; null: the step fails. */
const FAILURES: readonly (readonly [fails: FailingCall, error: Error, isLost: boolean | null])[] = [
  [null, outage(), false],
  ['reading the copy', broken(), true],
  ['reading the copy', outage(), null],
  ['writing the points', outage(), null],
];
const nameOf = ([fails, { message }]: (typeof FAILURES)[number]): string => `${fails}: ${message}`;

test('a move from cold to hot storage fails in an outage, and marks vectors as lost only if their copy is broken', () =>
  everyRow(FAILURES, nameOf, async ([fails, error, isLost]) => {
    const { deps, of } = depsOf(fails, error);
    const done = moveVectors({ runId: 7 } as never, [3], deps, NEVER);
    if (isLost === null) await expect(done).rejects.toBe(error);
    else expect(await done).toMatchObject({ claimed: [FILE], moved: isLost ? 0 : 1 });
    expect(of('moves.markVectorsLost')).toHaveLength(isLost === true ? 1 : 0);
    expect(of('moves.markHot')).toHaveLength(isLost === false ? 1 : 0);
  }));

test('a restore from quarantine fails in an outage, and marks vectors as lost only if their copy is broken', () =>
  everyRow(FAILURES, nameOf, async ([fails, error, isLost]) => {
    const { deps, of } = depsOf(fails, error);
    const done = advanceQuarantine({ _id: 7, organizationId: 1, userId: 2 } as never, 10, deps, NEVER);
    if (isLost === null) await expect(done).rejects.toBe(error);
    else await done;
    const whole = of('quarantine.restore').flatMap(([, rows]) =>
      (rows as { isWhole: boolean }[]).map((row) => row.isWhole),
    );
    expect(whole).toEqual(isLost === null ? [] : [!isLost]);
  }));

test('a file that returns from quarantine has the current tags of its data source, in its record and its vectors', async () => {
  const [old, current] = [storedTags({ team: 'red' }), storedTags({ team: 'blue' })];
  const sourceFields = { tags: [], sourceTags: old, sourceTagsVersion: 1, tagPairs: tagPairs(old), tagsRevision: 4 };
  const restored = async (source: object | null, dataSourceId: number | null = 5) => {
    const row = { ...QUARANTINED, dataSourceId: 5, file: { ...QUARANTINED.file, ...sourceFields, dataSourceId } };
    const { deps, of } = depsOf(null, outage(), { 'quarantine.listClaimed': [row], 'dataSources.find': source });
    await advanceQuarantine({ _id: 7, organizationId: 1, userId: 2 } as never, 10, deps, NEVER);
    const [[, rows] = []] = of('quarantine.restore') as [unknown, { row: typeof row }[]][];
    const [[, , { tags }] = [0, 0, { tags: null }]] = of('vectors.writePoints') as [
      unknown,
      unknown,
      { tags: unknown },
    ][];
    const { tagPairs: pairs, tagsRevision } = rows![0]!.row.file;
    expect(pairs).toEqual(tags);
    return [pairs, tagsRevision];
  };
  expect(await restored({ _id: 5, tags: current, tagsVersion: 2 })).toEqual([tagPairs(current), 5]);
  expect(await restored({ _id: 5, tags: old, tagsVersion: 1 })).toEqual([tagPairs(old), 4]);
  expect(await restored(null)).toEqual([tagPairs(old), 4]);
  // The record of an attachment names no data source, so it never has the tags of one.
  expect(await restored({ _id: 5, tags: current, tagsVersion: 2 }, null)).toEqual([tagPairs(old), 4]);
});

const HOT = { ...FILE, embeddingStorageStatus: 'HOT_TO_COLD', syncStatus: 'READY', coldCopy: null };
const ATTEMPT = { organizationId: 1, userId: 2, runId: 7, requestId: 'r', workflowId: 'w', token: 't' };
type Cooled = readonly [what: string, file: object, saved: object | null, isCold: boolean, isPostponed: boolean];
const COOLED: readonly Cooled[] = [
  ['a file', {}, COPY, true, false],
  ['a file with missing vectors', {}, null, false, true],
  ['a file that is being synced', { syncStatus: 'SYNCING' }, COPY, false, false],
  ['a file without vectors', { vectorSpace: null }, COPY, false, false],
];
test('a READY file moves to cold storage if all its vectors are copied; missing vectors postpone the move', () =>
  everyRow(
    COOLED,
    ([what]) => what,
    async ([, fields, saved, isCold, isPostponed]) => {
      const file = { ...HOT, ...fields };
      const { deps, of } = depsOf(null, outage(), { 'moves.beginAttempt': [file], 'moves.saveCopy': true });
      const { store } = deps as { store: object };
      const coldCopies = { save: async () => saved };
      const answers = { ...(deps as object), store: { ...store, coldCopies } } as never;
      await moveVectors(ATTEMPT, [3], answers, NEVER);
      expect(of('moves.markCold')).toEqual([[ATTEMPT, isCold ? [file] : []]]);
      expect(of('moves.postponeMove')).toEqual(isPostponed ? [[ATTEMPT, 3]] : []);
    },
  ));

test('tags that change during a move from cold storage are copied to the points before the file is hot', async () => {
  const revisions: unknown[] = [];
  const { deps, of } = depsOf(null, outage(), {
    'moves.markHot'(_by: unknown, files: readonly { readonly tagsRevision?: number }[]) {
      revisions.push(files.map(({ tagsRevision }) => tagsRevision));
      return files.filter(({ tagsRevision }) => tagsRevision === 2).map(() => 3);
    },
    'files.findTags': [{ _id: 3, tagsRevision: 2 }],
  });
  const { moved } = await moveVectors(ATTEMPT, [3], deps, NEVER);
  expect([moved, revisions, of('vectors.setTags').length]).toEqual([1, [[undefined], [2]], 1]);
});

const LEAVING = { ...QUARANTINED, state: 'leaving', copy: null };
const stored = (embeddingStorageStatus: string, generation: number) => ({
  ...LEAVING,
  file: { ...FILE, embeddingStorageStatus, generation, coldCopy: { ...COPY, key: 'cold' } },
});
const COPIES: readonly (readonly [what: string, row: object, isCopied: boolean, key: string | null])[] = [
  ['a file in Qdrant', LEAVING, true, 'new'],
  ['a file that an earlier attempt copied', { ...LEAVING, copy: COPY }, false, 'k'],
  ['a file in cold storage', stored('COLD_STORAGE', 1), false, 'cold'],
  ['a file on its way from cold storage', stored('COLD_TO_HOT', 1), false, 'cold'],
  ['a file on its way to cold storage', stored('HOT_TO_COLD', 1), true, 'new'],
  ['a copy of older content', stored('COLD_STORAGE', 2), true, 'new'],
  ['a file without vectors', { ...LEAVING, file: { ...FILE, vectorSpace: null } }, false, null],
];
test('a file goes into quarantine with one copy of its vectors: the stored one, or a new one', () =>
  everyRow(
    COPIES,
    ([what]) => what,
    async ([, row, isCopied, key]) => {
      const { deps, of } = depsOf(null, outage(), {
        ...{ 'quarantine.listClaimed': [row], 'vectors.countOf': 1 },
        'quarantine.filterUnchanged': (rows: readonly object[]) => rows,
        'quarantine.saveCopy': (_row: unknown, copy: unknown) => copy,
      });
      let copies = 0;
      const kept: unknown[] = [];
      const coldCopies = {
        async save() {
          copies += 1;
          return { ...COPY, key: 'new' };
        },
        deleteOthers: async (_owner: unknown, copyKey: unknown) => kept.push(copyKey),
      };
      const { store } = deps as { store: object };
      const run = { _id: 7, organizationId: 1, userId: 2 } as never;
      await advanceQuarantine(run, 10, { ...(deps as object), store: { ...store, coldCopies } } as never, NEVER);
      expect([copies, kept]).toEqual([isCopied ? 1 : 0, [key]]);
      expect(of('quarantine.markKept')).toEqual([[[row]]]);
      // Points of an unfinished sync are deleted too.
      expect(of('vectors.deleteGenerations')).toMatchObject([[[{ organizationId: 1, userId: 2, fileId: 3 }]]]);
    },
  ));

test('a file that another run took over meanwhile keeps its points', async () => {
  const { deps, of } = depsOf(null, outage(), {
    ...{ 'quarantine.listClaimed': [{ ...LEAVING, copy: COPY }], 'quarantine.filterUnchanged': [] },
  });
  await advanceQuarantine({ _id: 7, organizationId: 1, userId: 2 } as never, 10, deps, NEVER);
  expect([of('vectors.deletePoints'), of('quarantine.markKept')]).toEqual([[[[]]], [[[]]]]);
});
