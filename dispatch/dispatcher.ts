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
} from '../contract/orchestration.js';
import type { TemporalNames } from '../contract/temporalNames.js';
import type { Log } from '../observability/log.js';
import type { Tracing } from '../observability/spans.js';
import { inSpan, NO_TRACING } from '../observability/tracing.js';
import type { Attempts } from '../store/connections/attempts.js';
import type { HeldRuns } from '../store/runs/held.js';
import type { RunDoc } from '../store/runs/model.js';
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
/** How soon an unstarted run is tried again: Temporal was away, or an earlier run of the same thing goes on. */
const RETRY_MS = 2_000;
/** An earlier run of the same thing is often just ending: waited for briefly before the row is left to the sweeper. */
const CONFLICT_PAUSES_MS = [100, 300, 900];
/** A start takes Temporal many times as long as accepting the run takes us: a burst of requests must not wait for its own starts. */
const STARTS_AT_ONCE = 2;
const SWEEP_MS = 1_000;
const SWEEP_ROWS = 100;
/** The process that took the person in is given so long to tell the workflow itself. */
const UNHEARD_MS = 2_000;

/** Runs about one file: a scrape's parent is in its workflow id. */
const ONE_FILE_KINDS: readonly RunKind[] = ['syncUpload', 'resyncFile', 'updateTags'];

/** The ids by which operators find the run in Temporal's Web UI. A run about the organization itself has no user. */
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
   * Hands an accepted run to Temporal. Never throws: what can't be started now, or is held back, stays in the outbox.
   * @param first the run itself, where it was accepted just now together with what it is about: no other can wait before it
   */
  start(runId: number, first?: RunDoc | null): Promise<void>;
  /** Tells the workflow of a connection that its person is back. Never throws: what does not hear it now is told again by the sweeper. */
  tellPersonCame(runId: number): Promise<void>;
  /** Tells the workflow of a paused run that it goes on. Never throws: what does not hear it now is told again by the sweeper. */
  tellResumed(run: Pick<RunDoc, '_id' | 'workflowId'>): Promise<void>;
  /**
   * Cancels a run: in the outbox, or by Temporal; files not yet done end SYNC_ABORTED. A run whose workflow is gone ends at once.
   * @throws StoreFailure when Temporal does not answer
   */
  cancel(runId: number): Promise<void>;
  /** Starts what lies in the outbox, now and every second, until the signal is aborted. */
  sweep(signal: AbortSignal): Promise<void>;
  /** Resolves when Temporal answers, with the number of workers that poll the task queue. */
  ping(): Promise<{ pollers: number }>;
  close(): Promise<void>;
}

/** What the dispatcher reads and writes. */
export interface DispatchStores extends GoneRunStores {
  readonly runs: Runs;
  readonly heldRuns: HeldRuns;
  readonly uploadStreams: Pick<UploadStreams, 'waiting'>;
  readonly attempts: Pick<Attempts, 'unheard' | 'move' | 'heard'>;
  readonly pauses: Pick<Pauses, 'unheard' | 'under'>;
}

/** Brings runs from the outbox to Temporal. Ids make every start harmless to repeat. */
export function createDispatcher(
  client: Client,
  names: TemporalNames,
  stores: DispatchStores,
  log: Log,
  tracing: Tracing = NO_TRACING,
): Dispatcher {
  const { runs, files, heldRuns, uploadStreams, attempts, pauses } = stores;
  const { taskQueue, idOf } = names;
  /** Whether the running workflow of that id is this very run. */
  const isThisRun = async (run: RunDoc): Promise<boolean> => {
    const { memo } = await client.workflow.getHandle(idOf(run.workflowId)).describe();
    return memo?.['runId'] === run._id;
  };

  const inTurn = pLimit(STARTS_AT_ONCE);
  const shares = createFairShares(runs);
  const hand = async (run: RunDoc) => {
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

  /** Whoever starts it, and whenever: the trace is that of the request which the run was accepted for. */
  const handTraced = (run: RunDoc) => {
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
      () => hand(run),
    );
  };

  /** True once Temporal has the run's workflow; false when an earlier run of the same thing goes on. */
  const tryStart = async (run: RunDoc): Promise<boolean> => {
    try {
      await inTurn(() => handTraced(run));
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
      // Else the last one of three could begin before the second, whose older options would then win.
      if (!isFirst && (await runs.isBehindAnother(run)))
        return await postpone('an earlier run of the same thing waits');
      let started = await tryStart(run);
      for (const pauseMs of CONFLICT_PAUSES_MS) {
        if (started || closing) break;
        await sleep(pauseMs);
        started = await tryStart(run);
      }
      if (!started) {
        // Asked for anew, the same thing does not wait for one that stands still.
        const paused = await pauses.under(run.workflowId);
        if (paused) await client.workflow.getHandle(workflowId).cancel();
        return await postpone(`an earlier run of the same thing ${paused ? 'stood still' : 'goes on'}`);
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

  const tellPersonCame = async (runId: number): Promise<void> => {
    if (closing) return;
    try {
      const handle = client.workflow.getHandle(idOf(workflowIds.connect(runId)));
      await client.withDeadline(Date.now() + START_TIMEOUT_MS, () => handle.signal(CONSENT_RETURNED_SIGNAL));
    } catch (error) {
      // Of one that is still in the outbox too: it looks as soon as it begins.
      log.warn({ runId, err: error }, 'a connection does not hear yet that its person is back');
    }
  };

  const tellResumed = async ({ _id: runId, workflowId }: Pick<RunDoc, '_id' | 'workflowId'>): Promise<void> => {
    if (closing) return;
    try {
      const handle = client.workflow.getHandle(idOf(workflowId));
      await client.withDeadline(Date.now() + START_TIMEOUT_MS, () => handle.signal(RESUME_SIGNAL));
    } catch (error) {
      log.warn({ runId, err: error }, 'a paused run does not hear yet that it goes on');
    }
  };

  const sweepOnce = async (): Promise<void> => {
    await heldRuns.releaseHeld();
    const due = await runs.unstarted(new Date(), SWEEP_ROWS);
    await Promise.all(due.map(({ _id }) => start(_id)));
    const waiting = await uploadStreams.waiting(new Date(), SWEEP_ROWS);
    await Promise.all(waiting.map((run) => streams.wakeAgain(run)));
    const unheard = await attempts.unheard(new Date(Date.now() - UNHEARD_MS), SWEEP_ROWS);
    await Promise.all(unheard.map(({ _id }) => tellPersonCame(_id)));
    const resumed = await pauses.unheard(new Date(Date.now() - UNHEARD_MS), SWEEP_ROWS);
    await Promise.all(resumed.map(tellResumed));
  };

  /** Cancels the workflow of a run. Ends the run itself where Temporal has lost its workflow, or somebody ended that there. */
  const cancelOrEnd = async (run: RunDoc): Promise<void> => {
    const { _id: runId, workflowId, organizationId, requestId } = run;
    // Asked first, since another run may have the same workflow id by now.
    if (await isAlive({ client, names }, run, stores.runs)) {
      try {
        await client.workflow.getHandle(idOf(workflowId)).cancel();
        return;
      } catch (error) {
        // It ended meanwhile: by itself, and then its run has ended too, or from outside.
        if (!(error instanceof WorkflowNotFoundError) || (await isAlive({ client, names }, run, stores.runs)))
          throw error;
      }
    }
    // A workflow ends its run before it completes.
    if ((await runs.find(runId))?.finishedAt !== null) return;
    await endGoneRun({ client, names }, stores, run, CANCELLED);
    log.warn(
      { runId, workflowId: idOf(workflowId), organizationId, requestId },
      'cancelled a run whose workflow is gone',
    );
  };

  return {
    start,
    tellPersonCame,
    tellResumed,
    async cancel(runId) {
      if (await runs.withdraw(runId)) {
        await files.abortOpen(runId, 'The run was cancelled before it began. Resync to try again.', 'cancelled');
        await runs.finish(runId, 'aborted', {});
        return;
      }
      const run = await runs.find(runId);
      if (!run || run.finishedAt !== null) return;
      if (run.stream) {
        // Its workflow brings in other uploads too. The batch that reads the file sees that it is the run's no more.
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
      const onError = (error: unknown): void => log.warn({ err: error }, 'the outbox could not be swept; trying again');
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
      // The SDK tries again by timers: one that fires on a closed channel would end the process. Each start has a deadline.
      await Promise.all(underWay);
      await client.connection.close();
    },
  };
}
