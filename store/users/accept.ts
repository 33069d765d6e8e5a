import type { Model } from 'mongoose';

import type { Sequence } from '../sequence.js';
import type { Liveness } from './liveness.js';
import type { UserDoc } from './model.js';

/** Whose data a call reads and writes. Every query carries both ids. */
export interface Tenant {
  readonly organizationId: number;
  readonly userId: number;
}

export interface UserAcceptance {
  /** The end user of that name; made when unknown. A deleted user's name makes a new one. */
  ensure(organizationId: number, customerId: string): Promise<Tenant & { customerId: string }>;
  /** The live user, or null. */
  find(tenant: Tenant): Promise<(Tenant & { customerId: string }) | null>;
  /** Whether the user lives, or did a second ago; for reading alone. */
  isLive(tenant: Tenant): Promise<boolean>;
}

export function createUserAcceptance(
  users: Model<UserDoc>,
  sequence: Sequence,
  liveness: Pick<Liveness, 'isLive'>,
): UserAcceptance {
  const find: UserAcceptance['find'] = async ({ organizationId, userId }) => {
    // By the driver itself: every call waits for it.
    const row = await users.collection.findOne<Pick<UserDoc, 'customerId'>>(
      { _id: userId as never, organizationId, deletedAt: null },
      { projection: { customerId: 1 } },
    );
    return row === null ? null : { organizationId, userId, customerId: row.customerId };
  };
  return {
    find,
    isLive: (tenant) => liveness.isLive(tenant, async () => (await find(tenant)) !== null),
    async ensure(organizationId, customerId) {
      const live = { organizationId, customerId, deletedAt: null };
      const known = await users.findOne(live).lean();
      if (known) return { organizationId, userId: known._id, customerId };
      const _id = await sequence.take('user');
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
