/** Determines from Temporal's description of a workflow whether it makes progress. */
import { FAULT_FAILURE, TIME_SLICE_OVER_FAILURE } from '../contract/runs/orchestration.js';

/** Attempt from which a step or a workflow task counts as failing: the two attempts before it failed. */
const FAILS_FROM = 3;
/**
 * Maximum age of the last heartbeat of an active step. Activities send one every second, and Temporal ends an activity
 * without heartbeats after 10 s.
 */
const HEARTBEAT_FRESH_MS = 15_000;
/** Activities that write vectors. While Qdrant is down, they make no progress although they send heartbeats. */
const NEED_QDRANT = new Set([
  ...[
    'ingestBatch',
    'ingestUploads',
    'reembedBatch',
    'moveBatch',
    'deleteBatch',
    'eraseFiles',
    'copyTags',
    'settleBatch',
  ],
  ...['deleteMissingFiles', 'deleteGonePages'],
]);

export interface PendingStep {
  readonly name: string;
  readonly isStarted: boolean;
  readonly attempt: number;
  /** Time of the activity's last heartbeat, or of its start; null while no worker runs it. */
  readonly seenAt: Date | null;
  readonly scheduledAt: Date;
  /** Null while no attempt has failed. */
  readonly failure: { readonly message: string; readonly type: string | null; readonly isTimeout: boolean } | null;
}

export interface PendingTask {
  readonly isStarted: boolean;
  readonly attempt: number;
  readonly scheduledAt: Date;
}

/** The pending work of a running workflow. If it is empty, the workflow waits for a timer or a signal. */
export interface WorkflowState {
  readonly task: PendingTask | null;
  readonly steps: readonly PendingStep[];
}

/** Evidence that a run does not progress. */
export type Evidence =
  | { readonly cause: 'workflow_task_fails' }
  | { readonly cause: 'qdrant_down' }
  | { readonly cause: 'step_fails'; readonly step: PendingStep }
  /** Since `since`, no worker has started the work or sent a heartbeat. The state of the workers gives the reason. */
  | { readonly cause: null; readonly since: Date };

type StepState = 'active' | 'waiting' | Evidence;

function classifyStep(step: PendingStep, now: number, isQdrantDown: boolean): StepState {
  const { isStarted, attempt, failure, seenAt, scheduledAt, name } = step;
  // A Fault of a site or a source is retried after its own delay.
  if (failure?.type === FAULT_FAILURE) return isStarted ? 'active' : 'waiting';
  // The end of a time slice returns the step to the queue and is not a failure.
  const isSliceOver = failure?.type === TIME_SLICE_OVER_FAILURE;
  const hasFailed = failure !== null && !failure.isTimeout && !isSliceOver && attempt >= FAILS_FROM;
  if (isQdrantDown && (hasFailed || NEED_QDRANT.has(name))) return { cause: 'qdrant_down' };
  if (hasFailed && !isStarted) return { cause: 'step_fails', step };
  if (isStarted && now - (seenAt ?? scheduledAt).getTime() <= HEARTBEAT_FRESH_MS) return 'active';
  return { cause: null, since: isStarted ? (seenAt ?? scheduledAt) : scheduledAt };
}

/**
 * Returns the evidence that a workflow makes no progress; null while it is active, or waits for a timer, a signal, or
 * the retry of a step that failed because of a site or a source.
 * @param now milliseconds since the epoch
 */
export function diagnoseWorkflow({ task, steps }: WorkflowState, now: number, isQdrantDown: boolean): Evidence | null {
  if (task && task.attempt >= FAILS_FROM) return { cause: 'workflow_task_fails' };
  // A local activity runs inside a workflow task and keeps the task open while it is retried. So a started task may be
  // waiting for Qdrant.
  if (task) return isQdrantDown && task.isStarted ? { cause: 'qdrant_down' } : { cause: null, since: task.scheduledAt };
  const stepStates = steps.map((step) => classifyStep(step, now, isQdrantDown));
  if (stepStates.some((state) => state === 'active' || state === 'waiting')) return null;
  const evidence = stepStates.filter((state) => typeof state !== 'string');
  return evidence.find(({ cause }) => cause !== null) ?? evidence[0] ?? null;
}
