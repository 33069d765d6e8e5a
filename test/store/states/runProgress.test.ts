/** What is read about the files of a run, for a file in each state. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Connection } from 'mongoose';

import { createIndexes } from '../../../store/database/driver.js';
import { createRunProgress, type RunProgress } from '../../../store/files/runProgress.js';
import { type FileDoc, fileModel } from '../../../store/models/files.js';
import { ADA, AGO, AHEAD, dropDatabase, NOW, openDatabase, seed, sorted } from './writes.js';

const [RUN, OTHER] = [71, 72];
const STATES: Readonly<Record<string, Partial<FileDoc>>> = {
  queued: { syncStatus: 'QUEUED_FOR_SYNC' },
  due: { syncStatus: 'RATE_LIMITED', notBefore: AGO },
  later: { syncStatus: 'RATE_LIMITED', notBefore: AHEAD },
  syncing: { syncStatus: 'SYNCING' },
  inOcr: { syncStatus: 'QUEUED_FOR_OCR' },
  evaluated: { syncStatus: 'EVALUATING_RESYNC' },
  delayed: { syncStatus: 'DELAYED' },
  synced: { syncStatus: 'READY', cleanupPending: true, lastSync: NOW },
  unchanged: { syncStatus: 'READY', lastSync: AGO },
  skipped: { syncStatus: 'READY_TO_SYNC', cleanupPending: true },
  failed: { syncStatus: 'SYNC_ERROR', cleanupPending: true },
  aborted: { syncStatus: 'SYNC_ABORTED', generation: 1, lastGeneration: 2 },
  abortedUnread: { syncStatus: 'SYNC_ABORTED', generation: 1, lastGeneration: 1 },
  container: { syncStatus: 'SYNCING', isContainer: true },
  syncingOther: { syncStatus: 'SYNCING', runId: OTHER },
  syncedOther: { syncStatus: 'READY', runId: OTHER, cleanupPending: true, lastSync: AHEAD },
  abortedOther: { syncStatus: 'SYNC_ABORTED', runId: OTHER, generation: 1, lastGeneration: 2 },
};

let connection: Connection;
let progress: RunProgress;
let ids: ReadonlyMap<string, number>;
const id = (name: string): number => ids.get(name)!;
const names = (found: readonly (number | { readonly _id: number })[]): string[] => {
  const nameOf = new Map([...ids].map(([name, _id]) => [_id, name]));
  return found.map((one) => nameOf.get(typeof one === 'number' ? one : one._id) ?? 'unknown');
};

beforeAll(async () => {
  connection = await openDatabase();
  const files = fileModel(connection);
  await createIndexes(files);
  progress = createRunProgress(files);
  const blank = new files().toObject({ minimize: false });
  ids = await seed(
    files,
    (_id) => ({
      ...blank,
      ...ADA,
      source: 'BOX',
      externalFileId: `${_id}`,
      runId: RUN,
      createdAt: AGO,
      updatedAt: AGO,
    }),
    STATES,
  );
});
afterAll(() => dropDatabase(connection));

test('a run continues with its due files after a cursor, in the order of their ids', async () => {
  const due = async (afterId: number, limit: number, now: Date) =>
    names(await progress.listDue(RUN, afterId, limit, now));
  expect(await due(0, 100, NOW)).toEqual(['queued', 'due', 'syncing', 'inOcr', 'evaluated']);
  expect(await due(id('queued'), 2, NOW)).toEqual(['due', 'syncing']);
  expect(await due(0, 2, AGO)).toEqual(['queued', 'due']);
  expect(await due(0, 2, new Date(AGO.getTime() - 1))).toEqual(['queued', 'syncing']);
  expect(await due(0, 100, AHEAD)).toContain('later');
});

test('the next due time of a run is that of its earliest unfinished file', async () => {
  expect(await progress.nextDueTime(RUN)).toEqual(new Date(0));
  expect(await progress.nextDueTime(99)).toBeNull();
  const files = fileModel(connection);
  const active = sorted('queued syncing inOcr evaluated').map(id);
  await files.updateMany({ _id: { $in: active } }, { $set: { notBefore: AHEAD } });
  try {
    expect(await progress.nextDueTime(RUN)).toEqual(AGO);
  } finally {
    await files.updateMany({ _id: { $in: active } }, { $set: { notBefore: null } });
  }
  expect([await progress.hasDelayed(RUN), await progress.hasDelayed(OTHER)]).toEqual([true, false]);
});

test('the files of a batch and of a run are counted by their states, without those of another run', async () => {
  const batch = [...ids.keys()].filter((name) => name !== 'container').map(id);
  expect(await progress.outcomes(RUN, batch)).toEqual({ ready: 3, failed: 3, requeued: 7, superseded: 3 });
  expect(await progress.outcomes(RUN, [id('synced'), 999_999])).toMatchObject({ ready: 1, superseded: 1 });
  expect(await progress.countRun(RUN)).toEqual({ total: 13, ready: 3, failed: 1, aborted: 2, open: 7 });
  // The files that were synced since the time, and those that failed or were aborted. `unchanged` was synced earlier.
  expect(await progress.countSynced({ _id: RUN, acceptedAt: NOW })).toBe(4);
  expect(await progress.countSynced({ _id: RUN, acceptedAt: new Date(NOW.getTime() + 1) })).toBe(3);
  expect(names(await progress.listReady([RUN]))).toEqual(['synced', 'unchanged']);
  expect(names(await progress.listReady([RUN, OTHER])).toSorted()).toEqual(sorted('synced unchanged syncedOther'));
});

test('finds READY files of runs and any files of a batch with pending cleanup, and aborted files with an unpublished generation', async () => {
  expect(names(await progress.listNeedingCleanUp([RUN], 10))).toEqual(['synced']);
  expect(await progress.listNeedingCleanUp([RUN, OTHER], 1)).toHaveLength(1);
  const batch = sorted('synced failed unchanged syncedOther').map((name) => ({ runId: RUN, fileId: id(name) }));
  expect(names(await progress.filterNeedingCleanUp(batch)).toSorted()).toEqual(sorted('synced failed'));
  expect(names(await progress.listAbortedAttempts(RUN, 0, 10))).toEqual(['aborted']);
  expect(await progress.listAbortedAttempts(RUN, id('aborted'), 10)).toEqual([]);
});

test('findSyncing() finds only a file that the run has started and not ended', async () => {
  const found = [];
  for (const [name, _id] of ids) if (await progress.findSyncing(RUN, _id)) found.push(name);
  expect(found).toEqual(['syncing', 'container']);
});

test('hasPageContent() returns whether the content of any file of the run is from its page, not a feed entry', async () => {
  const files = fileModel(connection);
  await files.updateOne({ _id: id('syncedOther') }, { $set: { 'fileMetadata.content_from': 'page' } });
  await files.updateOne({ _id: id('synced') }, { $set: { 'fileMetadata.content_from': 'entry' } });
  expect([await progress.hasPageContent(RUN), await progress.hasPageContent(OTHER)]).toEqual([false, true]);
});
