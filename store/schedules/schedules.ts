import type { Model } from 'mongoose';

import { autoSyncHours, type AutoSyncSettings, isAutoSynced } from '../../contract/sources/autoSync.js';
import { scheduleIds } from '../../contract/runs/workflowIds.js';
import { isConnectedSource } from '../../contract/sources/connectedSources.js';
import type { DataSourceDoc } from '../models/dataSources.js';
import type { FileDoc } from '../models/files.js';
import type { OrganizationDoc } from '../models/organizations.js';
import type { Tenant } from '../users/accept.js';
import type { UserDoc } from '../models/users.js';
import { createDirtySchedules, ORGANIZATION_ROW, MARK_DIRTY, type DirtySchedules } from './dirtySchedules.js';
import type { ScheduleDoc } from '../models/schedules.js';

/** Desired state of a schedule. */
export type DesiredSchedule =
  /** The record does not exist, or its automatic sync is off. */
  | { readonly state: 'gone' | 'off' }
  /** `paused` while access is revoked. */
  | { readonly state: 'on' | 'paused'; readonly hours: number };

/**
 * Rows of the data sources and containers that may have a schedule in Temporal. A marked row's schedule must be updated
 * there.
 */
export interface Schedules extends DirtySchedules {
  find(scheduleId: string): Promise<ScheduleDoc | null>;
  /** Returns the desired state according to user, organization and record at this moment. */
  desiredState(row: ScheduleDoc): Promise<DesiredSchedule>;
  /** Leases a marked row; null if there is none. */
  claim(leaseMs: number): Promise<ScheduleDoc | null>;
  /** Records that Temporal may have a schedule from now on. */
  markApplying(row: ScheduleDoc): Promise<void>;
  /**
   * Records that Temporal has the schedule `applied`; null: none. Returns false if the row was deleted meanwhile: the
   * caller must then delete the schedule in Temporal.
   */
  markApplied(row: ScheduleDoc, applied: string | null): Promise<boolean>;
  /** Delays the row, because Temporal cannot be reached. */
  postpone(row: ScheduleDoc, until: Date): Promise<void>;
  /** Marks rows again, because the schedule in Temporal differs from the row. */
  markDirty(scheduleIds: readonly string[]): Promise<void>;
  /** Returns schedules of a user, at most `limit`. */
  listOfUser(tenant: Tenant, limit: number): Promise<string[]>;
  /** Returns the containers that have a row, even if their automatic sync is off. */
  filterScheduledContainers(tenant: Tenant, fileIds: readonly number[]): Promise<number[]>;
  /** Returns the existing rows among the given ones, with the schedule that Temporal has. */
  findApplied(scheduleIds: readonly string[]): Promise<ReadonlyMap<string, string | null>>;
  /** Returns the ids of the next rows with a schedule in Temporal, ordered by id. */
  listApplied(afterId: string, limit: number): Promise<string[]>;
  /** Deletes rows. Call it after Temporal has no schedule for them. */
  remove(scheduleIds: readonly string[]): Promise<void>;
}

export interface ScheduleModels {
  readonly schedules: Model<ScheduleDoc>;
  readonly dataSources: Model<DataSourceDoc>;
  readonly files: Model<FileDoc>;
  readonly users: Model<UserDoc>;
  readonly organizations: Model<OrganizationDoc>;
}

/** Value of `applied` while Temporal is being updated, or if the result of the update is unknown. */
const UNSURE = 'unsure';

export function createSchedules({ schedules, dataSources, files, users, organizations }: ScheduleModels): Schedules {
  const autoSyncSettingsOf = async ({
    organizationId,
    userId,
  }: Tenant): Promise<{ user: AutoSyncSettings; organization: AutoSyncSettings } | null> => {
    const [user, organization] = await Promise.all([
      users.findOne({ _id: userId, organizationId, deletedAt: null }).lean(),
      organizations.findById(organizationId).lean(),
    ]);
    if (!user || !organization) return null;
    return {
      user: { sources: user.autoSyncSources ?? null, limits: user.customLimits ?? null },
      organization: {
        sources: organization.userAutoSyncSources ?? null,
        limits: organization.userLimits ?? null,
      },
    };
  };
  return {
    ...createDirtySchedules(schedules),
    find: (scheduleId) => schedules.findById(scheduleId).lean().exec(),
    async desiredState({ organizationId, userId, dataSourceId, fileId }) {
      const settings = await autoSyncSettingsOf({ organizationId, userId });
      if (!settings) return { state: 'gone' };
      const { user, organization } = settings;
      const hours = autoSyncHours(user, organization);
      if (fileId !== null) {
        const file = await files.findOne({ _id: fileId, organizationId, userId, isContainer: true }).lean();
        if (!file) return { state: 'gone' };
        // The content was deleted, and is synced again only on request.
        if (file.fileContentsDeleted) return { state: 'off' };
        // A container without its own setting is not synced automatically: the settings of the user and the
        // organization apply only to data sources.
        const isOn = isAutoSynced({ type: file.source, enabled: file.enableAutoSync ?? false }, user, organization);
        return isOn ? { state: 'on', hours } : { state: 'off' };
      }
      const source = await dataSources.findOne({ _id: dataSourceId, organizationId, userId }).lean();
      if (!source) return { state: 'gone' };
      const { type, enableAutoSync: enabled, revokedAccess, sealedCredentials } = source;
      if (!isAutoSynced({ type, enabled }, user, organization)) return { state: 'off' };
      const isInaccessible = revokedAccess || (isConnectedSource(type) && sealedCredentials === null);
      return { state: isInaccessible ? 'paused' : 'on', hours };
    },
    async claim(leaseMs) {
      const now = new Date();
      for (;;) {
        const row = await schedules
          .findOneAndUpdate(
            { marked: true, $or: [{ claimedUntil: null }, { claimedUntil: { $lte: now } }] },
            { $set: { claimedUntil: new Date(now.getTime() + leaseMs) } },
            { returnDocument: 'after', sort: { claimedUntil: 1 } },
          )
          .lean();
        if (!row || !ORGANIZATION_ROW.test(row._id)) return row;
        // Mark the rows of all its users. If the process crashes here, the row is claimed again.
        const { _id, organizationId, version } = row;
        await schedules.updateMany({ organizationId, userId: { $gt: 0 } }, MARK_DIRTY);
        await schedules.updateOne({ _id, version }, { $set: { marked: false } });
        await schedules.updateOne({ _id }, { $set: { claimedUntil: null } });
      }
    },
    async markApplying({ _id }) {
      await schedules.updateOne({ _id }, { $set: { applied: UNSURE } });
    },
    async markApplied({ _id, version }, applied) {
      await schedules.updateOne({ _id, version }, { $set: { marked: false } });
      const { matchedCount } = await schedules.updateOne({ _id }, { $set: { applied, claimedUntil: null } });
      return matchedCount === 1;
    },
    async postpone({ _id }, until) {
      await schedules.updateOne({ _id }, { $set: { claimedUntil: until } });
    },
    async markDirty(ids) {
      await schedules.updateMany(
        { _id: { $in: [...ids] } },
        { ...MARK_DIRTY, $set: { marked: true, applied: UNSURE } },
      );
    },
    async listOfUser({ organizationId, userId }, limit) {
      const rows = await schedules.find({ organizationId, userId }, { _id: 1 }).limit(limit).lean();
      return rows.map(({ _id }) => _id);
    },
    async filterScheduledContainers({ organizationId, userId }, fileIds) {
      if (fileIds.length === 0) return [];
      const _id = { $in: fileIds.map(scheduleIds.container) };
      const rows = await schedules.find({ _id, organizationId, userId }, { fileId: 1 }).lean();
      return rows.flatMap(({ fileId }) => fileId ?? []);
    },
    async findApplied(ids) {
      const rows = await schedules.find({ _id: { $in: [...ids] } }, { applied: 1 }).lean();
      return new Map(rows.map(({ _id, applied }) => [_id, applied]));
    },
    async listApplied(afterId, limit) {
      const rows = await schedules
        .find({ _id: { $gt: afterId }, applied: { $ne: null } }, { _id: 1 })
        .sort({ _id: 1 })
        .limit(limit)
        .lean();
      return rows.map(({ _id }) => _id);
    },
    async remove(ids) {
      await schedules.deleteMany({ _id: { $in: [...ids] } });
    },
  };
}
