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
import { type DeliverEventsInput, EVENTS_QUEUED_SIGNAL } from '../contract/runs/orchestration.js';
import { deliveryQueue } from '../contract/runs/workflowIds.js';
import { NOTIFY } from './activityOptions.js';

const eventsQueued = defineSignal(EVENTS_QUEUED_SIGNAL);

/**
 * Delivers an organization's events to one webhook until it is deleted or disabled. Runs a batch when new events arrive
 * or a retry is due. The database records the deliveries; the workflow history contains no events.
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
    // A signal that arrived in the meantime may mean that the webhook was enabled again.
    if (ended && !woken) return;
    // The first batch of the next execution handles signals that arrived in the meantime.
    if (workflowInfo().continueAsNewSuggested) {
      await condition(allHandlersFinished);
      await continueAsNew<typeof deliverEvents>(input);
    }
    if (more) continue;
    if (dueInMs === null) await condition(() => woken);
    else await condition(() => woken, dueInMs);
  }
}
