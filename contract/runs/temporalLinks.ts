import type { TemporalNames } from './temporalNames.js';

/** Workflow fields of a record in API responses; both are null if there is no workflow. */
export interface WorkflowFields {
  readonly workflow_id: string | null;
  readonly workflow_url: string | null;
}
/** Returns the workflow fields for a stored workflow key. */
export type WorkflowLink = (key: string | null | undefined) => WorkflowFields;

/** URLs of Temporal's Web UI; null without TEMPORAL_UI_URL. */
export interface TemporalLinks {
  /** Returns the URL of the last execution of a workflow; null without a key. */
  workflow(key: string | null | undefined): string | null;
  schedule(key: string): string | null;
  /** Returns the URL of the list of an organization's workflows in this deployment. */
  organization(organizationId: number): string | null;
  readonly workflowLink: WorkflowLink;
}

/** @param uiUrl http or https URL of the Web UI, or null */
export function createTemporalLinks(
  { uiUrl, namespace }: { readonly uiUrl: string | null; readonly namespace: string },
  { taskQueue, idOf }: TemporalNames,
): TemporalLinks {
  const base = uiUrl !== null && /^https?:\/\//i.test(uiUrl) ? uiUrl.replace(/\/+$/, '') : null;
  const at = (path: string): string | null =>
    base === null ? null : `${base}/namespaces/${encodeURIComponent(namespace)}/${path}`;
  const workflow: TemporalLinks['workflow'] = (key) => (key ? at(`workflows/${encodeURIComponent(idOf(key))}`) : null);
  return {
    workflow,
    schedule: (key) => at(`schedules/${encodeURIComponent(idOf(key))}`),
    organization: (id) =>
      at(`workflows?query=${encodeURIComponent(`OrganizationId="${id}" AND TaskQueue="${taskQueue}"`)}`),
    workflowLink: (key) => ({ workflow_id: key ? idOf(key) : null, workflow_url: workflow(key) }),
  };
}
