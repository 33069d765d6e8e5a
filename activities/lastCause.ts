import { activityInfo } from '@temporalio/activity';
import { ApplicationFailure } from '@temporalio/common';

import type { FaultKind } from '../contract/failures.js';
import { FAULT_FAILURE, type RunInput } from '../contract/orchestration.js';
import type { RunDoc } from '../store/runs/model.js';
import type { ActivityDeps } from './deps.js';

type Step = (input: never) => Promise<unknown>;

/**
 * Notes in the run's row why an attempt of a step failed. Temporal keeps the failure of the last attempt only: a worker
 * that dies at that one would hide why the attempts before it failed.
 */
export function keepLastCause<Steps extends Record<string, Step>>(
  steps: Steps,
  { store, log }: Pick<ActivityDeps, 'store' | 'log'>,
): Steps {
  const keeping = (step: Step) => async (input: RunInput) => {
    const { runId } = input;
    try {
      const result = await step(input as never);
      if (activityInfo().attempt > 1) await store.lastErrors.forget(runId);
      return result;
    } catch (error) {
      if (error instanceof ApplicationFailure && error.type === FAULT_FAILURE) {
        const kind = error.details?.[0] as FaultKind;
        await store.lastErrors
          .note(runId, { kind, message: error.message, at: new Date() })
          .catch((failed: unknown) => log.warn({ runId, err: failed }, 'the cause of a failed step was not noted'));
      }
      throw error;
    }
  };
  return Object.fromEntries(Object.entries(steps).map(([name, step]) => [name, keeping(step)])) as unknown as Steps;
}

/**
 * Returns why a run failed: the cause that its last attempt gave, or else the last one that is known.
 * @param cause undefined: the last attempt gave none
 */
export function lastCause(
  { lastError }: Pick<RunDoc, 'lastError'>,
  message: string,
  cause: FaultKind | null | undefined,
): { readonly message: string; readonly cause: FaultKind | null } {
  if (cause !== undefined || !lastError) return { message, cause: cause ?? null };
  return { message: lastError.message, cause: lastError.kind };
}
