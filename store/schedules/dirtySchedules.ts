import type { Model } from 'mongoose';

import { scheduleIds } from '../../contract/runs/workflowIds.js';
import type { Session } from '../database/sequence.js';
import type { Tenant } from '../users/accept.js';
import type { ScheduleDoc } from '../models/schedules.js';

type Owner = Tenant & { readonly customerId: string };

/** Marks records whose schedule may change, each in the transaction of the change. */
export interface DirtySchedules {
  /** Marks a data source that is new, reconnected or revoked. */
  markSource(owner: Owner, dataSourceId: number, session: Session): Promise<void>;
  /**
   * Marks an accepted container.
   * @param enabled whether the request enables scheduled syncs; a container that was never enabled has no row
   */
  markContainer(owner: Owner, fileId: number, enabled: boolean, session: Session): Promise<void>;
  /** Marks users whose settings change. */
  markUsers(organizationId: number, customerIds: readonly string[], session: Session): Promise<void>;
  /** Marks an organization whose settings for its users change. */
  markOrganization(organizationId: number, session: Session): Promise<void>;
}

/** The update that marks a row. */
export const MARK_DIRTY = { $inc: { version: 1 }, $set: { marked: true } } as const;
/** Matches the ids of organizations' rows, which have no schedule of their own. */
export const ORGANIZATION_ROW = /^organization:/;

export function createDirtySchedules(schedules: Model<ScheduleDoc>): DirtySchedules {
  const insertOrMark = async (
    row: Pick<ScheduleDoc, '_id' | 'organizationId'> & Partial<ScheduleDoc>,
    session: Session,
  ) => {
    const { _id, ...fields } = row;
    const insert = { userId: 0, customerId: '', dataSourceId: null, fileId: null, claimedUntil: null, applied: null };
    await schedules
      .updateOne(
        { _id },
        { ...MARK_DIRTY, $setOnInsert: { ...insert, ...fields } },
        { upsert: true, setDefaultsOnInsert: false },
      )
      .session(session);
  };
  const ownerOf = ({ organizationId, userId, customerId }: Owner) => ({ organizationId, userId, customerId });
  return {
    markSource: (owner, dataSourceId, session) =>
      insertOrMark({ _id: scheduleIds.source(dataSourceId), ...ownerOf(owner), dataSourceId }, session),
    async markContainer(owner, fileId, enabled, session) {
      const _id = scheduleIds.container(fileId);
      if (enabled) await insertOrMark({ _id, ...ownerOf(owner), fileId }, session);
      else await schedules.updateOne({ _id }, MARK_DIRTY).session(session);
    },
    async markUsers(organizationId, customerIds, session) {
      const userQuery = { organizationId, customerId: { $in: [...customerIds] } };
      await schedules.updateMany(userQuery, MARK_DIRTY).session(session);
    },
    markOrganization: (organizationId, session) =>
      insertOrMark({ _id: `organization:${organizationId}`, organizationId }, session),
  };
}
