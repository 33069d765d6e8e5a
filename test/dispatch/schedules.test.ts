import { ScheduleAlreadyRunning, ScheduleNotFoundError } from '@temporalio/client';
import { describe, expect, test } from '@jest/globals';

import { scheduleTimes } from '../../contract/sources/autoSync.js';
import { temporalNames } from '../../contract/runs/temporalNames.js';
import { createScheduleReader } from '../../dispatch/scheduleReader.js';
import { createSchedules } from '../../dispatch/schedules.js';
import type { ScheduleDoc } from '../../store/models/schedules.js';
import type { DesiredSchedule } from '../../store/schedules/schedules.js';
import { everyRow } from '../support/everyRow.js';
import { type Answers, recorder } from '../support/recorder.js';

// Tests of Temporal schedules that are derived from records. test/long/schedules.test.ts uses a real server and store.
const names = temporalNames('d1', 'queue');
const HOUR_MS = 3_600_000;

const rowOf = (fields: Partial<ScheduleDoc> = {}): ScheduleDoc =>
  ({
    ...{ _id: 'auto-sync:5', organizationId: 1, userId: 2, dataSourceId: 5, fileId: null, applied: null, version: 1 },
    ...fields,
  }) as ScheduleDoc;

interface Options {
  readonly spec: unknown;
  readonly policies: unknown;
  readonly action: unknown;
  readonly state: unknown;
}

/**
 * Fake Temporal client with some schedules; records every call. @param fails the call that ends with a connection error
 */
function fakeTemporal(exists: readonly string[] = [], { hides = false, fails = '' } = {}) {
  const has = new Set(exists);
  const done: string[] = [];
  const put: Options[] = [];
  const call = (what: string, id: string): void => {
    done.push(`${what} ${id}`);
    if (`${what} ${id}` === fails) throw new Error('Temporal is unreachable');
  };
  const missing = (id: string) => new ScheduleNotFoundError('none', id);
  const client = {
    withDeadline: (_at: number, work: () => unknown) => work(),
    schedule: {
      getHandle: (id: string) => ({
        update: async (change: () => Options) => {
          call('update', id);
          if (!has.has(id)) throw missing(id);
          put.push(change());
        },
        delete: async () => {
          call('delete', id);
          if (!has.delete(id)) throw missing(id);
        },
      }),
      create: async ({ scheduleId, ...options }: Options & { scheduleId: string }) => {
        call('create', scheduleId);
        if (hides || has.has(scheduleId)) {
          has.add(scheduleId);
          throw new ScheduleAlreadyRunning('already exists', scheduleId);
        }
        has.add(scheduleId);
        put.push(options);
      },
      list: async function* list() {
        for (const scheduleId of exists) yield await Promise.resolve({ scheduleId });
      },
    },
  };
  return { client: client as never, done, put, has };
}
const fakeLog = () => {
  const lines: string[] = [];
  const write = (_fields: unknown, text: string) => void lines.push(text);
  return { lines, log: { info: write, warn: write } as never };
};

/** Creates schedules with the fake client and fake stores. @param rows changed records, which are claimed one by one */
function open(temporal: ReturnType<typeof fakeTemporal>, answers: Answers = {}, rows: readonly ScheduleDoc[] = []) {
  const waiting = [...rows];
  const recorded = recorder({
    'schedules.claim': () => waiting.shift() ?? null,
    'schedules.markApplied': true,
    ...answers,
  });
  const { log, lines } = fakeLog();
  return { ...recorded, lines, schedules: createSchedules(temporal.client, names, recorded.stores, log) };
}

describe('schedule of a record', () => {
  const ID = 'd1:auto-sync:5';
  interface Row {
    readonly what: string;
    readonly desired: DesiredSchedule;
    readonly applied: string | null;
    readonly exists?: boolean;
    readonly hides?: boolean;
    /** False: the record has been deleted meanwhile. */
    readonly isKept?: boolean;
    /** Calls of Temporal. */
    readonly calls: readonly string[];
    /** The applied state written to the record. */
    readonly appliedState: string | null;
    /** Calls that write the record. */
    readonly rows: readonly string[];
  }
  const ON = { state: 'on', hours: 24 } as const;
  const PAUSED = { state: 'paused', hours: 24 } as const;
  const [APPLYING, APPLIED, REMOVE] = ['schedules.markApplying', 'schedules.markApplied', 'schedules.remove'];
  const ON_WORD = 'on, every 24 h';
  const ROWS: readonly Row[] = [
    {
      what: 'new',
      desired: ON,
      applied: null,
      calls: [`create ${ID}`],
      appliedState: ON_WORD,
      rows: [APPLYING, APPLIED],
    },
    {
      ...{ what: 'new, and the schedule exists already', desired: ON, applied: null, hides: true },
      ...{ calls: [`create ${ID}`, `update ${ID}`], appliedState: ON_WORD, rows: [APPLYING, APPLIED] },
    },
    {
      what: 'unchanged',
      desired: ON,
      applied: ON_WORD,
      exists: true,
      calls: [],
      appliedState: ON_WORD,
      rows: [APPLIED],
    },
    {
      ...{ what: 'with another interval', desired: ON, applied: 'on, every 12 h', exists: true },
      ...{ calls: [`update ${ID}`], appliedState: ON_WORD, rows: [APPLYING, APPLIED] },
    },
    {
      ...{ what: 'with another interval, and the schedule is lost', desired: ON, applied: 'unsure' },
      ...{ calls: [`update ${ID}`, `create ${ID}`], appliedState: ON_WORD, rows: [APPLYING, APPLIED] },
    },
    {
      ...{ what: 'deleted while the schedule was created', desired: ON, applied: null, isKept: false },
      ...{ calls: [`create ${ID}`, `delete ${ID}`], appliedState: ON_WORD, rows: [APPLYING, APPLIED] },
    },
    {
      ...{ what: 'of a revoked account', desired: PAUSED, applied: ON_WORD, exists: true },
      ...{ calls: [`update ${ID}`], appliedState: 'paused, every 24 h', rows: [APPLYING, APPLIED] },
    },
    {
      ...{ what: 'of an account that was revoked before its schedule was created', desired: PAUSED, applied: null },
      ...{ calls: [], appliedState: null, rows: [APPLIED] },
    },
    {
      what: 'off, never on before',
      desired: { state: 'off' },
      applied: null,
      calls: [],
      appliedState: null,
      rows: [APPLIED],
    },
    {
      ...{ what: 'off', desired: { state: 'off' }, applied: ON_WORD, exists: true },
      ...{ calls: [`delete ${ID}`], appliedState: null, rows: [APPLIED] },
    },
    {
      ...{ what: 'off, and the schedule is lost', desired: { state: 'off' }, applied: ON_WORD },
      ...{ calls: [`delete ${ID}`], appliedState: null, rows: [APPLIED] },
    },
    {
      ...{ what: 'of a deleted record', desired: { state: 'gone' }, applied: ON_WORD, exists: true },
      ...{ calls: [`delete ${ID}`], appliedState: null, rows: [APPLIED, REMOVE] },
    },
    {
      ...{ what: 'of a deleted record, never on before', desired: { state: 'gone' }, applied: null },
      ...{ calls: [], appliedState: null, rows: [APPLIED, REMOVE] },
    },
  ];

  test('is updated to match its record, and is deleted if the record is off or deleted', () =>
    everyRow(
      ROWS,
      ({ what }) => what,
      async ({
        desired: wanted,
        applied,
        exists = false,
        hides = false,
        isKept: stays = true,
        calls,
        appliedState: word,
        rows,
      }) => {
        const temporal = fakeTemporal(exists ? [ID] : [], { hides });
        const row = rowOf({ applied });
        const {
          schedules,
          of,
          names: called,
        } = open(temporal, { 'schedules.desiredState': wanted, 'schedules.markApplied': stays }, [row]);
        expect(await schedules.reconcile()).toBe(1);
        expect(temporal.done).toEqual(calls);
        expect(called().filter((name) => !/claim|desiredState/.test(name))).toEqual(rows);
        expect(of('schedules.markApplied')).toEqual([[row, word]]);
        expect(temporal.has.has(ID)).toBe(word !== null && stays);
      },
    ));

  test('acts at its own offset within the interval, without overlap, and starts a sync of its record', () =>
    everyRow([ON, PAUSED, { ...ON, hours: 6 }], JSON.stringify, async (desired) => {
      const temporal = fakeTemporal([ID]);
      const { schedules } = open(temporal, { 'schedules.desiredState': desired }, [rowOf({ applied: 'unsure' })]);
      await schedules.reconcile();
      const { everyMs, offsetMs, jitterMs } = scheduleTimes('auto-sync:5', desired.hours);
      expect(everyMs).toBe(desired.hours * HOUR_MS);
      expect(temporal.put).toMatchObject([
        {
          spec: { intervals: [{ every: everyMs, offset: offsetMs }], jitter: jitterMs },
          policies: { overlap: 'SKIP', catchupWindow: everyMs },
          state: { paused: desired.state === 'paused' },
          action: {
            ...{ type: 'startWorkflow', workflowType: 'autoSync', workflowId: ID, taskQueue: 'queue-d1' },
            args: [{ scheduleId: 'auto-sync:5' }],
          },
        },
      ]);
      expect(JSON.stringify(temporal.put)).toMatch(/OrganizationId.*"1".*UserId.*"2".*DataSourceId.*"5"/);
    }));

  test('costs no query of its own: an iteration without changed records makes one query for all schedules', async () => {
    const { schedules, names: called } = open(fakeTemporal([]), {}, []);
    expect(await schedules.reconcile()).toBe(0);
    expect(called()).toEqual(['schedules.claim']);
  });

  test('is retried two seconds later if Temporal is unreachable; the others are updated', async () => {
    const rows = [1, 2, 3, 4, 5, 6].map((id) => rowOf({ _id: `auto-sync:${id}` }));
    const temporal = fakeTemporal([], { fails: 'create d1:auto-sync:2' });
    const { schedules, of } = open(temporal, { 'schedules.desiredState': ON }, rows);
    const startedAt = Date.now();
    await expect(schedules.reconcile()).rejects.toThrow('Temporal is unreachable');
    const [[row, until]] = of('schedules.postpone') as [[ScheduleDoc, Date]];
    expect(row._id).toBe('auto-sync:2');
    expect(until.getTime()).toBeGreaterThanOrEqual(startedAt + 2_000);
    expect(until.getTime()).toBeLessThanOrEqual(Date.now() + 2_000);
    expect(of('schedules.markApplied').map(([record]) => (record as ScheduleDoc)._id)).toEqual(
      [1, 3, 4, 5, 6].map((id) => `auto-sync:${id}`),
    );
    expect(new Set(of('schedules.claim').map(([leaseMs]) => leaseMs))).toEqual(new Set([60_000]));
  });
});

test('removes schedules from Temporal before their records; schedules never created there need no call', async () => {
  const ids = ['on', 'unsure', 'never', 'unknown', 'lost'];
  const temporal = fakeTemporal(['d1:on', 'd1:unsure', 'd1:unknown']);
  const appliedStates = new Map<string, string | null>([
    ...([['on', 'on, every 24 h'] as const, ['unsure', 'unsure'] as const, ['never', null] as const] as const),
    ['lost', 'on, every 24 h'],
  ]);
  let remaining: readonly string[] = ['none'];
  const { schedules, of } = open(temporal, {
    'schedules.findApplied': appliedStates,
    'schedules.remove': () => void (remaining = [...temporal.has]),
  });
  await schedules.remove(ids);
  expect(temporal.done).toEqual(['on', 'unsure', 'unknown', 'lost'].map((id) => `delete d1:${id}`));
  expect([of('schedules.remove'), remaining]).toEqual([[[ids]], []]);
  await schedules.remove([]);
  expect(of('schedules.findApplied')).toHaveLength(1);

  const unreachable = fakeTemporal(['d1:on'], { fails: 'delete d1:on' });
  const failing = open(unreachable, { 'schedules.findApplied': appliedStates });
  await expect(failing.schedules.remove(['on'])).rejects.toThrow('Temporal is unreachable');
  expect(failing.of('schedules.remove')).toEqual([]);
});

test('removes each of many schedules once', async () => {
  const ids = Array.from({ length: 11 }, (_, nth) => `row ${nth}`);
  const temporal = fakeTemporal(ids.map((id) => `d1:${id}`));
  const { schedules } = open(temporal, { 'schedules.findApplied': new Map() });
  await schedules.remove(ids);
  expect(temporal.done.toSorted()).toEqual(ids.map((id) => `delete d1:${id}`).toSorted());
  expect([...temporal.has]).toEqual([]);
});

test('a comparison deletes schedules without a record and queues differing records, of this deployment only', async () => {
  const temporal = fakeTemporal(['d1:same', 'd1:stray', 'd1:ended', 'd2:foreign']);
  const rows = new Map<string, string | null>([
    ['same', 'on, every 24 h'],
    ['ended', null],
    ['lost', 'on, every 24 h'],
  ]);
  const { schedules, of } = open(temporal, {
    'schedules.findApplied': (ids: readonly string[]) => new Map([...rows].filter(([id]) => ids.includes(id))),
    'schedules.listApplied': ['lost', 'same'],
  });
  expect(await schedules.compare()).toEqual({ ended: 1, missing: 1 });
  expect(temporal.done).toEqual(['delete d1:stray']);
  expect(of('schedules.markDirty')).toEqual([[['ended']], [['lost']]]);
  expect(of('schedules.remove')).toEqual([[['stray']]]);
});

test('a comparison reads all pages of records', async () => {
  const recordIds = Array.from({ length: 1_100 }, (_, at) => `row ${String(at).padStart(4, '0')}`);
  const temporal = fakeTemporal(recordIds.slice(0, 700).map((id) => `d1:${id}`));
  const { schedules, of } = open(temporal, {
    'schedules.findApplied': (ids: readonly string[]) => new Map(ids.map((id) => [id, 'on, every 24 h'])),
    'schedules.listApplied': (afterId: string, limit: number) => recordIds.filter((id) => id > afterId).slice(0, limit),
  });
  expect(await schedules.compare()).toEqual({ ended: 0, missing: 400 });
  expect(of('schedules.findApplied').map(([ids]) => (ids as string[]).length)).toEqual([500, 200]);
  expect(of('schedules.markDirty').flatMap(([ids]) => ids)).toEqual(recordIds.slice(700));
});

test('a sweep continues after a failure, then compares schedules with their records, and ends with its signal', async () => {
  const stop = new AbortController();
  const temporal = fakeTemporal(['d1:stray']);
  let claims = 0;
  const { schedules, of, lines } = open(temporal, {
    'schedules.findApplied': new Map(),
    'schedules.listApplied': [],
    'schedules.claim': () => {
      claims += 1;
      if (claims === 1) throw new Error('MongoDB is unreachable');
      // The second iteration compares.
      if (claims > 2) stop.abort();
      return null;
    },
  });
  await schedules.sweep(stop.signal, 60_000);
  expect(lines).toEqual([
    'schedules could not be updated; trying again',
    'schedules differed from their records and were corrected',
  ]);
  expect(temporal.done).toEqual(['delete d1:stray']);
  expect(of('schedules.listApplied')).toHaveLength(1);
});

test('reads the next action of a schedule that is not paused, null for a missing schedule, and fails in an outage', async () => {
  const at = new Date('2026-01-02T03:04:05Z');
  const describes = (answer: unknown) => {
    const ids: string[] = [];
    const answerDescribe = () => (answer instanceof Error ? Promise.reject(answer) : Promise.resolve(answer));
    const schedule = { getHandle: (id: string) => (ids.push(id), { describe: answerDescribe }) };
    const client = { withDeadline: (_at: number, work: () => unknown) => work(), schedule } as never;
    return { ids, read: createScheduleReader(client, names).stateOf('auto-sync:5') };
  };
  const state = (paused: boolean, ...nextActionTimes: Date[]) => ({ state: { paused }, info: { nextActionTimes } });
  const later = new Date(at.getTime() + HOUR_MS);
  const running = describes(state(false, at, later));
  expect([await running.read, running.ids]).toEqual([{ isPaused: false, nextAt: at }, ['d1:auto-sync:5']]);
  expect(await describes(state(true, at)).read).toEqual({ isPaused: true, nextAt: null });
  expect(await describes(state(false)).read).toEqual({ isPaused: false, nextAt: null });
  expect(await describes(new ScheduleNotFoundError('none', 'x')).read).toBeNull();
  await expect(describes(new Error('unreachable')).read).rejects.toThrow('unreachable');
});
