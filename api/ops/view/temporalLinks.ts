/** Addresses in Temporal's Web UI. */
export interface TemporalLinks {
  workflow(workflowId: string): string | null;
  schedule(scheduleId: string): string | null;
  /** All that is of one organization. */
  organization(organizationId: number): string | null;
}

/** @param uiUrl where it is; null: nobody said, and there are no links */
export function createTemporalLinks(uiUrl: string | null, namespace: string): TemporalLinks {
  const base = uiUrl !== null && /^https?:\/\//i.test(uiUrl) ? uiUrl.replace(/\/+$/, '') : null;
  const at = (path: string): string | null =>
    base === null ? null : `${base}/namespaces/${encodeURIComponent(namespace)}/${path}`;
  return {
    workflow: (id) => at(`workflows/${encodeURIComponent(id)}`),
    schedule: (id) => at(`schedules/${encodeURIComponent(id)}`),
    organization: (id) => at(`workflows?query=${encodeURIComponent(`OrganizationId="${id}"`)}`),
  };
}
