import { ActivityCancellationType, type ActivityOptions, type LocalActivityOptions } from '@temporalio/workflow';

/**
 * A cancelled run ends only after its activities have stopped, because a running activity could still change the state
 * of files.
 */
const WHEN_CANCELLED = ActivityCancellationType.WAIT_CANCELLATION_COMPLETED;

/**
 * Retry policy without a maximum number of attempts. Faults of contents and sources do not fail the activities that use
 * it; only an outage of a store, a crashed worker or a defect does. An outage may last longer than any number of
 * attempts, and giving up would leave files unfinished. A run without progress for STALL_AFTER_S whose step has failed
 * twice is marked as stalled (dispatch/diagnosis.ts).
 */
export const UNTIL_STORES_ANSWER = {
  initialInterval: '1 second',
  backoffCoefficient: 2,
  maximumInterval: '30 seconds',
} as const;

/**
 * Requests to other sites: a few attempts, with pauses long enough for an overloaded site. A request that fails with a
 * Fault is retried only if the Fault is retryable.
 */
export const FETCH: ActivityOptions = {
  startToCloseTimeout: '30 minutes',
  heartbeatTimeout: '10 seconds',
  retry: { initialInterval: '5 seconds', backoffCoefficient: 5, maximumInterval: '2 minutes', maximumAttempts: 4 },
  cancellationType: WHEN_CANCELLED,
};

/** Calls of an OAuth provider while a user waits: a few attempts with short intervals. */
export const CONNECT: ActivityOptions = {
  startToCloseTimeout: '2 minutes',
  heartbeatTimeout: '5 seconds',
  retry: { initialInterval: '1 second', backoffCoefficient: 2, maximumInterval: '10 seconds', maximumAttempts: 5 },
  cancellationType: WHEN_CANCELLED,
};

/**
 * A batch of files. Faults of single files do not fail it, so a failure comes from a store or a worker and is retried
 * without limit.
 */
export const COMPUTE: ActivityOptions = {
  startToCloseTimeout: '2 hours',
  heartbeatTimeout: '10 seconds',
  retry: UNTIL_STORES_ANSWER,
  cancellationType: WHEN_CANCELLED,
};

/**
 * Transcription of one recording by a service. The activity mostly waits, and its retry after a crash of the worker
 * continues the job of the service.
 */
export const TRANSCRIBE: ActivityOptions = {
  startToCloseTimeout: '12 hours',
  heartbeatTimeout: '10 seconds',
  retry: UNTIL_STORES_ANSWER,
  cancellationType: WHEN_CANCELLED,
};

/**
 * Deliveries to a customer's webhook. The receiver's response never fails the activity, so a failure comes from a store
 * or a worker.
 */
export const NOTIFY: ActivityOptions = {
  startToCloseTimeout: '10 minutes',
  heartbeatTimeout: '10 seconds',
  retry: UNTIL_STORES_ANSWER,
  cancellationType: WHEN_CANCELLED,
};

/** Options of short reads and writes of our own stores, which are retried without limit. */
export const STORE = {
  // These steps send no heartbeat, so this is also the time until the retry after a worker crashed.
  startToCloseTimeout: '10 seconds',
  retry: UNTIL_STORES_ANSWER,
  cancellationType: WHEN_CANCELLED,
} as const satisfies ActivityOptions & LocalActivityOptions;
