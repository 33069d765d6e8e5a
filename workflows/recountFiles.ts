import { CancellationScope, isCancellation, proxyActivities } from '@temporalio/workflow';

import type { Activities } from '../activities/index.js';
import type { RunInput } from '../contract/orchestration.js';
import { COMPUTE, STORE } from './activityOptions.js';

const { sumFiles } = proxyActivities<Activities>(COMPUTE);
const { finishRecount } = proxyActivities<Activities>(STORE);

/** Sums over all files of an organization anew. */
export async function recountFiles({ runId }: RunInput): Promise<void> {
  try {
    await sumFiles({ runId });
    await finishRecount({ runId, outcome: 'finished' });
  } catch (error) {
    if (isCancellation(error))
      await CancellationScope.nonCancellable(() => finishRecount({ runId, outcome: 'aborted' }));
    throw error;
  }
}
