/** What the end of a run emits, and what is read about ended, active and stalled runs. */
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import type { Connection, Model } from 'mongoose';

import { NO_TALLY } from '../../../contract/runs/ledger.js';
import { createIndexes } from '../../../store/database/driver.js';
import { createSequence } from '../../../store/database/sequence.js';
import { transaction } from '../../../store/database/timeLimits.js';
import type { Atomically } from '../../../store/events/events.js';
import { type FileDoc, fileModel } from '../../../store/models/files.js';
import { type RunDoc, runModel } from '../../../store/models/runs.js';
import { createHeldRuns } from '../../../store/runs/held.js';
import { createRunHistory } from '../../../store/runs/history.js';
import { createRuns, type Runs } from '../../../store/runs/outbox.js';
import { createRunRates } from '../../../store/runs/rates.js';
import { createScheduledSyncs } from '../../../store/runs/scheduledSyncs.js';
import { createStalls } from '../../../store/runs/stalls.js';
import { createUploadStreams, type UploadStreams } from '../../../store/runs/uploadStreams.js';
import { everyRow } from '../../support/everyRow.js';
import { ADA, AGO, AHEAD, dropDatabase, NOW, openDatabase, seed, STRANGERS, withoutTransaction } from './writes.js';

let connection: Connection;
let runs: Model<RunDoc>;
let files: Model<FileDoc>;
let outbox: Runs;
let streams: UploadStreams;
const written: { kind: string; objectId: unknown }[] = [];
let counts = {};

beforeAll(async () => {
  connection = await openDatabase();
  runs = runModel(connection);
  files = fileModel(connection);
  await createIndexes(runs);
  await createIndexes(files);
  const events = { write: (some: typeof written) => Promise.resolve(void written.push(...some)) } as never;
  const ledger = {
    close: () => Promise.resolve({ ...NO_TALLY, ok: 2 }),
    closeMany: (_tenant: unknown, ended: readonly RunDoc[]) =>
      Promise.resolve(new Map(ended.map(({ _id }) => [_id, { tally: { ...NO_TALLY, ok: _id }, counts }]))),
    expiry: () => AHEAD,
  } as never;
  const atomically: Atomically = (work) => transaction(connection, work, null);
  const shared = { runs, atomically, events, ledger };
  outbox = createRuns({ ...shared, sequence: createSequence(connection), traceparent: () => 'trace' });
  const finishOne = (run: RunDoc, ofRun: Record<string, number>) => outbox.finish(run._id, 'finished', ofRun);
  streams = createUploadStreams({ ...shared, files, finishOne });
});
beforeEach(() => {
  written.length = 0;
  counts = {};
});
afterAll(() => dropDatabase(connection));

const seedRuns = (states: Readonly<Record<string, object>>, common: object = {}) =>
  seed(
    runs,
    (id) => ({
      ...{ ...ADA, kind: 'scrapeSitemap', workflowId: `w${id}`, requestId: `r${id}`, request: {}, progress: {} },
      ...{ acceptedAt: AGO, startedAt: AGO, finishedAt: null, outcome: null, counts: {}, held: false, ...common },
    }),
    states,
  );
const nameIn = (ids: ReadonlyMap<string, number>) => {
  const nameOf = new Map([...ids].map(([name, id]) => [id, name]));
  return ({ _id }: { readonly _id: number }) => nameOf.get(_id) ?? 'unknown';
};

test('the end of a requested sync has one event, and that of a scheduled sync has two if it has synced files', () =>
  everyRow(
    [
      [{}, {}, ['ALL_FILES_PROCESSED']],
      [{ kind: 'syncUpload' }, {}, ['ALL_FILES_PROCESSED']],
      // A part of a scheduled sync.
      [{ parentRunId: 5, part: 'p' }, { synced: 2 }, []],
      [{ kind: 'deleteFiles' }, {}, []],
      [{ kind: 'autoSync' }, {}, []],
      [{ kind: 'autoSync' }, { synced: 0 }, []],
      [{ kind: 'autoSync' }, { synced: 1 }, ['ALL_UPLOADED_FILES_QUEUED', 'ALL_FILES_PROCESSED']],
    ] as const,
    JSON.stringify,
    async ([fields, ofRun, kinds]) => {
      const [id] = (await seedRuns({ one: fields })).values();
      written.length = 0;
      await outbox.finish(id!, 'finished', ofRun, { message: 'm', error: 'timed_out' } as never);
      await outbox.finish(id!, 'failed', ofRun);
      expect(written.map(({ kind, objectId }) => [kind, objectId])).toEqual(kinds.map((kind) => [kind, `r${id}`]));
      expect(await outbox.find(id!)).toMatchObject({
        ...{ outcome: 'finished', counts: ofRun, tally: { ok: 2 }, message: 'm', error: 'timed_out', expiresAt: AHEAD },
      });
    },
  ));

test('uploads that end together each have an event and their own counts, and those that another process ended none', async () => {
  const ids = await seedRuns({ one: {}, two: {}, ended: {} }, { kind: 'syncUpload', stream: true });
  const [one, two, ended] = [...ids.values()];
  counts = { total: 1, ready: 1 };
  const read = await runs.find().sort({ _id: 1 }).lean<RunDoc[]>();
  await streams.finish(ADA, read.slice(0, 2));
  expect(written.map(({ kind, objectId }) => [kind, objectId])).toEqual([
    ['ALL_FILES_PROCESSED', `r${one}`],
    ['ALL_FILES_PROCESSED', `r${two}`],
  ]);
  expect(await outbox.find(two!)).toMatchObject({ tally: { ok: two }, counts, outcome: 'finished', expiresAt: AHEAD });
  // The runs were read before their end: only the third is ended now.
  written.length = 0;
  await streams.finish(ADA, read);
  expect(written.map(({ objectId }) => objectId)).toEqual([`r${ended}`]);
  expect(await outbox.find(ended!)).toMatchObject({ outcome: 'finished', counts });
});

test('an upload that leaves the shared workflow of uploads is due at once, and its files get the id of its own', async () => {
  const ids = await seedRuns({ one: {}, other: {} }, { kind: 'syncUpload', stream: true, nextTryAt: AHEAD });
  const [one, other] = [...ids.values()];
  const blank = new files().toObject({ minimize: false });
  const states = {
    ...{ own: { runId: one }, started: { runId: one, syncStatus: 'SYNCING', notBefore: AHEAD } },
    ...{ ofOther: { runId: other }, done: { runId: one, syncStatus: 'READY' } },
    ...{ foreign: { runId: one, userId: 8 }, folder: { runId: one, isContainer: true } },
  };
  const fileIds = await seed(
    files,
    (id) => ({ ...blank, ...ADA, source: 'TXT', externalFileId: `${id}`, syncStatus: 'DELAYED', workflowId: 'stream' }),
    states,
  );
  const open = await streams.listOpenFiles(ADA, [one!, other!]);
  expect(open).toEqual([
    { fileId: fileIds.get('own'), runId: one, notBefore: null, syncStatus: 'DELAYED' },
    { fileId: fileIds.get('started'), runId: one, notBefore: AHEAD, syncStatus: 'SYNCING' },
    { fileId: fileIds.get('ofOther'), runId: other, notBefore: null, syncStatus: 'DELAYED' },
  ]);
  for (const stranger of STRANGERS.slice(1)) expect(await streams.listOpenFiles(stranger, [one!])).toEqual([]);
  await streams.moveToOwnWorkflow((await outbox.find(one!))!, 'own');
  const moved = (await outbox.find(one!))!;
  expect(moved).toMatchObject({ workflowId: 'own', startedAt: null });
  expect([moved.stream, moved.nextTryAt.getTime() <= Date.now()]).toEqual([undefined, true]);
  const workflows = (await files.find().sort({ _id: 1 }).lean()).map(({ workflowId }) => workflowId);
  expect(workflows).toEqual(['own', 'own', 'stream', 'own', 'stream', 'own']);
});

test('a new run is due after a grace period, but not if it waits for queue space or the shared upload workflow', () => {
  const work = { kind: 'syncUpload', workflowId: 'w', owner: ADA, fileId: 3, requestId: 'r' } as const;
  const draft = (fields: object) => outbox.draft(9, { ...work, ...fields });
  const run = draft({});
  expect(run).toMatchObject({ ...ADA, _id: 9, cause: 'request', startedAt: null, traceparent: 'trace' });
  expect(run.nextTryAt.getTime() - run.acceptedAt.getTime()).toBe(3_000);
  expect([run.maxTokens, run.stream]).toEqual([undefined, undefined]);
  for (const waiting of [draft({ held: true }), draft({ stream: { bytes: 7 } })])
    expect(waiting.nextTryAt.getTime()).toBeGreaterThan(Date.now() + 1e12);
  expect(draft({ stream: { bytes: 7 } })).toMatchObject({ stream: true, bytes: 7 });
  expect(draft({ maxTokens: 0 })).toMatchObject({ maxTokens: 0, tokensTaken: 0 });
  const begun = draft({ begun: { parentRunId: 5, part: 'p' } });
  expect(begun).toMatchObject({ cause: 'schedule', parentRunId: 5, part: 'p', startedAt: begun.acceptedAt });
});

test('the rate of a kind of run is that of its last twenty finished runs with files', async () => {
  const seconds = (number: number, fields: object = {}) => ({
    ...{ finishedAt: new Date(AGO.getTime() + number * 1_000), outcome: 'finished', counts: { total: 2 }, ...fields },
  });
  const states = {
    ...{ failed: seconds(500, { outcome: 'failed' }), empty: seconds(500, { counts: { total: 0 } }) },
    ...{ limited: seconds(500, { maxTokens: 9 }), otherKind: seconds(500, { kind: 'webScrape' }) },
    ...{ foreign: seconds(500, { userId: 8 }), otherOrganization: seconds(500, { organizationId: 2 }) },
    ...{ active: { counts: { total: 9 } } },
  };
  const rates = createRunRates(runs);
  await seedRuns({ ...states, one: seconds(10), two: seconds(20, { counts: { total: 5 } }) });
  expect(await rates.rateOf(ADA, 'scrapeSitemap')).toEqual({ runs: 2, files: 7, seconds: 30 });
  expect(await rates.rateOf(ADA, 'syncFeed')).toBeNull();
  const many = Array.from({ length: 21 }, (_, nth) => [
    ...[`run ${nth}`, seconds(nth === 0 ? 500 : 1, { acceptedAt: new Date(AGO.getTime() + nth) })],
  ]);
  await seedRuns(Object.fromEntries(many) as never);
  expect(await rates.rateOf(ADA, 'scrapeSitemap')).toEqual({ runs: 20, files: 40, seconds: 20 });
});

test('the runs of a source are listed with the latest first, and the parts of a scheduled sync in their order', async () => {
  const ids = await seedRuns({
    ...{ first: { dataSourceId: 40 }, last: { dataSourceId: 40, acceptedAt: AHEAD, kind: 'syncItems' } },
    ...{ middle: { dataSourceId: 40, acceptedAt: NOW }, ofOther: { dataSourceId: 41 } },
    ...{ lastPart: { parentRunId: 5, part: 'b', acceptedAt: NOW }, firstPart: { parentRunId: 5, part: 'a' } },
    ...{ child: { parentRunId: 5 }, partOfOther: { parentRunId: 6, part: 'a' }, executed: { temporalRunId: 't1' } },
  });
  const name = nameIn(ids);
  const history = createRunHistory(runs);
  const all = await history.listOfSource(40, 10);
  expect(all.map(name)).toEqual(['last', 'middle', 'first']);
  expect(all[0]).not.toHaveProperty('request');
  expect((await history.listOfSource(40, 1)).map(name)).toEqual(['last']);
  expect((await history.listOfSource(40, 9, 'scrapeSitemap')).map(name)).toEqual(['middle', 'first']);
  const syncs = createScheduledSyncs(runs);
  expect((await syncs.listParts(5)).map(name)).toEqual(['firstPart', 'lastPart']);
  expect([(await syncs.findByTemporalRunId('t1'))?._id, await syncs.findByTemporalRunId('t2')]).toEqual([
    ...[ids.get('executed'), null],
  ]);
});

test('stalled runs are grouped by cause, the most frequent first, each group with its earliest stall', async () => {
  const stall = (cause: string, since: Date, fields: object = {}) => ({
    ...{ stall: { cause, message: `since ${since.getTime()}`, since }, ...fields },
  });
  const ids = await seedRuns({
    ...{ later: stall('no_worker', NOW), first: stall('no_worker', AGO), other: stall('qdrant_down', AGO) },
    ...{ ended: stall('qdrant_down', AGO, { finishedAt: NOW }), running: {} },
    foreign: stall('qdrant_down', AGO, { organizationId: 2 }),
  });
  const stalls = createStalls(runs, files);
  const noWorker = { cause: 'no_worker', runs: 2, message: `since ${AGO.getTime()}`, since: AGO };
  const qdrant = (number: number) => ({ ...noWorker, cause: 'qdrant_down', runs: number });
  expect(await stalls.groupByCause(1)).toEqual([noWorker, qdrant(1)]);
  expect((await stalls.groupByCause()).toSorted((a, b) => (a.cause < b.cause ? -1 : 1))).toEqual([noWorker, qdrant(2)]);
  expect(await stalls.groupByCause(3)).toEqual([]);
  // The same cause keeps its start; another one ends the earlier stall.
  const id = ids.get('first')!;
  const record = (cause: string, message: string, since: Date) => stalls.record(id, { cause, message, since } as never);
  await record('no_worker', 'again', NOW);
  expect((await outbox.find(id))!.stall).toEqual({ cause: 'no_worker', message: 'again', since: AGO });
  for (let nth = 0; nth < 21; nth += 1) await record(nth % 2 === 0 ? 'qdrant_down' : 'no_worker', `${nth}`, NOW);
  await stalls.clear(id);
  const past = (await outbox.find(id))!.stalls!;
  expect(past.map(({ message }) => message)).toEqual(Array.from({ length: 20 }, (_, nth) => `${nth + 1}`));
  expect(past.at(-1)).toMatchObject({ cause: 'qdrant_down', since: NOW, until: expect.any(Date) });
});

test('the release of an upload queues its file, without an error message; the files of other runs wait', async () => {
  const waiting = { held: true, startedAt: null, kind: 'syncUpload' };
  const ids = await seedRuns({ first: waiting, second: waiting, ofBen: { ...waiting, userId: 8 } });
  const [first, second, ofBen] = [...ids.values()];
  const blank = new files().toObject({ minimize: false });
  const states = {
    ...{ first: { runId: first }, second: { runId: second }, ofBen: { runId: ofBen, userId: 8 } },
    ...{ restarted: { runId: 99 } },
  };
  const fileIds = await seed(
    files,
    (id) => ({
      ...blank,
      ...ADA,
      source: 'TXT',
      externalFileId: `${id}`,
      syncStatus: 'DELAYED',
      syncErrorMessage: 'full',
    }),
    states,
  );
  for (const name of ['first', 'second', 'ofBen'])
    await runs.updateOne({ _id: ids.get(name)! }, { $set: { fileId: fileIds.get(name)! } });
  const requested: unknown[] = [];
  const queue = {
    freeUploadSlots: (tenant: { userId: number }, number: number) => {
      requested.push([tenant.userId, number]);
      return Promise.resolve(tenant.userId === 8 ? 0 : 1);
    },
  };
  await createHeldRuns(runs, files, queue, withoutTransaction).releaseHeld();
  expect(new Set(requested)).toEqual(
    new Set([
      [7, 2],
      [8, 1],
    ]),
  );
  const shown = (await files.find().sort({ _id: 1 }).lean()).map(({ syncStatus, syncErrorMessage }) => [
    ...[syncStatus, syncErrorMessage],
  ]);
  expect(shown).toEqual([['QUEUED_FOR_SYNC', null], ...Array.from({ length: 3 }, () => ['DELAYED', 'full'])]);
  expect((await runs.find().sort({ _id: 1 }).lean()).map(({ held }) => held)).toEqual([false, true, true]);
});

test('users with open runs are counted once each', async () => {
  await seedRuns({
    one: {},
    two: {},
    ofBen: { userId: 8 },
    ended: { userId: 9, finishedAt: NOW },
    foreign: { organizationId: 2 },
  });
  expect([await outbox.countUsersWithOpenRuns(1), await outbox.countUsersWithOpenRuns(3)]).toEqual([2, 0]);
});
