import type { Model } from 'mongoose';

import { coalesce } from '../../contract/coalesce.js';
import type { Sequence } from '../database/sequence.js';
import type { Liveness } from './liveness.js';
import type { UserDoc } from '../models/users.js';
import { readRows } from '../database/driver.js';

/** Maximum number of users per query. */
const MAX_USERS = 100;

/** The user whose data a call reads and writes. Each query of one user's data contains both ids. */
export interface Tenant {
  readonly organizationId: number;
  readonly userId: number;
}

export interface UserAcceptance {
  /**
   * Returns the end user with a customer id, and creates the user if there is none. The customer id of a deleted user
   * creates a new user.
   */
  ensure(organizationId: number, customerId: string): Promise<Tenant & { customerId: string }>;
  /** Returns the user, or null if it is deleted. */
  find(tenant: Tenant): Promise<(Tenant & { customerId: string }) | null>;
  /** Returns whether the user exists. The answer may be one second old, so use it only for reads. */
  isLive(tenant: Tenant): Promise<boolean>;
}

export function createUserAcceptance(
  users: Model<UserDoc>,
  sequence: Sequence,
  liveness: Pick<Liveness, 'isLive'>,
): UserAcceptance {
  // Concurrent callers share one query, because every request waits for it.
  const find = coalesce(
    async (tenants: readonly Tenant[]) => {
      const filters = tenants.map(({ organizationId, userId }) => ({ _id: userId, organizationId }));
      const rows = await readRows<UserDoc, Pick<UserDoc, '_id' | 'organizationId' | 'customerId'>>(
        users,
        { $or: filters, deletedAt: null },
        { fields: { organizationId: 1, customerId: 1 }, maxRows: filters.length },
      );
      const live = new Map(rows.map((row) => [row._id, row]));
      return tenants.map(({ organizationId, userId }) => {
        const row = live.get(userId);
        return row?.organizationId === organizationId ? { organizationId, userId, customerId: row.customerId } : null;
      });
    },
    { maxItems: MAX_USERS },
  );
  return {
    find,
    isLive: (tenant) => liveness.isLive(tenant, async () => (await find(tenant)) !== null),
    async ensure(organizationId, customerId) {
      const live = { organizationId, customerId, deletedAt: null };
      const existing = await users.findOne(live).lean();
      if (existing) return { organizationId, userId: existing._id, customerId };
      const _id = await sequence.next('user');
      const now = new Date();
      const row = await users
        .findOneAndUpdate(
          live,
          { $setOnInsert: { _id, createdAt: now, updatedAt: now } },
          { upsert: true, returnDocument: 'after' },
        )
        .lean();
      return { organizationId, userId: row._id, customerId };
    },
  };
}
