import { ActivityFailure, ApplicationFailure } from '@temporalio/workflow';

import type { FaultKind } from '../contract/failures.js';
import { FAULT_FAILURE } from '../contract/runs/orchestration.js';

function faultOf(error: unknown): ApplicationFailure | null {
  const cause = error instanceof ActivityFailure ? error.cause : null;
  return cause instanceof ApplicationFailure && cause.type === FAULT_FAILURE ? cause : null;
}

/** Returns the message of a Fault that ended an activity; null for any other error. */
export const faultSentence = (error: unknown): string | null => faultOf(error)?.message ?? null;

/** Returns the kind of a Fault that ended an activity; null for any other error. */
export const faultKind = (error: unknown): FaultKind | null =>
  (faultOf(error)?.details?.[0] as FaultKind | undefined) ?? null;
