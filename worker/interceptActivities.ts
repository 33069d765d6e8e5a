import { ApplicationFailure } from '@temporalio/common';
import type { ActivityInterceptorsFactory } from '@temporalio/worker';

import { Fault } from '../contract/failures.js';
import { FAULT_FAILURE } from '../contract/runs/orchestration.js';
import type { Log } from '../observability/log.js';
import type { LastErrors } from '../store/runs/lastErrors.js';

/** Number of heartbeats per heartbeat timeout of an activity. The SDK sends at most one per second. */
const HEARTBEATS_PER_TIMEOUT = 10;
/** Minimum delay of a retry in milliseconds; a shorter Retry-After of a source is raised to it. */
const MIN_RETRY_DELAY_MS = 1_000;

/** Stores and logs the causes of failed attempts. */
export interface AttemptLog {
  readonly lastErrors: LastErrors;
  readonly log: Pick<Log, 'warn'>;
}

/** Converts a Fault to the failure that controls Temporal's retry: type, kind, retryable or not, delay. */
function failureOf(fault: Fault): ApplicationFailure {
  return ApplicationFailure.create({
    type: FAULT_FAILURE,
    message: fault.message,
    nonRetryable: !fault.retryable,
    details: [fault.kind],
    ...(fault.retryAfterMs === null ? {} : { nextRetryDelay: Math.max(fault.retryAfterMs, MIN_RETRY_DELAY_MS) }),
    cause: fault,
  });
}

/** Returns the run id in the input of an activity; null if it contains none. */
function runIdOf(input: unknown): number | null {
  const { runId } = (input ?? {}) as { readonly runId?: unknown };
  return typeof runId === 'number' ? runId : null;
}

/**
 * Wraps every activity:
 * - It sends heartbeats, by which Temporal detects a crashed worker and the activity receives its cancellation.
 * - Any error after the cancellation of the activity is reported as a cancellation: a failure would end the run as
 *   failed. At the shutdown of the worker, the SDK turns the cancellation into a failure that is retried.
 * - A Fault becomes an ApplicationFailure, and is recorded in the run's row until a later attempt succeeds. Temporal
 *   stores only the failure of the last attempt, so a crash in that attempt would hide why the earlier attempts failed.
 */
export function interceptActivities({ lastErrors, log }: AttemptLog): ActivityInterceptorsFactory {
  return (context) => ({
    inbound: {
      async execute(input, next) {
        const { info, cancellationSignal: signal } = context;
        const { activityType: activity, attempt, heartbeatTimeoutMs } = info;
        const runId = runIdOf(input.args[0]);
        const timer = heartbeatTimeoutMs
          ? setInterval(() => context.heartbeat(), heartbeatTimeoutMs / HEARTBEATS_PER_TIMEOUT)
          : undefined;
        try {
          const result = await next(input);
          if (attempt > 1 && runId !== null) await lastErrors.clear(runId);
          return result;
        } catch (error) {
          if (signal.aborted) {
            if (error !== signal.reason) log.warn({ activity, runId, err: error }, 'a cancelled activity failed');
            throw signal.reason;
          }
          if (!(error instanceof Fault)) throw error;
          const { kind, message } = error;
          if (runId !== null)
            await lastErrors
              .record(runId, { kind, message, at: new Date() })
              .catch((err: unknown) => log.warn({ runId, err }, 'the cause of a failed activity was not recorded'));
          throw failureOf(error);
        } finally {
          clearInterval(timer);
        }
      },
    },
  });
}
