import type { Model } from 'mongoose';

import type { DataSourceDoc } from '../models/dataSources.js';
import { allDescendants } from './allDescendants.js';
import type { ItemDoc } from '../models/items.js';

type Holder = Pick<DataSourceDoc, '_id' | 'organizationId' | 'userId'>;

/**
 * Closed items: items whose contents the latest listing that requested them could not read, and root items that an
 * incomplete list of root items omitted. A listing counts them and their stored descendants as found, so their files
 * are not deleted.
 */
export interface ClosedItems {
  /**
   * Marks items as closed by a listing. The listing counts them and all their stored descendants as found. Safe to
   * repeat.
   * @returns the external ids of the items that are stored
   */
  markClosed(source: Holder, runId: number, externalIds: readonly string[]): Promise<Set<string>>;
  /**
   * Returns stored root items that a listing has not found, at most `limit`. Also returns the root items that this
   * listing has marked as closed: `markClosed` counts them as found, and a crash may have interrupted it before it
   * reached their descendants.
   */
  listUnlistedRoots(source: Holder, runId: number, limit: number): Promise<string[]>;
  /** Returns the external ids of closed items, at most `limit`. */
  listClosed(source: Holder, limit: number): Promise<string[]>;
  /**
   * Counts the items that an earlier listing closed and that this listing did not close: it could list their contents
   * again, or did not find them.
   */
  countReopened(source: Holder, runId: number): Promise<number>;
  /** Removes the mark from the items that `countReopened` counts. */
  unmarkReopened(source: Holder, runId: number): Promise<void>;
}

export function createClosedItems(items: Model<ItemDoc>): ClosedItems {
  const inSource = ({ _id, organizationId, userId }: Holder) => ({ organizationId, userId, dataSourceId: _id });
  const reopened = (source: Holder, runId: number) => ({ ...inSource(source), closedBy: { $gt: 0, $ne: runId } });
  return {
    async markClosed(source, runId, externalIds) {
      if (externalIds.length === 0) return new Set();
      const query = { ...inSource(source), externalId: { $in: [...externalIds] } };
      await items.updateMany(query, { $set: { closedBy: runId } });
      for await (const ids of allDescendants(items, source, externalIds))
        await items.updateMany({ ...inSource(source), externalId: { $in: ids } }, { $set: { listedBy: runId } });
      const stored = await items.find(query, { externalId: 1 }).lean();
      return new Set(stored.map(({ externalId }) => externalId));
    },
    async listUnlistedRoots(source, runId, limit) {
      const roots = { ...inSource(source), parentExternalId: null, isGone: { $ne: true } };
      const rows = await items
        .find({ ...roots, $or: [{ listedBy: { $ne: runId } }, { closedBy: runId }] }, { externalId: 1 })
        .limit(limit)
        .lean();
      return rows.map(({ externalId }) => externalId);
    },
    async listClosed(source, limit) {
      const rows = await items
        .find({ ...inSource(source), closedBy: { $gt: 0 } }, { externalId: 1 })
        .limit(limit)
        .lean();
      return rows.map(({ externalId }) => externalId);
    },
    countReopened: (source, runId) => items.countDocuments(reopened(source, runId)).exec(),
    async unmarkReopened(source, runId) {
      await items.updateMany(reopened(source, runId), { $unset: { closedBy: 1 } });
    },
  };
}
