/** Tests of how a run begins and ends: its row, its container and its data source. The store is a fake. */
import { expect, test } from '@jest/globals';

import { createDeleteActivities } from '../../activities/delete/deleteFiles.js';
import { createDeleteUserActivities } from '../../activities/delete/deleteUser.js';
import { createRecountActivities } from '../../activities/runs/recountFiles.js';
import { createRunActivities } from '../../activities/runs/runs.js';
import { scheduleIds } from '../../contract/runs/workflowIds.js';
import { everyRow } from '../support/everyRow.js';
import { type Answers, recorder } from '../support/recorder.js';

const ADA = { organizationId: 1, userId: 2 };
const RUN = {
  ...{
    _id: 7,
    ...ADA,
    kind: 'webScrape',
    workflowId: 'w',
    requestId: 'r',
    dataSourceId: null,
    fileId: 3,
    progress: {},
  },
  ...{ finishedAt: null, lastError: null, request: { ingest: { storeFileOnly: true } }, acceptedAt: new Date(0) },
};
const COUNTS = { total: 3, ready: 2, failed: 1, aborted: 0 };
function open(run: object, answers: Answers = {}) {
  const recorded = recorder({
    ...{ 'runs.find': { ...RUN, ...run }, 'files.countRun': COUNTS, 'files.countSynced': 2 },
    ...{ 'files.listNeedingCleanUp': [], 'files.listAbortedAttempts': [], 'files.hasPageContent': false },
    ...answers,
  });
  const log = { info: () => undefined, warn: () => undefined };
  return { ...recorded, deps: { store: recorded.stores, log } as never };
}

test('only a scheduled scrape deletes vanished pages; a run that has ended does not begin again', () =>
  everyRow(
    [
      ['a requested scrape', {}, { finished: false }],
      ['a scheduled scrape', { parentRunId: 6 }, { finished: false, deletesGonePages: true }],
      ['a scheduled feed', { parentRunId: 6, kind: 'syncFeed' }, { finished: false }],
      ['an ended run', { finishedAt: new Date() }, { finished: true }],
    ] as const,
    ([what]) => what,
    async ([, run, result]) => {
      const { deps, of } = open(run);
      expect(await createRunActivities(deps).beginRun({ runId: 7 })).toEqual(result);
      expect(of('runs.markStarted')).toEqual([[7]]);
      expect(of('files.moveContainer')).toEqual(result.finished ? [] : [[7, 3, { status: 'SYNCING' }]]);
    },
  ));

const reading = (fields: object = {}) => ({
  found: { reading: { etag: '"1"', lastModified: null, fingerprint: 'f', runId: 7, entries: 0, ...fields } },
});
const ALL_READY = { 'files.countRun': { ...COUNTS, ready: 3, failed: 0 } };
const FEEDS: readonly (readonly [what: string, progress: object, answers: Answers, isStored: boolean])[] = [
  ['a complete reading', reading(), ALL_READY, true],
  ['a reading with a date only', reading({ etag: null, lastModified: 'Mon' }), ALL_READY, true],
  ['a reading without validators', reading({ etag: null }), ALL_READY, false],
  ['a failed entry', reading(), {}, false],
  ['an entry with the text of its page', reading(), { ...ALL_READY, 'files.hasPageContent': true }, false],
];
test('a feed may be skipped while it is unchanged only if all its entries are ready and have their text from it', () =>
  everyRow(
    FEEDS,
    ([what]) => what,
    async ([, progress, answers, isStored]) => {
      const { deps, of } = open({ kind: 'syncFeed', progress }, answers);
      await createRunActivities(deps).finishRun({ runId: 7 });
      const last = of('files.moveContainer').at(-1)?.[2] as { readonly feedReading?: object };
      expect(last).toMatchObject({ status: 'READY', synced: true, metadata: { pages_total: 3 } });
      expect(last.feedReading).toEqual(
        isStored
          ? { ...reading().found.reading, ...(progress as ReturnType<typeof reading>).found.reading, entries: 3 }
          : undefined,
      );
    },
  ));

test('a finished run stores its counts; an unchanged feed keeps those of the run that read it', async () => {
  const scrape = open({});
  await createRunActivities(scrape.deps).finishRun({ runId: 7 });
  expect(scrape.of('files.moveContainer').at(-1)?.[2]).toMatchObject({
    metadata: { pages_total: 3, pages_ready: 2, pages_failed: 1, pages_aborted: 0 },
  });
  expect([scrape.of('runs.finish'), scrape.of('frontier.clear')]).toEqual([
    [[7, 'finished', COUNTS, undefined]],
    [[7]],
  ]);
  const feed = open({ kind: 'syncFeed', progress: { found: { unchanged: true } }, parentRunId: 6 });
  await createRunActivities(feed.deps).finishRun({ runId: 7 });
  expect(feed.of('files.moveContainer').at(-1)?.[2]).toEqual({ status: 'READY', metadata: {}, synced: true });
  expect(feed.of('runs.finish')).toEqual([[7, 'finished', { ...COUNTS, synced: 2 }, undefined]]);
});

test('a failed run stores its cause on its container, or on its data source; a later success removes it', async () => {
  const failure = { runId: 7, message: 'It failed.', cause: 'timed_out' as const };
  const ofSite = open({});
  await createRunActivities(ofSite.deps).failRun(failure);
  const moved = { status: 'SYNC_ERROR', message: 'It failed.', cause: 'timed_out' };
  expect([ofSite.of('files.moveContainer'), ofSite.of('dataSources.mergeMetadata')]).toEqual([[[7, 3, moved]], []]);
  expect(ofSite.of('files.abortOpen')).toEqual([[7, 'It failed.', 'run_failed']]);
  expect(ofSite.of('runs.finish')).toEqual([[7, 'failed', COUNTS, { message: 'It failed.', error: 'timed_out' }]]);
  const account = { kind: 'syncSource', fileId: null, dataSourceId: 5, maxTokens: 9 };
  const ofAccount = open(account);
  await createRunActivities(ofAccount.deps).failRun(failure);
  expect(ofAccount.of('dataSources.mergeMetadata').map(([, id, metadata]) => [id, metadata])).toEqual([
    [5, { files_error: 'It failed.' }],
    [5, { files_paused: null }],
  ]);
  expect(ofAccount.of('dataSources.recordFilesSynced').map(([, id]) => id)).toEqual([5]);
  const repeated = open(account);
  await createRunActivities(repeated.deps).finishRun({ runId: 7 });
  expect(repeated.of('dataSources.mergeMetadata').map(([, id, metadata]) => [id, metadata])).toEqual([
    [5, { files_error: null }],
    [5, { files_paused: null }],
  ]);
});

test('recounted statistics are those of the organization of the run, and their event is written once per finished run', async () => {
  const { deps, of } = open({}, { 'files.totalsOfAll': (organizationId: number) => ({ files: organizationId }) });
  const { sumFiles, finishRecount } = createRecountActivities(deps);
  await sumFiles({ runId: 7 });
  expect(of('organizations.setStatistics')).toEqual([[1, { files: 1 }]]);
  for (const outcome of ['failed', 'aborted', 'finished'] as const) await finishRecount({ runId: 7, outcome });
  const event = { kind: 'FILE_STATISTICS_AGGREGATED', organizationId: 1 };
  expect(of('events.write')).toMatchObject([[[event], null, 'recount:7']]);
});

const NOTHING_LEFT: Answers = Object.fromEntries(
  ['vectors', 'chunks', 'contents', 'originals', 'recognizedPages', 'siteBlocks'].map((store) => [
    `${store}.countOf`,
    0,
  ]),
);
function openDelete(request: object, progress: object = {}) {
  const removed: unknown[] = [];
  const { deps, ...recorded } = open(
    { kind: 'deleteFiles', request: { filters: {}, sendWebhook: true, ...request }, progress },
    {
      ...NOTHING_LEFT,
      'files.listDeletable': [4, 5],
      'files.byIds': [4, 5].map((_id) => ({ _id, ...ADA, parentId: 9, vectorSpace: null })),
      'files.parentsOfDelete': [4],
      'schedules.filterScheduledContainers': (_tenant: unknown, ids: readonly number[]) => ids.filter((id) => id !== 4),
    },
  );
  const schedules = { remove: async (ids: unknown) => removed.push(ids) };
  return { ...recorded, removed, activities: createDeleteActivities({ ...(deps as object), schedules } as never) };
}

test('the deletion of files removes their schedules, and writes tombstones before it deletes the files', async () => {
  const { activities, of, names, removed } = openDelete({});
  expect(await activities.deleteBatch({ runId: 7, afterId: 0 })).toEqual({ afterId: 5 });
  expect(removed).toEqual([[scheduleIds.container(5)]]);
  expect(of('selections.skip').map(([tenant, , scheduled]) => [tenant, scheduled])).toEqual([[ADA, new Set([9])]]);
  expect(of('quarantine.expire')).toEqual([[ADA, { parentIds: [4, 5] }]]);
  expect([of('files.remove'), of('files.deleteContent')]).toEqual([[[ADA, 7, [4, 5], true]], []]);
  const order = ['selections.skip', 'files.takeOver', 'files.remove'];
  expect(names().filter((name) => order.includes(name))).toEqual(order);
});

test('files whose records are kept lose their contents only, and get no tombstones', async () => {
  const { activities, of } = openDelete({ preserveFileRecord: true, sendWebhook: false });
  await activities.deleteBatch({ runId: 7, afterId: 0 });
  expect([of('files.deleteContent'), of('files.remove'), of('selections.skip')]).toEqual([
    ...[[[ADA, 7, [4, 5], false]], [], []],
  ]);
});

test('the parents whose children are deleted are stored before the first file is deleted', async () => {
  for (const request of [{ deleteChildren: true }, { filters: { includeAllChildren: true } }]) {
    const first = openDelete(request);
    await first.activities.deleteBatch({ runId: 7, afterId: 0 });
    expect(first.of('runs.saveProgress').map(([, progress]) => progress)).toEqual([{ parents: [4] }]);
    expect(first.of('files.listDeletable')[0]?.[2]).toMatchObject({ parents: [4] });
    // A deleted parent is no longer found, so a later step uses the stored ones.
    const later = openDelete(request, { parents: [8] });
    await later.activities.deleteBatch({ runId: 7, afterId: 5 });
    expect([later.of('files.parentsOfDelete'), later.of('runs.saveProgress')]).toEqual([[], []]);
    expect(later.of('files.listDeletable')[0]?.[2]).toMatchObject({ parents: [8] });
  }
  const plain = openDelete({});
  await plain.activities.deleteBatch({ runId: 7, afterId: 0 });
  expect(plain.of('files.parentsOfDelete')).toEqual([]);
});

test('the deletion of a user stops the other workflows of the user, and is done only when nothing is left', async () => {
  const names = { idOf: (key: string) => `d/${key}` };
  const others = { 'runs.withdrawOthers': ['w', 'x', 'x', 'y'].map((workflowId) => ({ workflowId })) };
  const stopping = open({ kind: 'deleteUser' }, others);
  const { stopUserRuns } = createDeleteUserActivities({ ...(stopping.deps as object), names } as never);
  expect(await stopUserRuns({ runId: 7 })).toEqual({ workflowIds: ['d/x', 'd/y'] });
  expect(stopping.of('runs.withdrawOthers')).toEqual([[ADA, 7, 500]]);
  const nothing = { 'files.ids': [], 'runs.withdrawOthers': [], 'quarantine.hasFiles': false };
  for (const left of [{ 'files.ids': [4] }, { 'runs.withdrawOthers': [{}] }, { 'quarantine.hasFiles': true }, {}]) {
    const { deps, of } = open({ kind: 'deleteUser' }, { ...nothing, ...left });
    const store = {
      ...(deps as { store: object }).store,
      transaction: (work: (session: null) => unknown) => Promise.resolve(work(null)),
    };
    const isLeft = Object.keys(left).length > 0;
    const { finishUserDelete } = createDeleteUserActivities({ ...(deps as object), store, names } as never);
    expect(await finishUserDelete({ runId: 7 })).toEqual({ again: isLeft });
    expect([of('vectors.deleteAll'), of('users.markErased')]).toEqual(isLeft ? [[], []] : [[[ADA]], [[ADA, null]]]);
    const event = { kind: 'ORGANIZATION_USER_DELETED', objectId: '2' };
    expect(of('events.write')).toMatchObject(isLeft ? [] : [[[event], null, 'user-deleted:7']]);
  }
});
