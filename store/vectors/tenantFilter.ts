import type { Tenant } from '../users/accept.js';

/** Filter for a whole organization. */
export const organizationFilter = ({ organizationId }: Pick<Tenant, 'organizationId'>) => ({
  key: 'organization_id',
  match: { value: String(organizationId) },
});

/** The tenant's part of every filter: there is no way to read or change points without it. */
export const tenantFilter = ({ organizationId, userId }: Tenant) => [
  organizationFilter({ organizationId }),
  { key: 'user_id', match: { value: userId } },
];
