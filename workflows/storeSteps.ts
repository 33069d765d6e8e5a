import { patched, proxyActivities, proxyLocalActivities } from '@temporalio/workflow';

import type { Activities } from '../activities/index.js';
import { STORE } from './activityOptions.js';

const local = proxyLocalActivities<Activities>(STORE);
const queued = proxyActivities<Activities>(STORE);

/**
 * The short steps that only read and write our own stores. They run in the worker that has the workflow: sent by the
 * task queue each would cost Temporal, the worker and the caller's time many times the step itself.
 */
export const storeSteps = (): Activities => (patched('store-steps-are-local') ? local : queued);
