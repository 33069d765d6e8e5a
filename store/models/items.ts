import type { Connection, Model } from 'mongoose';

import type { SourceType } from '../../contract/sources/sources.js';
import {
  date,
  flag,
  nullable,
  number,
  optional,
  orNull,
  type RecordOf,
  required,
  schemaOf,
  text,
  textOf,
} from '../database/record.js';

const ITEM = {
  _id: number,
  organizationId: required(number),
  userId: required(number),
  customerId: required(text),
  dataSourceId: required(number),
  source: required(textOf<SourceType>()),
  externalId: required(text),
  parentExternalId: nullable(text),
  rootExternalId: nullable(text),
  name: text,
  itemType: text,
  externalUrl: nullable(text),
  fileFormat: nullable(text),
  isSelectable: flag,
  isExpandable: flag,
  /** Version of the content; null, or absent in older records, if the listing reported none. */
  version: optional(orNull(text)),
  /** Path of the item, for sources that report deletions only by path; absent for others. */
  path: optional(text),
  /**
   * Run of the last listing that found the item. After a complete listing of all items (not only of changes), an item
   * with another run no longer exists at the source.
   */
  listedBy: required(number),
  /**
   * Run of the listing that found the item first, or again after a deletion. This listing treats the item as new, even
   * if it repeats a page.
   */
  foundBy: optional(number),
  /**
   * Run of the last listing in which a field of the item had changed; absent: it has not changed since it was found.
   */
  changedBy: optional(number),
  /**
   * Whether the source reported the item as deleted, or a listing did not find it. The item and its file are deleted
   * once deletions are allowed.
   */
  isGone: optional(flag),
  /** Run of the last listing that was not allowed to read the item's contents; absent: they can be listed. */
  closedBy: optional(number),
  syncedAt: required(date),
  createdAt: required(date),
  updatedAt: required(date),
};

/** An item of a connected account, as the last listing found it. */
export interface ItemDoc extends RecordOf<typeof ITEM> {}

const item = schemaOf<ItemDoc>(ITEM, { keepEmpty: true });
// Used by `list` for external ids, and by a listing to find known items.
item.index({ dataSourceId: 1, externalId: 1 }, { unique: true });
// Used by `list` in each order, for all items and for those of a folder. The last one also finds children and roots.
item.index({ dataSourceId: 1, name: 1, _id: 1 });
item.index({ dataSourceId: 1, isExpandable: -1, name: 1, _id: 1 });
item.index({ dataSourceId: 1, parentExternalId: 1, name: 1, _id: 1 });
// Used by `createUnlistedItems` and `unlist`.
item.index({ dataSourceId: 1, listedBy: 1 });
// Used by `createDeletedItems` and `createClosedItems`. Few items have these fields, so the others have no entry.
item.index({ dataSourceId: 1, _id: 1 }, { partialFilterExpression: { isGone: true } });
item.index({ dataSourceId: 1, closedBy: 1 }, { partialFilterExpression: { closedBy: { $gt: 0 } } });
item.index({ dataSourceId: 1, path: 1 }, { partialFilterExpression: { path: { $exists: true } } });
// Used by `removeAll`.
item.index({ organizationId: 1, userId: 1 });

export function itemModel(connection: Connection): Model<ItemDoc> {
  return connection.model<ItemDoc>('items', item, 'items');
}
