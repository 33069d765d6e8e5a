import { ActivityCancellationType, type ActivityOptions, type LocalActivityOptions } from '@temporalio/workflow';

/** A cancelled run goes on to its end only when nothing of it is at work any more: a step still under way could put files into motion again. */
const WHEN_CANCELLED = ActivityCancellationType.WAIT_CANCELLATION_COMPLETED;

/**
 * Attempts are unlimited on purpose. Faults of contents and sources do not fail these activities: only an outage of a store, a
 * dead worker or a defect does. An outage may outlast any number of attempts, and giving up would leave files in motion.
 * A third failed attempt in a row is reported as a stall (dispatch/judgeRun.ts).
 */
export const UNTIL_STORES_ANSWER = {
  initialInterval: '1 second',
  backoffCoefficient: 2,
  maximumInterval: '30 seconds',
} as const;

/** Reads from outside: a few tries, with the pauses that a struggling site deserves. Faults say themselves whether to go on. */
export const FETCH: ActivityOptions = {
  startToCloseTimeout: '30 minutes',
  heartbeatTimeout: '10 seconds',
  retry: { initialInterval: '5 seconds', backoffCoefficient: 5, maximumInterval: '2 minutes', maximumAttempts: 4 },
  cancellationType: WHEN_CANCELLED,
};

/** Calls of a provider while a person waits for the page: a few tries, close together. */
export const CONNECT: ActivityOptions = {
  startToCloseTimeout: '2 minutes',
  heartbeatTimeout: '5 seconds',
  retry: { initialInterval: '1 second', backoffCoefficient: 2, maximumInterval: '10 seconds', maximumAttempts: 5 },
  cancellationType: WHEN_CANCELLED,
};

/** A batch of files: per-file faults never reach us, so a failure is a store's or a worker's, and is tried until it passes. */
export const COMPUTE: ActivityOptions = {
  startToCloseTimeout: '2 hours',
  heartbeatTimeout: '10 seconds',
  retry: UNTIL_STORES_ANSWER,
  cancellationType: WHEN_CANCELLED,
};

/** A service at work on one recording: mostly waiting, so that a worker which dies costs a moment and no turn. */
export const TRANSCRIBE: ActivityOptions = {
  startToCloseTimeout: '12 hours',
  heartbeatTimeout: '10 seconds',
  retry: UNTIL_STORES_ANSWER,
  cancellationType: WHEN_CANCELLED,
};

/** Calls of a customer's receiver: what it does is an outcome, so a failure is a store's or a worker's. */
export const NOTIFY: ActivityOptions = {
  startToCloseTimeout: '10 minutes',
  heartbeatTimeout: '10 seconds',
  retry: UNTIL_STORES_ANSWER,
  cancellationType: WHEN_CANCELLED,
};

/** Short writes and reads of our own stores, tried until they pass. */
export const STORE = {
  // They send no heartbeat: this is how long a run stands still whose worker dies at one.
  startToCloseTimeout: '10 seconds',
  retry: UNTIL_STORES_ANSWER,
  cancellationType: WHEN_CANCELLED,
} as const satisfies ActivityOptions & LocalActivityOptions;
