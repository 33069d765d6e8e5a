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
import { PERSON_CAME_SIGNAL, type RunInput } from '../contract/orchestration.js';
import { CONNECT } from './activityOptions.js';
import { faultSentence } from './faultSentence.js';
import { storeSteps } from './storeSteps.js';

const { exchangeCode, recordConnection } = proxyActivities<Activities>(CONNECT);

const DEFECT = 'The connection stopped at a fault of this service. Its log names the cause; connect again.';
const personCame = defineSignal(PERSON_CAME_SIGNAL);

/**
 * Connects an account by consent: waits for the person to come back from the provider, exchanges the code they bring,
 * and writes the data source down. However it ends, the attempt says so. Secrets are in its row; here are ids alone.
 */
export async function connectByConsent({ runId }: RunInput): Promise<void> {
  let came = false;
  setHandler(personCame, () => {
    came = true;
  });
  try {
    // Ends at the attempt's deadline: its history stays short without continue-as-new.
    for (;;) {
      came = false;
      const { state, dueInMs } = await storeSteps().lookAtConnection({ runId });
      if (state !== 'waiting') break;
      await condition(() => came, dueInMs);
    }
    await exchangeCode({ runId });
    await recordConnection({ runId });
  } catch (error) {
    if (isCancellation(error)) {
      await CancellationScope.nonCancellable(() => storeSteps().endConnection({ runId, outcome: 'cancelled' }));
      throw error;
    }
    if (!(error instanceof ActivityFailure)) throw error;
    const sentence = faultSentence(error);
    await CancellationScope.nonCancellable(() =>
      storeSteps().endConnection({ runId, outcome: 'failed', message: sentence ?? DEFECT }),
    );
    if (sentence === null) throw error;
  }
}
