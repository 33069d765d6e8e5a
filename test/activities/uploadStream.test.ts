/** Batches of uploads that several runs share: which files they try, and how each run ends. The store is a fake. */
import { expect, test } from '@jest/globals';
import { asyncLocalStorage } from '@temporalio/activity';

import type { ActivityDeps } from '../../activities/deps.js';
import { createUploadActivities } from '../../activities/ingest/uploadStream.js';
import { FILE_SYNC_STATUSES } from '../../contract/files/statuses.js';
import { everyRow } from '../support/everyRow.js';
import { type Answers, recorder } from '../support/recorder.js';

const ADA = { organizationId: 1, userId: 7 };
const NONE = { max_files: null, max_characters: null };
const run = (_id: number, fields: object = {}) => ({
  ...{ _id, ...ADA, fileId: 100 + _id, requestId: 'r', finishedAt: null, startedAt: new Date(0), ...fields },
});
const file = (runId: number, fields: object = {}) => ({
  ...{ fileId: 100 + runId, runId, notBefore: null, syncStatus: 'QUEUED_FOR_SYNC', ...fields },
});

/** Opens the activities. `tried` receives the ids of the files of each call of the batch runner. */
function open(answers: Answers, unprocessed: readonly number[] = []) {
  const recorded = recorder({ 'limits.get': NONE, 'files.listReady': [], ...answers });
  const tried: number[][] = [];
  const runner = {
    run: ({ files }: { files: readonly { fileId: number }[] }) => {
      tried.push(files.map(({ fileId }) => fileId));
      return Promise.resolve({ unprocessed });
    },
  };
  const deps = { store: recorded.stores, settings: {}, log: { info: () => undefined } } as unknown as ActivityDeps;
  return { ...recorded, tried, activities: createUploadActivities(deps, runner as never) };
}
const inActivity = <T>(work: () => Promise<T>): Promise<T> =>
  asyncLocalStorage.run({ cancellationSignal: new AbortController().signal } as never, work);
const input = (...runIds: number[]) => ({ ...ADA, customerId: 'ada', runIds }) as never;

const [PAST, FUTURE] = [new Date(Date.now() - 60_000), new Date(Date.now() + 3_600_000)];
/** Waiting files, and files that a crashed worker left in progress. */
const TO_DO = ['QUEUED_FOR_SYNC', 'RATE_LIMITED', 'SYNCING', 'QUEUED_FOR_OCR'];

test('a batch tries each due file once, also those that a crashed worker left in progress', () =>
  everyRow(FILE_SYNC_STATUSES, String, async (syncStatus) => {
    const files = [
      file(1, { syncStatus }),
      file(2, { syncStatus, notBefore: PAST }),
      file(3, { syncStatus, notBefore: FUTURE }),
    ];
    const runs = [1, 2, 3].map((id) => run(id));
    const { tried, activities, of } = open({ 'uploadStreams.find': runs, 'uploadStreams.listOpenFiles': files });
    await inActivity(() => activities.ingestUploads(input(1, 2, 3)));
    expect(tried).toEqual(TO_DO.includes(syncStatus) ? [[101, 102]] : []);
    // The fake still lists all files as open. None is left to try, so each run gets its own workflow.
    expect(of('uploadStreams.moveToOwnWorkflow').map(([movedRun]) => (movedRun as { _id: number })._id)).toEqual([
      1, 2, 3,
    ]);
    expect(of('uploadStreams.finish')).toEqual([[expect.objectContaining(ADA), []]]);
  }));

test('runs whose files a batch had no time for stay in the workflow that they share', async () => {
  const files = [file(1), file(2)];
  const answers = { 'uploadStreams.find': [run(1), run(2)], 'uploadStreams.listOpenFiles': files };
  const { tried, activities, of } = open(answers, [102]);
  await inActivity(() => activities.ingestUploads(input(1, 2)));
  expect(tried).toEqual([[101, 102]]);
  expect(of('uploadStreams.moveToOwnWorkflow').map(([movedRun]) => (movedRun as { _id: number })._id)).toEqual([1]);
});

type End = readonly [what: string, run: object, files: readonly object[], calls: object];
const LATER = file(1, { notBefore: FUTURE });
const ENDS: readonly End[] = [
  ['without open files', run(1), [], { 'uploadStreams.finish': 1 }],
  ['with a file for later', run(1), [LATER], { 'uploadStreams.moveToOwnWorkflow': 1 }],
  ['without a file of its own', run(1, { fileId: null }), [LATER], {}],
  ['that was cancelled', run(1, { finishedAt: PAST }), [LATER], { 'files.abortOpen': 1 }],
  ['that has ended', run(1, { finishedAt: PAST }), [], {}],
];

test('after a batch, a run ends, gets a workflow of its own, or its remaining files are aborted', () =>
  everyRow(
    ENDS,
    ([what]) => `a run ${what}`,
    async ([, one, files, calls]) => {
      const answers = { 'uploadStreams.find': [one], 'uploadStreams.listOpenFiles': files };
      const { activities, of } = open(answers);
      await inActivity(() => activities.ingestUploads(input(1)));
      const finished = of('uploadStreams.finish').flatMap(([, ended]) => ended as object[]);
      expect({
        ...(finished.length > 0 && { 'uploadStreams.finish': finished.length }),
        ...Object.fromEntries(
          ['uploadStreams.moveToOwnWorkflow', 'files.abortOpen']
            .map((name) => [name, of(name).length] as const)
            .filter(([, times]) => times > 0),
        ),
      }).toEqual(calls);
    },
  ));

test('limits apply to the open runs of a batch, and interrupted publications are completed first', async () => {
  for (const limits of [{ ...NONE, max_files: 1 }, { ...NONE, max_characters: 1 }, NONE]) {
    const runs = [run(1), run(2, { finishedAt: PAST })];
    const { activities, of, names } = open({
      ...{ 'uploadStreams.find': runs, 'uploadStreams.listOpenFiles': [], 'limits.get': limits },
      ...{ 'files.listReady': [107], 'files.listNeedingCleanUp': [] },
    });
    await inActivity(() => activities.ingestUploads(input(1, 2)));
    expect(of('limits.applyLimits').map(([, runId]) => runId)).toEqual(limits === NONE ? [] : [1]);
    expect(names().slice(0, 3)).toEqual(['files.listReady', 'events.settle', 'files.listNeedingCleanUp']);
    expect(of('events.settle')).toEqual([[[107]]]);
  }
});

test('runs that cannot be ingested end in order: files first, then their data, and the run last with its counts', async () => {
  const clean = { 'files.listNeedingCleanUp': [], 'files.listAbortedAttempts': [], 'files.countRun': { total: 1 } };
  const failing = open({ ...clean, 'uploadStreams.find': [run(1), run(2, { finishedAt: PAST })] });
  await failing.activities.failUploads({ ...(input(1, 2) as object), message: 'A defect.' } as never);
  const steps = ['files.abortOpen', 'files.listNeedingCleanUp', 'files.listAbortedAttempts', 'files.countRun'];
  expect(failing.names()).toEqual(['uploadStreams.find', ...steps, 'runs.finish']);
  const failure = { message: 'A defect.', error: 'run_failed' };
  expect(failing.of('files.abortOpen')).toEqual([[1, 'A defect.', 'run_failed']]);
  expect(failing.of('runs.finish')).toEqual([[1, 'failed', { total: 1 }, failure]]);

  // A cancelled workflow ends only the runs that it began, page by page.
  const pages = [
    Array.from({ length: 500 }, (_, nth) => run(nth + 1, nth < 2 ? {} : { startedAt: null })),
    [run(501), run(502, { startedAt: null })],
  ];
  const cancelled = open({ ...clean, 'uploadStreams.listOpen': () => pages.shift() });
  await cancelled.activities.abortUploads(ADA as never);
  expect(cancelled.of('runs.finish').map(([id, outcome]) => [id, outcome])).toEqual([
    [1, 'aborted'],
    [2, 'aborted'],
    [501, 'aborted'],
  ]);
});

test('cancelling ends after a full page without begun runs: the next query would return the same page', async () => {
  const fullPage = Array.from({ length: 500 }, (_, nth) => run(nth + 1, { startedAt: null }));
  // The second page is empty: a second query then fails the assertion, instead of looping until the time limit.
  const pages = [fullPage, []];
  const { activities, names } = open({ 'uploadStreams.listOpen': () => pages.shift() });
  await activities.abortUploads(ADA as never);
  expect(names()).toEqual(['uploadStreams.listOpen']);
});
