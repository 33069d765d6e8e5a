import { afterEach, describe, expect, jest, test } from '@jest/globals';

import { EVENTS_QUEUED_SIGNAL, UPLOADS_QUEUED_SIGNAL } from '../../contract/runs/orchestration.js';
import { temporalNames } from '../../contract/runs/temporalNames.js';
import { coldSweepOnce } from '../../dispatch/coldSweep.js';
import { createFeedReader } from '../../dispatch/feedReader.js';
import { quarantineSweepOnce } from '../../dispatch/quarantineSweep.js';
import { createUploadStreamStarter } from '../../dispatch/uploadStreams.js';
import { NO_TRACING } from '../../observability/tracing.js';
import type { RunDoc } from '../../store/models/runs.js';
import type { WebhookDoc } from '../../store/models/webhooks.js';
import { everyRow } from '../support/everyRow.js';
import { recorder } from '../support/recorder.js';

// Tests of which workflows the background loops start and signal: the event feed, upload streams, and sweeps.
const names = temporalNames('d1', 'queue');
const fakeLog = () => {
  const lines: string[] = [];
  const write = (_fields: unknown, text: string) => void lines.push(text);
  return { lines, log: { info: write, warn: write } as never };
};
/** Fake Temporal client with the states of some workflows. @param fails the workflow whose signal fails */
function fakeTemporal(states: Readonly<Record<string, string>> = {}, fails: string | null = null) {
  const signalled: { type: string; options: Record<string, unknown> }[] = [];
  const state = { fails };
  const client = {
    withDeadline: (_at: number, work: () => unknown) => work(),
    workflow: {
      getHandle: (id: string) => ({
        describe: () =>
          states[id] ? Promise.resolve({ status: { name: states[id] } }) : Promise.reject(new Error('none')),
      }),
      signalWithStart: async (type: string, options: Record<string, unknown>) => {
        if (options['workflowId'] === state.fails) throw new Error('Temporal is unreachable');
        signalled.push({ type, options });
      },
    },
  };
  return {
    client: client as never,
    signalled,
    state,
    ids: () => signalled.map(({ options }) => options['workflowId']),
  };
}

afterEach(() => {
  jest.restoreAllMocks();
});

describe('reader of the event feed', () => {
  const webhook = (id: number, wokenAt: Date | null = null): WebhookDoc =>
    ({ _id: id, organizationId: 1, wake: id * 10, wokenAt }) as WebhookDoc;

  interface Iteration {
    /** Value of the clock once the iteration has numbered its events, in milliseconds. */
    readonly atMs?: number;
    readonly numbered?: number;
    readonly webhooksToWake?: readonly WebhookDoc[];
  }
  /** Runs one iteration per row. */
  async function read(iterations: readonly Iteration[], temporal = fakeTemporal()) {
    let iteration = -1;
    jest.spyOn(performance, 'now').mockImplementation(() => iterations[iteration]?.atMs ?? 0);
    const stop = new AbortController();
    const { calls, of, stores } = recorder({
      'events.number': () => {
        iteration += 1;
        if (iteration === iterations.length - 1) stop.abort();
        return iterations[iteration]!.numbered ?? 0;
      },
      'webhooks.listUnsignalled': () => iterations[iteration]!.webhooksToWake ?? [],
    });
    const { log, lines } = fakeLog();
    await createFeedReader(temporal.client, names, stores, log, 60_000).read(stop.signal);
    return { calls: calls.map(({ name }) => name.replace(/^.*\./, '')), of, lines };
  }

  test('numbers events in each iteration, lists webhooks after new events or one second, calls settle after five seconds', async () => {
    const iterations: readonly Iteration[] = [
      ...[{ atMs: 0 }, { atMs: 400 }, { atMs: 999 }, { atMs: 1_000 }, { atMs: 1_100, numbered: 3 }],
      ...[{ atMs: 1_200 }, { atMs: 5_000 }, { atMs: 5_001 }, { atMs: 5_002 }],
    ];
    const { calls, of } = await read(iterations);
    expect(calls).toEqual([
      ...[
        'settle',
        'number',
        'listUnsignalled',
        'number',
        'number',
        'number',
        'listUnsignalled',
        'number',
        'listUnsignalled',
      ],
      ...['number', 'number', 'listUnsignalled', 'number', 'settle', 'number'],
    ]);
    await everyRow(of('webhooks.listUnsignalled'), String, ([wokenBefore, limit]) => {
      expect(Math.abs((wokenBefore as Date).getTime() + 60_000 - Date.now())).toBeLessThan(50_000);
      expect(limit).toBe(50);
    });
  });

  test('starts or signals the workflow of a webhook once, and records for which event number', async () => {
    const temporal = fakeTemporal();
    const { of } = await read([{ numbered: 1, webhooksToWake: [webhook(1), webhook(2)] }], temporal);
    expect(temporal.signalled).toMatchObject(
      [1, 2].map((webhookId) => ({
        type: 'deliverEvents',
        options: {
          ...{ workflowId: `d1:deliver-events:${webhookId}`, taskQueue: 'queue-d1', args: [{ webhookId }] },
          ...{ signal: EVENTS_QUEUED_SIGNAL, workflowIdConflictPolicy: 'USE_EXISTING' },
          ...{ workflowIdReusePolicy: 'ALLOW_DUPLICATE', priority: { fairnessKey: '1' } },
        },
      })),
    );
    expect(of('webhooks.acknowledgeWake')).toEqual([
      [1, 10],
      [2, 20],
    ]);
  });

  const STATES: readonly (readonly [what: string, state: string | null, isSignalled: boolean])[] = [
    ['runs', 'RUNNING', false],
    ['was terminated', 'TERMINATED', true],
    ['has failed', 'FAILED', true],
    ['has ended', 'COMPLETED', true],
    ['is unknown', null, true],
  ];
  test('starts a workflow that was signalled before only if it is not running', () =>
    everyRow(
      STATES,
      ([what]) => what,
      async ([, state, isSignalled]) => {
        const temporal = fakeTemporal(state === null ? {} : { 'd1:deliver-events:1': state });
        const { of } = await read([{ numbered: 1, webhooksToWake: [webhook(1, new Date(0))] }], temporal);
        expect(temporal.ids()).toEqual(isSignalled ? ['d1:deliver-events:1'] : []);
        // In both cases the reader records that the workflow was signalled or runs, so that the next iteration does not
        // check it again.
        expect(of('webhooks.acknowledgeWake')).toEqual([[1, 10]]);
      },
    ));

  test('signals other webhooks if one fails, and retries in the next iteration', async () => {
    const temporal = fakeTemporal({}, 'd1:deliver-events:1');
    const webhooksToWake = [webhook(1), webhook(2)];
    const { of, lines } = await read(
      [
        { numbered: 1, webhooksToWake },
        { atMs: 1, webhooksToWake },
      ],
      temporal,
    );
    expect(temporal.ids()).toEqual(['d1:deliver-events:2', 'd1:deliver-events:2']);
    expect(of('webhooks.acknowledgeWake')).toEqual([
      [2, 20],
      [2, 20],
    ]);
    expect(lines).toEqual(Array(2).fill('the event feed could not be read; trying again'));
  });

  test('starts the next iteration at once if one numbered the maximum of 500 events', async () => {
    const temporal = fakeTemporal();
    let iterations = 0;
    const stop = new AbortController();
    const { stores } = recorder({
      'events.number': () => ((iterations += 1) > 2 ? 0 : iterations === 1 ? 500 : 499),
      'webhooks.listUnsignalled': [],
    });
    const reading = createFeedReader(temporal.client, names, stores, fakeLog().log, 60_000).read(stop.signal);
    // The fake stores answer immediately, so only a pause could delay an iteration.
    for (let turn = 0; turn < 5; turn += 1) await new Promise((resolve) => setImmediate(resolve));
    expect(iterations).toBe(2);
    stop.abort();
    await reading;
  });
});

describe('upload stream of a user', () => {
  const runOf = (_id: number, userId = 2): RunDoc =>
    ({
      ...{ _id, kind: 'syncUpload', workflowId: `uploads:${userId}`, organizationId: 1, userId, fileId: _id },
      requestId: 'r',
    }) as RunDoc;
  const open = (temporal = fakeTemporal()) => {
    const { log, lines } = fakeLog();
    const shares = { of: async () => ({ fairnessKey: '1:2', fairnessWeight: 0.5 }) };
    return { starter: createUploadStreamStarter(temporal.client, names, shares, log, NO_TRACING), temporal, lines };
  };

  test('is started or signalled with the fairness key of its user', async () => {
    const { starter, temporal, lines } = open();
    const signalled = starter.signalStream(runOf(7));
    starter.close();
    await signalled;
    expect(temporal.signalled).toMatchObject([
      {
        type: 'drainUploads',
        options: {
          ...{ workflowId: 'd1:uploads:2', taskQueue: 'queue-d1', args: [{ organizationId: 1, userId: 2 }] },
          ...{ signal: UPLOADS_QUEUED_SIGNAL, signalArgs: [], workflowIdReusePolicy: 'ALLOW_DUPLICATE' },
          priority: { fairnessKey: '1:2', fairnessWeight: 0.5 },
        },
      },
    ]);
    expect(lines).toEqual(['workflow started or signalled']);
  });

  test('sends one further signal for all uploads that arrive during a signal, separately for each user', async () => {
    const { starter, temporal } = open();
    const signals = [runOf(1), runOf(2), runOf(3), runOf(4, 9)].map((run) => starter.signalStream(run));
    await Promise.all(signals);
    expect(temporal.ids().map(String).toSorted()).toEqual(['d1:uploads:2', 'd1:uploads:2', 'd1:uploads:9']);
    // An upload that arrives after these signals causes another one.
    const signalled = starter.signalStream(runOf(5));
    starter.close();
    await signalled;
    expect(temporal.ids()).toHaveLength(4);
  });

  test('is signalled again for waiting uploads after more than five seconds, not sooner', async () => {
    const { starter, temporal } = open();
    const now = jest.spyOn(Date, 'now').mockReturnValue(1_000_000);
    await Promise.all([starter.wakeAgain(runOf(1)), starter.wakeAgain(runOf(2, 9))]);
    now.mockReturnValue(1_005_000);
    await starter.wakeAgain(runOf(1));
    expect(temporal.ids()).toHaveLength(2);
    now.mockReturnValue(1_005_001);
    await starter.wakeAgain(runOf(1));
    expect(temporal.ids()).toEqual(['d1:uploads:2', 'd1:uploads:9', 'd1:uploads:2']);
    starter.close();
  });

  test('waits for the sweeper while Temporal is unreachable, and is not signalled after closing', async () => {
    const { starter, temporal, lines } = open(fakeTemporal({}, 'd1:uploads:2'));
    await starter.signalStream(runOf(1));
    expect(lines).toEqual(['the upload stream could not be signalled; the sweeper repeats the signal']);
    temporal.state.fails = null;
    await starter.signalStream(runOf(1));
    expect(temporal.ids()).toEqual(['d1:uploads:2']);
    starter.close();
    await starter.signalStream(runOf(2));
    expect(temporal.ids()).toHaveLength(1);
  });
});

const SWEEPS = [
  {
    ...{ kind: 'moveStorage', request: { move: 'toCold' }, idOf: (userId: number) => `move-to-cold:${userId}` },
    ...{ sweep: coldSweepOnce, finds: 'moves.listOwnersOfDue' },
  },
  {
    ...{ kind: 'settleQuarantine', request: { does: 'erase' }, idOf: (userId: number) => `erase-quarantine:${userId}` },
    ...{ sweep: quarantineSweepOnce, finds: 'quarantine.listOwnersOfDue' },
  },
] as const;
test('a sweep accepts a run for each user without one in progress, and starts it after the commit', () =>
  everyRow(
    SWEEPS,
    ({ kind }) => kind,
    async ({ kind, request, idOf, sweep, finds }) => {
      const owners = [1, 2, 3].map((userId) => ({ organizationId: 9, userId, customerId: `user ${userId}` }));
      let id = 100;
      const session = {};
      const done: string[] = [];
      const { of, stores } = recorder({
        [finds]: owners,
        'moves.isRunOpen': ({ userId }: { userId: number }) => userId === 2,
        'runs.nextId': () => (id += 1),
        'runs.accept': (runId: number) => void done.push(`accept ${runId}`),
      });
      const transaction = async <T>(work: (given: never) => Promise<T>): Promise<T> => {
        const result = await work(session as never);
        done.push('commit');
        return result;
      };
      const dispatcher = { start: async (runId: number) => void done.push(`start ${runId}`) };
      const now = new Date();
      expect(await sweep({ ...(stores as object), transaction } as never, dispatcher, now)).toBe(2);
      expect(of(finds)).toEqual([[now, 100]]);
      expect(of('moves.isRunOpen')).toEqual(owners.map((owner) => [owner, idOf(owner.userId)]));
      expect(done).toEqual(['accept 101', 'commit', 'start 101', 'accept 102', 'commit', 'start 102']);
      expect(of('runs.accept')).toEqual(
        [owners[0], owners[2]].map((owner, at) => [
          101 + at,
          { kind, request, owner, workflowId: idOf(owner!.userId), fileId: null, requestId: expect.any(String) },
          session,
        ]),
      );
    },
  ));
