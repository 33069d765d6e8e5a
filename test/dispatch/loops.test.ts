import { afterEach, describe, expect, jest, test } from '@jest/globals';

import { EVENTS_QUEUED_SIGNAL, UPLOADS_QUEUED_SIGNAL } from '../../contract/orchestration.js';
import { temporalNames } from '../../contract/temporalNames.js';
import { coldSweepOnce } from '../../dispatch/coldSweep.js';
import { createFeedReader } from '../../dispatch/feedReader.js';
import { quarantineSweepOnce } from '../../dispatch/quarantineSweep.js';
import { createUploadStreamStarter } from '../../dispatch/uploadStreams.js';
import { NO_TRACING } from '../../observability/tracing.js';
import type { RunDoc } from '../../store/runs/model.js';
import type { WebhookDoc } from '../../store/webhooks/model.js';
import { everyRow } from '../support/everyRow.js';
import { recorder } from '../support/recorder.js';

/** What the loops beside the dispatcher start and signal: the feed of events, the streams of uploads, and the sweeps. */
const names = temporalNames('d1', 'queue');
const logOf = () => {
  const lines: string[] = [];
  const write = (_fields: unknown, text: string) => void lines.push(text);
  return { lines, log: { info: write, warn: write } as never };
};
/** Temporal with the states of some workflows. @param fails the workflow whose signal ends with an error */
function temporalOf(states: Readonly<Record<string, string>> = {}, fails: string | null = null) {
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
        if (options['workflowId'] === state.fails) throw new Error('Temporal is away');
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

describe('the reader of the feed', () => {
  const webhook = (id: number, wokenAt: Date | null = null): WebhookDoc =>
    ({ _id: id, organizationId: 1, wake: id * 10, wokenAt }) as WebhookDoc;

  interface Round {
    /** What the clock shows once the round has numbered events, in milliseconds. */
    readonly atMs?: number;
    readonly numbered?: number;
    readonly wakes?: readonly WebhookDoc[];
  }
  /** Reads for as many rounds as there are rows. */
  async function read(rounds: readonly Round[], temporal = temporalOf()) {
    let round = -1;
    jest.spyOn(performance, 'now').mockImplementation(() => rounds[round]?.atMs ?? 0);
    const stop = new AbortController();
    const { calls, of, stores } = recorder({
      'events.number': () => {
        round += 1;
        if (round === rounds.length - 1) stop.abort();
        return rounds[round]!.numbered ?? 0;
      },
      'webhooks.toWake': () => rounds[round]!.wakes ?? [],
    });
    const { log, lines } = logOf();
    await createFeedReader(temporal.client, names, stores, log, 60_000).read(stop.signal);
    return { calls: calls.map(({ name }) => name.replace(/^.*\./, '')), of, lines };
  }

  test('numbers events in each round, looks for webhooks where some are new or after a second, and for leftovers after five', async () => {
    const rounds: readonly Round[] = [
      ...[{ atMs: 0 }, { atMs: 400 }, { atMs: 999 }, { atMs: 1_000 }, { atMs: 1_100, numbered: 3 }],
      ...[{ atMs: 1_200 }, { atMs: 5_000 }, { atMs: 5_001 }, { atMs: 5_002 }],
    ];
    const { calls, of } = await read(rounds);
    expect(calls).toEqual([
      ...['settle', 'number', 'toWake', 'number', 'number', 'number', 'toWake', 'number', 'toWake'],
      ...['number', 'number', 'toWake', 'number', 'settle', 'number'],
    ]);
    await everyRow(of('webhooks.toWake'), String, ([toldBefore, limit]) => {
      expect(Math.abs((toldBefore as Date).getTime() + 60_000 - Date.now())).toBeLessThan(50_000);
      expect(limit).toBe(50);
    });
  });

  test('starts or signals the workflow of a webhook once, and says for which change', async () => {
    const temporal = temporalOf();
    const { of } = await read([{ numbered: 1, wakes: [webhook(1), webhook(2)] }], temporal);
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
    expect(of('webhooks.woken')).toEqual([
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
  test('starts a workflow that was signalled before only if it does not run', () =>
    everyRow(
      STATES,
      ([what]) => what,
      async ([, state, isSignalled]) => {
        const temporal = temporalOf(state === null ? {} : { 'd1:deliver-events:1': state });
        const { of } = await read([{ numbered: 1, wakes: [webhook(1, new Date(0))] }], temporal);
        expect(temporal.ids()).toEqual(isSignalled ? ['d1:deliver-events:1'] : []);
        // It is not asked for again for a while, either way.
        expect(of('webhooks.woken')).toEqual([[1, 10]]);
      },
    ));

  test('signals the others where one fails, and looks again in the next round', async () => {
    const temporal = temporalOf({}, 'd1:deliver-events:1');
    const wakes = [webhook(1), webhook(2)];
    const { of, lines } = await read(
      [
        { numbered: 1, wakes },
        { atMs: 1, wakes },
      ],
      temporal,
    );
    expect(temporal.ids()).toEqual(['d1:deliver-events:2', 'd1:deliver-events:2']);
    expect(of('webhooks.woken')).toEqual([
      [2, 20],
      [2, 20],
    ]);
    expect(lines).toEqual(Array(2).fill('the event feed could not be read; trying again'));
  });

  test('goes on at once after a round that was full', async () => {
    const temporal = temporalOf();
    let rounds = 0;
    const stop = new AbortController();
    const { stores } = recorder({
      'events.number': () => ((rounds += 1) > 2 ? 0 : rounds === 1 ? 500 : 499),
      'webhooks.toWake': [],
    });
    const reading = createFeedReader(temporal.client, names, stores, logOf().log, 60_000).read(stop.signal);
    // The stores answer at once: only a pause would hold up a round.
    for (let turn = 0; turn < 5; turn += 1) await new Promise((resolve) => setImmediate(resolve));
    expect(rounds).toBe(2);
    stop.abort();
    await reading;
  });
});

describe('the stream of uploads of a user', () => {
  const runOf = (_id: number, userId = 2): RunDoc =>
    ({
      ...{ _id, kind: 'syncUpload', workflowId: `uploads:${userId}`, organizationId: 1, userId, fileId: _id },
      requestId: 'r',
    }) as RunDoc;
  const open = (temporal = temporalOf()) => {
    const { log, lines } = logOf();
    const shares = { of: async () => ({ fairnessKey: '1:2', fairnessWeight: 0.5 }) };
    return { starter: createUploadStreamStarter(temporal.client, names, shares, log, NO_TRACING), temporal, lines };
  };

  test('is started or signalled with the share of its user', async () => {
    const { starter, temporal, lines } = open();
    const waking = starter.wake(runOf(7));
    starter.close();
    await waking;
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
    expect(lines).toEqual(['workflow started']);
  });

  test('has one more signal for all uploads that come meanwhile; other users have their own', async () => {
    const { starter, temporal } = open();
    const all = [runOf(1), runOf(2), runOf(3), runOf(4, 9)].map((run) => starter.wake(run));
    await Promise.all(all);
    expect(temporal.ids().map(String).toSorted()).toEqual(['d1:uploads:2', 'd1:uploads:2', 'd1:uploads:9']);
    // What comes later is signalled again.
    const waking = starter.wake(runOf(5));
    starter.close();
    await waking;
    expect(temporal.ids()).toHaveLength(4);
  });

  test('is signalled again for what is found waiting after five seconds, and no sooner', async () => {
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

  test('waits for the sweeper where Temporal is away, and is not signalled once closed', async () => {
    const { starter, temporal, lines } = open(temporalOf({}, 'd1:uploads:2'));
    await starter.wake(runOf(1));
    expect(lines).toEqual(['the upload stream could not be signalled; the sweeper repeats it']);
    temporal.state.fails = null;
    await starter.wake(runOf(1));
    expect(temporal.ids()).toEqual(['d1:uploads:2']);
    starter.close();
    await starter.wake(runOf(2));
    expect(temporal.ids()).toHaveLength(1);
  });
});

const SWEEPS = [
  {
    ...{ kind: 'moveStorage', request: { move: 'toCold' }, idOf: (userId: number) => `move-to-cold:${userId}` },
    ...{ sweep: coldSweepOnce, finds: 'moves.owners' },
  },
  {
    ...{ kind: 'settleQuarantine', request: { does: 'erase' }, idOf: (userId: number) => `erase-quarantine:${userId}` },
    ...{ sweep: quarantineSweepOnce, finds: 'quarantine.owners' },
  },
] as const;
test('a sweep begins a run for each user that has none of it under way, and starts it once its row is there', () =>
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
        'moves.isUnderWay': ({ userId }: { userId: number }) => userId === 2,
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
      expect(of('moves.isUnderWay')).toEqual(owners.map((owner) => [owner, idOf(owner.userId)]));
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
