import type { Model, QueryFilter } from 'mongoose';

import type { OrderDirection, Page } from '../../contract/files/fileFilters.js';
import type { CustomLimits } from '../../contract/limits.js';
import type { Session } from '../database/sequence.js';
import type { Tenant } from './accept.js';
import type { Liveness } from './liveness.js';
import type { UserDoc } from '../models/users.js';

export interface UserListing {
  /** Empty or absent: everybody. */
  readonly customerIds?: readonly string[];
  /** Our own ids. Deleted users are listed only where they are named so. */
  readonly userIds?: readonly number[];
  readonly orderBy: 'createdAt' | 'updatedAt';
  readonly orderDir: OrderDirection;
  readonly page: Page;
}

/** What an update sets; what is absent stays. */
export interface UserChange {
  readonly customLimits: CustomLimits;
  readonly autoSyncSources?: readonly string[];
}

/** The users of an organization as its own operations see them. */
export interface UserRecords {
  list(organizationId: number, listing: UserListing): Promise<UserDoc[]>;
  count(organizationId: number, listing: UserListing): Promise<number>;
  /** The live user of that name, or null. */
  named(organizationId: number, customerId: string): Promise<UserDoc | null>;
  /** The live user's record, or null. */
  record(tenant: Tenant): Promise<UserDoc | null>;
  /** Changes all of the live users named, or none: false when one is unknown. */
  update(
    organizationId: number,
    customerIds: readonly string[],
    change: UserChange,
    session: Session,
  ): Promise<boolean>;
  setFeature(tenant: Tenant, feature: string, enabled: boolean): Promise<void>;
  /**
   * Marks the named users as deleted, and returns them together with those whose deletion was begun but not
   * completed. Unknown names are ignored.
   */
  markDeleted(organizationId: number, customerIds: readonly string[], session: Session): Promise<UserDoc[]>;
  /** Nothing of the deleted user is left. False when that was known. */
  markErased(tenant: Tenant, session: Session): Promise<boolean>;
}

function query(organizationId: number, { customerIds, userIds, page }: UserListing): QueryFilter<UserDoc> {
  const ids = userIds ?? [];
  return {
    organizationId,
    ...(ids.length > 0 || page.startingId > 0
      ? { _id: { ...(ids.length > 0 ? { $in: [...ids] } : {}), $gt: page.startingId } }
      : {}),
    ...(ids.length > 0 ? {} : { deletedAt: null }),
    ...(customerIds && customerIds.length > 0 ? { customerId: { $in: [...customerIds] } } : {}),
  };
}

export function createUserRecords(users: Model<UserDoc>, liveness: Pick<Liveness, 'forget'>): UserRecords {
  const live = (organizationId: number, customerIds: readonly string[]) => ({
    organizationId,
    customerId: { $in: [...customerIds] },
    deletedAt: null,
  });
  return {
    list: (organizationId, listing) =>
      users
        .find(query(organizationId, listing))
        .sort({ [listing.orderBy]: listing.orderDir, _id: listing.orderDir })
        .skip(listing.page.offset)
        .limit(listing.page.limit)
        .lean()
        .exec(),
    count: (organizationId, listing) => users.countDocuments(query(organizationId, listing)).exec(),
    named: (organizationId, customerId) => users.findOne({ organizationId, customerId, deletedAt: null }).lean().exec(),
    record: ({ organizationId, userId }) =>
      users.findOne({ _id: userId, organizationId, deletedAt: null }).lean().exec(),
    async update(organizationId, customerIds, { customLimits, autoSyncSources }, session) {
      const names = [...new Set(customerIds)];
      const known = await users.countDocuments(live(organizationId, names)).session(session);
      if (known !== names.length) return false;
      // A pipeline, because the limits of a user who has none yet are null.
      const $set = {
        ...(Object.keys(customLimits).length === 0
          ? {}
          : { customLimits: { $mergeObjects: ['$customLimits', customLimits] } }),
        ...(autoSyncSources === undefined ? {} : { autoSyncSources: [...autoSyncSources] }),
        updatedAt: new Date(),
      };
      await users.updateMany(live(organizationId, names), [{ $set }], { updatePipeline: true }).session(session);
      return true;
    },
    async setFeature({ organizationId, userId }, feature, enabled) {
      await users.updateOne(
        { _id: userId, organizationId },
        [
          {
            $set: {
              enabledFeatures: { $mergeObjects: ['$enabledFeatures', { [feature]: { enabled } }] },
              updatedAt: new Date(),
            },
          },
        ],
        { updatePipeline: true },
      );
    },
    async markDeleted(organizationId, customerIds, session) {
      const now = new Date();
      const names = [...new Set(customerIds)];
      await users
        .updateMany(live(organizationId, names), { $set: { deletedAt: now, updatedAt: now } })
        .session(session);
      const deleted = await users
        .find({ organizationId, customerId: { $in: names }, deletedAt: { $ne: null }, erasedAt: null })
        .session(session)
        .lean();
      liveness.forget(deleted.map(({ _id }) => ({ organizationId, userId: _id })));
      return deleted;
    },
    async markErased({ organizationId, userId }, session) {
      const now = new Date();
      const { modifiedCount } = await users
        .updateOne(
          { _id: userId, organizationId, deletedAt: { $ne: null }, erasedAt: null },
          { $set: { erasedAt: now, updatedAt: now } },
        )
        .session(session);
      return modifiedCount === 1;
    },
  };
}
