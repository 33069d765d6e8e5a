import {
  CancellationScope,
  continueAsNew,
  isCancellation,
  proxyActivities,
  sleep,
  workflowInfo,
} from '@temporalio/workflow';

import type { Activities } from '../activities/index.js';
import type { MovePlan, MoveStorageInput } from '../contract/runs/orchestration.js';
import { COMPUTE } from './activityOptions.js';
import { storeSteps } from './storeSteps.js';

const { moveBatch, finishMove } = proxyActivities<Activities>(COMPUTE);

/** Pause before a run looks again for files that other runs still use. */
const WAIT = '1 second';

/**
 * Moves vectors between Qdrant and file storage in batches: unused vectors to file storage, requested vectors back. A
 * cancelled run reverts its unfinished moves. If the workflow fails, the user's next moveStorage run continues
 * these moves.
 */
export async function moveStorage({ runId, afterId = 0 }: MoveStorageInput): Promise<void> {
  let plan: MovePlan = { fileIds: [], afterId, waiting: false };
  try {
    while (plan.afterId !== null) {
      plan = await storeSteps.planMove({ runId, afterId: plan.afterId });
      if (plan.fileIds.length > 0) await moveBatch({ runId, fileIds: plan.fileIds });
      if (plan.waiting) await sleep(WAIT);
      if (plan.afterId !== null && workflowInfo().continueAsNewSuggested)
        await continueAsNew<typeof moveStorage>({ runId, afterId: plan.afterId });
    }
    await finishMove({ runId, outcome: 'finished' });
  } catch (error) {
    if (isCancellation(error)) await CancellationScope.nonCancellable(() => finishMove({ runId, outcome: 'aborted' }));
    throw error;
  }
}
