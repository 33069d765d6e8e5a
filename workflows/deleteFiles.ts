import { CancellationScope, continueAsNew, isCancellation, proxyActivities, workflowInfo } from '@temporalio/workflow';

import type { Activities } from '../activities/index.js';
import type { DeleteFilesInput } from '../contract/runs/orchestration.js';
import { COMPUTE } from './activityOptions.js';
import { storeSteps } from './storeSteps.js';

const { stopQueued, deleteBatch } = proxyActivities<Activities>(COMPUTE);

/**
 * Takes the files that a run names from the runs that own them, then deletes them in batches. Each batch is verified
 * before its records are updated.
 */
export async function deleteFiles({ runId, afterId = 0 }: DeleteFilesInput): Promise<void> {
  let cursor: number | null = afterId;
  try {
    if (afterId === 0) await stopQueued({ runId });
    while (cursor !== null) {
      cursor = (await deleteBatch({ runId, afterId: cursor })).afterId;
      if (cursor !== null && workflowInfo().continueAsNewSuggested) {
        await continueAsNew<typeof deleteFiles>({ runId, afterId: cursor });
      }
    }
    await storeSteps.finishDelete({ runId, outcome: 'finished' });
  } catch (error) {
    if (isCancellation(error))
      await CancellationScope.nonCancellable(() => storeSteps.finishDelete({ runId, outcome: 'aborted' }));
    throw error;
  }
}
