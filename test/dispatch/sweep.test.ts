/** Tests of one iteration of the sweeper, which repeats calls to Temporal that a crash or an outage prevented. */
import { expect, test } from '@jest/globals';

import { TRACE_HEADER } from '../../contract/runs/workflowIds.js';
import { createTemporalClient } from '../../dispatch/client.js';
import { createDispatcher, type Dispatcher } from '../../dispatch/dispatcher.js';
import { NO_TRACING } from '../../observability/tracing.js';
import { everyRow } from '../support/everyRow.js';
import { type Answers, recorder } from '../support/recorder.js';

const runOf = (_id: number, fields: object = {}) => ({
  ...{ _id, kind: 'syncUpload', workflowId: `run:${_id}`, organizationId: 1, userId: 2, fileId: 3, requestId: 'r' },
  ...{ startedAt: null, finishedAt: null, dataSourceId: null, ...fields },
});

/** Runs one iteration with these answers of the stores. Returns the calls to Temporal and to the stores. */
async function sweepOnce(answers: Answers) {
  const done: string[] = [];
  const stopped = new AbortController();
  const stores = recorder({
    'runs.listUnstarted': [],
    'uploadStreams.listWaiting': [],
    'attempts.listUnacknowledged': [],
    'runs.countUsersWithOpenRuns': 1,
    ...answers,
    'pauses.listUnacknowledged'() {
      // The last step of an iteration.
      stopped.abort();
      return answers['pauses.listUnacknowledged'] ?? [];
    },
  });
  const signal = (id: string, name: unknown): Promise<void> => Promise.resolve(void done.push(`${String(name)} ${id}`));
  const client = {
    connection: { close: () => Promise.resolve() },
    withDeadline: (_at: number, work: () => unknown) => work(),
    workflow: {
      getHandle: (id: string) => ({ signal: (name: unknown) => signal(id, (name as { name?: string }).name ?? name) }),
      start: (_kind: string, { workflowId }: { workflowId: string }) => signal(workflowId, 'start'),
      signalWithStart: (_kind: string, { workflowId }: { workflowId: string }) => signal(workflowId, 'wake'),
    },
  };
  const names = { idOf: (id: string) => id, taskQueue: 'q' };
  const errors: unknown[] = [];
  const log = { info: () => undefined, warn: (fields: { err?: unknown }) => void errors.push(fields.err) };
  const dispatcher = createDispatcher(client as never, names as never, stores.stores, log as never);
  const startedAt = Date.now();
  await dispatcher.sweep(stopped.signal);
  await dispatcher.close();
  return { done, errors, of: stores.of, names: stores.names(), startedAt };
}

test('releases held runs before it reads the outbox, so that they start in the same iteration', async () => {
  const { names } = await sweepOnce({});
  expect(names.indexOf('heldRuns.releaseHeld')).toBe(0);
  expect(names.indexOf('runs.listUnstarted')).toBe(1);
});

/** Rows that an iteration finds, and its calls to Temporal. */
const FOUND: readonly (readonly [what: string, answers: Answers, done: readonly string[]])[] = [
  ['nothing', {}, []],
  ['runs that are due', { 'runs.listUnstarted': [runOf(7)], 'runs.find': runOf(7) }, ['start run:7']],
  ['uploads that wait', { 'uploadStreams.listWaiting': [runOf(7, { stream: true, workflowId: 's' })] }, ['wake s']],
  ['a returned user', { 'attempts.listUnacknowledged': [{ _id: 7 }] }, ['consentReturned connect:7']],
  ['a resumed run', { 'pauses.listUnacknowledged': [runOf(7)] }, ['resumeRun run:7']],
];

test('starts due runs, and signals waiting workflows', () =>
  everyRow(
    FOUND,
    ([what]) => what,
    async ([, answers, done]) => {
      const swept = await sweepOnce(answers);
      expect(swept.done).toEqual(done);
      expect(swept.errors).toEqual([]);
    },
  ));

test('starts or signals the stream of an upload, which has no workflow of its own', async () => {
  const done: string[] = [];
  const call = (what: string) => async (_kind: string, options: { workflowId: string }) =>
    void done.push(`${what} ${options.workflowId}`);
  const client = {
    connection: { close: () => Promise.resolve() },
    withDeadline: (_at: number, work: () => unknown) => work(),
    workflow: { start: call('start'), signalWithStart: call('wake') },
  };
  const { stores } = recorder({
    'runs.find': runOf(7, { stream: true, workflowId: 's' }),
    'runs.countUsersWithOpenRuns': 1,
  });
  const log = { info: () => undefined, warn: () => undefined };
  const names = { idOf: (id: string) => id, taskQueue: 'q' };
  const dispatcher = createDispatcher(client as never, names as never, stores, log as never);
  const started = dispatcher.start(7);
  for (let turn = 0; turn < 5; turn += 1) await new Promise((resolve) => setImmediate(resolve));
  expect(done).toEqual(['wake s']);
  await dispatcher.close();
  await started;
});

test('workflows get the trace of the request that starts or signals them', async () => {
  const traceContext = { traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01', ids: {} };
  const client = createTemporalClient({ address: '127.0.0.1:1', namespace: 'n' }, {
    ...NO_TRACING,
    traceContext: () => traceContext,
  } as never);
  const { workflow } = client.options.interceptors as { workflow: readonly Record<string, Intercept>[] };
  await everyRow(['startWithDetails', 'signalWithStart'], String, async (name) => {
    const { headers } = await workflow[0]![name]!({ headers: { other: {} } }, (input) => Promise.resolve(input));
    expect(Object.keys(headers)).toEqual(['other', TRACE_HEADER]);
  });
});
type Intercept = (
  input: { headers: object },
  next: (input: { headers: object }) => Promise<{ headers: object }>,
) => Promise<{ headers: object }>;

test('continues while a stream of uploads is still being signalled', async () => {
  let open = (): void => undefined;
  const gate = new Promise<void>((resolve) => (open = resolve));
  const { done } = await sweepOnce({
    'uploadStreams.listWaiting': [runOf(7, { stream: true, workflowId: 's' })],
    // The signal waits for this count of users, which ends only when the sweep makes its next query.
    'runs.countUsersWithOpenRuns': () => gate.then(() => 1),
    'attempts.listUnacknowledged'() {
      open();
      return [];
    },
  });
  expect(done).toEqual(['wake s']);
});

/**
 * Minimum age of the rows that a sweep reads, in milliseconds. Younger rows are left to the process that wrote them.
 */
const AGES: readonly (readonly [call: string, agoMs: number])[] = [
  ['runs.listUnstarted', 0],
  ['uploadStreams.listWaiting', 0],
  ['attempts.listUnacknowledged', 2_000],
  ['pauses.listUnacknowledged', 2_000],
];

test('leaves recent rows to the process that wrote them', async () => {
  const { of, startedAt } = await sweepOnce({});
  await everyRow(
    AGES,
    ([call]) => call,
    ([call, agoMs]) => {
      const [until, limit] = of(call)[0] as [Date, number];
      expect(until.getTime()).toBeGreaterThanOrEqual(startedAt - agoMs);
      expect(until.getTime()).toBeLessThanOrEqual(Date.now() - agoMs);
      expect(limit).toBe(100);
    },
  );
});

/** Calls to Temporal that may still run when the process ends. */
const CALLS: readonly (readonly [what: string, call: (dispatcher: Dispatcher) => Promise<void>])[] = [
  ['the signal that a user returned', (dispatcher) => dispatcher.signalConsentReturned(7)],
  ['the signal to resume', (dispatcher) => dispatcher.signalResumed({ _id: 7, workflowId: 'run:7' })],
  ['a cancellation', (dispatcher) => dispatcher.cancel(7)],
];

test('close() waits for a running call before it closes the connection', () =>
  everyRow(
    CALLS,
    ([what]) => what,
    async ([, call]) => {
      const done: string[] = [];
      let open = (): void => undefined;
      const gate = new Promise<void>((resolve) => (open = resolve));
      const wait = async (): Promise<undefined> => {
        await gate;
        done.push('call ended');
      };
      const client = {
        connection: { close: async () => void done.push('connection closed') },
        withDeadline: (_at: number, work: () => unknown) => work(),
        workflow: { getHandle: () => ({ signal: wait }) },
      };
      const { stores } = recorder({ 'runs.withdraw': wait });
      const log = { info: () => undefined, warn: () => undefined };
      const names = { idOf: (id: string) => id, taskQueue: 'q' };
      const dispatcher = createDispatcher(client as never, names as never, stores, log as never);
      const called = call(dispatcher);
      const closed = dispatcher.close();
      // Without the wait, close() would close the connection now.
      await new Promise((resolve) => setImmediate(resolve));
      open();
      await Promise.all([called, closed]);
      expect(done).toEqual(['call ended', 'connection closed']);
    },
  ));
