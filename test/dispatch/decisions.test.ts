import { afterEach, describe, expect, jest, test } from '@jest/globals';
import { WorkflowExecutionAlreadyStartedError, WorkflowNotFoundError } from '@temporalio/client';
import type { TypedSearchAttributes } from '@temporalio/common';
import { msToTs } from '@temporalio/common/lib/time.js';

import { IS_UPLOAD, type RunKind } from '../../contract/runs/runKinds.js';
import type { WorkerReport } from '../../contract/runs/workers.js';
import { createDiagnosis, type StoresDown } from '../../dispatch/diagnosis.js';
import { createDispatcher } from '../../dispatch/dispatcher.js';
import { createFairShares } from '../../dispatch/fairShares.js';
import { CANCELLED, endOrphanedRun, ENDED_FROM_OUTSIDE, isAlive } from '../../dispatch/orphanedRuns.js';
import { endEmptyPauses, reap as reapUntil, reapOnce } from '../../dispatch/reaper.js';
import { watchStalls } from '../../dispatch/stallWatch.js';
import { temporalFailure } from '../../dispatch/temporalFailure.js';
import type { RunDoc } from '../../store/models/runs.js';
import type { RunPosition } from '../../store/runs/position.js';
import { everyRow } from '../support/everyRow.js';
import { type Answers, recorder } from '../support/recorder.js';

// Tests of what dispatcher, reaper and diagnosis decide from the states of workflows and records. Temporal and the
// stores are fakes.

const runOf = (fields: Partial<RunDoc> = {}): RunDoc =>
  ({
    ...{ _id: 7, kind: 'scrapeSitemap', workflowId: 'scrape:3', organizationId: 1, userId: 2, fileId: 3 },
    ...{
      requestId: 'r',
      dataSourceId: null,
      startedAt: new Date(0),
      finishedAt: null,
      request: {},
      progress: {},
      counts: {},
    },
    ...fields,
  }) as RunDoc;

/** Returns a page of runs, as the store does. */
const pageOf = (runs: readonly RunDoc[], after: RunPosition | null, limit: number): RunDoc[] =>
  runs
    .filter(({ startedAt }) => after === null || startedAt! >= after.startedAt)
    .filter(({ _id }) => after?.ids.includes(_id) !== true)
    .slice(0, limit);

interface Described {
  readonly status: string;
  readonly memo?: object;
  readonly runId?: string;
  readonly raw?: object;
}
const missing = () => new WorkflowNotFoundError('none', 'x', undefined);

/** Fake Temporal client: workflows by id, and the calls that it received. */
function fakeTemporal(
  workflows: Record<string, Described | Error>,
  options: { start?: () => unknown; cancel?: () => unknown; events?: readonly object[] } = {},
) {
  const done: string[] = [];
  const started: { kind: string; options: Record<string, unknown> }[] = [];
  const client = {
    options: { namespace: 'default' },
    connection: { close: () => Promise.resolve() },
    withDeadline: (_at: number, work: () => unknown) => work(),
    workflowService: {
      getWorkflowExecutionHistoryReverse: async () => ({ history: { events: options.events ?? [] } }),
    },
    workflow: {
      getHandle: (id: string, _runId?: string, only?: { firstExecutionRunId?: string }) => ({
        describe: async () => {
          const workflow = workflows[id] ?? missing();
          if (workflow instanceof Error) throw workflow;
          return { memo: {}, raw: {}, ...workflow, status: { name: workflow.status } };
        },
        cancel: async () => {
          done.push(`cancel ${id}${only?.firstExecutionRunId ? ` ${only.firstExecutionRunId}` : ''}`);
          await options.cancel?.();
        },
        signal: (signal: string) => Promise.resolve(void done.push(`${signal} ${id}`)),
      }),
      start: async (kind: string, given: Record<string, unknown>) => {
        done.push(`start ${String(given['workflowId'])}`);
        started.push({ kind, options: given });
        await options.start?.();
      },
    },
  };
  return {
    done,
    started,
    access: { client, names: { idOf: (id: string) => id, taskQueue: 'q' } } as never,
    client: client as never,
  };
}
const names = { idOf: (id: string) => id, taskQueue: 'q', keyOf: (id: string) => id } as never;
/** Returns the search attributes of a started workflow by name. */
function attributesOf(options: Record<string, unknown> = {}): object {
  const { typedSearchAttributes: attributes } = options as { typedSearchAttributes?: TypedSearchAttributes };
  return Object.fromEntries((attributes?.getAll() ?? []).map(({ key, value }) => [key.name, value]));
}
afterEach(() => {
  jest.restoreAllMocks();
});
const fakeLog = () => {
  const lines: string[] = [];
  const write = (_fields: unknown, text: string) => void lines.push(text);
  return { lines, log: { info: write, warn: write, error: write, debug: write } as never };
};

describe('liveness of a run', () => {
  const RUNNING = { status: 'RUNNING', memo: { runId: 7 }, runId: 't' };
  const rows: [what: string, run: Partial<RunDoc>, workflow: Described | Error | null, isAlive: boolean][] = [
    ['its workflow runs', {}, RUNNING, true],
    ['its workflow was terminated', {}, { ...RUNNING, status: 'TERMINATED' }, false],
    ['its workflow has failed', {}, { ...RUNNING, status: 'FAILED' }, false],
    ['its workflow has ended', {}, { ...RUNNING, status: 'COMPLETED' }, false],
    ['Temporal has no such workflow', {}, null, false],
    ['the workflow of that id belongs to another run', {}, { ...RUNNING, memo: { runId: 8 } }, false],
    ['a schedule started it', { temporalRunId: 't' }, { ...RUNNING, memo: {} }, true],
    [
      'a schedule started it, and it has continued as new',
      { temporalRunId: 't' },
      { ...RUNNING, memo: {}, runId: 'u', raw: { workflowExecutionInfo: { firstRunId: 't' } } },
      true,
    ],
    ['a schedule has started the next run', { temporalRunId: 'earlier' }, RUNNING, false],
    ['an upload stream processes it with others', { stream: true }, { ...RUNNING, memo: { runId: 99 } }, true],
    ['its stream has ended', { stream: true }, { ...RUNNING, status: 'COMPLETED' }, false],
  ];
  test('depends only on the state of its own workflow, not on its age', async () => {
    await everyRow(
      rows,
      ([what]) => what,
      async ([_what, fields, workflow, expected]) => {
        const { access } = fakeTemporal(workflow === null ? {} : { 'scrape:3': workflow });
        expect(await isAlive(access, runOf(fields))).toBe(expected);
      },
    );
    const { access } = fakeTemporal({ 'scrape:3': new Error('Temporal is unreachable') });
    await expect(isAlive(access, runOf())).rejects.toThrow('Temporal is unreachable');
  });

  test('an unstarted part of a scheduled sync is alive while the sync is', async () => {
    const part = runOf({ parentRunId: 5, startedAt: null });
    const syncRun = runOf({ _id: 5, workflowId: 'pass', temporalRunId: 'p' });
    const rowsOfParts: [Described | null, Partial<RunDoc> | null, boolean][] = [
      [{ status: 'RUNNING', runId: 'p' }, {}, true],
      [{ status: 'TERMINATED', runId: 'p' }, {}, false],
      [{ status: 'RUNNING', runId: 'p' }, { finishedAt: new Date() }, false],
      [{ status: 'RUNNING', runId: 'p' }, null, false],
      [null, {}, false],
    ];
    await everyRow(rowsOfParts, JSON.stringify, async ([workflow, fields, expected]) => {
      const { access } = fakeTemporal(workflow === null ? {} : { pass: workflow });
      const runs = recorder({ 'runs.find': fields && { ...syncRun, ...fields } }).stores as { runs: never };
      expect(await isAlive(access, part, runs.runs)).toBe(expected);
    });
  });
});

describe('end of a run whose workflow has ended', () => {
  /** Further calls, apart from those that end the files and the run. */
  const ENDS: Partial<Record<RunKind, readonly string[]>> = {
    deleteFiles: ['files.markDeleteStopped'],
    deleteUser: ['files.markDeleteStopped'],
    connectByConsent: ['attempts.changeState', 'attempts.acknowledge'],
    webScrape: ['frontier.clear'],
    syncItems: ['dataSources.endListing'],
    updateTags: ['dataSources.markTagsStopped'],
  };
  const messages: Partial<Record<RunKind, string>> = {
    connectByConsent: ENDED_FROM_OUTSIDE.connection,
    syncItems: ENDED_FROM_OUTSIDE.listing!,
    ...Object.fromEntries(
      ['autoSync', 'deleteFiles', 'deleteUser', 'moveStorage', 'recountFiles', 'settleQuarantine', 'updateTags'].map(
        (kind) => [kind, 'The run was terminated outside of this service. Start it again.'],
      ),
    ),
  };
  const kinds = (Object.keys(IS_UPLOAD) as RunKind[]).filter((kind) => kind !== 'reembedFiles');

  test("ends records as the workflow's last step would: files first, the run last, with counts for runs that sync files", async () => {
    await everyRow(kinds, String, async (kind) => {
      const { stores, names: called, of } = recorder({ 'files.abortOpen': 4, 'files.countRun': { ready: 2 } });
      expect(
        await endOrphanedRun(fakeTemporal({}).access, stores, runOf({ kind, dataSourceId: 9 }), ENDED_FROM_OUTSIDE),
      ).toBe(4);
      const counted = IS_UPLOAD[kind] || kind === 'resyncFile';
      expect(called()[0]).toBe('files.abortOpen');
      expect(called().at(-1)).toBe('runs.finish');
      expect(called().slice(1, -1).toSorted()).toEqual(
        [...(ENDS[kind] ?? []), ...(counted ? ['files.countRun'] : [])].toSorted(),
      );
      expect(of('files.abortOpen')).toEqual([[7, ENDED_FROM_OUTSIDE.file, 'ended_from_outside']]);
      expect(of('runs.finish')[0]?.slice(0, 4)).toEqual([
        ...[7, 'aborted', counted ? { ready: 2 } : {}],
        { message: messages[kind] ?? ENDED_FROM_OUTSIDE.file, error: 'ended_from_outside' },
      ]);
    });
  });

  test('a cancelled listing is READY, one terminated from outside has an error, and neither counts as complete', async () => {
    const run = runOf({ kind: 'syncItems', dataSourceId: 9 });
    const cancelled = recorder();
    await endOrphanedRun(fakeTemporal({}).access, cancelled.stores, run, CANCELLED);
    expect(cancelled.of('dataSources.endListing')).toEqual([
      [run, 9, 7, { status: 'READY', whole: false, metadata: {} }],
    ]);
    expect(cancelled.of('runs.finish')[0]?.[3]).toBeUndefined();
    const recorded = recorder();
    await endOrphanedRun(fakeTemporal({}).access, recorded.stores, run, ENDED_FROM_OUTSIDE);
    expect(recorded.of('dataSources.endListing')[0]?.[3]).toEqual({
      ...{ status: 'SYNC_ERROR', whole: false },
      metadata: { items_error: ENDED_FROM_OUTSIDE.listing },
    });
  });

  test('clears the mark that files of a source are paused', async () => {
    const { stores, of } = recorder();
    const run = runOf({ kind: 'syncSource', dataSourceId: 9, maxTokens: 5 });
    await endOrphanedRun(fakeTemporal({}).access, stores, run, CANCELLED);
    expect(of('dataSources.mergeMetadata')).toEqual([[run, 9, { files_paused: null }]]);
  });

  test('starts the workflow of a re-embedding run again, unless it is running, and cancels it, so that the workflow ends the run', async () => {
    const already = () => {
      throw new WorkflowExecutionAlreadyStartedError('already started', 'scrape:3', 'reembedFiles');
    };
    await everyRow([undefined, already], String, async (start) => {
      const { access, done, started } = fakeTemporal({}, start && { start });
      const { stores, calls } = recorder();
      expect(await endOrphanedRun(access, stores, runOf({ kind: 'reembedFiles' }), CANCELLED)).toBe(0);
      expect([done, calls]).toEqual([['start scrape:3', 'cancel scrape:3'], []]);
      expect(started[0]?.options).toMatchObject({ args: [{ runId: 7 }], memo: { runId: 7 }, taskQueue: 'q' });
      expect(attributesOf(started[0]?.options)).toEqual({ OrganizationId: '1', UserId: '2', RequestId: 'r' });
    });
  });
});

describe('reaper', () => {
  const reap = (run: RunDoc, workflows: Record<string, Described>, answers: Answers = {}) => {
    const {
      stores,
      of,
      names: called,
    } = recorder({
      ...{ 'runs.listActiveStartedUntil': [run], 'runs.find': run, 'files.countRun': {} },
      ...answers,
    });
    const { log } = fakeLog();
    const reaped = reapOnce(fakeTemporal(workflows).access, stores, log, 100_000);
    return { reaped, of, called };
  };

  test('ends runs whose workflow has ended, if they started more than ten seconds ago, and no other runs', async () => {
    const withoutWorkflow = reap(runOf(), {});
    expect(await withoutWorkflow.reaped).toBe(1);
    expect(withoutWorkflow.of('runs.listActiveStartedUntil')[0]?.[0]).toEqual(new Date(90_000));
    expect(withoutWorkflow.of('files.abortOpen')[0]?.[2]).toBe('ended_from_outside');
    const alive = reap(runOf(), { 'scrape:3': { status: 'RUNNING', memo: { runId: 7 } } });
    expect([await alive.reaped, alive.called()]).toEqual([0, ['runs.listActiveStartedUntil']]);
    const alreadyEnded = reap(runOf(), {}, { 'runs.find': runOf({ finishedAt: new Date() }) });
    expect([await alreadyEnded.reaped, alreadyEnded.called()]).toEqual([
      0,
      ['runs.listActiveStartedUntil', 'runs.find'],
    ]);
  });

  test('ends a part of a scheduled sync that has no workflow only if the workflow of the sync has ended', async () => {
    const syncRun = runOf({ _id: 5, workflowId: 'pass', temporalRunId: 'p' });
    const part = runOf({ parentRunId: 5 });
    const find = (id: number) => (id === 5 ? syncRun : part);
    const kept = reap(part, { pass: { status: 'RUNNING', runId: 'p' } }, { 'runs.find': find });
    expect([await kept.reaped, kept.of('runs.finish')]).toEqual([0, []]);
    const ended = reap(part, { pass: { status: 'FAILED', runId: 'p' } }, { 'runs.find': find });
    expect([await ended.reaped, ended.of('runs.finish').length]).toEqual([1, 1]);
  });

  test('also checks paused runs and deletes interrupted uploads, and repeats an iteration that failed', async () => {
    const stop = new AbortController();
    let iterations = 0;
    const { stores, names: called } = recorder({
      'runs.listActiveStartedUntil': () => {
        iterations += 1;
        if (iterations === 1) throw new Error('MongoDB is unreachable');
        return [];
      },
      'pauses.listPaused': [],
      'originals.sweep': () => {
        stop.abort();
        return 2;
      },
    });
    const { log, lines } = fakeLog();
    await reapUntil(fakeTemporal({}).access, stores, log, 1, stop.signal);
    expect(called().slice(1)).toEqual(['runs.listActiveStartedUntil', 'pauses.listPaused', 'originals.sweep']);
    expect(lines).toEqual([
      'comparing runs with Temporal or sweeping uploads failed; trying again',
      'deleted the contents of interrupted uploads, and contents that were replaced',
    ]);
  });

  test('checks all active runs in turn, also runs that started in the same millisecond', async () => {
    const active = Array.from({ length: 450 }, (_, nth) =>
      runOf({ _id: nth + 1, workflowId: `run:${nth + 1}`, startedAt: new Date(nth < 420 ? 1 : 2) }),
    );
    const { stores, of } = recorder({
      'runs.listActiveStartedUntil': (_until: Date, limit: number, after: RunPosition | null) =>
        pageOf(active, after, limit),
      'runs.find': runOf(),
      'files.countRun': {},
    });
    const workflows = Object.fromEntries(
      active.map(({ _id, workflowId }) => [workflowId, { status: 'RUNNING', memo: { runId: _id } }]),
    );
    delete workflows['run:450'];
    const { log } = fakeLog();
    const cursor = { after: null };
    const reapNext = () => reapOnce(fakeTemporal(workflows).access, stores, log, 100_000, cursor);
    expect([await reapNext(), await reapNext(), await reapNext()]).toEqual([0, 0, 1]);
    expect(of('runs.finish').map(([id]) => id)).toEqual([450]);
    delete workflows['run:1'];
    expect(await reapNext()).toBe(1);
  });

  test('restarts runs of four kinds, whose work no other run repeats, up to the maximum number of restarts; ends other runs', async () => {
    const redone = ['updateTags', 'recountFiles', 'moveStorage', 'settleQuarantine'] as RunKind[];
    await everyRow(Object.keys(IS_UPLOAD) as RunKind[], String, async (kind) => {
      if (kind === 'reembedFiles') return;
      const restarted = reap(runOf({ kind }), {}, { 'runs.redo': true });
      expect(await restarted.reaped).toBe(1);
      expect(restarted.called().includes('runs.finish')).toBe(!redone.includes(kind));
      const tooOften = reap(runOf({ kind }), {}, { 'runs.redo': false });
      await tooOften.reaped;
      expect(tooOften.called()).toContain('runs.finish');
    });
  });

  test('resumes paused runs without open files so that they end', async () => {
    const [empty, full] = [runOf({ _id: 1, maxTokens: 50 }), runOf({ _id: 2 })];
    const { stores, of } = recorder({
      'pauses.listPaused': [empty, full],
      'files.countRun': (id: number) => ({ open: id === 1 ? 0 : 1 }),
      'pauses.resume': true,
    });
    expect(await endEmptyPauses(stores)).toBe(1);
    expect(of('pauses.resume')).toEqual([[empty, 1, 50]]);
  });

  test('checks all paused runs in turn, however many of them have files', async () => {
    const many = Array.from({ length: 200 }, (_, index) => runOf({ _id: index + 1 }));
    const last = runOf({ _id: 201, maxTokens: 50 });
    const { stores, of } = recorder({
      'pauses.listPaused': (afterId: number) => (afterId === 0 ? many : [last]),
      'files.countRun': (id: number) => ({ open: id === 201 ? 0 : 1 }),
      'pauses.resume': true,
    });
    const cursor = { afterId: 0 };
    expect([await endEmptyPauses(stores, cursor), await endEmptyPauses(stores, cursor)]).toEqual([0, 1]);
    expect([of('pauses.resume'), cursor]).toEqual([[[last, 201, 50]], { afterId: 0 }]);
  });
});

describe('fair share of a run', () => {
  test('is the share of its user, except for deletes; users of an organization divide the weight of 1', async () => {
    const { stores, of } = recorder({
      'runs.countUsersWithOpenRuns': (id: number) => (id === 1 ? 4 : id === 2 ? 0 : 5_000),
    });
    const { of: shareOf } = createFairShares((stores as { runs: never }).runs);
    const rows: [RunKind | undefined, string][] = [
      [undefined, '1:2'],
      ...(Object.keys(IS_UPLOAD) as RunKind[]).map((kind): [RunKind, string] => [
        kind,
        ['deleteFiles', 'deleteUser', 'settleQuarantine'].includes(kind) ? '1:2:deletes' : '1:2',
      ]),
    ];
    await everyRow(rows, String, async ([kind, fairnessKey]) => {
      const share = await shareOf({ organizationId: 1, userId: 2, ...(kind && { kind }) });
      expect(share).toEqual({ fairnessKey, fairnessWeight: 0.25 });
    });
    // Users are counted once in ten seconds.
    expect(of('runs.countUsersWithOpenRuns')).toEqual([[1]]);
    expect(await shareOf({ organizationId: 2, userId: 2 })).toMatchObject({ fairnessWeight: 1 });
    expect(await shareOf({ organizationId: 3, userId: 2 })).toMatchObject({ fairnessWeight: 0.001 });
  });

  test('counts the users again after ten seconds', async () => {
    let users = 4;
    const { stores } = recorder({ 'runs.countUsersWithOpenRuns': () => users });
    const { of: shareOf } = createFairShares((stores as { runs: never }).runs);
    const now = jest.spyOn(Date, 'now').mockReturnValue(1_000_000);
    const weight = async () => (await shareOf({ organizationId: 1, userId: 2 })).fairnessWeight;
    expect(await weight()).toBe(0.25);
    users = 2;
    now.mockReturnValue(1_009_999);
    expect(await weight()).toBe(0.25);
    now.mockReturnValue(1_010_000);
    expect(await weight()).toBe(0.5);
  });
});

test('converts gRPC errors that mean an outage, a full disk or a server error; returns other errors unchanged', async () => {
  const grpc = (code: number, details = '') =>
    Object.assign(new Error(`${code}: ${details}`), { code, details, metadata: {} });
  const rows: [code: number, kind: string | null][] = [
    [1, 'unreachable'],
    [4, 'unreachable'],
    [8, 'unreachable'],
    [14, 'unreachable'],
    [2, 'failed'],
    [10, 'failed'],
    [13, 'failed'],
    [15, 'failed'],
    ...[3, 5, 6, 7, 9, 11, 12, 16].map((code): [number, null] => [code, null]),
  ];
  await everyRow(
    rows,
    ([code]) => String(code),
    ([code, kind]) => {
      const error = new Error('outer', { cause: grpc(code) });
      if (kind === null) expect(temporalFailure(error)).toBe(error);
      else expect(temporalFailure(error)).toMatchObject({ store: 'Temporal', kind });
    },
  );
  expect(temporalFailure(grpc(13, 'database or disk is full'))).toMatchObject({ kind: 'full' });
  const defect = new TypeError('ours');
  expect(temporalFailure(defect)).toBe(defect);
});

describe('dispatcher', () => {
  const dispatch = (
    run: RunDoc,
    answers: Answers = {},
    workflows: Record<string, Described> = {},
    options: { start?: () => unknown; cancel?: () => unknown } = {},
  ) => {
    const temporal = fakeTemporal(workflows, options);
    const stores = recorder({
      'runs.find': run,
      'runs.countUsersWithOpenRuns': 1,
      'files.countRun': { ready: 1 },
      ...answers,
    });
    const dispatcher = createDispatcher(temporal.client, names, stores.stores, fakeLog().log);
    return { ...temporal, ...stores, dispatcher };
  };
  const RUNNING = { 'scrape:3': { status: 'RUNNING', memo: { runId: 7 }, runId: 't' } };

  test('starts a run with its workflow id, its fairness key and only its run id as input, and records the start', async () => {
    const { dispatcher, started, of } = dispatch(runOf({ startedAt: null, dataSourceId: 9, kind: 'resyncFile' }));
    await dispatcher.start(7);
    expect(started).toMatchObject([
      {
        kind: 'resyncFile',
        options: {
          ...{ workflowId: 'scrape:3', taskQueue: 'q', args: [{ runId: 7 }], memo: { runId: 7 } },
          ...{ workflowIdConflictPolicy: 'FAIL', workflowIdReusePolicy: 'ALLOW_DUPLICATE' },
          priority: { fairnessKey: '1:2', fairnessWeight: 1 },
        },
      },
    ]);
    expect([of('runs.markStarted'), of('runs.postpone')]).toEqual([[[7]], []]);
  });

  test('sets organization, request, user, data source and, for a run of one file, that file as search attributes', async () => {
    const rows: [Partial<RunDoc>, object][] = [
      [
        { kind: 'resyncFile', dataSourceId: 9 },
        { UserId: '2', DataSourceId: '9', FileId: '3' },
      ],
      [{ kind: 'syncUpload' }, { UserId: '2', FileId: '3' }],
      [
        { kind: 'updateTags', fileId: null, dataSourceId: 9 },
        { UserId: '2', DataSourceId: '9' },
      ],
      // The file of a scrape is its container.
      [{ kind: 'webScrape' }, { UserId: '2' }],
      [{ kind: 'recountFiles', userId: 0, fileId: null }, {}],
    ];
    await everyRow(rows, JSON.stringify, async ([fields, expected]) => {
      const { dispatcher, started } = dispatch(runOf({ startedAt: null, ...fields }));
      await dispatcher.start(7);
      expect(attributesOf(started[0]?.options)).toEqual({ OrganizationId: '1', RequestId: 'r', ...expected });
    });
  });

  test('skips a started, held or missing run, and a run behind a waiting one unless the caller passes its record', async () => {
    const rows: [Partial<RunDoc> | null, Answers][] = [
      [{ startedAt: new Date() }, {}],
      [{ startedAt: null, held: true }, {}],
      [null, { 'runs.find': null }],
      [{ startedAt: null }, { 'runs.hasEarlierWaiting': true }],
    ];
    await everyRow(rows, JSON.stringify, async ([fields, answers]) => {
      const { dispatcher, done } = dispatch(runOf(fields ?? {}), answers);
      await dispatcher.start(7);
      expect(done).toEqual([]);
    });
    const waiting = dispatch(runOf({ startedAt: null }), { 'runs.hasEarlierWaiting': true });
    await waiting.dispatcher.start(7, runOf({ startedAt: null }));
    expect([waiting.done, waiting.names().includes('runs.hasEarlierWaiting')]).toEqual([['start scrape:3'], false]);
  });

  test('accepts an existing workflow only if it belongs to the same run; cancels a paused earlier run', async () => {
    const start = () => {
      throw new WorkflowExecutionAlreadyStartedError('already started', 'scrape:3', 'scrapeSitemap');
    };
    const ofSameRun = dispatch(runOf({ startedAt: null }), {}, RUNNING, { start });
    await ofSameRun.dispatcher.start(7);
    expect([ofSameRun.of('runs.markStarted').length, ofSameRun.of('runs.postpone').length]).toEqual([1, 0]);
    const ofOtherRun = { 'scrape:3': { status: 'RUNNING', memo: { runId: 6 } } };
    const behind = dispatch(runOf({ startedAt: null }), { 'pauses.findPausedByWorkflowId': null }, ofOtherRun, {
      start,
    });
    await behind.dispatcher.start(7);
    expect([behind.of('runs.markStarted').length, behind.of('runs.postpone').length]).toEqual([0, 1]);
    expect(behind.done.filter((call) => call.startsWith('cancel'))).toEqual([]);
    // Postponed by at most two seconds: the sweeper retries then.
    const [, until] = behind.of('runs.postpone')[0] as [number, Date];
    expect(until.getTime() - Date.now()).toBeLessThanOrEqual(2_000);
    const paused = dispatch(runOf({ startedAt: null }), { 'pauses.findPausedByWorkflowId': { _id: 6 } }, ofOtherRun, {
      start,
    });
    await paused.dispatcher.start(7);
    expect(paused.done.at(-1)).toBe('cancel scrape:3');
    expect(paused.of('runs.postpone')).toHaveLength(1);
  });

  test('a start that fails stays in the outbox', async () => {
    const start = () => {
      throw new Error('Temporal is unreachable');
    };
    const { dispatcher, of } = dispatch(runOf({ startedAt: null }), {}, {}, { start });
    await dispatcher.start(7);
    expect([of('runs.markStarted').length, of('runs.postpone').length]).toEqual([0, 1]);
  });

  test('cancels a run in the outbox, in an upload stream, in Temporal, or without a workflow', async () => {
    const withdrawn = dispatch(runOf({ startedAt: null }), { 'runs.withdraw': true });
    await withdrawn.dispatcher.cancel(7);
    expect(withdrawn.names()).toEqual(['runs.withdraw', 'files.abortOpen', 'runs.finish']);
    expect([withdrawn.of('files.abortOpen')[0]?.[2], withdrawn.of('runs.finish')[0]?.[1]]).toEqual([
      'cancelled',
      'aborted',
    ]);

    const streamed = dispatch(runOf({ stream: true }));
    await streamed.dispatcher.cancel(7);
    expect(streamed.done).toEqual([]);
    expect(streamed.of('files.abortOpen')).toHaveLength(1);
    expect(streamed.of('runs.finish')).toEqual([[7, 'aborted', { ready: 1 }]]);

    const running = dispatch(runOf(), {}, RUNNING);
    await running.dispatcher.cancel(7);
    expect([running.done, running.of('runs.finish')]).toEqual([['cancel scrape:3 t'], []]);

    const withoutWorkflow = dispatch(runOf());
    await withoutWorkflow.dispatcher.cancel(7);
    expect(withoutWorkflow.done).toEqual([]);
    expect(withoutWorkflow.of('files.abortOpen')[0]?.[2]).toBe('cancelled');
    expect(withoutWorkflow.of('runs.finish')).toHaveLength(1);

    // The run ends between the read of its record and the read of its workflow.
    let reads = 0;
    const endsMeanwhile = dispatch(runOf(), {
      'runs.find': () => runOf({ finishedAt: (reads += 1) > 1 ? new Date() : null }),
    });
    await endsMeanwhile.dispatcher.cancel(7);
    expect([endsMeanwhile.of('files.abortOpen'), endsMeanwhile.of('runs.finish')]).toEqual([[], []]);

    const alreadyEnded = dispatch(runOf({ finishedAt: new Date() }), {}, RUNNING);
    await alreadyEnded.dispatcher.cancel(7);
    expect(alreadyEnded.done).toEqual([]);

    const unreachable = dispatch(runOf(), {}, RUNNING, {
      cancel: () => {
        throw Object.assign(new Error('14'), { code: 14, details: '', metadata: {} });
      },
    });
    await expect(unreachable.dispatcher.cancel(7)).rejects.toMatchObject({ store: 'Temporal', kind: 'unreachable' });
  });

  test('ends a run whose workflow ends during its cancellation, and no unstarted part of an active scheduled sync', async () => {
    const workflows: Record<string, Described> = { ...RUNNING };
    const endsMeanwhile = dispatch(runOf(), {}, workflows, {
      cancel: () => {
        delete workflows['scrape:3'];
        throw missing();
      },
    });
    await endsMeanwhile.dispatcher.cancel(7);
    expect([endsMeanwhile.of('files.abortOpen').length, endsMeanwhile.of('runs.finish').length]).toEqual([1, 1]);

    const syncRun = runOf({ _id: 5, workflowId: 'pass', temporalRunId: 'p' });
    const part = runOf({ parentRunId: 5 });
    const ofSync = dispatch(
      part,
      { 'runs.find': (id: number) => (id === 5 ? syncRun : part) },
      { pass: { status: 'RUNNING', runId: 'p' } },
    );
    await expect(ofSync.dispatcher.cancel(7)).rejects.toBeInstanceOf(WorkflowNotFoundError);
    expect([ofSync.of('files.abortOpen'), ofSync.of('runs.finish')]).toEqual([[], []]);
  });

  test('starts nothing once it is closed', async () => {
    const { dispatcher, done } = dispatch(runOf({ startedAt: null }));
    await dispatcher.close();
    await dispatcher.start(7);
    await dispatcher.signalConsentReturned(7);
    await dispatcher.signalResumed(runOf());
    expect(done).toEqual([]);
  });
});

describe('diagnosis of a run without progress', () => {
  const UP: StoresDown = { qdrant: null, temporal: null };
  const worker: WorkerReport = {
    ...{ lagMs: 0, waitShare: 0, waited: 0, othersShare: 0, host: 'h', pid: 1, ageMs: 0 },
    ...{ startedAt: new Date(), heartbeatAt: new Date() },
  };
  const silent = { ...worker, ageMs: 15_001 };
  const starved = { ...worker, waitShare: 0.5, waited: 0.1, othersShare: 0.5 };
  const waiting = (ms: number, state = 1) => ({
    pendingWorkflowTask: {
      state,
      attempt: 1,
      scheduledTime: msToTs(Date.now() - ms),
    },
  });
  const unstarted = runOf({ startedAt: null });

  interface Row {
    readonly what: string;
    readonly run?: RunDoc;
    readonly workers?: readonly WorkerReport[];
    readonly down?: Partial<StoresDown>;
    readonly raw?: object;
    readonly progressed?: boolean;
    readonly cause: string | null;
  }
  const rows: Row[] = [
    { what: 'waits for a timer', cause: null },
    { what: 'waits for its turn while a worker is running', raw: waiting(600_000), cause: null },
    { what: 'has progressed', raw: waiting(600_000), workers: [], progressed: true, cause: null },
    { what: 'has no worker', raw: waiting(600_000), workers: [], cause: 'no_worker' },
    { what: 'has waited without a worker for only five seconds', raw: waiting(5_000), workers: [], cause: null },
    { what: 'has a silent worker', raw: waiting(600_000), workers: [silent], cause: 'worker_silent' },
    {
      what: 'has a starved worker and a silent one',
      raw: waiting(600_000),
      workers: [silent, starved],
      cause: 'worker_starved',
    },
    {
      what: 'has a healthy worker and bad ones',
      raw: waiting(600_000),
      workers: [silent, starved, worker],
      cause: null,
    },
    {
      what: 'has a running task while Qdrant is down',
      raw: waiting(600_000, 2),
      down: { qdrant: 'unreachable' },
      cause: 'qdrant_down',
    },
    {
      what: 'has a waiting task while Qdrant is down',
      raw: waiting(600_000),
      down: { qdrant: 'unreachable' },
      cause: null,
    },
    {
      what: 'cannot be described because Temporal is down',
      down: { temporal: 'Temporal is unreachable' },
      workers: [],
      cause: 'temporal_down',
    },
    { what: 'is in the outbox with a worker', run: unstarted, cause: null },
    { what: 'is in the outbox without a worker', run: unstarted, workers: [], cause: 'no_worker' },
    {
      what: 'is in the outbox without Temporal',
      run: unstarted,
      down: { temporal: 'Temporal is unreachable' },
      cause: 'temporal_down',
    },
  ];

  test('checks all started runs in turn, also runs that started in the same millisecond', async () => {
    const started = Array.from({ length: 250 }, (_, nth) => runOf({ _id: nth + 1, startedAt: new Date(1) }));
    const { stores, of } = recorder({
      'stalls.listStarted': (after: RunPosition | null, _until: Date, limit: number) => pageOf(started, after, limit),
      ...{ 'stalls.listUnstarted': [], 'stalls.listStalled': [] },
      ...{ 'stalls.hasProgressedSince': true, 'workers.list': [] },
    });
    const { diagnose: next } = createDiagnosis(fakeTemporal({}).access, stores, () => Promise.resolve(UP), 60_000);
    for (let iteration = 0; iteration < 4; iteration += 1) await next();
    const ids = of('stalls.hasProgressedSince').map(([checked]) => (checked as RunDoc)._id);
    expect(ids).toEqual([...started.map(({ _id }) => _id), ...Array.from({ length: 100 }, (_, nth) => nth + 1)]);
  });

  test('describes the shared workflow of many uploads once, and judges each of them by it', async () => {
    const uploads = [1, 2, 3].map((_id) => runOf({ _id, stream: true, startedAt: null, workflowId: 'uploads:2' }));
    const { stores, of } = recorder({
      ...{
        'stalls.listStarted': [],
        'stalls.listUnstarted': uploads.slice(0, 2),
        'stalls.listStalled': uploads.slice(2),
      },
      ...{ 'stalls.hasProgressedSince': false, 'workers.list': [] },
    });
    let described = 0;
    const state = { status: 'RUNNING', raw: waiting(600_000) };
    const workflows = {
      get 'uploads:2'() {
        described += 1;
        return state;
      },
    };
    const { access } = fakeTemporal(workflows);
    const startedAt = Date.now();
    const { stalled } = await createDiagnosis(access, stores, () => Promise.resolve(UP), 60_000).diagnose();
    expect([described, stalled.map(({ run }) => run._id)]).toEqual([1, [1, 2, 3]]);
    const [, since] = of('stalls.hasProgressedSince')[0] as [RunDoc, Date];
    expect(since.getTime()).toBeGreaterThanOrEqual(startedAt - 60_000);
    expect(since.getTime()).toBeLessThanOrEqual(Date.now() - 60_000);
  });

  test('a run whose workflow cannot be described keeps its state, and the other runs are judged', async () => {
    const stall = { cause: 'no_worker', message: 'x', since: new Date() } as const;
    const runs = [runOf({ _id: 1, stall, workflowId: 'lost' }), runOf({ _id: 2 })];
    const { stores } = recorder({
      ...{ 'stalls.listStarted': runs, 'stalls.listUnstarted': [], 'stalls.listStalled': [] },
      ...{ 'stalls.hasProgressedSince': false, 'workers.list': [] },
    });
    const workflows = {
      lost: new Error('deadline exceeded'),
      'scrape:3': { status: 'RUNNING', raw: waiting(600_000) },
    };
    const { access } = fakeTemporal(workflows);
    const { stalled, recovered } = await createDiagnosis(access, stores, () => Promise.resolve(UP), 60_000).diagnose();
    expect([stalled.map(({ run }) => run._id), recovered]).toEqual([[2], []]);
  });

  test('leaves a run without a workflow, or with an ended one, to the reaper', async () => {
    for (const workflows of [{}, { 'scrape:3': { status: 'COMPLETED', raw: waiting(600_000) } }]) {
      const { stores } = recorder({
        ...{ 'stalls.listStarted': [runOf()], 'stalls.listUnstarted': [], 'stalls.listStalled': [] },
        ...{ 'stalls.hasProgressedSince': false, 'workers.list': [] },
      });
      const iteration = createDiagnosis(
        fakeTemporal(workflows).access,
        stores,
        () => Promise.resolve(UP),
        60_000,
      ).diagnose();
      expect((await iteration).stalled).toEqual([]);
    }
  });

  const diagnose = async ({
    run = runOf(),
    workers = [worker],
    down = {},
    raw = {},
    progressed = false,
    events = [],
  }: Omit<Row, 'what' | 'cause'> & { readonly events?: readonly object[] }) => {
    const { stores, of } = recorder({
      ...{
        'stalls.listStarted': run.startedAt ? [run] : [],
        'stalls.listUnstarted': run.startedAt ? [] : [run],
        'stalls.listStalled': [],
      },
      ...{ 'stalls.hasProgressedSince': progressed, 'workers.list': workers },
    });
    const { access } = fakeTemporal({ 'scrape:3': { status: 'RUNNING', raw } }, { events });
    const diagnoses = await createDiagnosis(
      access,
      stores,
      () => Promise.resolve({ ...UP, ...down }),
      60_000,
    ).diagnose();
    return { ...diagnoses, of };
  };

  test('names a cause only for stalled runs', async () => {
    await everyRow(
      rows,
      ({ what }) => what,
      async ({ cause, ...row }) => {
        const { stalled } = await diagnose(row);
        expect(stalled.map(({ stall }) => stall.cause)).toEqual(cause === null ? [] : [cause]);
      },
    );
  });

  const ago = (ms: number) => msToTs(Date.now() - ms);
  const failingTask = { pendingWorkflowTask: { state: 1, attempt: 3, scheduledTime: msToTs(0) } };
  const failedTask = (message: string) => ({
    eventType: 9,
    workflowTaskFailedEventAttributes: { failure: { message } },
  });
  const step = (fields: object) => ({
    pendingActivities: [
      { activityType: { name: 'ingestBatch' }, state: 1, attempt: 4, scheduledTime: ago(0), ...fields },
    ],
  });
  const explained = (): readonly (readonly [given: Parameters<typeof diagnose>[0], message: string | null])[] => [
    [
      { raw: failingTask, events: [{ eventType: 1 }, failedTask('nondeterminism\n at x'), failedTask('earlier')] },
      'The workflow tasks of this run fail repeatedly: nondeterminism. Run the same version',
    ],
    [{ raw: failingTask, events: [failedTask('x'.repeat(301))] }, `fail repeatedly: ${'x'.repeat(300)}…. Run`],
    [{ raw: failingTask }, 'fail repeatedly: no worker finishes them in time. Run'],
    [{ raw: failingTask, workers: [] }, 'worker'],
    [{ raw: step({ lastFailure: { message: 'disk\n at x' } }) }, 'The step ingestBatch has failed 3 times: disk. Look'],
    // A recent heartbeat shows that a worker runs the step, however long ago the step started. The run is not stalled.
    [{ raw: step({ state: 2, lastStartedTime: ago(600_000), lastHeartbeatTime: ago(1_000) }), workers: [] }, null],
    [{ raw: step({ state: 2, lastStartedTime: ago(600_000) }), workers: [] }, 'worker'],
    // A task that is scheduled again has waited since it was first scheduled.
    [
      {
        raw: { pendingWorkflowTask: { ...waiting(0).pendingWorkflowTask, originalScheduledTime: ago(600_000) } },
        workers: [],
      },
      'worker',
    ],
  ];
  test('describes a stall by the first line of the failure, the step and its number of failures, or the problem of the workers', () =>
    everyRow(explained(), JSON.stringify, async ([given, message]) => {
      const { stalled } = await diagnose(given);
      expect(stalled.map(({ stall }) => stall.message)).toEqual(
        message === null ? [] : [expect.stringContaining(message)],
      );
    }));

  test('reports recovery only for runs that were stalled before', async () => {
    const stall = { cause: 'no_worker', message: 'x', since: new Date() } as const;
    expect((await diagnose({ run: runOf({ stall }) })).recovered).toHaveLength(1);
    expect((await diagnose({})).recovered).toEqual([]);
  });

  test('records every stall, and logs each cause of a run once', async () => {
    const stall = { cause: 'no_worker', message: 'x', since: new Date() } as const;
    const { stores, of } = recorder();
    const { log, lines } = fakeLog();
    const stop = new AbortController();
    const diagnoseAll = () => {
      stop.abort();
      const stalled = [
        { run: runOf({ _id: 1 }), stall },
        { run: runOf({ _id: 2, stall }), stall },
        { run: runOf({ _id: 3, stall: { ...stall, cause: 'qdrant_down' } }), stall },
      ];
      return Promise.resolve({ stalled, recovered: [runOf({ _id: 4, stall })] });
    };
    await watchStalls({ diagnose: diagnoseAll }, (stores as { stalls: never }).stalls, log, 400, stop.signal);
    expect([of('stalls.record').map(([id]) => id), of('stalls.clear')]).toEqual([[1, 2, 3], [[4]]]);
    expect(lines).toEqual(['run is stalled', 'run is stalled', 'stalled run makes progress again']);
  });
});
