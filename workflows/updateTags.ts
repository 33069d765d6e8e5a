import { CancellationScope, continueAsNew, isCancellation, proxyActivities, workflowInfo } from '@temporalio/workflow';

import type { Activities } from '../activities/index.js';
import type { CopyTagsResult, UpdateTagsInput } from '../contract/runs/orchestration.js';
import { COMPUTE } from './activityOptions.js';
import { storeSteps } from './storeSteps.js';

const { copyTags } = proxyActivities<Activities>(COMPUTE);

/**
 * Copies the tags of a data source to its files and their points, or the tags of one file to its points. Repeats this
 * until all have the latest tags. After a cancellation, the remaining files stay unchanged until the next change of tags.
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
