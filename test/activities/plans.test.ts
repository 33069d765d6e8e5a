/** Plans of batches: the sizes at and above each limit, and the cursor for the next step. The store is a fake. */
import { expect, test } from '@jest/globals';

import { createPlanMoveActivities } from '../../activities/coldStorage/planMove.js';
import type { ActivityDeps } from '../../activities/deps.js';
import { msUntilDue } from '../../activities/ingest/msUntilDue.js';
import { createPlanActivities } from '../../activities/ingest/planBatches.js';
import { createUploadActivities } from '../../activities/ingest/uploadStream.js';
import { createReembedPlan } from '../../activities/reembed/planReembed.js';
import { BATCH_BYTES, BATCH_SIZE, FIRST_BATCH_SIZE } from '../../contract/runs/orchestration.js';
import { everyRow } from '../support/everyRow.js';
import { type Answers, recorder } from '../support/recorder.js';

const ADA = { organizationId: 1, userId: 7 };
const WINDOW = 4;
const settings = { batchConcurrency: WINDOW, siteSamplePages: 6 };
const log = { info: () => undefined };
const numbers = (count: number, first = 1): number[] => Array.from({ length: count }, (_, nth) => first + nth);
const sizesOf = (batches: readonly (readonly number[])[]): number[] => batches.map((batch) => batch.length);

function open(answers: Answers) {
  const recorded = recorder(answers);
  const deps = {
    ...{ store: recorded.stores, settings, log },
    embeddings: { spaceOf: () => ({ name: 'new-space' }) },
  };
  return { ...recorded, deps: deps as unknown as ActivityDeps };
}

const small = (count: number) => numbers(count).map((_id) => ({ _id, bytes: 1 }));
const UPLOADS: readonly (readonly [what: string, runs: readonly object[], sizes: readonly number[]])[] = [
  ['no upload', [], []],
  ['a full batch', small(BATCH_SIZE), [BATCH_SIZE]],
  ['one more', small(BATCH_SIZE + 1), [BATCH_SIZE, 1]],
  ['exactly the bytes of a batch', [{ _id: 1, bytes: BATCH_BYTES - 1 }, ...[{ _id: 2, bytes: 1 }]], [2]],
  ['one byte more', [{ _id: 1, bytes: BATCH_BYTES - 1 }, ...[{ _id: 2, bytes: 2 }]], [1, 1]],
  ['a large upload between others', [{ _id: 1 }, { _id: 2, bytes: BATCH_BYTES + 1 }, { _id: 3 }], [1, 1, 1]],
  ['the bytes of the last batch only', [{ _id: 1, bytes: BATCH_BYTES }, { _id: 2, bytes: 5 }, { _id: 3 }], [1, 2]],
  ['more than the window', small(BATCH_SIZE * WINDOW + 1), numbers(WINDOW).map(() => BATCH_SIZE)],
];

test('waiting uploads are split by number and bytes, and exactly the planned ones begin', () =>
  everyRow(
    UPLOADS,
    ([what]) => what,
    async ([, runs, sizes]) => {
      const { deps, of } = open({ 'uploadStreams.listOpen': runs });
      const { planUploads } = createUploadActivities(deps, null as never);
      const { batches, window } = await planUploads({ ...ADA, except: [9], underWay: 0 } as never);
      expect([sizesOf(batches), window]).toEqual([sizes, WINDOW]);
      expect(of('uploadStreams.listOpen')).toEqual([[ADA, [9], WINDOW * BATCH_SIZE]]);
      const ids = (runs as { _id: number }[]).map(({ _id }) => _id).slice(0, WINDOW * BATCH_SIZE);
      expect(of('uploadStreams.begin')).toEqual([[ids]]);
    },
  ));

test('with batches in progress, uploads fill only the rest of the window', async () => {
  for (const [underWay, runs] of [
    [WINDOW, []],
    [WINDOW - 1, small(BATCH_SIZE + 1)],
  ] as const) {
    const { deps, of } = open({ 'uploadStreams.listOpen': runs });
    const { planUploads } = createUploadActivities(deps, null as never);
    const { batches } = await planUploads({ ...ADA, except: [], underWay } as never);
    expect(sizesOf(batches)).toEqual(underWay === WINDOW ? [] : [BATCH_SIZE]);
    expect(of('uploadStreams.listOpen')).toEqual(underWay === WINDOW ? [] : [[ADA, [], BATCH_SIZE]]);
  }
});

type Due = readonly [
  what: string,
  due: number,
  afterId: number,
  sizes: readonly number[],
  next: number,
  known?: object,
];
const LIMIT = 2;
const WANTED = LIMIT * BATCH_SIZE;
const DUE: readonly Due[] = [
  ['nothing', 0, 0, [], 0],
  ['as many as the first batch', FIRST_BATCH_SIZE, 0, [FIRST_BATCH_SIZE], 0],
  ['more than the first batch', FIRST_BATCH_SIZE + 1, 0, [FIRST_BATCH_SIZE, 1], 0],
  ['one less than wanted', WANTED - 1, 7, [BATCH_SIZE, BATCH_SIZE - 1], 0],
  ['as many as wanted: there may be more', WANTED, 7, [BATCH_SIZE, BATCH_SIZE], WANTED],
];

test('due files are split into batches, a small one first, and the plan continues after a full page', () =>
  everyRow(
    DUE,
    ([what]) => what,
    async ([, due, afterId, sizes, next]) => {
      const run = { _id: 3, ...ADA, fileId: 2, kind: 'resyncFile' };
      const { deps, of } = open({
        ...{
          'runs.find': run,
          'limits.applyLimits': null,
          'files.listDue': numbers(due),
          'files.nextDueTime': null,
          'files.hasDelayed': false,
        },
      });
      const plan = createPlanActivities(deps);
      const result = await plan.planBatches({ runId: 3, afterId, limit: LIMIT });
      expect(result.dueInMs).toBeNull();
      expect([sizesOf(result.batches), result.afterId]).toEqual([sizes, next]);
      expect(result.batches.flat()).toEqual(numbers(due));
      expect(of('files.listDue')).toEqual([[3, afterId, WANTED, expect.any(Date)]]);
      expect(of('files.moveContainer')).toEqual([]);
    },
  ));

test('only the first pages of a scrape are planned until this run has compared them for repeated blocks', async () => {
  const run = { _id: 3, ...ADA, fileId: 2, kind: 'scrapeSitemap', request: { scrape: {}, ingest: {} } };
  for (const [known, sizes] of [
    [null, [6]],
    [{ runId: 2 }, [6]],
    [{ runId: 3 }, [FIRST_BATCH_SIZE, 20 - FIRST_BATCH_SIZE]],
  ] as const) {
    const { deps } = open({
      ...{ 'runs.find': run, 'limits.applyLimits': null, 'files.listDue': numbers(20), 'siteBlocks.find': known },
      ...{ 'files.nextDueTime': null, 'files.hasDelayed': false },
    });
    const { batches } = await createPlanActivities(deps).planBatches({ runId: 3, afterId: 0, limit: LIMIT });
    expect(sizesOf(batches)).toEqual(sizes);
  }
});

const CANDIDATE = {
  ...{ isContainer: false, syncStatus: 'READY', syncErrorMessage: null, embeddingStorageStatus: 'HOT_STORAGE' },
  ...{ vectorSpace: 'old-space', numChunks: 1, hasText: true, statistics: { numTokens: 10 } },
  options: { embeddingModel: 'OPENAI', chunkOverlap: 0 },
};
const candidates = (...some: object[]) => some.map((one, nth) => ({ ...CANDIDATE, _id: nth + 1, ...one }));
const many = (count: number, fields: object = {}) => candidates(...numbers(count).map(() => fields));
type Reembed = readonly [
  what: string,
  files: readonly object[],
  request: object,
  batches: readonly (readonly number[])[],
  skipped: readonly (readonly [fileId: number, reason: string])[],
  tokens: number,
];
const REEMBEDS: readonly Reembed[] = [
  ['as many files as a batch', many(50), {}, [numbers(50)], [], 500],
  ['one more', many(51), {}, [numbers(50), [51]], [], 510],
  ['a full plan: there may be more', many(500), {}, numbers(10, 0).map((nth) => numbers(50, nth * 50 + 1)), [], 5_000],
  ['as many chunks as a batch', candidates({ numChunks: 999 }, {}, {}), {}, [[1, 2], [3]], [], 30],
  ['one chunk more', candidates({ numChunks: 1_000 }, {}), {}, [[1], [2]], [], 20],
  ['the limit of tokens', many(2), { maxTokens: 20 }, [[1, 2]], [], 20],
  ['one token less', many(2), { maxTokens: 19 }, [[1]], [[2, 'over_max_tokens']], 10],
  [
    'a smaller file after one that does not fit',
    candidates({}, { statistics: { numTokens: 30 } }, {}),
    ...([{ maxTokens: 20 }, [[1, 3]], [[2, 'over_max_tokens']], 20] as const),
  ],
  ['files of another space', candidates({ vectorSpace: 'other' }, {}), { space: 'old-space' }, [[2]], [], 10],
  ['a container', candidates({ isContainer: true }, {}), {}, [[2]], [[1, 'container']], 10],
];

test('re-embedding is planned in batches of files and chunks, within the limit of tokens', () =>
  everyRow(
    REEMBEDS,
    ([what]) => what,
    async ([, files, request, batches, skipped, tokens]) => {
      const acceptedAt = new Date();
      const given = { filters: { ids: [1] }, model: 'COHERE', maxTokens: null, ...request };
      const run = { _id: 3, ...ADA, kind: 'reembedFiles', acceptedAt, request: given, progress: {} };
      const { deps, of, names } = open({ 'runs.find': run });
      const asked: unknown[][] = [];
      async function* read(...args: unknown[]) {
        asked.push(args);
        yield* await Promise.resolve(files);
      }
      const { setModel } = deps.store.files;
      const store = { ...(deps.store as object), files: { candidates: read, setModel } } as never;
      const { planReembed } = createReembedPlan({ ...deps, store });
      const result = await planReembed({ runId: 3, afterId: 0, tokens: 0 });
      expect(result.batches).toEqual(batches);
      expect(result).toMatchObject({ tokens, skipped: skipped.length, ended: files.length < 500, window: WINDOW });
      expect(result.afterId).toBe(files.length);
      expect(asked).toEqual([[ADA, given.filters, acceptedAt, 0, 500]]);
      const ends = skipped.map(([fileId, reason]) => ({ fileId, outcome: 'skipped', reason }));
      expect(of('reembeds.end')).toEqual([[run, ends]]);
      const containers = skipped.filter(([, reason]) => reason === 'container').map(([fileId]) => fileId);
      expect(of('files.setModel')).toEqual([[ADA, containers, 'COHERE']]);
      expect(names()).toContain('runs.markStarted');
    },
  ));

const MOVE_FILTERS = { ids: [5] };
type MoveRow = readonly [what: string, request: object, answers: Answers, plan: object, last: string];
const NONE = { fileIds: [], afterId: 0, waiting: false };
const MOVES: readonly MoveRow[] = [
  [
    'files that an earlier attempt claimed come first',
    ...([{ move: 'toCold' }, { 'moves.listClaimed': [4, 5] }] as const),
    ...([{ fileIds: [4, 5], afterId: 6, waiting: false }, 'moves.listClaimed'] as const),
  ],
  [
    'files that are due',
    ...([{ move: 'toCold' }, { 'moves.claimDue': [7] }] as const),
    ...([{ fileIds: [7], afterId: 0, waiting: false }, 'moves.claimDue'] as const),
  ],
  [
    'no file that is due',
    ...([{ move: 'toCold' }, { 'moves.claimDue': [] }] as const),
    ...([{ ...NONE, afterId: null }, 'moves.claimDue'] as const),
  ],
  [
    'files in cold storage',
    ...([{ move: 'toHot', filters: MOVE_FILTERS }, { 'moves.claimCold': [8, 9] }] as const),
    ...([{ fileIds: [8, 9], afterId: 9, waiting: false }, 'moves.claimCold'] as const),
  ],
  [
    'files that another run moves to cold storage',
    ...([
      { move: 'toHot', filters: MOVE_FILTERS },
      { 'moves.claimCold': [], 'moves.keepHot': true },
    ] as const),
    ...([{ ...NONE, waiting: true }, 'moves.keepHot'] as const),
  ],
  [
    'no file in cold storage',
    ...([
      { move: 'toHot', filters: MOVE_FILTERS },
      { 'moves.claimCold': [], 'moves.keepHot': false },
    ] as const),
    ...([{ ...NONE, afterId: null }, 'moves.keepHot'] as const),
  ],
];

test('a run of moves continues claimed files, then claims the next ones, until there are none', () =>
  everyRow(
    MOVES,
    ([what]) => what,
    async ([, request, answers, plan, last]) => {
      const run = { _id: 3, ...ADA, kind: 'moveStorage', request, progress: {} };
      const { deps, names, of } = open({ 'runs.find': run, 'moves.listClaimed': [], ...answers });
      expect(await createPlanMoveActivities(deps).planMove({ runId: 3, afterId: 6 })).toEqual(plan);
      // Interrupted work is adopted before the run looks for claimed files.
      expect(names().slice(0, 4)).toEqual(['runs.find', 'runs.markStarted', 'moves.adopt', 'moves.listClaimed']);
      expect(names().at(-1)).toBe(last);
      expect(of('moves.adopt')).toEqual([[run, 3]]);
      for (const [, runId, , , size] of of('moves.claimCold')) expect([runId, size]).toEqual([3, 200]);
      for (const [, runId, , size] of of('moves.claimDue')) expect([runId, size]).toEqual([3, 200]);
    },
  ));

test('changed settings of cold storage are stored in batches; only when they disable it, the files move back', async () => {
  for (const enabled of [true, false])
    for (const [modifiedTo, next, plan] of [
      [undefined, 90, NONE],
      [90, null, NONE],
      [Number.MAX_SAFE_INTEGER, null, enabled ? { ...NONE, afterId: null } : { ...NONE, fileIds: [8], afterId: 8 }],
    ] as const) {
      const request = { move: 'modify', filters: MOVE_FILTERS, change: { enabled } };
      const run = { _id: 3, ...ADA, kind: 'moveStorage', request, progress: { modifiedTo } };
      const answers = { 'moves.listClaimed': [], 'moves.modify': next, 'moves.claimCold': [8] };
      const { deps, of } = open({ 'runs.find': run, ...answers });
      const transaction = (work: (session: null) => unknown) => Promise.resolve(work(null));
      const store = { ...(deps.store as object), transaction } as never;
      expect(await createPlanMoveActivities({ store }).planMove({ runId: 3, afterId: 0 })).toEqual(plan);
      const isModified = modifiedTo === Number.MAX_SAFE_INTEGER;
      const page = { afterId: modifiedTo ?? 0, limit: 200 };
      expect(of('moves.modify')).toEqual(isModified ? [] : [[run, MOVE_FILTERS, { enabled }, page, null]]);
      const progress = { modifiedTo: next ?? Number.MAX_SAFE_INTEGER };
      expect(of('runs.saveProgress')).toEqual(isModified ? [] : [[run, progress]]);
    }
});

const NOW_MS = Date.now();
type Wait = readonly [what: string, next: Date | null, delayed: boolean, wait: number | null];
const WAITS: readonly Wait[] = [
  ['no open file', null, false, null],
  ['an overdue file', new Date(NOW_MS - 60_000), false, 0],
  ['an overdue file and a delayed one', new Date(NOW_MS - 60_000), true, 0],
  ['a delayed file', null, true, 7],
  ['a delayed file before a retry', new Date(NOW_MS + 3_600_000), true, 7],
];

test('a run without due files waits for the first of its retries, and checks delayed files periodically', () =>
  everyRow(
    WAITS,
    ([what]) => what,
    async ([, next, delayed, wait]) => {
      const { deps } = open({ 'files.nextDueTime': next, 'files.hasDelayed': delayed });
      expect(await msUntilDue({ ...deps, settings: { limitRecheckMs: 7 } } as never, 3)).toBe(wait);
    },
  ));
