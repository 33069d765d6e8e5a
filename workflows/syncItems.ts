import {
  ActivityFailure,
  CancellationScope,
  continueAsNew,
  isCancellation,
  proxyActivities,
  workflowInfo,
} from '@temporalio/workflow';

import type { Activities } from '../activities/index.js';
import type { SyncItemsInput } from '../contract/runs/orchestration.js';
import { COMPUTE, FETCH } from './activityOptions.js';
import { faultKind, faultSentence } from './faultSentence.js';
import { storeSteps } from './storeSteps.js';

const { listItems } = proxyActivities<Activities>(FETCH);
const { deleteMissingFiles } = proxyActivities<Activities>(COMPUTE);

const DEFECT =
  'The listing failed because of an internal error. See the log of the service for the cause. Sync the items to try again.';

/**
 * Lists a connected account page by page, then removes the items it no longer has. The data source records the outcome.
 */
export async function syncItems({ runId, isContinued = false }: SyncItemsInput): Promise<void> {
  try {
    if (!isContinued && (await storeSteps.beginListing({ runId })).finished) return;
    while (!(await listItems({ runId })).done) {
      if (workflowInfo().continueAsNewSuggested) await continueAsNew<typeof syncItems>({ runId, isContinued: true });
    }
    await deleteMissingFiles({ runId });
    await storeSteps.endListing({ runId, outcome: 'finished' });
  } catch (error) {
    if (isCancellation(error)) {
      await CancellationScope.nonCancellable(() => storeSteps.endListing({ runId, outcome: 'aborted' }));
      throw error;
    }
    // continueAsNew throws an error of its own.
    if (!(error instanceof ActivityFailure)) throw error;
    const sentence = faultSentence(error);
    // Also for a run that is being cancelled: the data source must not stay unfinished.
    await CancellationScope.nonCancellable(() =>
      storeSteps.endListing({
        ...{ runId, outcome: 'failed', message: sentence ?? DEFECT },
        ...(sentence !== null && { cause: faultKind(error) }),
      }),
    );
    if (sentence === null) throw error;
  }
}
