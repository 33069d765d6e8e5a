import { asyncLocalStorage } from '@temporalio/activity';

/** The workflow whose activity this is; null: none. */
export const currentWorkflowId = (): string | null =>
  asyncLocalStorage.getStore()?.info.workflowExecution?.workflowId ?? null;

/** What every line is to say that is logged by an activity: which it is, and of which workflow. Elsewhere nothing. */
export function activityFields(): Readonly<Record<string, string>> {
  const info = asyncLocalStorage.getStore()?.info;
  if (!info) return {};
  const { activityType, workflowExecution } = info;
  return { activity: activityType, ...(workflowExecution && { workflowId: workflowExecution.workflowId }) };
}
