/** Where a workflow can be looked at in Temporal's Web UI; null: there is no such place, or no workflow. */
export type WorkflowUrl = (workflowId: string | null | undefined) => string | null;

/** @param uiUrl address of the Web UI; null: there is none */
export function workflowUrls({
  uiUrl,
  namespace,
}: {
  readonly uiUrl: string | null;
  readonly namespace: string;
}): WorkflowUrl {
  if (uiUrl === null || uiUrl === '') return () => null;
  const base = `${uiUrl.replace(/\/+$/, '')}/namespaces/${encodeURIComponent(namespace)}/workflows/`;
  // The Web UI leads from there to the last execution of the workflow.
  return (workflowId) => (workflowId ? base + encodeURIComponent(workflowId) : null);
}
