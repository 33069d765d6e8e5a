/**
 * Tests of vectors that are moved back from file storage: they count as lost only if their copy is broken. During an
 * outage of a store, the step fails and is retried.
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

test('a move from cold to hot storage fails in an outage, and reports lost vectors only for a broken copy', () =>
  everyRow(FAILURES, nameOf, async ([fails, error, isLost]) => {
    const { deps, of } = depsOf(fails, error);
    const done = moveVectors({ runId: 7 } as never, [3], deps, NEVER);
    if (isLost === null) await expect(done).rejects.toBe(error);
    else expect(await done).toMatchObject({ claimed: [FILE], moved: isLost ? 0 : 1 });
    expect(of('moves.markVectorsLost')).toHaveLength(isLost === true ? 1 : 0);
    expect(of('moves.markHot')).toHaveLength(isLost === false ? 1 : 0);
  }));

test('a restore from quarantine fails in an outage, and reports lost vectors only for a broken copy', () =>
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
