import { ScheduleAlreadyRunning, ScheduleNotFoundError } from '@temporalio/client';
import { describe, expect, test } from '@jest/globals';

import { scheduleTimes } from '../../contract/autoSync.js';
import { temporalNames } from '../../contract/temporalNames.js';
import { createScheduleReader } from '../../dispatch/scheduleReader.js';
import { createSchedules } from '../../dispatch/schedules.js';
import type { ScheduleDoc } from '../../store/schedules/model.js';
import type { WantedSchedule } from '../../store/schedules/schedules.js';
import { everyRow } from '../support/everyRow.js';
import { type Answers, recorder } from '../support/recorder.js';

/** What the schedules of Temporal become of the rows; test/long/schedules.test.ts has both for real. */
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

/** Temporal with some schedules, and every call in order. @param fails calls that end with an error of the connection */
function temporalOf(there: readonly string[] = [], { hides = false, fails = '' } = {}) {
  const has = new Set(there);
  const done: string[] = [];
  const put: Options[] = [];
  const call = (what: string, id: string): void => {
    done.push(`${what} ${id}`);
    if (`${what} ${id}` === fails) throw new Error('Temporal is away');
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
          throw new ScheduleAlreadyRunning('there', scheduleId);
        }
        has.add(scheduleId);
        put.push(options);
      },
      list: async function* list() {
        for (const scheduleId of there) yield await Promise.resolve({ scheduleId });
      },
    },
  };
  return { client: client as never, done, put, has };
}
const logOf = () => {
  const lines: string[] = [];
  const write = (_fields: unknown, text: string) => void lines.push(text);
  return { lines, log: { info: write, warn: write } as never };
};

/** Brings rows up to date, each wanted as the table says. */
function open(temporal: ReturnType<typeof temporalOf>, answers: Answers = {}, rows: readonly ScheduleDoc[] = []) {
  const waiting = [...rows];
  const told = recorder({ 'schedules.claim': () => waiting.shift() ?? null, 'schedules.applied': true, ...answers });
  const { log, lines } = logOf();
  return { ...told, lines, schedules: createSchedules(temporal.client, names, told.stores, log) };
}

describe('a row that changed', () => {
  const ID = 'd1:auto-sync:5';
  interface Row {
    readonly what: string;
    readonly wanted: WantedSchedule;
    readonly applied: string | null;
    readonly there?: boolean;
    readonly hides?: boolean;
    /** False: the row has been deleted meanwhile. */
    readonly stays?: boolean;
    /** Calls of Temporal, and of the rows after the look at what is wanted. */
    readonly calls: readonly string[];
    readonly word: string | null;
    readonly rows: readonly string[];
  }
  const ON = { state: 'on', hours: 24 } as const;
  const PAUSED = { state: 'paused', hours: 24 } as const;
  const [APPLYING, APPLIED, REMOVE] = ['schedules.applying', 'schedules.applied', 'schedules.remove'];
  const ON_WORD = 'on, every 24 h';
  const ROWS: readonly Row[] = [
    { what: 'new', wanted: ON, applied: null, calls: [`create ${ID}`], word: ON_WORD, rows: [APPLYING, APPLIED] },
    {
      ...{ what: 'new, and there already', wanted: ON, applied: null, hides: true },
      ...{ calls: [`create ${ID}`, `update ${ID}`], word: ON_WORD, rows: [APPLYING, APPLIED] },
    },
    { what: 'the same', wanted: ON, applied: ON_WORD, there: true, calls: [], word: ON_WORD, rows: [APPLIED] },
    {
      ...{ what: 'of another interval', wanted: ON, applied: 'on, every 12 h', there: true },
      ...{ calls: [`update ${ID}`], word: ON_WORD, rows: [APPLYING, APPLIED] },
    },
    {
      ...{ what: 'of another interval, and lost', wanted: ON, applied: 'unsure' },
      ...{ calls: [`update ${ID}`, `create ${ID}`], word: ON_WORD, rows: [APPLYING, APPLIED] },
    },
    {
      ...{ what: 'deleted while it was put there', wanted: ON, applied: null, stays: false },
      ...{ calls: [`create ${ID}`, `delete ${ID}`], word: ON_WORD, rows: [APPLYING, APPLIED] },
    },
    {
      ...{ what: 'of a revoked account', wanted: PAUSED, applied: ON_WORD, there: true },
      ...{ calls: [`update ${ID}`], word: 'paused, every 24 h', rows: [APPLYING, APPLIED] },
    },
    {
      ...{ what: 'of an account that was revoked before', wanted: PAUSED, applied: null },
      ...{ calls: [], word: null, rows: [APPLIED] },
    },
    { what: 'off, and never on', wanted: { state: 'off' }, applied: null, calls: [], word: null, rows: [APPLIED] },
    {
      ...{ what: 'off', wanted: { state: 'off' }, applied: ON_WORD, there: true },
      ...{ calls: [`delete ${ID}`], word: null, rows: [APPLIED] },
    },
    {
      ...{ what: 'off, and lost', wanted: { state: 'off' }, applied: ON_WORD },
      ...{ calls: [`delete ${ID}`], word: null, rows: [APPLIED] },
    },
    {
      ...{ what: 'of a deleted record', wanted: { state: 'gone' }, applied: ON_WORD, there: true },
      ...{ calls: [`delete ${ID}`], word: null, rows: [APPLIED, REMOVE] },
    },
    {
      ...{ what: 'of a deleted record, and never on', wanted: { state: 'gone' }, applied: null },
      ...{ calls: [], word: null, rows: [APPLIED, REMOVE] },
    },
  ];

  test('is what Temporal has afterwards, and is deleted only with its record', () =>
    everyRow(
      ROWS,
      ({ what }) => what,
      async ({ wanted, applied, there = false, hides = false, stays = true, calls, word, rows }) => {
        const temporal = temporalOf(there ? [ID] : [], { hides });
        const row = rowOf({ applied });
        const {
          schedules,
          of,
          names: called,
        } = open(temporal, { 'schedules.wanted': wanted, 'schedules.applied': stays }, [row]);
        expect(await schedules.reconcile()).toBe(1);
        expect(temporal.done).toEqual(calls);
        expect(called().filter((name) => !/claim|wanted/.test(name))).toEqual(rows);
        expect(of('schedules.applied')).toEqual([[row, word]]);
        expect(temporal.has.has(ID)).toBe(word !== null && stays);
      },
    ));

  test('acts at its own moment of its hours, without overlap, and starts a pass of that record', () =>
    everyRow([ON, PAUSED, { ...ON, hours: 6 }], JSON.stringify, async (wanted) => {
      const temporal = temporalOf([ID]);
      const { schedules } = open(temporal, { 'schedules.wanted': wanted }, [rowOf({ applied: 'unsure' })]);
      await schedules.reconcile();
      const { everyMs, offsetMs, jitterMs } = scheduleTimes('auto-sync:5', wanted.hours);
      expect(everyMs).toBe(wanted.hours * HOUR_MS);
      expect(temporal.put).toMatchObject([
        {
          spec: { intervals: [{ every: everyMs, offset: offsetMs }], jitter: jitterMs },
          policies: { overlap: 'SKIP', catchupWindow: everyMs },
          state: { paused: wanted.state === 'paused' },
          action: {
            ...{ type: 'startWorkflow', workflowType: 'autoSync', workflowId: ID, taskQueue: 'queue-d1' },
            args: [{ scheduleId: 'auto-sync:5' }],
          },
        },
      ]);
      expect(JSON.stringify(temporal.put)).toMatch(/OrganizationId.*"1".*UserId.*"2".*DataSourceId.*"5"/);
    }));

  test('is tried again two seconds later where Temporal is away; the others are brought up to date', async () => {
    const rows = [1, 2, 3, 4, 5, 6].map((id) => rowOf({ _id: `auto-sync:${id}` }));
    const temporal = temporalOf([], { fails: 'create d1:auto-sync:2' });
    const { schedules, of } = open(temporal, { 'schedules.wanted': ON }, rows);
    const before = Date.now();
    await expect(schedules.reconcile()).rejects.toThrow('Temporal is away');
    const [[row, until]] = of('schedules.postpone') as [[ScheduleDoc, Date]];
    expect(row._id).toBe('auto-sync:2');
    expect(until.getTime()).toBeGreaterThanOrEqual(before + 2_000);
    expect(until.getTime()).toBeLessThanOrEqual(Date.now() + 2_000);
    expect(of('schedules.applied').map(([one]) => (one as ScheduleDoc)._id)).toEqual(
      [1, 3, 4, 5, 6].map((id) => `auto-sync:${id}`),
    );
    expect(new Set(of('schedules.claim').map(([leaseMs]) => leaseMs))).toEqual(new Set([60_000]));
  });
});

test('removed schedules end at Temporal first, but for those that it was never told of', async () => {
  const ids = ['on', 'unsure', 'never', 'unknown', 'lost'];
  const temporal = temporalOf(['d1:on', 'd1:unsure', 'd1:unknown']);
  const known = new Map<string, string | null>([
    ...([['on', 'on, every 24 h'] as const, ['unsure', 'unsure'] as const, ['never', null] as const] as const),
    ['lost', 'on, every 24 h'],
  ]);
  let left: readonly string[] = ['none'];
  const { schedules, of } = open(temporal, {
    'schedules.known': known,
    'schedules.remove': () => void (left = [...temporal.has]),
  });
  await schedules.remove(ids);
  expect(temporal.done).toEqual(['on', 'unsure', 'unknown', 'lost'].map((id) => `delete d1:${id}`));
  expect([of('schedules.remove'), left]).toEqual([[[ids]], []]);
  await schedules.remove([]);
  expect(of('schedules.known')).toHaveLength(1);

  const away = temporalOf(['d1:on'], { fails: 'delete d1:on' });
  const failing = open(away, { 'schedules.known': known });
  await expect(failing.schedules.remove(['on'])).rejects.toThrow('Temporal is away');
  expect(failing.of('schedules.remove')).toEqual([]);
});

test('a comparison ends what no row has, and has looked at again what differs, of this deployment alone', async () => {
  const temporal = temporalOf(['d1:same', 'd1:stray', 'd1:ended', 'd2:foreign']);
  const rows = new Map<string, string | null>([
    ['same', 'on, every 24 h'],
    ['ended', null],
    ['lost', 'on, every 24 h'],
  ]);
  const { schedules, of } = open(temporal, {
    'schedules.known': (ids: readonly string[]) => new Map([...rows].filter(([id]) => ids.includes(id))),
    'schedules.page': ['lost', 'same'],
  });
  expect(await schedules.compare()).toEqual({ ended: 1, missing: 1 });
  expect(temporal.done).toEqual(['delete d1:stray']);
  expect(of('schedules.lookAgain')).toEqual([[['ended']], [['lost']]]);
  expect(of('schedules.remove')).toEqual([[['stray']]]);
});

test('a comparison goes over all pages of rows, each after the last of the one before', async () => {
  const all = Array.from({ length: 1_100 }, (_, at) => `row ${String(at).padStart(4, '0')}`);
  const temporal = temporalOf(all.slice(0, 700).map((id) => `d1:${id}`));
  const { schedules, of } = open(temporal, {
    'schedules.known': (ids: readonly string[]) => new Map(ids.map((id) => [id, 'on, every 24 h'])),
    'schedules.page': (afterId: string, limit: number) => all.filter((id) => id > afterId).slice(0, limit),
  });
  expect(await schedules.compare()).toEqual({ ended: 0, missing: 400 });
  expect(of('schedules.known').map(([ids]) => (ids as string[]).length)).toEqual([500, 200]);
  expect(of('schedules.lookAgain').flatMap(([ids]) => ids)).toEqual(all.slice(700));
});

test('a sweep compares at once, goes on after a failure, and ends with its signal', async () => {
  const stop = new AbortController();
  const temporal = temporalOf(['d1:stray']);
  let claims = 0;
  const { schedules, of, lines } = open(temporal, {
    'schedules.known': new Map(),
    'schedules.page': [],
    'schedules.claim': () => {
      claims += 1;
      // The first round fails at once in all its lanes.
      if (claims <= 4) throw new Error('MongoDB is away');
      if (claims > 8) stop.abort();
      return null;
    },
  });
  await schedules.sweep(stop.signal, 60_000);
  expect(lines).toEqual([
    'schedules could not be updated; trying again',
    'schedules differed from their records and were corrected',
  ]);
  expect(temporal.done).toEqual(['delete d1:stray']);
  expect(of('schedules.page')).toHaveLength(1);
});

test('a schedule of Temporal acts next where it is not paused; one that is missing is told from an outage', async () => {
  const at = new Date('2026-01-02T03:04:05Z');
  const describes = (answer: unknown) => {
    const asked: string[] = [];
    const ask = () => (answer instanceof Error ? Promise.reject(answer) : Promise.resolve(answer));
    const schedule = { getHandle: (id: string) => (asked.push(id), { describe: ask }) };
    const client = { withDeadline: (_at: number, work: () => unknown) => work(), schedule } as never;
    return { asked, read: createScheduleReader(client, names).stateOf('auto-sync:5') };
  };
  const state = (paused: boolean, ...nextActionTimes: Date[]) => ({ state: { paused }, info: { nextActionTimes } });
  const later = new Date(at.getTime() + HOUR_MS);
  const running = describes(state(false, at, later));
  expect([await running.read, running.asked]).toEqual([{ isPaused: false, nextAt: at }, ['d1:auto-sync:5']]);
  expect(await describes(state(true, at)).read).toEqual({ isPaused: true, nextAt: null });
  expect(await describes(state(false)).read).toEqual({ isPaused: false, nextAt: null });
  expect(await describes(new ScheduleNotFoundError('none', 'x')).read).toBeNull();
  await expect(describes(new Error('away')).read).rejects.toThrow('away');
});
