import {
  ActivityFailure,
  CancellationScope,
  condition,
  defineSignal,
  isCancellation,
  proxyActivities,
  setHandler,
} from '@temporalio/workflow';

import type { Activities } from '../activities/index.js';
import { CONSENT_RETURNED_SIGNAL, type RunInput } from '../contract/runs/orchestration.js';
import { CONNECT } from './activityOptions.js';
import { faultSentence } from './faultSentence.js';
import { storeSteps } from './storeSteps.js';

const { exchangeCode, recordConnection } = proxyActivities<Activities>(CONNECT);

const DEFECT =
  'The connection failed because of an internal error. See the log of the service for the cause. Connect again.';
const consentReturned = defineSignal(CONSENT_RETURNED_SIGNAL);

/**
 * Connects an account with the user's consent: waits until the user returns from the provider, exchanges the
 * authorization code, and creates the data source. Every outcome is recorded in the row of the attempt. Secrets are
 * stored in that row, never in the workflow history.
 */
export async function connectByConsent({ runId }: RunInput): Promise<void> {
  let hasReturned = false;
  setHandler(consentReturned, () => {
    hasReturned = true;
  });
  try {
    // The loop ends at the attempt's deadline, so the history stays short without continue-as-new.
    for (;;) {
      hasReturned = false;
      const { state, dueInMs } = await storeSteps.getConnectionState({ runId });
      if (state !== 'waiting') break;
      await condition(() => hasReturned, dueInMs);
    }
    await exchangeCode({ runId });
    await recordConnection({ runId });
  } catch (error) {
    if (isCancellation(error)) {
      await CancellationScope.nonCancellable(() => storeSteps.endConnection({ runId, outcome: 'cancelled' }));
      throw error;
    }
    if (!(error instanceof ActivityFailure)) throw error;
    const sentence = faultSentence(error);
    await CancellationScope.nonCancellable(() =>
      storeSteps.endConnection({ runId, outcome: 'failed', message: sentence ?? DEFECT }),
    );
    if (sentence === null) throw error;
  }
}
