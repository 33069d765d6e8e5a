/** Reads the pending work of a workflow from Temporal's description of it. */
import type { Client } from '@temporalio/client';
import { optionalTsToDate } from '@temporalio/common/lib/time.js';

import type { PendingStep, WorkflowState } from './diagnoseWorkflow.js';
import type { TemporalAccess } from './orphanedRuns.js';

type Raw = Awaited<ReturnType<ReturnType<Client['workflow']['getHandle']>['describe']>>['raw'];
type RawStep = NonNullable<Raw['pendingActivities']>[number];
type RawFailure = NonNullable<RawStep['lastFailure']>;

/** PENDING_ACTIVITY_STATE_SCHEDULED and PENDING_WORKFLOW_TASK_STATE_SCHEDULED: no worker has started the step yet. */
const SCHEDULED = 1;
/** EVENT_TYPE_WORKFLOW_TASK_FAILED */
const TASK_FAILED = 9;
/** Events read to find why a workflow task failed. */
const EVENTS_READ = 20;

const failureOf = (failure: RawFailure): NonNullable<PendingStep['failure']> => ({
  message: failure.message ?? '',
  type: failure.applicationFailureInfo?.type ?? null,
  isTimeout: Boolean(failure.timeoutFailureInfo),
});

function stepOf({ activityType, state, attempt, lastFailure, ...times }: RawStep): PendingStep {
  return {
    name: activityType?.name ?? 'unknown',
    isStarted: state !== SCHEDULED,
    attempt: attempt ?? 1,
    seenAt: optionalTsToDate(times.lastHeartbeatTime) ?? optionalTsToDate(times.lastStartedTime) ?? null,
    scheduledAt: optionalTsToDate(times.scheduledTime) ?? new Date(),
    failure: lastFailure ? failureOf(lastFailure) : null,
  };
}

/**
 * Returns the pending work of a workflow; null when it is not running.
 * @throws when Temporal does not answer, or has no such workflow
 */
export async function describeWork(
  { client, names }: TemporalAccess,
  workflowId: string,
): Promise<WorkflowState | null> {
  const { raw, status } = await client.workflow.getHandle(names.idOf(workflowId)).describe();
  if (status.name !== 'RUNNING') return null;
  const task = raw.pendingWorkflowTask;
  return {
    task: task
      ? {
          isStarted: task.state !== SCHEDULED,
          attempt: task.attempt ?? 1,
          scheduledAt: optionalTsToDate(task.originalScheduledTime ?? task.scheduledTime) ?? new Date(),
        }
      : null,
    steps: (raw.pendingActivities ?? []).map(stepOf),
  };
}

/**
 * Returns why the latest workflow task failed; null when the last events contain no failure, for instance after
 * timeouts.
 */
export async function taskFailure({ client, names }: TemporalAccess, workflowId: string): Promise<string | null> {
  const { history } = await client.workflowService.getWorkflowExecutionHistoryReverse({
    namespace: client.options.namespace,
    execution: { workflowId: names.idOf(workflowId) },
    maximumPageSize: EVENTS_READ,
  });
  const failed = (history?.events ?? []).find(({ eventType }) => eventType === TASK_FAILED);
  return failed?.workflowTaskFailedEventAttributes?.failure?.message ?? null;
}
