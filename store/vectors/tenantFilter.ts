import type { Tenant } from '../users/accept.js';

/** Returns the filter of a whole organization. */
export const organizationFilter = ({ organizationId }: Pick<Tenant, 'organizationId'>) => ({
  key: 'organization_id',
  match: { value: String(organizationId) },
});

/** Fields of a point's payload that identify its tenant. */
export const TENANT_FIELDS = ['organization_id', 'user_id'] as const;

/** Whether a point, read by its id with TENANT_FIELDS, belongs to a tenant. */
export const isOfTenant = (
  { payload }: { readonly payload?: Record<string, unknown> | null | undefined },
  { organizationId, userId }: Tenant,
): boolean => payload?.['organization_id'] === String(organizationId) && payload['user_id'] === userId;

/** Returns the conditions that restrict a filter to one tenant. Each filter of one user's points contains them. */
export const tenantFilter = ({ organizationId, userId }: Tenant) => [
  organizationFilter({ organizationId }),
  { key: 'user_id', match: { value: userId } },
];
