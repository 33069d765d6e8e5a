import { proxyLocalActivities } from '@temporalio/workflow';

import type { Activities } from '../activities/index.js';
import { STORE } from './activityOptions.js';

/**
 * The short steps that only read and write our own stores. They are local activities, which run in the worker that runs
 * the workflow. Through the task queue, each would take many times longer than the step itself.
 */
export const storeSteps = proxyLocalActivities<Activities>(STORE);
