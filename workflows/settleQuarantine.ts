import { CancellationScope, continueAsNew, isCancellation, proxyActivities, workflowInfo } from '@temporalio/workflow';

import type { Activities } from '../activities/index.js';
import type { RunInput } from '../contract/orchestration.js';
import { COMPUTE } from './activityOptions.js';
import { storeSteps } from './storeSteps.js';

const { settleBatch } = proxyActivities<Activities>(COMPUTE);

/** Brings files that vanished at their source back, or erases them, as the run's row asks: batch after batch. */
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
