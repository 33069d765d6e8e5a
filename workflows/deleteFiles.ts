import { CancellationScope, continueAsNew, isCancellation, proxyActivities, workflowInfo } from '@temporalio/workflow';

import type { Activities } from '../activities/index.js';
import type { DeleteFilesInput } from '../contract/runs/orchestration.js';
import { COMPUTE } from './activityOptions.js';
import { storeSteps } from './storeSteps.js';

const { stopQueued, deleteBatch } = proxyActivities<Activities>(COMPUTE);

/**
 * Takes the files of a delete from the runs that own them, then deletes them in batches. Each batch checks that no
 * chunks, points or contents are left before it deletes the file records, or marks them as empty.
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
