import { ApplicationFailure } from '@temporalio/activity';

import { Fault } from '../contract/failures.js';
import { FAULT_FAILURE } from '../contract/orchestration.js';

/** Before a next try at least, whatever the other side says: 0 would be the same request at once, again and again. */
const LEAST_WAIT_MS = 1_000;

/** A Fault as Temporal must see it: type, whether to try again, and when. Anything else is passed on unchanged. */
export function toFailure(error: unknown): unknown {
  if (!(error instanceof Fault)) return error;
  return ApplicationFailure.create({
    type: FAULT_FAILURE,
    message: error.message,
    nonRetryable: !error.retryable,
    details: [error.kind],
    ...(error.retryAfterMs === null ? {} : { nextRetryDelay: Math.max(error.retryAfterMs, LEAST_WAIT_MS) }),
    cause: error,
  });
}
