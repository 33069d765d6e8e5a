import { CancellationScope, continueAsNew, isCancellation, proxyActivities, workflowInfo } from '@temporalio/workflow';

import type { Activities } from '../activities/index.js';
import type { DeleteFilesInput } from '../contract/orchestration.js';
import { COMPUTE } from './activityOptions.js';
import { storeSteps } from './storeSteps.js';

const { deleteBatch } = proxyActivities<Activities>(COMPUTE);

/** Deletes the files a run names, batch after batch; each batch is verified before its records say so. */
export async function deleteFiles({ runId, afterId = 0 }: DeleteFilesInput): Promise<void> {
  let cursor: number | null = afterId;
  try {
    while (cursor !== null) {
      cursor = (await deleteBatch({ runId, afterId: cursor })).afterId;
      if (cursor !== null && workflowInfo().continueAsNewSuggested) {
        await continueAsNew<typeof deleteFiles>({ runId, afterId: cursor });
      }
    }
    await storeSteps().finishDelete({ runId, outcome: 'finished' });
  } catch (error) {
    if (isCancellation(error))
      await CancellationScope.nonCancellable(() => storeSteps().finishDelete({ runId, outcome: 'aborted' }));
    throw error;
  }
}
