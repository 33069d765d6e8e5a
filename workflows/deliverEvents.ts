import {
  type ActivityOptions,
  allHandlersFinished,
  condition,
  continueAsNew,
  defineSignal,
  proxyActivities,
  setHandler,
  workflowInfo,
} from '@temporalio/workflow';

import type { Activities } from '../activities/index.js';
import { deliveryQueue, type DeliverEventsInput, EVENTS_QUEUED_SIGNAL } from '../contract/orchestration.js';
import { NOTIFY } from './activityOptions.js';

const eventsQueued = defineSignal(EVENTS_QUEUED_SIGNAL);

/**
 * Delivers an organization's events to one receiver for as long as the webhook is there: a pass whenever something new
 * has come or a delivery is due again. What was delivered, and what was not, is in the database; the history holds
 * the id of the webhook alone.
 */
export async function deliverEvents(input: DeliverEventsInput): Promise<void> {
  const { taskQueue } = workflowInfo();
  const options: ActivityOptions = { ...NOTIFY, taskQueue: deliveryQueue(taskQueue) };
  const { deliverBatch } = proxyActivities<Activities>(options);
  let woken = false;
  setHandler(eventsQueued, () => {
    woken = true;
  });
  for (;;) {
    woken = false;
    const { ended, more, dueInMs } = await deliverBatch(input);
    // A signal that came meanwhile may tell that the webhook was enabled again.
    if (ended && !woken) return;
    // Whatever came meanwhile is seen by the first pass of the next execution.
    if (workflowInfo().continueAsNewSuggested) {
      await condition(allHandlersFinished);
      await continueAsNew<typeof deliverEvents>(input);
    }
    if (more) continue;
    if (dueInMs === null) await condition(() => woken);
    else await condition(() => woken, dueInMs);
  }
}
