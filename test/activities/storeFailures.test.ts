/**
 * A failure of any call of the store fails the activity, so that Temporal repeats it. An activity that ignores one, or
 * does not wait for it, reports work that was never written.
 */
import { expect, test } from '@jest/globals';
import { asyncLocalStorage } from '@temporalio/activity';

import { cleanUpMoves } from '../../activities/coldStorage/cleanUpMoves.js';
import { createMoveActivities } from '../../activities/coldStorage/moveStorage.js';
import { createItemActivities } from '../../activities/connected/listItems.js';
import type { ActivityDeps } from '../../activities/deps.js';
import { createGonePagesActivities } from '../../activities/discover/deleteGonePages.js';
import { createDeleteActivities } from '../../activities/delete/deleteFiles.js';
import { createDeleteUserActivities } from '../../activities/delete/deleteUser.js';
import { cleanUp, discard } from '../../activities/generations/cleanUp.js';
import { emptyFiles } from '../../activities/generations/eraseContents.js';
import { settleInterrupted } from '../../activities/generations/interruptedAttempts.js';
import { publishWithTags } from '../../activities/generations/publishWithTags.js';
import { commitFiles } from '../../activities/ingest/commitFiles.js';
import { createPlanActivities } from '../../activities/ingest/planBatches.js';
import { createSettling } from '../../activities/ingest/settleFile.js';
import { createUploadActivities } from '../../activities/ingest/uploadStream.js';
import { advanceQuarantine } from '../../activities/quarantine/quarantineSteps.js';
import { removeMissing } from '../../activities/quarantine/removeMissing.js';
import { createReembedPlan } from '../../activities/reembed/planReembed.js';
import { discardAttempts, settleAttempts } from '../../activities/reembed/settleAttempts.js';
import { createPauseActivities } from '../../activities/runs/pauses.js';
import { createRecountActivities } from '../../activities/runs/recountFiles.js';
import { createRunActivities } from '../../activities/runs/runs.js';
import { createTagActivities } from '../../activities/runs/updateTags.js';
import { Fault } from '../../contract/failures.js';
import { everyRow } from '../support/everyRow.js';
import { type Answers, recorder, STORE_DOWN } from '../support/recorder.js';

const ADA = { organizationId: 1, userId: 7 };
const NEVER = new AbortController().signal;
const AT = new Date('2026-01-01');
const RUN = {
  ...{ _id: 3, ...ADA, customerId: 'ada', kind: 'scrapeSitemap', workflowId: 'w', requestId: 'r', fileId: 2 },
  ...{ dataSourceId: 4, parentRunId: 1, startedAt: AT, finishedAt: null, acceptedAt: AT, request: {}, progress: {} },
};
const FILE = {
  ...{ _id: 5, ...ADA, generation: 1, lastGeneration: 2, vectorSpace: 'space', numChunks: 2, cleanupPending: false },
  ...{ parentId: null, source: 'TEXT', fileTypeAtSource: null, tagPairs: [], tagsRevision: 3, attempts: 0 },
  ...{ syncStatus: 'SYNCING', unfinishedStarts: 1, original: null, move: { runId: 3, token: 'mine' } },
  ...{ embeddingStorageStatus: 'HOT_STORAGE', coldCopy: null, options: { embeddingModel: 'OPENAI', chunkOverlap: 0 } },
};
const STARTED = { file: FILE, generation: 2 };
const PREPARED = {
  ...{ started: STARTED, content: {}, document: { text: '', prefix: '', cuts: [] }, space: 'space' },
  ...{ vectors: [new Float32Array(1)], sparseOf: null },
  finished: { file: FILE, tagsRevision: 3, content: { statistics: null, hasText: true } },
};
const quarantined = (state: string) => ({
  ...{ _id: 5, ...ADA, state, runId: 3, dataSourceId: 4, file: FILE },
  // In the state `leaving`, the activity reads the vectors of a file without a copy. The fake store has none.
  copy: state === 'leaving' ? { key: 'copy', generation: 1 } : null,
});
const COUNTS = ['vectors', 'chunks', 'contents', 'originals', 'recognizedPages', 'siteBlocks'];

/** Answers that most activities need. */
const ANSWERS: Answers = {
  ...Object.fromEntries(COUNTS.map((name) => [`${name}.countOf`, 0])),
  ...{ 'runs.find': RUN, 'files.byIds': [FILE], 'files.ancestorsOf': new Map(), 'files.findTags': [FILE] },
  ...{ 'files.finish': [5], 'files.countRun': { total: 1, ready: 1, failed: 0, aborted: 0 }, 'files.countSynced': 1 },
  ...{ 'files.listNeedingCleanUp': [FILE], 'files.listAbortedAttempts': [FILE], 'files.listDue': [1, 2] },
  ...{ 'files.nextDueTime': null, 'files.hasDelayed': false, 'limits.applyLimits': 'max_files', 'limits.get': {} },
  ...{ 'moves.listClaimed': [], 'moves.claimDue': [], 'moves.claimCold': [], 'moves.keepHot': false },
  ...{ 'quarantine.filterQuarantined': new Set(), 'quarantine.filterUnchanged': (rows: unknown) => rows },
  ...{ 'quarantine.findReplaced': new Set(), 'quarantine.listClaimed': [], 'reembeds.listOpen': [] },
  ...{ 'reembeds.sums': { reembedded: 0, failed: 0, chunks: 0, tokens: 0, skipped: {} }, 'files.listReady': [1] },
  ...{ 'uploadStreams.find': [{ ...RUN, kind: 'syncUpload' }], 'uploadStreams.listOpenFiles': [] },
  ...{ 'uploadStreams.listOpen': [{ ...RUN, kind: 'syncUpload' }], 'dataSources.find': { _id: 4, metadata: {} } },
  ...{ 'files.listBehindSourceTags': [FILE], 'files.expand': {}, 'files.ids': [6], 'items.countReopened': 0 },
  ...{ 'files.findMissingPages': { pages: 100, gone: [5] }, 'dataSources.beginListing': false },
  ...{ 'schedules.filterScheduledContainers': [5], 'files.parentsOfDelete': [2], 'files.listDeletable': [5] },
  ...{ 'runs.withdrawOthers': [{ workflowId: 'other' }] },
};
/** Returns all rows at the first call, and none later. */
const once = (rows: readonly unknown[]) => {
  const pages = [rows];
  return () => pages.shift() ?? [];
};

type Work = readonly [name: string, work: (deps: ActivityDeps) => Promise<unknown>, answers?: () => Answers];
const byRun = (change: object) => () => ({ 'runs.find': { ...RUN, ...change } });
const settle =
  (fault: Fault, change: object = {}) =>
  (deps: ActivityDeps) =>
    createSettling(deps).settle(3, { ...STARTED, file: { ...FILE, ...change } } as never, fault, {
      stage: 'fetch',
    } as never);
const uploads = (deps: ActivityDeps) =>
  createUploadActivities(deps, { run: () => Promise.resolve({ unprocessed: [] }) } as never);
const BY = { ...ADA, runId: 3, requestId: 'r', workflowId: 'w', token: 'mine' };
const DELETE = () => ({
  ...byRun({ kind: 'deleteFiles', request: { filters: {}, deleteChildren: true } })(),
  'files.listDeletableOpen': once([5]),
});
const listOnce = () => ({ 'schedules.listOfUser': once(['schedule']) });
const LISTED = { progress: { walk: { open: [], roots: null, refused: 0 }, listed: 1 } };
const WORKS: readonly Work[] = [
  ['commit', ({ store }) => commitFiles(store, [PREPARED] as never)],
  ['commit of a replaced file', ({ store }) => commitFiles(store, [PREPARED] as never), () => ({ 'files.finish': [] })],
  ['clean-up', ({ store }) => cleanUp(store, [STARTED] as never)],
  ['discard', ({ store }) => discard(store, [STARTED] as never)],
  ['empty files', ({ store }) => emptyFiles(store, RUN as never, [5])],
  [
    'empty files with unknown points',
    ({ store }) => emptyFiles(store, RUN as never, [5]),
    () => ({
      'vectors.countOf': (
        ({ left }) =>
        () =>
          left.shift()
      )({ left: [1, 0] }),
    }),
  ],
  ['interrupted attempts', ({ store }) => settleInterrupted(store, 3)],
  [
    'publication with tags',
    ({ store }) => publishWithTags(store, [{ file: FILE, tagsRevision: 2 }] as never, () => Promise.resolve([])),
  ],
  [
    're-embedding attempts',
    ({ store }) => settleAttempts(store, RUN as never, [{ fileId: 5, from: 1, generation: 2 }]),
  ],
  ['discarded re-embedding', ({ store }) => discardAttempts(store, RUN as never, [STARTED] as never)],
  [
    'end of a re-embedding',
    (deps) => createReembedPlan(deps).finishReembed({ runId: 3, outcome: 'finished' }),
    () => ({ 'reembeds.listOpen': [{ fileId: 5, from: 1, generation: 2 }] }),
  ],
  ['clean-up of moves', ({ store }) => cleanUpMoves(store, BY, [5], [FILE] as never)],
  [
    'clean-up of moves of deleted files',
    ({ store }) => cleanUpMoves(store, BY, [5], [FILE] as never),
    () => ({ 'files.byIds': [] }),
  ],
  [
    'plan of moves',
    (deps) => createMoveActivities(deps).planMove({ runId: 3, afterId: 0 }),
    byRun({ kind: 'moveStorage', request: { move: 'toHot', filters: {} } }),
  ],
  [
    'change of cold storage',
    (deps) => createMoveActivities(deps).planMove({ runId: 3, afterId: 0 }),
    byRun({ kind: 'moveStorage', request: { move: 'modify', filters: {}, change: {} } }),
  ],
  [
    'end of moves',
    (deps) => createMoveActivities(deps).finishMove({ runId: 3, outcome: 'finished' }),
    () => ({ 'moves.listClaimed': once([5]), 'moves.beginAttempt': [FILE] }),
  ],
  ['plan of batches', (deps) => createPlanActivities(deps).planBatches({ runId: 3, afterId: 0, limit: 2 })],
  ['plan of uploads', (deps) => uploads(deps).planUploads({ ...ADA, except: [], underWay: 0 } as never)],
  ['uploads', (deps) => uploads(deps).ingestUploads({ ...ADA, runIds: [3] } as never)],
  ['failed uploads', (deps) => uploads(deps).failUploads({ ...ADA, runIds: [3], message: 'm' } as never)],
  ['cancelled uploads', (deps) => uploads(deps).abortUploads(ADA as never)],
  ['rate limit', settle(new Fault('rate_limited', 'm'))],
  ['retry', settle(new Fault('timed_out', 'm'))],
  ['failure', settle(new Fault('gone', 'm'))],
  [
    'failure after crashes',
    settle(new Fault('gone', 'm'), { generation: 0, unfinishedStarts: 5, original: { sha256: 's' } }),
  ],
  ['failed comparison', settle(new Fault('access_revoked', 'm'), { syncStatus: 'EVALUATING_RESYNC' })],
  ['no room', settle(new Fault('no_room', 'm'))],
  ['begin of a run', (deps) => createRunActivities(deps).beginRun({ runId: 3 }), byRun({ kind: 'resyncFile' })],
  ['end of a run', (deps) => createRunActivities(deps).finishRun({ runId: 3 })],
  [
    'end of a crawl',
    (deps) => createRunActivities(deps).finishRun({ runId: 3 }),
    byRun({ kind: 'webScrape', maxTokens: 1 }),
  ],
  [
    'failure of a run',
    (deps) => createRunActivities(deps).failRun({ runId: 3, message: 'm' }),
    byRun({ fileId: null }),
  ],
  ['abort of a run', (deps) => createRunActivities(deps).abortRun({ runId: 3 })],
  [
    'pause',
    (deps) => createPauseActivities(deps).getPauseState({ runId: 3 }),
    byRun({ pause: { at: AT, wanted: 1, resumedAt: null } }),
  ],
  ['resumption', (deps) => createPauseActivities(deps).getPauseState({ runId: 3 }), byRun({ fileId: null })],
  ['sum of files', (deps) => createRecountActivities(deps).sumFiles({ runId: 3 })],
  ['end of a sum', (deps) => createRecountActivities(deps).finishRecount({ runId: 3, outcome: 'finished' })],
  ['copy of tags', (deps) => createTagActivities(deps).copyTags({ runId: 3, afterId: 0 })],
  [
    'last copy of tags',
    (deps) => createTagActivities(deps).copyTags({ runId: 3, afterId: 0 }),
    () => ({ 'files.listBehindSourceTags': [] }),
  ],
  ['end of a copy of tags', (deps) => createTagActivities(deps).finishTags({ runId: 3, outcome: 'aborted' })],
  ['missing files', (deps) => removeMissing(RUN as never, [5], deps, NEVER)],
  [
    'missing files without quarantine',
    (deps) => removeMissing(RUN as never, [5], { ...deps, settings: { quarantineMs: 0 } } as never, NEVER),
  ],
  ['gone pages', (deps) => createGonePagesActivities(deps).deleteGonePages({ runId: 3 })],
  ...['leaving', 'returning', 'tidying', 'erasing'].map((state): Work => [
    `quarantine, ${state}`,
    (deps) => advanceQuarantine(RUN as never, 10, deps, NEVER),
    () => ({ 'quarantine.listClaimed': [quarantined(state)] }),
  ]),
  ['schedules of a user', (deps) => createDeleteUserActivities(deps).removeSchedules({ runId: 3 }), listOnce],
  ['runs of a user', (deps) => createDeleteUserActivities(deps).stopUserRuns({ runId: 3 })],
  ['files of a user', (deps) => createDeleteUserActivities(deps).eraseFiles({ runId: 3 })],
  [
    'quarantine of a user',
    (deps) => createDeleteUserActivities(deps).eraseFiles({ runId: 3 }),
    () => ({ 'files.ids': [], 'quarantine.listClaimed': [quarantined('erasing')] }),
  ],
  [
    'end of the deletion of a user',
    (deps) => createDeleteUserActivities(deps).finishUserDelete({ runId: 3 }),
    () => ({ 'files.ids': [], 'runs.withdrawOthers': [], 'quarantine.hasFiles': false }),
  ],
  ['cancelled deletion of a user', (deps) => createDeleteUserActivities(deps).stopUserDelete({ runId: 3 })],
  ['stop of deleted files', (deps) => createDeleteActivities(deps).stopQueued({ runId: 3 }), DELETE],
  ['deletion of files', (deps) => createDeleteActivities(deps).deleteBatch({ runId: 3, afterId: 0 }), DELETE],
  [
    'deletion of contents',
    (deps) => createDeleteActivities(deps).deleteBatch({ runId: 3, afterId: 0 }),
    byRun({ kind: 'deleteFiles', request: { filters: {}, preserveFileRecord: true } }),
  ],
  ['end of a deletion', (deps) => createDeleteActivities(deps).finishDelete({ runId: 3, outcome: 'aborted' })],
  [
    'begin of a listing',
    (deps) => createItemActivities(deps).beginListing({ runId: 3 }),
    byRun({ kind: 'syncItems', ...LISTED }),
  ],
  [
    'end of a listing',
    (deps) => createItemActivities(deps).endListing({ runId: 3, outcome: 'finished' }),
    byRun({ kind: 'syncItems', progress: { ...LISTED.progress, nextChangeToken: 'token' } }),
  ],
];

/** Runs an activity with a fake store. @param failing number of the call that fails */
async function run(
  [, work, answers]: Work,
  failing?: number,
): Promise<{ readonly names: string[]; readonly error: unknown }> {
  const { stores, names: namesOf } = recorder({ ...ANSWERS, ...answers?.() }, failing);
  const store = {
    ...(stores as object),
    transaction: (inside: (session: null) => unknown) => Promise.resolve(inside(null)),
  };
  const log = { info: () => undefined, warn: () => undefined, debug: () => undefined, error: () => undefined };
  const settings = {
    ...{ retryDelaysMs: [1], batchConcurrency: 2, siteSamplePages: 0, limitRecheckMs: 1, pausedRunMs: 1 },
    ...{ quarantineMs: 1_000, massDeletePercent: 50 },
  };
  const names = { idOf: (id: string) => id };
  const schedules = { remove: () => Promise.resolve() };
  const embeddings = { spaceOf: () => ({ name: 'space' }), prepare: () => undefined };
  const deps = {
    store,
    log,
    settings,
    embeddings,
    names,
    schedules,
    isBrokenCopy: () => false,
  } as unknown as ActivityDeps;
  const context = { heartbeat: () => undefined, cancellationSignal: NEVER, info: { attempt: 1 } } as never;
  const error: unknown = await asyncLocalStorage
    .run(context, () => work(deps))
    .then(
      () => null,
      (reason: unknown) => reason,
    );
  return { names: namesOf(), error };
}

test('an activity fails if any of its calls of the store fails', () =>
  everyRow(
    WORKS,
    ([name]) => name,
    async (work) => {
      const { names, error } = await run(work);
      expect(error).toBeNull();
      expect(names.length).toBeGreaterThan(0);
      for (const [nth, name] of names.entries()) {
        const failed = await run(work, nth);
        expect([name, failed.error]).toEqual([name, STORE_DOWN]);
      }
    },
  ));

/** Activities that end a run. */
const ENDS = WORKS.filter(
  ([name]) => /^(?:end|abort) of /.test(name) || /^(?:failure of a run|failed uploads|cancelled )/.test(name),
);

test('an activity that ends a run does so once, after all other writes, so that a repetition completes them', () =>
  everyRow(
    ENDS,
    ([name]) => name,
    async (work) => {
      const { names } = await run(work);
      // `frontier.clear` deletes the addresses of a crawl after `runs.finish`: a crawl needs them until it has ended.
      const writes = names.filter((name) => name !== 'frontier.clear');
      expect(writes.indexOf('runs.finish')).toBe(writes.length - 1);
      expect(writes.length - 1).toBe(writes.lastIndexOf('runs.finish'));
    },
  ));
