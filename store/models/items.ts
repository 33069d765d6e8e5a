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
  /** Version of its content; null, or absent in older records: the listing did not report one. */
  version: optional(orNull(text)),
  /** Its path, for sources that report deletions only by path; absent for others. */
  path: optional(text),
  /** The listing that found it last: after a complete listing, items with an older one no longer exist. */
  listedBy: required(number),
  /**
   * The listing that found it first, or that found it again after a deletion. That listing treats it as new, even if it
   * repeats a page.
   */
  foundBy: optional(number),
  /**
   * The last listing in which a field of it differed from the listing before; absent: it has not changed since it was
   * found.
   */
  changedBy: optional(number),
  /** Whether its source reported it as deleted. It is deleted with its file once that is allowed. */
  isGone: optional(flag),
  /** The last listing that was not allowed to read its contents; absent: it can be listed. */
  closedBy: optional(number),
  syncedAt: required(date),
  createdAt: required(date),
  updatedAt: required(date),
};

/** An item of a connected account, as its last listing found it. */
export interface ItemDoc extends RecordOf<typeof ITEM> {}

const item = schemaOf<ItemDoc>(ITEM, { keepEmpty: true });
// Used by `list` for external ids, and by a listing to find known items.
item.index({ dataSourceId: 1, externalId: 1 }, { unique: true });
// Used by `list` in each order, for all items and for those of a folder.
item.index({ dataSourceId: 1, name: 1, _id: 1 });
item.index({ dataSourceId: 1, isExpandable: -1, name: 1, _id: 1 });
item.index({ dataSourceId: 1, parentExternalId: 1, name: 1, _id: 1 });
// Used by `countMissing` and `unlist`.
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
