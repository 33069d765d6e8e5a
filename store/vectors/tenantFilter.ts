import type { Tenant } from '../users/accept.js';

/** Returns the filter of a whole organization. */
export const organizationFilter = ({ organizationId }: Pick<Tenant, 'organizationId'>) => ({
  key: 'organization_id',
  match: { value: String(organizationId) },
});

/** Returns the tenant's part of every filter. No function reads or changes points without it. */
export const tenantFilter = ({ organizationId, userId }: Tenant) => [
  organizationFilter({ organizationId }),
  { key: 'user_id', match: { value: userId } },
];
