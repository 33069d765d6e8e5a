import type { Model } from 'mongoose';

import type { DataSourceDoc } from '../models/dataSources.js';
import type { FileDoc } from '../models/files.js';
import { allDescendants } from './allDescendants.js';
import type { ItemDoc } from '../models/items.js';

type Holder = Pick<DataSourceDoc, '_id' | 'organizationId' | 'userId'>;

/** Counts for the deletion of missing items. */
export interface MissingCounts {
  /** Number of files of the data source. */
  readonly files: number;
  /** Number of these files whose items no longer exist. */
  readonly vanished: number;
}

/**
 * Items that their source reported as deleted, or that a listing did not find. An item stays marked until its files are
 * deleted, which may have to wait for an approval: a change feed reports a deletion only once.
 */
export interface DeletedItems {
  /** Marks items with all their descendants. Safe to repeat; an item that is listed again is unmarked. */
  markDeleted(source: Holder, externalIds: readonly string[]): Promise<void>;
  /** Marks items by their paths, with all items below these paths. */
  markPathsDeleted(source: Holder, paths: readonly string[]): Promise<void>;
  /** Marks items that a listing did not find, except `roots` and the items below them. Safe to repeat. */
  markUnlisted(source: Holder, runId: number, roots: readonly string[]): Promise<void>;
  /** Unmarks all items of a data source, because an operator refused the held deletions. */
  unmarkDeleted(source: Holder): Promise<void>;
  /** Counts the files that would be deleted. */
  countDeleted(source: Holder): Promise<MissingCounts>;
  /** Returns the next marked items, with their files. After the files are deleted, call `deleteRows` for the items. */
  listDeleted(source: Holder, limit: number): Promise<{ readonly items: number[]; readonly files: number[] }>;
  deleteRows(source: Holder, items: readonly number[]): Promise<void>;
}

/** Items per query of a count. */
const AT_ONCE = 1_000;
/** Paths per query. */
const PATHS_AT_ONCE = 100;

export function createDeletedItems(items: Model<ItemDoc>, files: Model<FileDoc>): DeletedItems {
  const filesOf = ({ _id, organizationId, userId }: Holder) => ({ organizationId, userId, dataSourceId: _id });
  const marked = async (source: Holder, afterId: number, limit: number): Promise<ItemDoc[]> =>
    items
      .find({ ...filesOf(source), isGone: true, _id: { $gt: afterId } })
      .sort({ _id: 1 })
      .limit(limit)
      .lean();
  const filesOfItems = (rows: readonly ItemDoc[]) => ({
    externalFileId: { $in: rows.map(({ externalId }) => externalId) },
  });
  return {
    async markDeleted(source, externalIds) {
      for await (const ids of allDescendants(items, source, externalIds))
        await items.updateMany({ ...filesOf(source), externalId: { $in: ids } }, { $set: { isGone: true } });
    },
    async markPathsDeleted(source, paths) {
      for (let from = 0; from < paths.length; from += PATHS_AT_ONCE) {
        const pathBatch = paths.slice(from, from + PATHS_AT_ONCE);
        // The range from '/' to the next character '0' contains everything that begins with the path and a slash.
        const descendants = pathBatch.map((path) => ({ path: { $gt: `${path}/`, $lt: `${path}0` } }));
        const $or = [{ path: { $in: pathBatch } }, ...descendants];
        await items.updateMany({ ...filesOf(source), $or }, { $set: { isGone: true } });
      }
    },
    async markUnlisted(source, runId, roots) {
      const notARoot = { $nin: [...roots] };
      await items.updateMany(
        { ...filesOf(source), externalId: notARoot, rootExternalId: notARoot, listedBy: { $ne: runId } },
        { $set: { isGone: true } },
      );
    },
    async unmarkDeleted(source) {
      await items.updateMany({ ...filesOf(source), isGone: true }, { $unset: { isGone: 1 } });
    },
    async countDeleted(source) {
      let vanished = 0;
      for (let afterId: number | undefined = 0; afterId !== undefined;) {
        const rows: ItemDoc[] = await marked(source, afterId, AT_ONCE);
        if (rows.length > 0)
          vanished += await files.countDocuments({ ...filesOf(source), isContainer: false, ...filesOfItems(rows) });
        afterId = rows.length < AT_ONCE ? undefined : rows.at(-1)?._id;
      }
      return { files: await files.countDocuments({ ...filesOf(source), isContainer: false }), vanished };
    },
    async listDeleted(source, limit) {
      const rows = await marked(source, 0, limit);
      if (rows.length === 0) return { items: [], files: [] };
      const found = await files
        .find({ ...filesOf(source), isContainer: false, ...filesOfItems(rows) }, { _id: 1 })
        .lean();
      return { items: rows.map(({ _id }) => _id), files: found.map(({ _id }) => _id) };
    },
    async deleteRows(source, ids) {
      await items.deleteMany({ ...filesOf(source), _id: { $in: [...ids] }, isGone: true });
    },
  };
}
