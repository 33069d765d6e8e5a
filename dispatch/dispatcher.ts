import type { Client } from '@temporalio/client';

import { periodically } from '../config/process/periodically.js';
import type { TemporalNames } from '../contract/runs/temporalNames.js';
import type { Log } from '../observability/log.js';
import type { Tracing } from '../observability/spans.js';
import { NO_TRACING } from '../observability/tracing.js';
import type { Attempts } from '../store/connections/attempts.js';
import type { RunDoc } from '../store/models/runs.js';
import type { HeldRuns } from '../store/runs/held.js';
import type { Runs } from '../store/runs/outbox.js';
import type { Pauses } from '../store/runs/pauses.js';
import type { UploadStreams } from '../store/runs/uploadStreams.js';
import { createFairShares } from './fairShares.js';
import type { OrphanedRunStores } from './orphanedRuns.js';
import { cancelRun } from './outbox/cancelRun.js';
import { createRunSignals } from './outbox/runSignals.js';
import { CALL_TIMEOUT_MS, createRunStarter } from './outbox/runStarter.js';
import { createUploadStreamStarter } from './uploadStreams.js';

const SWEEP_MS = 1_000;
const SWEEP_ROWS = 100;
/** Time that the API process has to signal the workflow itself before the sweeper does, in milliseconds. */
const UNACKNOWLEDGED_MS = 2_000;

export interface Dispatcher {
  /**
   * Starts an accepted run in Temporal. Never throws: a run that cannot be started now, or waits because its user's
   * queue is full, stays in the outbox.
   * @param first the run, if the same request created the record that the run works on, so that the record has no
   * earlier run
   */
  start(runId: number, first?: RunDoc | null): Promise<void>;
  /**
   * Signals to the workflow of a connection that its user has returned from the consent page. Never throws: the
   * sweeper repeats an undelivered signal.
   */
  signalConsentReturned(runId: number): Promise<void>;
  /** Signals the workflow of a paused run to continue. Never throws: the sweeper repeats an undelivered signal. */
  signalResumed(run: Pick<RunDoc, '_id' | 'workflowId'>): Promise<void>;
  /**
   * Cancels a run, in the outbox or in Temporal. Its unfinished files become SYNC_ABORTED. If Temporal no longer has
   * the workflow, the run is ended immediately.
   * @throws StoreFailure when Temporal does not answer
   */
  cancel(runId: number): Promise<void>;
  /**
   * Now and every second, until the signal is aborted: releases held runs, starts the due runs in the outbox, and
   * signals workflows again that have not acknowledged waiting uploads, a returned user or a resumed run.
   */
  sweep(signal: AbortSignal): Promise<void>;
  /** Returns the number of workers that poll the task queue. Rejects when Temporal does not answer. */
  ping(): Promise<{ pollers: number }>;
  close(): Promise<void>;
}

/** The stores that the dispatcher reads and writes. */
export interface DispatchStores extends OrphanedRunStores {
  readonly runs: Runs;
  readonly heldRuns: HeldRuns;
  readonly uploadStreams: Pick<UploadStreams, 'listWaiting'>;
  readonly attempts: Pick<Attempts, 'listUnacknowledged' | 'changeState' | 'acknowledge'>;
  readonly pauses: Pick<Pauses, 'listUnacknowledged' | 'findPausedByWorkflowId'>;
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
  const { runs, heldRuns, uploadStreams, attempts, pauses } = stores;
  const closing = new AbortController();
  const shares = createFairShares(runs);
  const starter = createRunStarter({ client, names, runs, pauses, shares, log, tracing, closing: closing.signal });
  const streams = createUploadStreamStarter(client, names, shares, log, tracing);
  const signals = createRunSignals(client, names, log);
  const inProgress = new Set<Promise<void>>();
  /** Makes close() wait for a call to Temporal. */
  const track = <T>(call: Promise<T>): Promise<T> => {
    const ended = call.then(
      () => undefined,
      () => undefined,
    );
    inProgress.add(ended);
    void ended.then(() => inProgress.delete(ended));
    return call;
  };

  const start: Dispatcher['start'] = async (runId, first = null) => {
    if (closing.signal.aborted) return;
    const starting = (async () => {
      try {
        const run = first ?? (await runs.find(runId));
        if (!run || run.startedAt !== null || run.held === true) return;
        if (run.stream) await streams.signalStream(run);
        else await starter.start(run, first !== null);
      } catch (error) {
        log.warn({ runId, err: error }, 'the run could not be started yet; trying again');
      }
    })();
    await track(starting);
  };

  const signalConsentReturned: Dispatcher['signalConsentReturned'] = async (runId) => {
    if (!closing.signal.aborted) await track(signals.consentReturned(runId));
  };
  const signalResumed: Dispatcher['signalResumed'] = async (run) => {
    if (!closing.signal.aborted) await track(signals.resumed(run));
  };

  const sweepOnce = async (): Promise<void> => {
    await heldRuns.releaseHeld();
    const due = await runs.listUnstarted(new Date(), SWEEP_ROWS);
    await Promise.all(due.map(({ _id }) => start(_id)));
    const waiting = await uploadStreams.listWaiting(new Date(), SWEEP_ROWS);
    // Not awaited: a stream is signalled for as long as its user uploads, and the sweep must continue meanwhile.
    for (const run of waiting) void track(streams.wakeAgain(run));
    const unacknowledged = await attempts.listUnacknowledged(new Date(Date.now() - UNACKNOWLEDGED_MS), SWEEP_ROWS);
    await Promise.all(unacknowledged.map(({ _id }) => signalConsentReturned(_id)));
    const resumed = await pauses.listUnacknowledged(new Date(Date.now() - UNACKNOWLEDGED_MS), SWEEP_ROWS);
    await Promise.all(resumed.map(signalResumed));
  };

  return {
    start,
    signalConsentReturned,
    signalResumed,
    cancel: (runId) => track(cancelRun({ access: { client, names }, stores, log }, runId)),
    async sweep(signal) {
      const onError = (error: unknown): void =>
        log.warn({ err: error }, 'the sweep of the outbox failed; trying again');
      await periodically(sweepOnce, { intervalMs: SWEEP_MS, signal, onError });
    },
    async ping() {
      const answer = client.withDeadline(Date.now() + CALL_TIMEOUT_MS, () =>
        client.workflowService.describeTaskQueue({
          namespace: client.options.namespace,
          taskQueue: { name: names.taskQueue },
          // TASK_QUEUE_TYPE_WORKFLOW
          taskQueueType: 1,
        }),
      );
      const { pollers } = await track(answer);
      return { pollers: pollers?.length ?? 0 };
    },
    async close() {
      closing.abort();
      streams.close();
      // The SDK retries by timers, and a timer that fires on a closed channel would end the process. Each call has a
      // deadline.
      await Promise.all(inProgress);
      await client.connection.close();
    },
  };
}
