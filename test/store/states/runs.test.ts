/**
 * Every write and every list of runs, for a run in each state: which states they change, and which they return. Another
 * process may have moved the run on since it was read, so a write that applies to a wrong state loses work or repeats
 * it.
 */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Connection, Model } from 'mongoose';

import { NO_TALLY } from '../../../contract/runs/ledger.js';
import { MAX_RUN_RESTARTS } from '../../../contract/runs/runKinds.js';
import { createSequence } from '../../../store/database/sequence.js';
import { createIndexes } from '../../../store/database/driver.js';
import { fileModel } from '../../../store/models/files.js';
import { type RunDoc, runModel } from '../../../store/models/runs.js';
import { createHeldRuns } from '../../../store/runs/held.js';
import { createLastErrors } from '../../../store/runs/lastErrors.js';
import { createRuns, type Runs } from '../../../store/runs/outbox.js';
import { createPauses, type Pauses } from '../../../store/runs/pauses.js';
import { createScheduledSyncs } from '../../../store/runs/scheduledSyncs.js';
import { createStalls, type Stalls } from '../../../store/runs/stalls.js';
import { createUploadStreams, type UploadStreams } from '../../../store/runs/uploadStreams.js';
import { everyRow } from '../../support/everyRow.js';
import {
  ADA,
  withoutTransaction,
  checkWrites,
  dropDatabase,
  openDatabase,
  readRows,
  seed,
  sorted,
  type Write,
} from './writes.js';

const SOURCE = 40;
const [EARLY, AT, LATE] = [new Date('2026-01-01'), new Date('2026-01-02'), new Date('2026-01-03')];
const NEVER = new Date('9999-01-01');
const PAUSE = { reason: 'max_tokens', at: AT, wanted: 1, resumedAt: null } as const;
const STALL = { cause: 'no_worker', message: 'No worker runs.', since: AT } as const;

/** A run in each state that a write or a list distinguishes. */
const STATES: Readonly<Record<string, Partial<RunDoc>>> = {
  due: {},
  postponed: { nextTryAt: NEVER },
  held: { held: true, nextTryAt: NEVER },
  inStream: { stream: true, nextTryAt: NEVER },
  heldInStream: { stream: true, held: true, nextTryAt: NEVER },
  begunInStream: { stream: true, startedAt: AT, nextTryAt: NEVER },
  running: { startedAt: AT },
  limited: { startedAt: AT, maxTokens: 10, tokensTaken: 0 },
  paused: { startedAt: AT, maxTokens: 10, tokensTaken: 10, pause: PAUSE },
  resumed: { startedAt: AT, maxTokens: 20, tokensTaken: 10, pause: { ...PAUSE, resumedAt: AT } },
  stalled: { startedAt: AT, stall: STALL as never },
  ended: { startedAt: AT, finishedAt: AT, outcome: 'finished', tally: NO_TALLY },
  // Its workflow was ended from outside while it was paused.
  endedPaused: { startedAt: AT, finishedAt: AT, outcome: 'aborted', tally: NO_TALLY, maxTokens: 10, pause: PAUSE },
};
const NAMES = Object.keys(STATES);
const ENDED = 'ended endedPaused';
const WAITING = 'due postponed held inStream heldInStream';
const STREAM = 'inStream heldInStream begunInStream';
const ACTIVE = without(NAMES.join(' '), ENDED);

function without(all: string, some: string): string {
  const left = some.split(' ');
  return all
    .split(' ')
    .filter((name) => !left.includes(name))
    .join(' ');
}

interface Stores {
  readonly runs: Runs;
  readonly pauses: Pauses;
  readonly stalls: Stalls;
  readonly streams: UploadStreams;
  readonly errors: ReturnType<typeof createLastErrors>;
  readonly held: ReturnType<typeof createHeldRuns>;
  readonly syncs: ReturnType<typeof createScheduledSyncs>;
}

let connection: Connection;
let runs: Model<RunDoc>;
let stores: Stores;
let freeSlots = 1;

beforeAll(async () => {
  connection = await openDatabase();
  runs = runModel(connection);
  await createIndexes(runs);
  const files = fileModel(connection);
  const events = { write: () => Promise.resolve() } as never;
  const closed = { tally: NO_TALLY, counts: { total: 1 } };
  const ledger = {
    close: () => Promise.resolve(NO_TALLY),
    closeMany: (_tenant: unknown, ended: readonly RunDoc[]) =>
      Promise.resolve(new Map(ended.map(({ _id }) => [_id, closed]))),
    expiry: () => NEVER,
  } as never;
  const queue = { freeUploadSlots: () => Promise.resolve(freeSlots) };
  const outbox = createRuns({
    runs,
    sequence: createSequence(connection),
    atomically: withoutTransaction,
    events,
    ledger,
  });
  stores = {
    runs: outbox,
    pauses: createPauses(runs),
    stalls: createStalls(runs, files),
    streams: createUploadStreams({
      ...{ runs, files, atomically: withoutTransaction, events, ledger },
      finishOne: (run, counts) => outbox.finish(run._id, 'finished', counts),
    }),
    errors: createLastErrors(runs),
    held: createHeldRuns(runs, files, queue, withoutTransaction),
    syncs: createScheduledSyncs(runs),
  };
});
afterAll(() => dropDatabase(connection));

/** Creates a run of ADA in each state. @returns their ids by state */
const fresh = (): Promise<ReadonlyMap<string, number>> =>
  seed(
    runs,
    (id) => ({
      ...{ ...ADA, kind: 'syncItems', requestId: 'r', request: { asked: 1 }, progress: { begun: 1 }, fileId: null },
      ...{ dataSourceId: SOURCE, held: false, acceptedAt: EARLY, nextTryAt: EARLY, workflowId: `sync:${id}` },
      ...{ startedAt: null, finishedAt: null, outcome: null, counts: {} },
    }),
    STATES,
  );

const WRITES: readonly Write<RunDoc>[] = [
  ['withdraw', (id) => stores.runs.withdraw(id), WAITING],
  ['markStarted', (id) => stores.runs.markStarted(id), WAITING],
  ['postpone', (id) => stores.runs.postpone(id, LATE), WAITING],
  ['saveProgress', (_id, run) => stores.runs.saveProgress(run as never, { begun: 2 } as never), ACTIVE],
  ['finish', (id) => stores.runs.finish(id, 'finished', {}), ACTIVE],
  ['redo', (_id, run) => stores.runs.redo({ ...run, finishedAt: null } as never).then(() => undefined), ACTIVE],
  // Only a pause or a limit of tokens prevents a reservation, so it changes even the ended run, which has neither.
  [
    'reserveTokens',
    (id) => stores.pauses.reserveTokens(id, 10).then(() => undefined),
    `${without(ACTIVE, 'paused resumed')} ended`,
  ],
  ['resume', (id, _run, tenant) => stores.pauses.resume(tenant, id, 30), 'paused', 'tenant'],
  ['clearPause', (id) => stores.pauses.clearPause(id), 'resumed'],
  ['stalls.record', (id) => stores.stalls.record(id, { ...STALL, cause: 'qdrant_down' }), ACTIVE],
  ['stalls.record again', (id) => stores.stalls.record(id, STALL), without(ACTIVE, 'stalled')],
  ['stalls.clear', (id) => stores.stalls.clear(id), 'stalled'],
  ['lastErrors.record', (id) => stores.errors.record(id, { kind: 'timed_out', message: 'm', at: AT } as never), ACTIVE],
  ['streams.begin', (id) => stores.streams.begin([id]), WAITING],
  ['streams.moveToOwnWorkflow', (_id, run) => stores.streams.moveToOwnWorkflow(run, 'own'), STREAM],
  ['streams.finish', (_id, run) => stores.streams.finish(ADA, [run]), ACTIVE],
  ['streams.finish, ended meanwhile', (_id, run) => stores.streams.finish(ADA, [{ ...run, finishedAt: null }]), ACTIVE],
];

test('each write changes a run only in the states from which it may, and returns whether it did', () =>
  checkWrites(runs, fresh, WRITES));

type List = readonly [name: string, call: () => Promise<readonly { readonly _id: number }[]>, found: string];
const FAR = new Date('2100-01-01');
const STARTED = without(ACTIVE, WAITING);
const NOT_PAUSED = without(STARTED, 'paused resumed');
const LISTS: readonly List[] = [
  ['listUnstarted', () => stores.runs.listUnstarted(FAR, 100), 'due'],
  ['listUnstarted at the time of the next attempt', () => stores.runs.listUnstarted(EARLY, 100), 'due'],
  [
    'listUnstarted before the time of the next attempt',
    () => stores.runs.listUnstarted(new Date(EARLY.getTime() - 1), 100),
    '',
  ],
  ['listActiveStartedUntil', () => stores.runs.listActiveStartedUntil(FAR, 100), STARTED],
  ['listActiveStartedUntil at the start', () => stores.runs.listActiveStartedUntil(AT, 100), STARTED],
  ['listActiveStartedUntil before the start', () => stores.runs.listActiveStartedUntil(EARLY, 100), ''],
  ['listPaused', () => stores.pauses.listPaused(0, 100), 'paused'],
  ['pauses.listUnacknowledged', () => stores.pauses.listUnacknowledged(AT, 100), 'resumed'],
  ['pauses.listUnacknowledged before the resume', () => stores.pauses.listUnacknowledged(EARLY, 100), ''],
  ['stalls.listStarted', () => stores.stalls.listStarted(null, FAR, 100), NOT_PAUSED],
  ['stalls.listStarted, both ends', () => stores.stalls.listStarted({ startedAt: AT, ids: [] }, AT, 100), NOT_PAUSED],
  ['stalls.listStarted after the start', () => stores.stalls.listStarted({ startedAt: FAR, ids: [] }, FAR, 100), ''],
  ['stalls.listUnstarted', () => stores.stalls.listUnstarted(EARLY, 100), 'due inStream'],
  [
    'stalls.listUnstarted before the acceptance',
    () => stores.stalls.listUnstarted(new Date(EARLY.getTime() - 1), 100),
    '',
  ],
  ['stalls.listStalled', () => stores.stalls.listStalled(100), 'stalled'],
  ['streams.listOpen', () => stores.streams.listOpen(ADA, [], 100), 'inStream begunInStream'],
  ['streams.listWaiting', () => stores.streams.listWaiting(FAR, 100), 'inStream'],
  ['streams.listWaiting in time', () => stores.streams.listWaiting(new Date(EARLY.getTime() + 3_000), 100), 'inStream'],
  ['streams.listWaiting too early', () => stores.streams.listWaiting(new Date(EARLY.getTime() + 2_999), 100), ''],
];

test('each list of runs returns exactly the runs in its states, and includes those at its time limit', async () => {
  const ids = await fresh();
  const nameOf = new Map([...ids].map(([name, id]) => [id, name]));
  await everyRow(
    LISTS,
    ([name]) => name,
    async ([, call, found]) =>
      expect((await call()).map(({ _id }) => nameOf.get(_id) ?? 'unknown').toSorted()).toEqual(sorted(found)),
  );
  // At most the requested number: the ones that were due, started or accepted first.
  const at = (name: string, change: Partial<RunDoc>) => runs.updateOne({ _id: ids.get(name)! }, { $set: change });
  await at('postponed', { nextTryAt: new Date(EARLY.getTime() - 1) });
  await at('stalled', { startedAt: new Date(EARLY.getTime() + 1) });
  const { pauses, stalls, streams } = stores;
  const [inStream, begunInStream] = [ids.get('inStream')!, ids.get('begunInStream')!];
  const some: readonly (readonly [Promise<readonly { readonly _id: number }[]>, string])[] = [
    [stores.runs.listUnstarted(FAR, 1), 'postponed'],
    [stores.runs.listActiveStartedUntil(FAR, 1), 'stalled'],
    [stores.runs.listActiveStartedUntil(FAR, 100, { startedAt: AT, ids: [] }), without(STARTED, 'stalled')],
    [
      stores.runs.listActiveStartedUntil(FAR, 100, { startedAt: AT, ids: [ids.get('paused')!] }),
      without(STARTED, 'stalled paused'),
    ],
    [stores.runs.listActiveStartedUntil(FAR, 100, { startedAt: FAR, ids: [] }), ''],
    [stalls.listStarted(null, FAR, 1), 'stalled'],
    [stalls.listUnstarted(EARLY, 1), 'postponed inStream'],
    [pauses.listPaused(0, 1), 'paused'],
    [pauses.listPaused(ids.get('paused')!, 100), ''],
    [streams.listOpen(ADA, [], 1), 'inStream'],
    [streams.listOpen(ADA, [inStream], 2), 'begunInStream'],
    [streams.listOpen({ ...ADA, userId: 8 }, [], 10), ''],
    [streams.listOpen({ ...ADA, organizationId: 2 }, [], 10), ''],
    [streams.find(ADA, [inStream, begunInStream]), 'inStream begunInStream'],
    [streams.find({ ...ADA, userId: 8 }, [inStream]), ''],
    [streams.find({ ...ADA, organizationId: 2 }, [inStream]), ''],
  ];
  for (const [found, names] of some)
    expect((await found).map(({ _id }) => nameOf.get(_id))).toEqual(names.split(' ').filter(Boolean));
});

test('a run waits for earlier runs of the same work, and is repeated a limited number of times', async () => {
  const ids = await fresh();
  const [due, held] = [ids.get('due')!, ids.get('held')!];
  const same = { fileId: 3, workflowId: 'same' };
  await runs.updateMany({ _id: { $in: [due, held] } }, { $set: same });
  const waits = async (id: number) => stores.runs.hasEarlierWaiting((await stores.runs.find(id))!);
  // Accepted at the same time: the lower id is the earlier run.
  expect([await waits(due), await waits(held)]).toEqual([false, true]);
  await runs.updateOne({ _id: due }, { $set: { acceptedAt: AT } });
  expect([await waits(due), await waits(held)]).toEqual([true, false]);
  for (const other of [{ startedAt: AT }, { fileId: 4 }, { workflowId: 'other' }]) {
    await runs.updateOne({ _id: held }, { $set: other });
    expect(await waits(due)).toBe(false);
    await runs.updateOne({ _id: held }, { $set: { ...same, startedAt: null } });
  }
  await runs.updateOne({ _id: due }, { $set: { fileId: null } });
  expect(await waits(due)).toBe(false);

  let id = ids.get('running')!;
  for (let redone = 0; redone < MAX_RUN_RESTARTS; redone += 1) {
    const { kind, workflowId, request, progress } = (await stores.runs.find(id))!;
    expect(await stores.runs.redo((await stores.runs.find(id))!)).toBe(true);
    const [again] = await runs.find({ workflowId, _id: { $ne: id }, finishedAt: null }).lean();
    const work = { kind, request, progress, dataSourceId: SOURCE, ...ADA };
    expect(again).toMatchObject({ ...work, startedAt: null, redone: redone + 1 });
    expect(await stores.runs.find(id)).toMatchObject({ outcome: 'aborted', finishedAt: expect.any(Date) });
    id = again!._id;
  }
  const last = await readRows(runs);
  expect(await stores.runs.redo((await stores.runs.find(id))!)).toBe(false);
  expect(await readRows(runs)).toEqual(last);
});

test('a deletion of a user withdraws the waiting runs of this user, and returns the other started ones', async () => {
  const ids = await fresh();
  const own = ids.get('running')!;
  for (const stranger of [
    { ...ADA, userId: 8 },
    { ...ADA, organizationId: 2 },
  ]) {
    const before = await readRows(runs);
    expect(await stores.runs.withdrawOthers(stranger, own, 100)).toEqual([]);
    await stores.runs.deleteOthers(stranger, own);
    expect(await readRows(runs)).toEqual(before);
  }
  const open = await stores.runs.withdrawOthers(ADA, own, 100);
  const nameOf = new Map([...ids].map(([name, id]) => [id, name]));
  expect(open.map(({ _id }) => nameOf.get(_id) ?? 'unknown').toSorted()).toEqual(sorted(without(STARTED, 'running')));
  for (const name of sorted(WAITING))
    expect(await stores.runs.find(ids.get(name)!)).toMatchObject({ outcome: 'aborted', finishedAt: expect.any(Date) });
  expect(await stores.runs.withdrawOthers(ADA, own, 2)).toHaveLength(2);
  await stores.runs.deleteOthers(ADA, own);
  const left = await runs.find().lean<{ _id: number; request: object; progress: object }[]>();
  expect(left.map(({ _id }) => nameOf.get(_id) ?? 'unknown').toSorted()).toEqual(sorted(STARTED));
  for (const run of left) expect(run).toMatchObject({ request: {}, progress: {} });
});

test('held uploads are released in their order, and a scheduled sync waits for any other open run of its source', async () => {
  const ids = await fresh();
  freeSlots = 1;
  await stores.held.releaseHeld();
  const isHeld = async (name: string) => (await stores.runs.find(ids.get(name)!))!.held;
  expect([await isHeld('held'), await isHeld('heldInStream')]).toEqual([false, true]);
  freeSlots = 100;
  await stores.held.releaseHeld();
  const [held, streamed] = [await stores.runs.find(ids.get('held')!), await stores.runs.find(ids.get('heldInStream')!)];
  expect([held, streamed]).toMatchObject([{ held: false }, { held: false, stream: true, nextTryAt: NEVER }]);
  expect(held!.nextTryAt.getTime()).toBeLessThanOrEqual(Date.now());

  const conflictWith = async (name: string): Promise<unknown> => {
    await runs.updateMany({}, { $set: { dataSourceId: SOURCE + 1 } });
    await runs.updateOne({ _id: ids.get(name)! }, { $set: { dataSourceId: SOURCE } });
    return stores.syncs.findConflict({ dataSourceId: SOURCE });
  };
  const conflicts = new Map<string, unknown>();
  for (const name of NAMES) conflicts.set(name, await conflictWith(name));
  expect(Object.fromEntries(conflicts)).toEqual({
    ...Object.fromEntries(NAMES.map((name) => [name, 'busy'])),
    ...{ paused: 'paused', resumed: 'paused', ended: null, endedPaused: null },
  });
});
