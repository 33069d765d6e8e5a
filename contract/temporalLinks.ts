/** Where something can be looked at in Temporal's Web UI; null: nobody said where that is. */
export interface TemporalLinks {
  /** The last execution of a workflow; null for none. */
  workflow(workflowId: string | null | undefined): string | null;
  schedule(scheduleId: string): string | null;
  /** All that is of one organization. */
  organization(organizationId: number): string | null;
}
export type WorkflowUrl = TemporalLinks['workflow'];

/** @param uiUrl http or https address of the Web UI; null: there is none */
export function createTemporalLinks({
  uiUrl,
  namespace,
}: {
  readonly uiUrl: string | null;
  readonly namespace: string;
}): TemporalLinks {
  const base = uiUrl !== null && /^https?:\/\//i.test(uiUrl) ? uiUrl.replace(/\/+$/, '') : null;
  const at = (path: string): string | null =>
    base === null ? null : `${base}/namespaces/${encodeURIComponent(namespace)}/${path}`;
  return {
    workflow: (id) => (id ? at(`workflows/${encodeURIComponent(id)}`) : null),
    schedule: (id) => at(`schedules/${encodeURIComponent(id)}`),
    organization: (id) => at(`workflows?query=${encodeURIComponent(`OrganizationId="${id}"`)}`),
  };
}
