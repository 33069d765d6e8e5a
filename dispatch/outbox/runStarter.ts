import { setTimeout as sleep } from 'node:timers/promises';
import { type Client, WorkflowExecutionAlreadyStartedError } from '@temporalio/client';
import type { TypedSearchAttributes } from '@temporalio/common';
import pLimit from 'p-limit';

import type { RunInput } from '../../contract/runs/orchestration.js';
import type { RunKind } from '../../contract/runs/runKinds.js';
import type { TemporalNames } from '../../contract/runs/temporalNames.js';
import type { Log } from '../../observability/log.js';
import type { Tracing } from '../../observability/spans.js';
import { inSpan } from '../../observability/tracing.js';
import type { RunDoc } from '../../store/models/runs.js';
import type { Runs } from '../../store/runs/outbox.js';
import type { Pauses } from '../../store/runs/pauses.js';
import type { FairShares } from '../fairShares.js';
import { searchAttributes } from '../searchAttributes.js';

/** Time limit of a call to Temporal in milliseconds. If it is exceeded, the sweeper starts the run later. */
export const CALL_TIMEOUT_MS = 5_000;
/**
 * Milliseconds until the retry of a start: Temporal was unavailable, or an earlier run of the same target is active.
 * Runs that do the same kind of work on the same record have the same target, and therefore the same workflow id.
 */
const RETRY_MS = 2_000;
/** Milliseconds to wait for an earlier run of the same target, which often ends within a second, before each retry. */
const CONFLICT_PAUSES_MS = [100, 300, 900];
/**
 * Maximum number of concurrent starts. Starting a workflow takes much longer than accepting a run: without the limit,
 * the starts of a burst of requests would delay the acceptance of its later requests.
 */
const MAX_CONCURRENT_STARTS = 2;

/** Kinds of runs of one file, which get the search attribute FileId. */
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

export interface RunStarterDeps {
  readonly client: Client;
  readonly names: TemporalNames;
  readonly runs: Pick<Runs, 'hasEarlierWaiting' | 'markStarted' | 'postpone'>;
  readonly pauses: Pick<Pauses, 'findPausedByWorkflowId'>;
  readonly shares: FairShares;
  readonly log: Log;
  readonly tracing: Tracing;
  /** After its abort, a start no longer waits for an earlier run of the same target. */
  readonly closing: AbortSignal;
}

/** Starts the workflow of one run of the outbox. */
export interface RunStarter {
  /**
   * Starts a run, or leaves it in the outbox for the sweeper.
   * @param isFirst no earlier run of the same target can exist
   */
  start(run: RunDoc, isFirst: boolean): Promise<void>;
}

export function createRunStarter(deps: RunStarterDeps): RunStarter {
  const { client, names, runs, pauses, shares, log, tracing, closing } = deps;
  const { taskQueue, idOf } = names;
  /** Whether the running workflow with that id belongs to this run. */
  const isThisRun = async (run: RunDoc): Promise<boolean> => {
    const { memo } = await client.workflow.getHandle(idOf(run.workflowId)).describe();
    return memo?.['runId'] === run._id;
  };

  const startSlots = pLimit(MAX_CONCURRENT_STARTS);
  const startWorkflow = async (run: RunDoc) => {
    const priority = await shares.of(run);
    return client.withDeadline(Date.now() + CALL_TIMEOUT_MS, () =>
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
    const owner = { ...(userId > 0 && { user: userId }), ...(fileId !== null && { file: fileId }) };
    return inSpan(
      tracing,
      {
        name: `start ${kind}`,
        kind: 'producer',
        ids: { ...ids, ...owner },
        ...(traceparent && { parent: traceparent }),
      },
      () => startWorkflow(run),
    );
  };

  /** Returns true once Temporal has the run's workflow; false while an earlier run of the same target is active. */
  const tryStart = async (run: RunDoc): Promise<boolean> => {
    try {
      await startSlots(() => startTraced(run));
      return true;
    } catch (error) {
      if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
      return isThisRun(run);
    }
  };

  const start = async (run: RunDoc, isFirst: boolean): Promise<void> => {
    const { _id: runId, organizationId, requestId } = run;
    const workflowId = idOf(run.workflowId);
    const context = { runId, workflowId, organizationId, requestId };
    const postpone = async (reason: string): Promise<void> => {
      await runs.postpone(runId, new Date(Date.now() + RETRY_MS));
      log.warn({ ...context, reason }, 'the run could not be started yet; trying again');
    };
    try {
      // Runs of the same target must start in the order in which they were accepted, so that the latest options apply.
      if (!isFirst && (await runs.hasEarlierWaiting(run)))
        return await postpone('an earlier run of the same target is waiting');
      let started = await tryStart(run);
      for (const pauseMs of CONFLICT_PAUSES_MS) {
        if (started || closing.aborted) break;
        await sleep(pauseMs);
        started = await tryStart(run);
      }
      if (!started) {
        // A new request for the same target does not wait for a paused run.
        const paused = await pauses.findPausedByWorkflowId(run.workflowId);
        if (paused) await client.workflow.getHandle(workflowId).cancel();
        return await postpone(`an earlier run of the same target ${paused ? 'was paused' : 'is active'}`);
      }
      await runs.markStarted(runId);
      log.info(context, 'workflow started');
    } catch (error) {
      await postpone(error instanceof Error ? error.message : String(error));
    }
  };

  return { start };
}
