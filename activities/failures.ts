import { ApplicationFailure } from '@temporalio/activity';

import { Fault } from '../contract/failures.js';
import { FAULT_FAILURE } from '../contract/orchestration.js';

/** A Fault as Temporal must see it: type, whether to try again, and when. Anything else is passed on unchanged. */
export function toFailure(error: unknown): unknown {
  if (!(error instanceof Fault)) return error;
  return ApplicationFailure.create({
    type: FAULT_FAILURE,
    message: error.message,
    nonRetryable: !error.retryable,
    details: [error.kind],
    ...(error.retryAfterMs === null ? {} : { nextRetryDelay: error.retryAfterMs }),
    cause: error,
  });
}
