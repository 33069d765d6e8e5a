import type { Model, QueryFilter, SortOrder } from 'mongoose';

import type { ItemFilters, ItemListing, ItemOrder } from '../../contract/files/items.js';
import type { DataSourceDoc } from '../models/dataSources.js';
import type { FileDoc } from '../models/files.js';
import { inParts } from '../database/inParts.js';
import type { Sequence } from '../database/sequence.js';
import type { Tenant } from '../users/accept.js';
import type { IngestOptions } from '../../contract/files/ingestOptions.js';
import { type ClosedItems, createClosedItems } from './closedItems.js';
import { createDeletedItems, type DeletedItems } from './deletedItems.js';
import type { ItemDoc } from '../models/items.js';
import { findSyncedFiles } from './syncedCopies.js';
import { unchangedItems } from './unchangedItems.js';
import { createUnlistedItems, type UnlistedItems } from './unlistedItems.js';

/** Fields of an item that a listing provides. */
export type ListedItem = Pick<
  ItemDoc,
  | 'externalId'
  | 'parentExternalId'
  | 'rootExternalId'
  | 'name'
  | 'itemType'
  | 'externalUrl'
  | 'fileFormat'
  | 'isSelectable'
  | 'isExpandable'
  | 'version'
  | 'path'
  | 'source'
>;

/** An item with its file; null if it has none. */
export interface ItemRow {
  readonly item: ItemDoc;
  readonly fileId: number | null;
}

/** The data source that owns the items. */
type Holder = Pick<DataSourceDoc, '_id' | 'organizationId' | 'userId'>;

export interface Items extends DeletedItems, ClosedItems, UnlistedItems {
  /** Stores a page of a listing; returns the ids of items that are new or were marked as deleted. Safe to repeat. */
  upsert(source: DataSourceDoc, runId: number, listed: readonly ListedItem[]): Promise<Set<string>>;
  /** Returns whether this run listed an item that is new, exists again after a deletion, or has a changed field. */
  hasChanged(source: Holder, runId: number): Promise<boolean>;
  /**
   * Makes the items that a run has listed count as not listed, before the run lists the account from the beginning. The
   * items stay stored.
   */
  unlist(source: Holder, runId: number): Promise<void>;
  /** Streams a page of items with their files, in batches. */
  list(source: Holder, listing: ItemListing): AsyncIterable<ItemRow[]>;
  count(source: Holder, listing: ItemListing): Promise<number>;
  /** Returns which of the items have children. */
  parents(source: Holder, externalIds: readonly string[]): Promise<ReadonlySet<string>>;
  /** Returns the READY files that were synced with exactly these options, by the external ids of their items. */
  syncedCopies(
    source: Pick<DataSourceDoc, '_id' | 'organizationId' | 'userId' | 'type'>,
    externalIds: readonly string[],
    options: IngestOptions,
  ): Promise<Map<string, FileDoc>>;
  /** Returns which items have a file with the listed version and have no children. */
  unchanged(source: Holder, externalIds: readonly string[]): Promise<ReadonlySet<string>>;
  /** Deletes all items of a user. */
  removeAll(tenant: Tenant): Promise<void>;
}

/** Maximum number of items per write. */
const ITEMS_PER_WRITE = 500;

const LISTED_FIELDS: Readonly<Record<keyof ListedItem, 1>> = {
  ...{ externalId: 1, parentExternalId: 1, rootExternalId: 1, name: 1, itemType: 1, externalUrl: 1, fileFormat: 1 },
  ...{ isSelectable: 1, isExpandable: 1, version: 1, path: 1, source: 1 },
};

/**
 * Returns whether a field of a stored item has changed; false for a new item. A field without a value may be null or
 * absent.
 */
const differs = (stored: ListedItem | undefined, listed: ListedItem): boolean =>
  stored !== undefined &&
  (Object.keys(LISTED_FIELDS) as (keyof ListedItem)[]).some(
    (field) => (stored[field] ?? null) !== (listed[field] ?? null),
  );

const substringPattern = (text: string): RegExp => new RegExp(text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'), 'i');

function query({ _id, organizationId, userId }: Holder, filters: ItemFilters, startingId = 0): QueryFilter<ItemDoc> {
  const and: QueryFilter<ItemDoc>[] = [];
  const addCondition = (field: string, values: readonly unknown[] | undefined): void => {
    if (values?.length) and.push({ [field]: { $in: [...values] } } as QueryFilter<ItemDoc>);
  };
  addCondition('_id', filters.ids);
  if (startingId > 0) and.push({ _id: { $gt: startingId } });
  addCondition('externalId', filters.externalIds);
  addCondition('itemType', filters.itemTypes);
  addCondition('fileFormat', filters.fileFormats);
  if (filters.name !== undefined && filters.name !== '') and.push({ name: substringPattern(filters.name) });
  if (filters.rootsOnly === true) and.push({ parentExternalId: null });
  if (filters.parentExternalId !== undefined) and.push({ parentExternalId: filters.parentExternalId });
  return { dataSourceId: _id, organizationId, userId, ...(and.length > 0 ? { $and: and } : {}) };
}

const SORTS: Readonly<Record<ItemOrder, (direction: SortOrder) => Record<string, SortOrder>>> = {
  id: (direction) => ({ _id: direction }),
  name: (direction) => ({ name: direction, _id: direction }),
  // The direction applies to the names: containers come first in both directions.
  directories_first: (direction) => ({ isExpandable: -1, name: direction, _id: direction }),
};

export function createItems(items: Model<ItemDoc>, files: Model<FileDoc>, sequence: Sequence): Items {
  const filesByItem = async (source: Holder, rows: readonly ItemDoc[]): Promise<Map<string, number>> => {
    const { organizationId, userId } = source;
    if (rows.length === 0) return new Map();
    const sources = [...new Set(rows.map(({ source: from }) => from))];
    const found = await files
      .find(
        {
          organizationId,
          userId,
          source: { $in: sources },
          externalFileId: { $in: rows.map(({ externalId }) => externalId) },
          accountId: source._id,
        },
        { externalFileId: 1 },
      )
      .lean();
    return new Map(found.map(({ _id, externalFileId }) => [externalFileId, _id]));
  };
  const upsertBatch = async (
    { _id: dataSourceId, organizationId, userId, customerId }: DataSourceDoc,
    runId: number,
    listed: readonly ListedItem[],
  ): Promise<string[]> => {
    const now = new Date();
    const existing = await items
      .find(
        { dataSourceId, externalId: { $in: listed.map(({ externalId }) => externalId) } },
        { ...LISTED_FIELDS, isGone: 1, foundBy: 1 },
      )
      .lean();
    const stored = new Map(existing.map((item) => [item.externalId, item]));
    const reappeared = new Set(existing.flatMap(({ externalId, isGone }) => (isGone === true ? [externalId] : [])));
    // If a page is stored again after a crash, items that were new in the first attempt still count as new.
    const newInFirstAttempt = existing.flatMap(({ externalId, foundBy }) => (foundBy === runId ? [externalId] : []));
    const ids = new Map(existing.map(({ _id, externalId }) => [externalId, _id]));
    const newIds = new Set(listed.flatMap(({ externalId }) => (ids.has(externalId) ? [] : [externalId])));
    const firstId = newIds.size === 0 ? 0 : await sequence.next('item', newIds.size);
    for (const [index, externalId] of [...newIds].entries()) ids.set(externalId, firstId + index);
    await items.bulkWrite(
      listed.map((listedItem) => ({
        updateOne: {
          filter: { dataSourceId, externalId: listedItem.externalId },
          update: {
            $set: {
              ...listedItem,
              listedBy: runId,
              syncedAt: now,
              updatedAt: now,
              ...(reappeared.has(listedItem.externalId) ? { foundBy: runId } : {}),
              ...(differs(stored.get(listedItem.externalId), listedItem) ? { changedBy: runId } : {}),
            },
            $unset: { isGone: 1 },
            $setOnInsert: {
              _id: ids.get(listedItem.externalId) ?? 0,
              organizationId,
              userId,
              customerId,
              createdAt: now,
              ...(newIds.has(listedItem.externalId) ? { foundBy: runId } : {}),
            },
          },
          upsert: true,
        },
      })),
    );
    return [...newIds, ...reappeared, ...newInFirstAttempt];
  };
  return {
    ...createDeletedItems(items, files),
    ...createClosedItems(items),
    ...createUnlistedItems(items, files),
    async upsert(source, runId, listed) {
      // A new item that a page lists twice would be inserted twice.
      const uniqueItems = [...new Map(listed.map((listedItem) => [listedItem.externalId, listedItem])).values()];
      const newIds = new Set<string>();
      for (let from = 0; from < uniqueItems.length; from += ITEMS_PER_WRITE)
        for (const id of await upsertBatch(source, runId, uniqueItems.slice(from, from + ITEMS_PER_WRITE)))
          newIds.add(id);
      return newIds;
    },
    async hasChanged({ _id: dataSourceId, organizationId, userId }, runId) {
      const changed = { $or: [{ foundBy: runId }, { changedBy: runId }] };
      return (await items.exists({ organizationId, userId, dataSourceId, listedBy: runId, ...changed })) !== null;
    },
    async unlist({ _id, organizationId, userId }, runId) {
      await items.updateMany({ dataSourceId: _id, organizationId, userId, listedBy: runId }, { $set: { listedBy: 0 } });
    },
    async *list(source, { filters, orderBy, orderDir, page }) {
      const cursor = items
        .find(query(source, filters, page.startingId))
        .sort(SORTS[orderBy](orderDir))
        .skip(page.offset)
        .limit(page.limit)
        .allowDiskUse(true)
        .lean()
        .cursor();
      for await (const part of inParts<ItemDoc>(cursor)) {
        const fileIds = await filesByItem(source, part);
        yield part.map((item) => ({ item, fileId: fileIds.get(item.externalId) ?? null }));
      }
    },
    count: (source, { filters, page }) => items.countDocuments(query(source, filters, page.startingId)).exec(),
    async parents(source, externalIds) {
      const within = { parentExternalId: { $in: [...externalIds] } };
      return new Set(await items.distinct('parentExternalId', { ...query(source, {}), ...within }).exec());
    },
    syncedCopies: (source, externalIds, options) => findSyncedFiles(files, source, externalIds, options),
    unchanged: (source, externalIds) => unchangedItems(items, files, source, externalIds),
    async removeAll({ organizationId, userId }) {
      await items.deleteMany({ organizationId, userId });
    },
  };
}
