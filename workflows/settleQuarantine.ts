import { CancellationScope, continueAsNew, isCancellation, proxyActivities, workflowInfo } from '@temporalio/workflow';

import type { Activities } from '../activities/index.js';
import type { RunInput } from '../contract/runs/orchestration.js';
import { COMPUTE } from './activityOptions.js';
import { storeSteps } from './storeSteps.js';

const { settleBatch } = proxyActivities<Activities>(COMPUTE);

/** Restores or erases quarantined files in batches, as the run requests. */
export async function settleQuarantine({ runId }: RunInput): Promise<void> {
  try {
    while ((await settleBatch({ runId })).more) {
      if (workflowInfo().continueAsNewSuggested) await continueAsNew<typeof settleQuarantine>({ runId });
    }
    await storeSteps.finishQuarantine({ runId, outcome: 'finished' });
  } catch (error) {
    if (isCancellation(error))
      await CancellationScope.nonCancellable(() => storeSteps.finishQuarantine({ runId, outcome: 'aborted' }));
    throw error;
  }
}
