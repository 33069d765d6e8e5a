import { ActivityCancellationType, type ActivityOptions, type LocalActivityOptions } from '@temporalio/workflow';

/**
 * A cancelled run ends only after its activities have stopped: a running activity could still change the state of
 * files.
 */
const WHEN_CANCELLED = ActivityCancellationType.WAIT_CANCELLATION_COMPLETED;

/**
 * Attempts are unlimited on purpose. Faults of contents and sources do not fail these activities; only an outage of a
 * store, a dead worker or a defect does. An outage may outlast any number of attempts, and giving up would leave files
 * unfinished. A third failed attempt in a row is reported as a stall (dispatch/diagnoseWorkflow.ts).
 */
export const UNTIL_STORES_ANSWER = {
  initialInterval: '1 second',
  backoffCoefficient: 2,
  maximumInterval: '30 seconds',
} as const;

/**
 * Requests to other sites: a few attempts, with pauses long enough for a struggling site. A Fault states whether it may
 * be retried.
 */
export const FETCH: ActivityOptions = {
  startToCloseTimeout: '30 minutes',
  heartbeatTimeout: '10 seconds',
  retry: { initialInterval: '5 seconds', backoffCoefficient: 5, maximumInterval: '2 minutes', maximumAttempts: 4 },
  cancellationType: WHEN_CANCELLED,
};

/** Calls of a provider while a user waits for the page: a few attempts, close together. */
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
 * Transcribes one recording with a service. The activity mostly waits, so losing a worker costs little and does not
 * count as an attempt.
 */
export const TRANSCRIBE: ActivityOptions = {
  startToCloseTimeout: '12 hours',
  heartbeatTimeout: '10 seconds',
  retry: UNTIL_STORES_ANSWER,
  cancellationType: WHEN_CANCELLED,
};

/**
 * Calls of a customer's receiver. The receiver's response is an outcome, so a failure comes from a store or a worker.
 */
export const NOTIFY: ActivityOptions = {
  startToCloseTimeout: '10 minutes',
  heartbeatTimeout: '10 seconds',
  retry: UNTIL_STORES_ANSWER,
  cancellationType: WHEN_CANCELLED,
};

/** Options of short reads and writes of our own stores, which are retried without limit. */
export const STORE = {
  // These steps send no heartbeat: if a worker dies during one, the run waits this long.
  startToCloseTimeout: '10 seconds',
  retry: UNTIL_STORES_ANSWER,
  cancellationType: WHEN_CANCELLED,
} as const satisfies ActivityOptions & LocalActivityOptions;
