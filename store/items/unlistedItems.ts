import type { Model } from 'mongoose';

import type { DataSourceDoc } from '../models/dataSources.js';
import type { FileDoc } from '../models/files.js';
import type { ItemDoc } from '../models/items.js';

type Holder = Pick<DataSourceDoc, '_id' | 'organizationId' | 'userId'>;

/** A complete listing and its run. Only files that were created up to `begun` are compared with it. */
export interface WholeListing {
  readonly runId: number;
  readonly begun: Date;
  /**
   * External ids of items that exist at the source although the listing did not find them. Such an item may have a file
   * although no item is stored for it.
   */
  readonly existing?: ReadonlySet<string>;
}

export interface ListingCoverage {
  /** Number of files of the data source. */
  readonly files: number;
  /** Number of these files whose items the listing did not find. */
  readonly vanished: number;
  /** Number of stored items that count as found by the listing, also those of `markListed` and `markClosed`. */
  readonly items: number;
}

export interface MissingFiles {
  readonly files: readonly { readonly id: number; readonly externalId: string }[];
  /** The cursor for the next call; null at the end. */
  readonly afterId: number | null;
}

/** Items that a complete listing did not find, and their files. */
export interface UnlistedItems {
  /** Counts the files whose items a complete listing did not find. */
  countMissing(source: Holder, listing: WholeListing): Promise<ListingCoverage>;
  /** Returns files whose items a complete listing did not find, ordered by id, after `afterId`. */
  missingFiles(source: Holder, listing: WholeListing, afterId: number, limit: number): Promise<MissingFiles>;
  /**
   * Returns the external ids of items that a complete listing did not find, at most `limit`: first the stored items,
   * from the one whose last listing is the oldest, then those of files without a stored item.
   */
  findUnlisted(source: Holder, listing: WholeListing, limit: number): Promise<readonly string[]>;
  /** Records that items exist, as if the listing had found them. Safe to repeat. */
  markListed(source: Holder, runId: number, externalIds: readonly string[]): Promise<void>;
  /** Deletes the items that a complete listing did not find. @param only external ids; absent: all */
  deleteMissing(source: Holder, runId: number, only?: readonly string[]): Promise<void>;
}

/** Number of files that are compared with items per query. */
const COMPARED_AT_ONCE = 1_000;

export function createUnlistedItems(items: Model<ItemDoc>, files: Model<FileDoc>): UnlistedItems {
  const inSource = ({ _id, organizationId, userId }: Holder) => ({ organizationId, userId, dataSourceId: _id });
  /** Reads files of a data source by id in batches, and compares them with the items that the listing found. */
  const compare = async (source: Holder, listing: WholeListing, afterId: number, limit: number) => {
    const { runId, begun, existing = [] } = listing;
    const rows = await files
      .find(
        { ...inSource(source), isContainer: false, createdAt: { $lte: begun }, _id: { $gt: afterId } },
        { externalFileId: 1, restoredAt: 1 },
      )
      .sort({ _id: 1 })
      .limit(limit)
      .lean();
    const found = await items
      .find(
        {
          dataSourceId: source._id,
          externalId: { $in: rows.map(({ externalFileId }) => externalFileId) },
          listedBy: runId,
        },
        { externalId: 1 },
      )
      .lean();
    const listed = new Set([...found.map(({ externalId }) => externalId), ...existing]);
    const reappeared = rows.filter(({ externalFileId, restoredAt }) => restoredAt && listed.has(externalFileId));
    if (reappeared.length > 0)
      await files.updateMany({ _id: { $in: reappeared.map(({ _id }) => _id) } }, { $unset: { restoredAt: 1 } });
    const vanished = rows
      // A restored file stays until it exists at its source again.
      .filter(({ externalFileId, restoredAt }) => !restoredAt && !listed.has(externalFileId))
      .map(({ _id, externalFileId }) => ({ id: _id, externalId: externalFileId }));
    return { number: rows.length, vanished, afterId: rows.length < limit ? null : (rows.at(-1)?._id ?? null) };
  };
  return {
    async countMissing(source, listing) {
      let [total, vanished] = [0, 0];
      for (let afterId: number | null = 0; afterId !== null;) {
        const part: Awaited<ReturnType<typeof compare>> = await compare(source, listing, afterId, COMPARED_AT_ONCE);
        total += part.number;
        vanished += part.vanished.length;
        afterId = part.afterId;
      }
      const found = await items.countDocuments({ dataSourceId: source._id, listedBy: listing.runId });
      return { files: total, vanished, items: found };
    },
    async missingFiles(source, listing, afterId, limit) {
      const { vanished, afterId: next } = await compare(source, listing, afterId, limit);
      return { files: vanished, afterId: next };
    },
    async findUnlisted(source, listing, limit) {
      const rows = await items
        .find({ ...inSource(source), listedBy: { $ne: listing.runId } }, { externalId: 1 })
        .sort({ listedBy: 1 })
        .limit(limit)
        .lean();
      const ids = new Set(rows.map(({ externalId }) => externalId));
      for (let afterId: number | null = 0; afterId !== null && ids.size < limit;) {
        const part: Awaited<ReturnType<typeof compare>> = await compare(source, listing, afterId, COMPARED_AT_ONCE);
        for (const { externalId } of part.vanished) ids.add(externalId);
        afterId = part.afterId;
      }
      return [...ids].slice(0, limit);
    },
    async markListed(source, runId, externalIds) {
      await items.updateMany(
        { ...inSource(source), externalId: { $in: [...externalIds] } },
        { $set: { listedBy: runId } },
      );
    },
    async deleteMissing(source, runId, only) {
      const within = only ? { externalId: { $in: [...only] } } : {};
      await items.deleteMany({ ...inSource(source), ...within, listedBy: { $ne: runId } });
    },
  };
}
