import type { Tenant } from '../users/accept.js';

/** The tenant's part of every filter: there is no way to read or change points without it. */
export const tenantFilter = ({ organizationId, userId }: Tenant) => [
  { key: 'organization_id', match: { value: String(organizationId) } },
  { key: 'user_id', match: { value: userId } },
];
