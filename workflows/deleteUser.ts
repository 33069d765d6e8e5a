import {
  CancellationScope,
  continueAsNew,
  getExternalWorkflowHandle,
  isCancellation,
  proxyActivities,
  sleep,
  workflowInfo,
} from '@temporalio/workflow';

import type { Activities } from '../activities/index.js';
import type { RunInput } from '../contract/runs/orchestration.js';
import { COMPUTE, STORE } from './activityOptions.js';

const { eraseFiles, removeSchedules } = proxyActivities<Activities>(COMPUTE);
const { stopUserRuns, finishUserDelete, stopUserDelete } = proxyActivities<Activities>(STORE);

/** Cancels a workflow; does nothing if it has already ended. */
async function cancel(workflowId: string): Promise<void> {
  try {
    await getExternalWorkflowHandle(workflowId).cancel();
  } catch (error) {
    if (isCancellation(error)) throw error;
  }
}

/**
 * Ends every other run of the user and waits until none is active, because an active run could write new data after the
 * deletion.
 */
async function endRuns(runId: number): Promise<void> {
  const cancelled = new Set<string>();
  for (;;) {
    const { workflowIds } = await stopUserRuns({ runId });
    if (workflowIds.length === 0) return;
    const others = workflowIds.filter((workflowId) => !cancelled.has(workflowId));
    for (const workflowId of others) cancelled.add(workflowId);
    await Promise.all(others.map(cancel));
    await sleep('500 milliseconds');
    // The next execution cancels the same workflows again, which does nothing.
    if (workflowInfo().continueAsNewSuggested) await continueAsNew<typeof deleteUser>({ runId });
  }
}

/**
 * Deletes all data of a user: ends its runs, deletes its files in batches, checks that no data is left, then marks its
 * record as deleted.
 */
export async function deleteUser({ runId }: RunInput): Promise<void> {
  try {
    do {
      await removeSchedules({ runId });
      await endRuns(runId);
      while ((await eraseFiles({ runId })).erased > 0) {
        if (workflowInfo().continueAsNewSuggested) await continueAsNew<typeof deleteUser>({ runId });
      }
    } while ((await finishUserDelete({ runId })).again);
  } catch (error) {
    if (isCancellation(error)) await CancellationScope.nonCancellable(() => stopUserDelete({ runId }));
    throw error;
  }
}
