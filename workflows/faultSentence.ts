import { ActivityFailure, ApplicationFailure } from '@temporalio/workflow';

import { FAULT_FAILURE } from '../contract/orchestration.js';

/** The sentence of a Fault that an activity gave up on; null for anything else. */
export function faultSentence(error: unknown): string | null {
  const cause = error instanceof ActivityFailure ? error.cause : null;
  return cause instanceof ApplicationFailure && cause.type === FAULT_FAILURE ? cause.message : null;
}
