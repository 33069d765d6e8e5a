import type { Model } from 'mongoose';

import type { DataSourceDoc } from '../models/dataSources.js';
import { allBelow } from './allBelow.js';
import type { ItemDoc } from '../models/items.js';

type Holder = Pick<DataSourceDoc, '_id' | 'organizationId' | 'userId'>;

/** Items that the account may currently not list: their known contents count as existing. */
export interface ClosedItems {
  /**
   * Records that a listing could not read the contents of items, and counts all known descendants as found by it.
   * Safe to repeat. @returns which of the items are known
   */
  markClosed(source: Holder, runId: number, externalIds: readonly string[]): Promise<Set<string>>;
  /** Items that could not be looked into, so many at most. */
  closed(source: Holder, most: number): Promise<string[]>;
  /** How many of them a listing could look into after all, or did not find. */
  countReopened(source: Holder, runId: number): Promise<number>;
  /** Forgets of these that they were closed. */
  forgetClosed(source: Holder, runId: number): Promise<void>;
}

export function createClosedItems(items: Model<ItemDoc>): ClosedItems {
  const of = ({ _id, organizationId, userId }: Holder) => ({ organizationId, userId, dataSourceId: _id });
  const reopened = (source: Holder, runId: number) => ({ ...of(source), closedBy: { $gt: 0, $ne: runId } });
  return {
    async markClosed(source, runId, externalIds) {
      if (externalIds.length === 0) return new Set();
      const named = { ...of(source), externalId: { $in: [...externalIds] } };
      await items.updateMany(named, { $set: { closedBy: runId } });
      for await (const some of allBelow(items, source, externalIds))
        await items.updateMany({ ...of(source), externalId: { $in: some } }, { $set: { listedBy: runId } });
      const known = await items.find(named, { externalId: 1 }).lean();
      return new Set(known.map(({ externalId }) => externalId));
    },
    async closed(source, most) {
      const rows = await items
        .find({ ...of(source), closedBy: { $gt: 0 } }, { externalId: 1 })
        .limit(most)
        .lean();
      return rows.map(({ externalId }) => externalId);
    },
    countReopened: (source, runId) => items.countDocuments(reopened(source, runId)).exec(),
    async forgetClosed(source, runId) {
      await items.updateMany(reopened(source, runId), { $unset: { closedBy: 1 } });
    },
  };
}
