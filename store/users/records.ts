import type { Model, QueryFilter } from 'mongoose';

import type { OrderDirection, Page } from '../../contract/files/fileFilters.js';
import type { CustomLimits } from '../../contract/limits.js';
import type { Session } from '../database/sequence.js';
import type { Tenant } from './accept.js';
import type { Liveness } from './liveness.js';
import type { UserDoc } from '../models/users.js';

export interface UserListing {
  /** Empty or absent: all users. */
  readonly customerIds?: readonly string[];
  /** Internal ids. Deleted users are listed only if they are named here. */
  readonly userIds?: readonly number[];
  readonly orderBy: 'createdAt' | 'updatedAt';
  readonly orderDir: OrderDirection;
  readonly page: Page;
}

/** Fields of an update; absent fields stay unchanged. */
export interface UserChange {
  readonly customLimits: CustomLimits;
  readonly autoSyncSources?: readonly string[];
}

/** The users of an organization. */
export interface UserRecords {
  list(organizationId: number, listing: UserListing): Promise<UserDoc[]>;
  count(organizationId: number, listing: UserListing): Promise<number>;
  /** Returns the user with a customer id, unless it is deleted; otherwise null. */
  findByCustomerId(organizationId: number, customerId: string): Promise<UserDoc | null>;
  /** Returns the user's record, unless the user is deleted; otherwise null. */
  findRecord(tenant: Tenant): Promise<UserDoc | null>;
  /** Changes all named users, or none: false if a named user is unknown or deleted. */
  update(
    organizationId: number,
    customerIds: readonly string[],
    change: UserChange,
    session: Session,
  ): Promise<boolean>;
  setFeature(tenant: Tenant, feature: string, enabled: boolean): Promise<void>;
  /**
   * Marks the named users as deleted. Returns all named users that are deleted but not yet erased, also those deleted
   * earlier. Unknown ids are ignored.
   */
  markDeleted(organizationId: number, customerIds: readonly string[], session: Session): Promise<UserDoc[]>;
  /** Records that all data of a deleted user is erased. False if that is already recorded. */
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

export function createUserRecords(users: Model<UserDoc>, liveness: Pick<Liveness, 'invalidate'>): UserRecords {
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
    findByCustomerId: (organizationId, customerId) =>
      users.findOne({ organizationId, customerId, deletedAt: null }).lean().exec(),
    findRecord: ({ organizationId, userId }) =>
      users.findOne({ _id: userId, organizationId, deletedAt: null }).lean().exec(),
    async update(organizationId, customerIds, { customLimits, autoSyncSources }, session) {
      const uniqueIds = [...new Set(customerIds)];
      const numExisting = await users.countDocuments(live(organizationId, uniqueIds)).session(session);
      if (numExisting !== uniqueIds.length) return false;
      // An update pipeline: a plain $set of a nested field fails if customLimits is null.
      const $set = {
        ...(Object.keys(customLimits).length === 0
          ? {}
          : { customLimits: { $mergeObjects: ['$customLimits', customLimits] } }),
        ...(autoSyncSources === undefined ? {} : { autoSyncSources: [...autoSyncSources] }),
        updatedAt: new Date(),
      };
      await users.updateMany(live(organizationId, uniqueIds), [{ $set }], { updatePipeline: true }).session(session);
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
      const uniqueIds = [...new Set(customerIds)];
      await users
        .updateMany(live(organizationId, uniqueIds), { $set: { deletedAt: now, updatedAt: now } })
        .session(session);
      const deleted = await users
        .find({ organizationId, customerId: { $in: uniqueIds }, deletedAt: { $ne: null }, erasedAt: null })
        .session(session)
        .lean();
      liveness.invalidate(deleted.map(({ _id }) => ({ organizationId, userId: _id })));
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
