import { CancellationScope, continueAsNew, isCancellation, proxyActivities, workflowInfo } from '@temporalio/workflow';

import type { Activities } from '../activities/index.js';
import type { CopyTagsResult, UpdateTagsInput } from '../contract/runs/orchestration.js';
import { COMPUTE } from './activityOptions.js';
import { storeSteps } from './storeSteps.js';

const { copyTags } = proxyActivities<Activities>(COMPUTE);

/**
 * Applies the tags of a data source to its files and vectors, or those of one file to its vectors. Repeats this until
 * all have the latest version. When cancelled, it leaves the remaining files unchanged, until the next change of tags
 * updates them.
 */
export async function updateTags({ runId, afterId = 0 }: UpdateTagsInput): Promise<void> {
  let step: CopyTagsResult = { done: false, afterId };
  try {
    while (!step.done) {
      step = await copyTags({ runId, afterId: step.afterId });
      if (!step.done && workflowInfo().continueAsNewSuggested)
        await continueAsNew<typeof updateTags>({ runId, afterId: step.afterId });
    }
    await storeSteps.finishTags({ runId, outcome: 'finished' });
  } catch (error) {
    if (isCancellation(error))
      await CancellationScope.nonCancellable(() => storeSteps.finishTags({ runId, outcome: 'aborted' }));
    throw error;
  }
}
