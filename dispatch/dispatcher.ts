import { setTimeout as sleep } from 'node:timers/promises';
import { type Client, WorkflowExecutionAlreadyStartedError, WorkflowNotFoundError } from '@temporalio/client';
import type { TypedSearchAttributes } from '@temporalio/common';
import pLimit from 'p-limit';

import { periodically } from '../config/process/periodically.js';
import {
  CONSENT_RETURNED_SIGNAL,
  RESUME_SIGNAL,
  type RunInput,
  type RunKind,
  workflowIds,
} from '../contract/runs/orchestration.js';
import type { TemporalNames } from '../contract/runs/temporalNames.js';
import type { Log } from '../observability/log.js';
import type { Tracing } from '../observability/spans.js';
import { inSpan, NO_TRACING } from '../observability/tracing.js';
import type { Attempts } from '../store/connections/attempts.js';
import type { HeldRuns } from '../store/runs/held.js';
import type { RunDoc } from '../store/models/runs.js';
import type { Runs } from '../store/runs/outbox.js';
import type { Pauses } from '../store/runs/pauses.js';
import type { UploadStreams } from '../store/runs/uploadStreams.js';
import { createFairShares } from './fairShares.js';
import { CANCELLED, endGoneRun, type GoneRunStores, isAlive } from './goneRuns.js';
import { searchAttributes } from './searchAttributes.js';
import { createUploadStreamStarter } from './uploadStreams.js';
import { temporalFailure } from './temporalFailure.js';

/** A start that Temporal does not answer in this time is left to the sweeper. */
const START_TIMEOUT_MS = 5_000;
/** Retry interval of an unstarted run: Temporal was unavailable, or an earlier run of the same target is active. */
const RETRY_MS = 2_000;
/** An earlier run of the same target often ends within a second. Wait briefly before leaving the row to the sweeper. */
const CONFLICT_PAUSES_MS = [100, 300, 900];
/**
 * Starting a workflow takes Temporal much longer than accepting a run takes us. The limit keeps a burst of requests
 * fast.
 */
const STARTS_AT_ONCE = 2;
const SWEEP_MS = 1_000;
const SWEEP_ROWS = 100;
/** Time that the API process has to signal the workflow itself before the sweeper does, in milliseconds. */
const UNACKNOWLEDGED_MS = 2_000;

/** Runs of one file. The workflow id of a scrape names its parent instead. */
const ONE_FILE_KINDS: readonly RunKind[] = ['syncUpload', 'resyncFile', 'updateTags'];

/**
 * Search attributes by which operators find the run in Temporal's Web UI. A run of the whole organization has no user.
 */
const attributesOf = (run: RunDoc): TypedSearchAttributes =>
  searchAttributes({
    OrganizationId: String(run.organizationId),
    RequestId: run.requestId,
    UserId: run.userId > 0 ? String(run.userId) : undefined,
    DataSourceId: run.dataSourceId ? String(run.dataSourceId) : undefined,
    FileId: ONE_FILE_KINDS.includes(run.kind) && run.fileId !== null ? String(run.fileId) : undefined,
  });

export interface Dispatcher {
  /**
   * Starts an accepted run in Temporal. Never throws: a run that cannot be started now, or is held back, stays in the
   * outbox.
   * @param first the run itself, if it was accepted together with a new target: no earlier run can exist
   */
  start(runId: number, first?: RunDoc | null): Promise<void>;
  /**
   * Signals the workflow of a connection that the user has returned. Never throws: the sweeper repeats an undelivered
   * signal.
   */
  signalConsentReturned(runId: number): Promise<void>;
  /** Signals the workflow of a paused run to continue. Never throws: the sweeper repeats an undelivered signal. */
  signalResumed(run: Pick<RunDoc, '_id' | 'workflowId'>): Promise<void>;
  /**
   * Cancels a run, in the outbox or in Temporal. Unfinished files end SYNC_ABORTED. A run whose workflow is gone ends
   * at once.
   * @throws StoreFailure when Temporal does not answer
   */
  cancel(runId: number): Promise<void>;
  /** Starts the runs in the outbox, now and every second, until the signal is aborted. */
  sweep(signal: AbortSignal): Promise<void>;
  /** Returns the number of workers that poll the task queue. Rejects when Temporal does not answer. */
  ping(): Promise<{ pollers: number }>;
  close(): Promise<void>;
}

/** The stores that the dispatcher reads and writes. */
export interface DispatchStores extends GoneRunStores {
  readonly runs: Runs;
  readonly heldRuns: HeldRuns;
  readonly uploadStreams: Pick<UploadStreams, 'waiting'>;
  readonly attempts: Pick<Attempts, 'unacknowledged' | 'move' | 'acknowledge'>;
  readonly pauses: Pick<Pauses, 'unacknowledged' | 'under'>;
}

/**
 * Creates the dispatcher, which starts the runs of the outbox in Temporal. Stable workflow ids make every start safe to
 * repeat.
 */
export function createDispatcher(
  client: Client,
  names: TemporalNames,
  stores: DispatchStores,
  log: Log,
  tracing: Tracing = NO_TRACING,
): Dispatcher {
  const { runs, files, heldRuns, uploadStreams, attempts, pauses } = stores;
  const { taskQueue, idOf } = names;
  /** Whether the running workflow with that id belongs to this run. */
  const isThisRun = async (run: RunDoc): Promise<boolean> => {
    const { memo } = await client.workflow.getHandle(idOf(run.workflowId)).describe();
    return memo?.['runId'] === run._id;
  };

  const inTurn = pLimit(STARTS_AT_ONCE);
  const shares = createFairShares(runs);
  const startWorkflow = async (run: RunDoc) => {
    const priority = await shares.of(run);
    return client.withDeadline(Date.now() + START_TIMEOUT_MS, () =>
      client.workflow.start<(input: RunInput) => Promise<unknown>>(run.kind, {
        workflowId: idOf(run.workflowId),
        taskQueue,
        args: [{ runId: run._id }],
        workflowIdConflictPolicy: 'FAIL',
        workflowIdReusePolicy: 'ALLOW_DUPLICATE',
        memo: { runId: run._id },
        typedSearchAttributes: attributesOf(run),
        priority,
      }),
    );
  };

  /** Uses the trace of the request that accepted the run, regardless of the process that starts it. */
  const startTraced = (run: RunDoc) => {
    const { _id, kind, organizationId, userId, fileId, requestId, workflowId, traceparent } = run;
    const ids = { organization: organizationId, run: _id, request: requestId, workflow: idOf(workflowId) };
    const whose = { ...(userId > 0 && { user: userId }), ...(fileId !== null && { file: fileId }) };
    return inSpan(
      tracing,
      {
        name: `start ${kind}`,
        kind: 'producer',
        ids: { ...ids, ...whose },
        ...(traceparent && { parent: traceparent }),
      },
      () => startWorkflow(run),
    );
  };

  /** Returns true once Temporal has the run's workflow; false while an earlier run of the same target is active. */
  const tryStart = async (run: RunDoc): Promise<boolean> => {
    try {
      await inTurn(() => startTraced(run));
      return true;
    } catch (error) {
      if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
      return isThisRun(run);
    }
  };

  const startRow = async (run: RunDoc, isFirst: boolean): Promise<void> => {
    const { _id: runId, organizationId, requestId } = run;
    const workflowId = idOf(run.workflowId);
    const context = { runId, workflowId, organizationId, requestId };
    const postpone = async (reason: string): Promise<void> => {
      await runs.postpone(runId, new Date(Date.now() + RETRY_MS));
      log.warn({ ...context, reason }, 'run stays in the outbox');
    };
    try {
      // Otherwise the third of three runs could start before the second, and the second's older options would win.
      if (!isFirst && (await runs.isBehindAnother(run)))
        return await postpone('an earlier run of the same target is waiting');
      let started = await tryStart(run);
      for (const pauseMs of CONFLICT_PAUSES_MS) {
        if (started || closing) break;
        await sleep(pauseMs);
        started = await tryStart(run);
      }
      if (!started) {
        // A new request for the same target does not wait for a paused run.
        const paused = await pauses.under(run.workflowId);
        if (paused) await client.workflow.getHandle(workflowId).cancel();
        return await postpone(`an earlier run of the same target ${paused ? 'was paused' : 'is active'}`);
      }
      await runs.markStarted(runId);
      log.info(context, 'workflow started');
    } catch (error) {
      await postpone(error instanceof Error ? error.message : String(error));
    }
  };

  const streams = createUploadStreamStarter(client, names, shares, log, tracing);
  const underWay = new Set<Promise<void>>();
  let closing = false;

  const start: Dispatcher['start'] = async (runId, first = null) => {
    if (closing) return;
    const starting = (async () => {
      try {
        const run = first ?? (await runs.find(runId));
        if (!run || run.startedAt !== null || run.held === true) return;
        if (run.stream) await streams.wake(run);
        else await startRow(run, first !== null);
      } catch (error) {
        log.warn({ runId, err: error }, 'run stays in the outbox');
      }
    })();
    underWay.add(starting);
    await starting;
    underWay.delete(starting);
  };

  const signalConsentReturned = async (runId: number): Promise<void> => {
    if (closing) return;
    try {
      const handle = client.workflow.getHandle(idOf(workflowIds.connect(runId)));
      await client.withDeadline(Date.now() + START_TIMEOUT_MS, () => handle.signal(CONSENT_RETURNED_SIGNAL));
    } catch (error) {
      // A connection that is still in the outbox logs this too: it checks for the return when it starts.
      log.warn(
        { runId, err: error },
        'the workflow of a connection was not signalled that the user returned; the sweeper repeats it',
      );
    }
  };

  const signalResumed = async ({ _id: runId, workflowId }: Pick<RunDoc, '_id' | 'workflowId'>): Promise<void> => {
    if (closing) return;
    try {
      const handle = client.workflow.getHandle(idOf(workflowId));
      await client.withDeadline(Date.now() + START_TIMEOUT_MS, () => handle.signal(RESUME_SIGNAL));
    } catch (error) {
      log.warn({ runId, err: error }, 'the workflow of a resumed run was not signalled; the sweeper repeats it');
    }
  };

  const sweepOnce = async (): Promise<void> => {
    await heldRuns.releaseHeld();
    const due = await runs.unstarted(new Date(), SWEEP_ROWS);
    await Promise.all(due.map(({ _id }) => start(_id)));
    const waiting = await uploadStreams.waiting(new Date(), SWEEP_ROWS);
    await Promise.all(waiting.map((run) => streams.wakeAgain(run)));
    const unacknowledged = await attempts.unacknowledged(new Date(Date.now() - UNACKNOWLEDGED_MS), SWEEP_ROWS);
    await Promise.all(unacknowledged.map(({ _id }) => signalConsentReturned(_id)));
    const resumed = await pauses.unacknowledged(new Date(Date.now() - UNACKNOWLEDGED_MS), SWEEP_ROWS);
    await Promise.all(resumed.map(signalResumed));
  };

  /** Cancels the workflow of a run. If Temporal no longer has the workflow, or it was ended there, ends the run itself. */
  const cancelOrEnd = async (run: RunDoc): Promise<void> => {
    const { _id: runId, workflowId, organizationId, requestId } = run;
    // Check first: another run may have the same workflow id by now.
    if (await isAlive({ client, names }, run, stores.runs)) {
      try {
        await client.workflow.getHandle(idOf(workflowId)).cancel();
        return;
      } catch (error) {
        // The workflow ended in the meantime: by itself, which ended its run too, or by an operator.
        if (!(error instanceof WorkflowNotFoundError) || (await isAlive({ client, names }, run, stores.runs)))
          throw error;
      }
    }
    // A workflow ends its run before it completes, so a finished run needs nothing more.
    if ((await runs.find(runId))?.finishedAt !== null) return;
    await endGoneRun({ client, names }, stores, run, CANCELLED);
    log.warn(
      { runId, workflowId: idOf(workflowId), organizationId, requestId },
      'cancelled a run whose workflow is gone',
    );
  };

  return {
    start,
    signalConsentReturned: signalConsentReturned,
    signalResumed: signalResumed,
    async cancel(runId) {
      if (await runs.withdraw(runId)) {
        await files.abortOpen(runId, 'The run was cancelled before it began. Resync to try again.', 'cancelled');
        await runs.finish(runId, 'aborted', {});
        return;
      }
      const run = await runs.find(runId);
      if (!run || run.finishedAt !== null) return;
      if (run.stream) {
        // The same workflow ingests other uploads too. The batch that reads this file sees that the run no longer owns
        // it.
        await files.abortOpen(runId, 'The upload was cancelled. Resync to try again.', 'cancelled');
        await runs.finish(runId, 'aborted', { ...(await files.countRun(runId)) });
        return;
      }
      try {
        await client.withDeadline(Date.now() + START_TIMEOUT_MS, () => cancelOrEnd(run));
      } catch (error) {
        throw temporalFailure(error);
      }
    },
    async sweep(signal) {
      const onError = (error: unknown): void =>
        log.warn({ err: error }, 'the sweep of the outbox failed; trying again');
      await periodically(sweepOnce, { intervalMs: SWEEP_MS, signal, onError });
    },
    async ping() {
      const asked = client.withDeadline(Date.now() + START_TIMEOUT_MS, () =>
        client.workflowService.describeTaskQueue({
          namespace: client.options.namespace,
          taskQueue: { name: taskQueue },
          // TASK_QUEUE_TYPE_WORKFLOW
          taskQueueType: 1,
        }),
      );
      // The caller may stop waiting before the deadline, but close() must not.
      const ended = asked.then(
        () => undefined,
        () => undefined,
      );
      underWay.add(ended);
      void ended.then(() => underWay.delete(ended));
      const { pollers } = await asked;
      return { pollers: pollers?.length ?? 0 };
    },
    async close() {
      closing = true;
      streams.close();
      // The SDK retries by timers, and a timer that fires on a closed channel would end the process. Each start has a
      // deadline.
      await Promise.all(underWay);
      await client.connection.close();
    },
  };
}
