import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { Context } from '@temporalio/activity';
import { ApplicationFailure, CancelledFailure } from '@temporalio/common';
import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';

import { FAULTS, Fault, type FaultKind } from '../../contract/failures.js';
import { FAULT_FAILURE } from '../../contract/runs/orchestration.js';
import type { RunError } from '../../store/models/runs.js';
import { createTemporalClient } from '../../dispatch/client.js';
import { interceptActivities } from '../../worker/interceptActivities.js';
import { testEngines } from '../support/engines.js';
import { everyRow } from '../support/everyRow.js';
import { loadProduct } from '../support/product.js';
import { quietTemporal } from '../support/quietTemporal.js';
import { waitFor } from '../support/waitFor.js';

const RUN_ID = 7;
const WORKFLOW_BUNDLE = fileURLToPath(new URL('../../dist/workflow-bundle.js', import.meta.url));

interface Attempt {
  readonly attempt?: number;
  readonly heartbeatTimeoutMs?: number;
  readonly signal?: AbortSignal;
  readonly input?: object;
  /** Whether writing the last error of the run fails. */
  readonly isStoreDown?: boolean;
}

/** Calls that record or clear the last error of a run, in their order. */
let recorded: (readonly [string, number, Pick<RunError, 'kind' | 'message'>?])[] = [];
let heartbeats = 0;
const lastErrors = (isStoreDown = false) => ({
  record(runId: number, { kind, message }: RunError): Promise<void> {
    recorded.push(['record', runId, { kind, message }]);
    return isStoreDown ? Promise.reject(new Error('MongoDB does not answer')) : Promise.resolve();
  },
  clear(runId: number): Promise<void> {
    recorded.push(['clear', runId]);
    return Promise.resolve();
  },
});
const log = { warn: () => undefined };

/** Runs an activity through the interceptor. @returns its result, or the failure that Temporal receives */
function run(
  activity: () => Promise<unknown>,
  { attempt = 1, heartbeatTimeoutMs, signal, input = { runId: RUN_ID }, isStoreDown }: Attempt = {},
): Promise<unknown> {
  const context = {
    info: { activityType: 'listItems', attempt, heartbeatTimeoutMs },
    cancellationSignal: signal ?? new AbortController().signal,
    heartbeat: () => void (heartbeats += 1),
  } as unknown as Context;
  const { inbound } = interceptActivities({ lastErrors: lastErrors(isStoreDown), log })(context);
  const execution = inbound?.execute?.({ args: [input], headers: {} }, activity) ?? Promise.resolve();
  return execution.catch((error: unknown) => error);
}
const failing = (error: unknown) => () => Promise.reject(error as Error);

beforeEach(() => {
  recorded = [];
  heartbeats = 0;
});

describe('failures', () => {
  test('a Fault is retryable according to its kind, and keeps its kind and message', () =>
    everyRow(Object.keys(FAULTS) as FaultKind[], String, async (kind) => {
      const failure = (await run(failing(new Fault(kind, 'It failed.')))) as ApplicationFailure;
      expect(failure).toBeInstanceOf(ApplicationFailure);
      const { type, message, nonRetryable, details, nextRetryDelay = null } = failure;
      expect({ type, message, nonRetryable, details, nextRetryDelay }).toEqual({
        ...{ type: FAULT_FAILURE, message: 'It failed.', details: [kind], nextRetryDelay: null },
        nonRetryable: !FAULTS[kind].retryable,
      });
    }));

  test.each([
    [0, 1_000],
    [20, 1_000],
    [60_000, 60_000],
  ])('a requested retry delay of %s ms becomes %s ms: at least one second', async (retryAfterMs, ms) => {
    const failure = await run(failing(new Fault('rate_limited', 'Not now.', { retryAfterMs })));
    expect(failure).toMatchObject({ nonRetryable: false, nextRetryDelay: ms });
  });

  test('rethrows other errors unchanged and does not record them', async () => {
    const defect = new TypeError('undefined is not a function');
    expect(await run(failing(defect))).toBe(defect);
    expect(recorded).toEqual([]);
  });

  test.each([
    ['a Fault that is not retryable', new Fault('gone', 'It is gone.')],
    ['an abort', new DOMException('aborted', 'AbortError')],
    ['a broken store', new Error('MongoDB does not answer')],
  ])('reports %s of a cancelled activity as its cancellation', async (_what, error) => {
    const cancelled = new CancelledFailure('CANCELLED');
    expect(await run(failing(error), { signal: AbortSignal.abort(cancelled) })).toBe(cancelled);
    expect(recorded).toEqual([]);
  });

  test('a cancelled activity that completes keeps its result', async () => {
    const signal = AbortSignal.abort(new CancelledFailure('CANCELLED'));
    expect(await run(() => Promise.resolve('done'), { signal })).toBe('done');
  });
});

describe('last error of a run', () => {
  test('is the last Fault, until a later attempt succeeds', async () => {
    await run(failing(new Fault('unreachable', 'It broke.')));
    await run(failing(new Error('a worker died')), { attempt: 2 });
    expect(recorded).toEqual([['record', RUN_ID, { kind: 'unreachable', message: 'It broke.' }]]);
    await run(() => Promise.resolve(), { attempt: 3 });
    expect(recorded.slice(1)).toEqual([['clear', RUN_ID]]);
  });

  test('is cleared by any later attempt that succeeds', () =>
    everyRow([2, 3, 10], String, async (attempt) => {
      recorded = [];
      await run(() => Promise.resolve(), { attempt });
      expect(recorded).toEqual([['clear', RUN_ID]]);
    }));

  test('is not written when the first attempt succeeds', async () => {
    await run(() => Promise.resolve());
    expect(recorded).toEqual([]);
  });

  test('is not recorded for activities that belong to no single run', async () => {
    await run(failing(new Fault('gone', 'It is gone.')), { input: { webhookId: 1 } });
    expect(recorded).toEqual([]);
  });

  test('does not hide the Fault when it cannot be recorded', async () => {
    const failure = await run(failing(new Fault('gone', 'It is gone.')), { isStoreDown: true });
    expect(failure).toMatchObject({ type: FAULT_FAILURE, message: 'It is gone.' });
  });
});

describe('heartbeats', () => {
  beforeEach(() => {
    jest.useFakeTimers();
  });
  afterEach(() => {
    jest.useRealTimers();
  });
  const forMs = (ms: number) => () => new Promise((resolve) => void setTimeout(resolve, ms));

  test.each([5_000, 10_000, 60_000])(
    'are sent at least twice per timeout of %d ms, and end with the activity',
    async (ms) => {
      const ended = run(forMs(10 * ms), { heartbeatTimeoutMs: ms });
      await jest.advanceTimersByTimeAsync(10 * ms);
      await ended;
      expect(heartbeats).toBeGreaterThanOrEqual(10 * 2);
      const sent = heartbeats;
      await jest.advanceTimersByTimeAsync(10 * ms);
      expect(heartbeats).toBe(sent);
    },
  );

  test('are not sent for an activity without a heartbeat timeout', async () => {
    const ended = run(forMs(60_000));
    await jest.advanceTimersByTimeAsync(60_000);
    await ended;
    expect(heartbeats).toBe(0);
  });
});

/**
 * Runs the workflow `connectByConsent` on a real server and worker, with fake activities. Of all workflows, it has the
 * activity with the shortest heartbeat timeout.
 */
describe('interceptor in a worker', () => {
  interface Step {
    readonly signal: AbortSignal;
    readonly attempt: number;
  }
  /**
   * @param exchange the step under test
   * @param isCancelled whether the workflow is cancelled during that step
   * @returns the status of the workflow, the input of endConnection (null if not called), and the number of attempts
   */
  async function connect(exchange: (step: Step) => Promise<void>, isCancelled = false): Promise<string> {
    const { activity, sdk } = await loadProduct();
    const { temporalAddress: address } = testEngines();
    await quietTemporal('ERROR');
    const taskQueue = `intercepted-${randomUUID()}`;
    let started = 0;
    let lastInput: object | null = null;
    const connection = await sdk.NativeConnection.connect({ address });
    const worker = await sdk.Worker.create({
      ...{ connection, taskQueue, workflowBundle: { codePath: WORKFLOW_BUNDLE } },
      maxHeartbeatThrottleInterval: '1 second',
      sinks: { traces: { ended: { fn: () => undefined } } },
      interceptors: { activity: [interceptActivities({ lastErrors: lastErrors(), log })] },
      activities: {
        getConnectionState: () => ({ state: 'returned', dueInMs: 0 }),
        exchangeCode() {
          const { attempt } = activity.activityInfo();
          started += 1;
          return exchange({ signal: activity.cancellationSignal(), attempt });
        },
        recordConnection: () => undefined,
        endConnection: (input: object) => void (lastInput = input),
      },
    });
    const client = createTemporalClient({ address, namespace: 'default' });
    await worker.runUntil(async () => {
      const options = { taskQueue, workflowId: taskQueue, args: [{ runId: RUN_ID }] };
      const handle = await client.workflow.start('connectByConsent', options);
      if (isCancelled) {
        await waitFor(
          () => started,
          (count) => count > 0,
        );
        await handle.cancel();
      }
      await handle.result().catch(() => undefined);
    });
    await connection.close();
    const { status } = await client.workflow.getHandle(taskQueue).describe();
    await client.connection.close();
    return `${status.name} ${JSON.stringify(lastInput)} ${started}`;
  }

  test('an activity that sends no heartbeats itself can run longer than its heartbeat timeout of 5 s', async () => {
    expect(await connect(() => sleep(7_000))).toBe('COMPLETED null 1');
  });

  test('an activity that fails after its cancellation ends its workflow as cancelled', async () => {
    const refuse = async ({ signal }: Step): Promise<void> => {
      await once(signal, 'abort');
      throw new Fault('bad_response', 'The answer was cut off.');
    };
    expect(await connect(refuse, true)).toBe(`CANCELLED {"runId":${RUN_ID},"outcome":"cancelled"} 1`);
  });

  test('retries a Fault after the requested delay, or not at all', async () => {
    let [firstAt, secondAt] = [0, 0];
    const later = async ({ attempt }: Step): Promise<void> => {
      if (attempt === 2) secondAt = Date.now();
      if (attempt > 1) return;
      firstAt = Date.now();
      throw new Fault('rate_limited', 'Not now.', { retryAfterMs: 2_500 });
    };
    expect(await connect(later)).toBe('COMPLETED null 2');
    // The retry policy alone would wait for one second.
    expect(secondAt - firstAt).toBeGreaterThanOrEqual(2_400);
    const never = () => Promise.reject(new Fault('access_revoked', 'No more.'));
    expect(await connect(never)).toBe(`COMPLETED {"runId":${RUN_ID},"outcome":"failed","message":"No more."} 1`);
  });
});
