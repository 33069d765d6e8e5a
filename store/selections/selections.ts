import { createHash } from 'node:crypto';

import type { IngestOptions } from '../../contract/files/ingestOptions.js';
import { scheduleIds } from '../../contract/runs/workflowIds.js';
import type { TagValue } from '../../contract/files/records.js';
import type { FileDoc } from '../models/files.js';
import type { Session } from '../database/sequence.js';
import type { Tenant } from '../users/accept.js';
import type { SelectionModels } from '../models/selections.js';
import { updateRows } from '../database/updateRows.js';

/** Items that were selected with the same options. */
export interface SelectionGroup {
  readonly key: string;
  /** Null: all items. */
  readonly externalIds: readonly string[] | null;
  readonly tags: Readonly<Record<string, TagValue>>;
  readonly ingest: IngestOptions;
}

/** Items that scheduled syncs add, and files that they skip. */
export interface Selections {
  /** Stores a selection. Selecting an item again replaces its options. */
  save(tenant: Tenant, dataSourceId: number, chosen: Omit<SelectionGroup, 'key'>, session: Session): Promise<void>;
  /**
   * Returns the next group of a data source, the latest selection first. @param done keys of groups that were processed
   */
  nextGroup(tenant: Tenant, dataSourceId: number, done: readonly string[]): Promise<SelectionGroup | null>;
  /** Records deleted files, so that scheduled syncs skip them. @param scheduled containers with their own schedule */
  skip(tenant: Tenant, files: readonly FileDoc[], scheduled: ReadonlySet<number>): Promise<void>;
  /** Returns which of the external ids a schedule skips. */
  filterSkipped(tenant: Tenant, scheduleId: string, externalFileIds: readonly string[]): Promise<ReadonlySet<string>>;
  /** Removes skip marks, because a request adds the files again. */
  unskip(tenant: Tenant, scheduleId: string, externalFileIds: readonly string[]): Promise<void>;
  /** Deletes all selections of a user. */
  removeAll(tenant: Tenant): Promise<void>;
}

const keyOf = (tags: object, ingest: IngestOptions): string =>
  createHash('sha256')
    .update(JSON.stringify([tags, ingest]))
    .digest('base64url');

/** Returns the schedule that would add a file again; null if there is none. */
const scheduleOf = ({ dataSourceId, parentId }: FileDoc, scheduled: ReadonlySet<number>): string | null => {
  if (dataSourceId !== null) return scheduleIds.source(dataSourceId);
  return parentId !== null && scheduled.has(parentId) ? scheduleIds.container(parentId) : null;
};

export function createSelections({ selections, skippedItems }: SelectionModels): Selections {
  return {
    async save({ organizationId, userId }, dataSourceId, { externalIds, tags, ingest }, session) {
      const optionsKey = keyOf(tags, ingest);
      const $set = { tags, ingest, optionsKey, chosenAt: new Date() };
      const ids = externalIds === null ? [null] : [...new Set(externalIds)];
      if (ids.length === 0) return;
      await updateRows(
        selections,
        ids.map((externalId) => ({
          filter: { organizationId, userId, dataSourceId, externalId },
          update: { $set },
          upsert: true,
        })),
        session,
      );
    },
    async nextGroup({ organizationId, userId }, dataSourceId, done) {
      const sourceQuery = { organizationId, userId, dataSourceId };
      const [next] = await selections.aggregate<{ _id: string }>([
        { $match: { ...sourceQuery, optionsKey: { $nin: [...done] } } },
        { $group: { _id: '$optionsKey', chosenAt: { $max: '$chosenAt' } } },
        { $sort: { chosenAt: -1, _id: 1 } },
        { $limit: 1 },
      ]);
      if (!next) return null;
      const rows = await selections
        .find({ ...sourceQuery, optionsKey: next._id })
        .sort({ _id: 1 })
        .lean();
      const [firstRow] = rows;
      if (!firstRow) return null;
      const ids = rows.map(({ externalId }) => externalId).filter((id) => id !== null);
      const externalIds = ids.length < rows.length ? null : ids;
      return { key: next._id, externalIds, tags: firstRow.tags, ingest: firstRow.ingest };
    },
    async skip({ organizationId, userId }, files, scheduled) {
      const tenant = { organizationId, userId };
      const marks = files.flatMap((file) => {
        const scheduleId = file.isContainer ? null : scheduleOf(file, scheduled);
        return scheduleId === null ? [] : [{ ...tenant, scheduleId, externalFileId: file.externalFileId }];
      });
      if (marks.length === 0) return;
      await updateRows(
        skippedItems,
        marks.map((filter) => ({ filter, update: { $setOnInsert: filter }, upsert: true })),
      );
      const bySource = new Map<number, string[]>();
      for (const { dataSourceId, externalFileId } of files)
        if (dataSourceId !== null) bySource.set(dataSourceId, [...(bySource.get(dataSourceId) ?? []), externalFileId]);
      for (const [dataSourceId, externalIds] of bySource)
        await selections.deleteMany({ ...tenant, dataSourceId, externalId: { $in: externalIds } });
    },
    async filterSkipped({ organizationId, userId }, scheduleId, externalFileIds) {
      const rows = await skippedItems
        .find(
          { organizationId, userId, scheduleId, externalFileId: { $in: [...externalFileIds] } },
          { externalFileId: 1 },
        )
        .lean();
      return new Set(rows.map(({ externalFileId }) => externalFileId));
    },
    async unskip({ organizationId, userId }, scheduleId, externalFileIds) {
      await skippedItems.deleteMany({
        organizationId,
        userId,
        scheduleId,
        externalFileId: { $in: [...externalFileIds] },
      });
    },
    async removeAll({ organizationId, userId }) {
      await selections.deleteMany({ organizationId, userId });
      await skippedItems.deleteMany({ organizationId, userId });
    },
  };
}
