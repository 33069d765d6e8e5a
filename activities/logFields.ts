import { asyncLocalStorage } from '@temporalio/activity';

import type { TemporalNames } from '../contract/runs/temporalNames.js';

/** Returns the key of the workflow whose activity is running; null outside of activities. */
export function currentWorkflowKey({ keyOf }: Pick<TemporalNames, 'keyOf'>): string | null {
  const id = asyncLocalStorage.getStore()?.info.workflowExecution?.workflowId;
  return id === undefined ? null : keyOf(id);
}

/** Returns the fields of log lines in an activity: its id and its workflow. Returns none outside of activities. */
export function activityFields(): Readonly<Record<string, string>> {
  const info = asyncLocalStorage.getStore()?.info;
  if (!info) return {};
  const { activityType, workflowExecution } = info;
  return { activity: activityType, ...(workflowExecution && { workflowId: workflowExecution.workflowId }) };
}
