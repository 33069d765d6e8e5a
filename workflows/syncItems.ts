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
 * Lists the items of a connected account, then deletes the stored items that the account no longer has. The outcome is
 * recorded in the data source.
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
    // Other errors, such as that of continueAsNew, are rethrown.
    if (!(error instanceof ActivityFailure)) throw error;
    const sentence = faultSentence(error);
    // Not cancellable: also if the run is cancelled now, the data source must not stay in SYNCING.
    await CancellationScope.nonCancellable(() =>
      storeSteps.endListing({
        ...{ runId, outcome: 'failed', message: sentence ?? DEFECT },
        ...(sentence !== null && { cause: faultKind(error) }),
      }),
    );
    if (sentence === null) throw error;
  }
}
