import { afterAll, beforeAll, expect, test } from '@jest/globals';
import mongoose, { type Connection } from 'mongoose';

import { loadConfig, storeSettings } from '../../config/config.js';
import { DEFAULT_INGEST_OPTIONS } from '../../contract/files/ingestOptions.js';
import { BEING_DELETED } from '../../contract/runs/reembed.js';
import { connectStore, type Store } from '../../store/connect.js';
import type { FileRequest } from '../../store/files/acceptance/request.js';
import { type FileDoc, fileModel, type SyncedContent } from '../../store/models/files.js';
import { openModels } from '../../store/models/openModels.js';
import { type Transition, TRANSITIONS, transitionEvents } from '../../store/files/transitions.js';
import { seededRandom } from '../support/seed.js';
import { seedFiles } from '../support/seedFiles.js';
import { isThorough } from '../support/thorough.js';
import { startService, type TestService } from '../support/service.js';

const ADA = { organizationId: 1, userId: 7, customerId: 'ada' };
const FOREIGN = { ...ADA, organizationId: 2 };
const SOURCE = 40;
const RUNS = [71, 72] as const;
const [PAGES, CONTAINERS] = [6, 2];
const MESSAGE = 'It could not be read.';
const CAUSE = 'timed_out';
const MOVE = { runId: 9, token: 'try' };
const STEPS = isThorough() ? 3_000 : 120;
const UNLIMITED = { max_files: null, max_characters: null };

let service: TestService;
let connection: Connection;
let connected: Store;
/** Numbers of files whose sync has ended since the last call of newEnds, by state. */
const ended = new Map<string, number>();
beforeAll(async () => {
  service = await startService({ LOG_LEVEL: 'silent', TEMPORAL_ADDRESS: '127.0.0.1:1' }, { worker: false });
  connection = await mongoose.createConnection(service.env['MONGODB_URI'] ?? '').asPromise();
  connected = await connectStore({
    ...storeSettings(loadConfig(service.env)),
    onFilesEnded: (status, count) => void ended.set(status, (ended.get(status) ?? 0) + count),
  });
  await seedFiles(
    service,
    ADA,
    Array.from({ length: PAGES + CONTAINERS }, (_, nth) => ({
      id: nth + 1,
      fields: {
        syncStatus: 'QUEUED_FOR_SYNC' as const,
        isContainer: nth >= PAGES,
        generation: nth % 2,
        lastGeneration: nth % 2,
        dataSourceId: SOURCE,
        accountId: SOURCE,
        uploadId: null,
        requestId: `request-${nth}`,
        runId: RUNS[nth % 2] ?? null,
        options: { ...DEFAULT_INGEST_OPTIONS, generateSparseVectors: nth % 3 === 0 },
      },
    })),
  );
});
afterAll(async () => {
  await Promise.all([connection.close(), connected.close()]);
  await service.close();
});

/** One call of the store, and the transitions it may apply. */
interface Operation {
  readonly rows: readonly Transition[];
  readonly call: (file: FileDoc, runId: number) => Promise<unknown>;
  /** Whether the call affects a file, apart from the conditions of the transition. Unset: only the file of the call. */
  readonly isApplicable?: (file: FileDoc, called: FileDoc) => boolean;
  /** Chooses the transition for a file if there are several. */
  readonly rowOf?: (file: FileDoc) => Transition;
  /** Key under which the events are written once. */
  readonly once?: (runId: number) => string;
  readonly message?: string | null;
}

const isEvaluated = ({ syncStatus }: FileDoc): boolean => syncStatus === 'EVALUATING_RESYNC';
const isBeingDeleted = ({ syncErrorMessage }: FileDoc): boolean => syncErrorMessage === BEING_DELETED;
const cost = { millis: 1 } as never;
const container = (file: FileDoc, { _id, isContainer }: FileDoc): boolean => isContainer && file._id === _id;
const page = (file: FileDoc, { _id, isContainer }: FileDoc): boolean => !isContainer && file._id === _id;
const resyncOf = (runId: number) => ({ runId, workflowId: 'again', requestId: `again-${runId}` });
const request = (file: FileDoc, runId: number, isScheduled: boolean): FileRequest => ({
  ...{ source: file.source, externalFileId: file.externalFileId, externalUrl: null, name: null, parentId: null },
  ...{ isContainer: file.isContainer, accountId: SOURCE, tags: {}, options: file.options, sourceOptions: null },
  ...{ enableAutoSync: null, isScheduled, requestId: `accept-${runId}`, runId, workflowOf: () => 'accepted' },
});
const files = () => fileModel(connection);
const store = () => connected;

const OPERATIONS: readonly Operation[] = [
  { rows: ['start'], call: ({ _id }, runId) => store().files.start(runId, [_id]) },
  { rows: ['startChanged'], call: ({ _id }, runId) => store().files.startChanged(runId, [_id]) },
  {
    rows: ['finish'],
    call: (file, runId) =>
      store().files.finish([
        {
          ...{ runId, file, name: null, fileMetadata: {}, tagsRevision: file.tagsRevision ?? null, cost },
          content: { generation: file.lastGeneration } as SyncedContent,
        },
      ]),
  },
  {
    rows: ['finishUnchanged', 'keepEvaluated'],
    rowOf: (file) => (isEvaluated(file) ? 'keepEvaluated' : 'finishUnchanged'),
    call: (file, runId) => store().files.finishUnchanged([{ runId, file, generation: file.lastGeneration, cost }]),
  },
  { rows: ['skipContent'], call: ({ _id }, runId) => store().files.skipContent(runId, _id) },
  {
    rows: ['fail'],
    message: MESSAGE,
    call: ({ _id }, runId) =>
      store().files.fail(runId, _id, MESSAGE, { as: 'failed', at: 'fetch', cause: CAUSE } as never),
  },
  { rows: ['requeue'], call: ({ _id }, runId) => store().files.requeue(runId, _id, new Date(), MESSAGE) },
  {
    rows: ['limit'],
    message: MESSAGE,
    call: ({ _id }, runId) => store().files.limit(runId, _id, new Date(), MESSAGE, true),
  },
  {
    rows: ['delay'],
    once: (runId) => `limit:${runId}`,
    call: ({ _id }, runId) => store().files.delay(runId, _id, MESSAGE),
  },
  { rows: ['deferToOcr'], call: ({ _id }, runId) => store().files.defer(runId, _id, [1]) },
  { rows: ['release'], call: ({ _id }, runId) => store().files.release(runId, [_id]) },
  {
    rows: ['abort', 'endEvaluation'],
    isApplicable: () => true,
    message: MESSAGE,
    rowOf: (file) => (isEvaluated(file) ? 'endEvaluation' : 'abort'),
    call: (_file, runId) => store().files.abortOpen(runId, MESSAGE, 'cancelled'),
  },
  { rows: ['endEvaluation'], call: ({ _id }, runId) => store().files.endEvaluation(runId, _id) },
  {
    rows: ['abortQueued', 'endEvaluationsOfSource'],
    isApplicable: () => true,
    message:
      'Access to the data source was revoked before this file was synced. Connect the data source again, then resync.',
    rowOf: (file) => (isEvaluated(file) ? 'endEvaluationsOfSource' : 'abortQueued'),
    call: () => store().files.abortQueuedOf({ ...ADA, _id: SOURCE }),
  },
  {
    rows: ['queueAgain'],
    call: (file, runId) => store().files.queueAgain(ADA, file, { ...resyncOf(runId), options: file.options }, null),
  },
  {
    rows: ['queueAgain'],
    isApplicable: (file, called) => page(file, called) && !isBeingDeleted(file),
    call: ({ _id }, runId) => store().files.retry(ADA, [_id], false, resyncOf(runId), null),
  },
  {
    rows: ['scheduledEvaluate', 'scheduledQueue'],
    isApplicable: ({ _id, ...file }, called) => _id === called._id && !isBeingDeleted({ _id, ...file }),
    rowOf: ({ syncStatus, generation }) =>
      syncStatus === 'READY' && generation > 0 ? 'scheduledEvaluate' : 'scheduledQueue',
    call: (file, runId) => store().files.acceptMany(ADA, [request(file, runId, true)]),
  },
  { rows: ['accept'], call: (file, runId) => store().files.acceptMany(ADA, [request(file, runId, false)]) },
  {
    rows: ['delayNewest', 'releaseDelayed'],
    // Files with content already count, so they continue although the limit is exceeded.
    rowOf: ({ syncStatus }) => (syncStatus === 'DELAYED' ? 'releaseDelayed' : 'delayNewest'),
    isApplicable: ({ isContainer, generation, syncStatus }) =>
      !isContainer && generation > 0 === (syncStatus === 'DELAYED'),
    // Below the number of files of any run, so all new files are delayed.
    call: (_file, runId) => store().limits.applyLimits(ADA, runId, { ...UNLIMITED, max_files: -100 } as never),
  },
  {
    rows: ['releaseDelayed'],
    isApplicable: () => true,
    call: (_file, runId) => store().limits.applyLimits(ADA, runId, UNLIMITED as never),
  },
  ...(
    [
      ['containerStart', { status: 'SYNCING' }],
      ['containerDiscovered', { status: 'SYNCING', discovered: true }],
      ['containerPause', { status: 'QUEUED_FOR_SYNC', message: MESSAGE }],
      ['containerFinish', { status: 'READY' }],
      ['containerFail', { status: 'SYNC_ERROR', message: MESSAGE, cause: CAUSE }],
    ] as const
  ).map(([row, change]): Operation => ({
    rows: [row],
    isApplicable: container,
    message: 'message' in change ? change.message : null,
    ...(row === 'containerDiscovered' && { once: (runId: number) => `discovered:${runId}` }),
    call: ({ _id }, runId) => store().files.moveContainer(runId, _id, change as never),
  })),
  {
    rows: ['loseVectors'],
    message: MESSAGE,
    isApplicable: (file, called) => file._id === called._id && file.syncErrorMessage !== MESSAGE,
    call: async ({ _id }) => {
      await files().updateOne({ _id }, { $set: { move: MOVE } });
      await store().moves.markVectorsLost({ ...ADA, ...MOVE, requestId: 'move', workflowId: 'moving' }, _id, MESSAGE);
    },
  },
  { rows: ['takeOverForDelete'], call: ({ _id }, runId) => store().files.takeOver(ADA, runId, 'deleting', [_id]) },
  {
    rows: ['empty'],
    isApplicable: (file, called) => file._id === called._id && isBeingDeleted(file),
    call: ({ _id }, runId) => store().files.deleteContent(ADA, runId, [_id], true),
  },
];

/** Transitions that end the sync of a file. */
const ENDS: readonly Transition[] = [
  'finish',
  'finishUnchanged',
  'keepEvaluated',
  'skipContent',
  'fail',
  'abort',
  'abortQueued',
];

/** Transitions covered by other suites: new records, full queues, and files restored from quarantine. */
const COVERED_ELSEWHERE: readonly Transition[] = [
  ...(['create', 'createDelayed', 'restore', 'restoreUnread', 'restoreFailed'] as const),
  ...(['acceptDelayed', 'scheduledDelay', 'releaseHeld'] as const),
];

const ALL = { sort: { _id: 1 } } as const;
const read = () =>
  files()
    .find({ ...ADA }, null, ALL)
    .lean<FileDoc[]>();
/** Returns and deletes the events since the last call, one entry per object. Events written once are not deleted. */
async function newEvents(): Promise<string[]> {
  const events = connection.collection<{
    _id: string;
    events: readonly { kind: string; objectId: string | string[] }[];
  }>('events');
  const rows = (await events.find().toArray()).filter(({ _id }) => !onceSeen.has(_id));
  for (const { _id } of rows) if (/^(?:limit|discovered):/.test(_id)) onceSeen.add(_id);
  await events.deleteMany({ _id: { $nin: [...onceSeen] } });
  return rows.flatMap((row) =>
    row.events.flatMap(({ kind, objectId }) => [objectId].flat().map((id) => `${kind} ${id}`)),
  );
}
const onceSeen = new Set<string>();
function newEnds(): Record<string, number> {
  const counts = Object.fromEntries(ended);
  ended.clear();
  return counts;
}

/** Returns the transition that a call must apply to a file; null: the state must not change. */
function transitionOf(
  { operation, file: called, runId }: { operation: Operation; file: FileDoc; runId: number },
  file: FileDoc,
): Transition | null {
  const name = operation.rowOf?.(file) ?? operation.rows[0] ?? 'start';
  const from: readonly string[] = TRANSITIONS[name].from;
  const isApplicable = operation.isApplicable?.(file, called) ?? file._id === called._id;
  const isOwned = (TRANSITIONS[name].by === 'tenant' && name !== 'empty') || file.runId === runId;
  return isApplicable && isOwned && from.includes(file.syncStatus) ? name : null;
}

test('random operations apply only transitions of the table, with each event and each end of a sync exactly once', async () => {
  const chance = seededRandom('fileTransitions');
  const applied = new Map<Transition, number>();
  const reachable = (Object.keys(TRANSITIONS) as Transition[]).filter((name) => !COVERED_ELSEWHERE.includes(name));
  const onceWritten = new Set<string>();
  await newEvents();
  let filesBefore = await read();
  const isMissing = (name: Transition): boolean => !applied.has(name);
  // Random sequences reach some states late, so the test continues until each transition was applied.
  for (let step = 0; step < STEPS || (step < 5 * STEPS && reachable.some(isMissing)); step += 1) {
    // A quarter of the steps call any operation, which mostly changes nothing. The other steps apply the transition
    // that was applied least often so far.
    const calls = OPERATIONS.flatMap((operation) =>
      filesBefore.map((file) => ({ operation, file, runId: file.runId ?? 0 })),
    );
    const effective = calls.flatMap((call) => {
      const name = transitionOf(call, call.file);
      return name === null ? [] : [{ call, times: applied.get(name) ?? 0 }];
    });
    const fewest = Math.min(...effective.map(({ times }) => times));
    const isAny = chance.below(4) === 0;
    const call = chance.pick(
      isAny ? calls : effective.flatMap(({ call: storeCall, times }) => (times === fewest ? [storeCall] : [])),
    );
    const { operation, file } = call;
    const runId = isAny ? chance.pick(RUNS) : call.runId;
    const expected: string[] = [];
    const expectedEnds: Record<string, number> = {};
    const states = filesBefore.map((one) => {
      const name = transitionOf({ operation, file, runId }, one);
      if (name === null) return one.syncStatus;
      applied.set(name, (applied.get(name) ?? 0) + 1);
      const { to } = TRANSITIONS[name];
      if (ENDS.includes(name)) expectedEnds[to] = (expectedEnds[to] ?? 0) + 1;
      const key = operation.once?.(runId);
      const detail = { message: operation.message ?? null };
      if (key === undefined || !onceWritten.has(key))
        for (const { kind, objectId } of transitionEvents(name, [one], detail))
          expected.push(...[objectId ?? []].flat().map((id) => `${kind} ${id}`));
      if (key !== undefined) onceWritten.add(key);
      return to;
    });
    const label = `step ${step}: ${operation.rows.join(' or ')} of file ${file._id} by run ${runId}`;
    await operation.call(file, runId);
    const filesAfter = await read();
    expect([label, filesAfter.map(({ syncStatus }) => syncStatus)]).toEqual([label, states]);
    expect([label, (await newEvents()).toSorted()]).toEqual([label, expected.toSorted()]);
    expect([label, newEnds()]).toEqual([label, expectedEnds]);
    filesBefore = filesAfter;
  }
  expect(reachable.filter(isMissing)).toEqual([]);
});

test('no write of a state changes a file of another tenant', async () => {
  const states = async () => (await read()).map(({ syncStatus, runId }) => [syncStatus, runId]);
  const statesBefore = await states();
  for (const file of await read()) {
    await store().files.queueAgain(FOREIGN, file, { ...resyncOf(99), options: file.options }, null);
    await store().files.retry(FOREIGN, [file._id], false, resyncOf(99), null);
    await store().files.takeOver(FOREIGN, 99, 'deleting', [file._id]);
    await store().files.deleteContent(FOREIGN, file.runId ?? 0, [file._id], true);
  }
  await store().files.abortQueuedOf({ ...FOREIGN, _id: SOURCE });
  expect(await states()).toEqual(statesBefore);
});

test('a scheduled sync records an outcome in the earlier run of a file only if the sync takes the file over', async () => {
  const { ledger, runs } = await openModels(connection);
  const [owner, scheduled] = [81, 82];
  await runs.collection.insertOne({ ...ADA, _id: owner, kind: 'syncSource', finishedAt: null } as never);
  const [file] = await read();
  const outcomesAfter = async (syncStatus: FileDoc['syncStatus']) => {
    await ledger.deleteMany({ runId: owner });
    const state = { runId: owner, syncStatus, syncErrorMessage: null, ended: null };
    await files().updateOne({ _id: file!._id }, { $set: state });
    await store().files.acceptMany(ADA, [request(file!, scheduled, true)]);
    return (await ledger.find({ runId: owner }).lean()).map(({ outcome }) => outcome);
  };
  expect(await outcomesAfter('SYNCING')).toEqual([]);
  expect(await outcomesAfter('READY')).toEqual(['ok']);
});
