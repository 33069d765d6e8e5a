import { CancellationScope, isCancellation, proxyActivities } from '@temporalio/workflow';

import type { Activities } from '../activities/index.js';
import type { RunInput } from '../contract/runs/orchestration.js';
import { COMPUTE } from './activityOptions.js';
import { storeSteps } from './storeSteps.js';

const { sumFiles } = proxyActivities<Activities>(COMPUTE);

/** Recalculates the totals of all files of an organization. */
export async function recountFiles({ runId }: RunInput): Promise<void> {
  try {
    await sumFiles({ runId });
    await storeSteps.finishRecount({ runId, outcome: 'finished' });
  } catch (error) {
    if (isCancellation(error))
      await CancellationScope.nonCancellable(() => storeSteps.finishRecount({ runId, outcome: 'aborted' }));
    throw error;
  }
}
