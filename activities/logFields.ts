import { asyncLocalStorage } from '@temporalio/activity';

import type { TemporalNames } from '../contract/temporalNames.js';

/** Returns the key of the workflow whose activity is running; null outside of activities. */
export function currentWorkflowKey({ keyOf }: Pick<TemporalNames, 'keyOf'>): string | null {
  const id = asyncLocalStorage.getStore()?.info.workflowExecution?.workflowId;
  return id === undefined ? null : keyOf(id);
}

/** What every line is to say that is logged by an activity: which it is, and of which workflow. Elsewhere nothing. */
export function activityFields(): Readonly<Record<string, string>> {
  const info = asyncLocalStorage.getStore()?.info;
  if (!info) return {};
  const { activityType, workflowExecution } = info;
  return { activity: activityType, ...(workflowExecution && { workflowId: workflowExecution.workflowId }) };
}
