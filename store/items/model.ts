import { type Connection, type Model, Schema } from 'mongoose';

import type { SourceType } from '../../contract/sources.js';

/** Something that a connected account holds, as its last listing found it. */
export interface ItemDoc {
  _id: number;
  organizationId: number;
  userId: number;
  customerId: string;
  dataSourceId: number;
  source: SourceType;
  externalId: string;
  parentExternalId: string | null;
  rootExternalId: string | null;
  name: string;
  itemType: string;
  externalUrl: string | null;
  fileFormat: string | null;
  isSelectable: boolean;
  isExpandable: boolean;
  /** Of its content; null, or absent in older records: the listing did not tell. */
  version?: string | null;
  /** Where it lies, of sources that tell by places alone what is gone; absent: of others. */
  place?: string;
  /** The listing that found it last: what has an older one once a listing is whole was not there any more. */
  listedBy: number;
  /** The listing that found it first, or again after it was told to be gone: that one finds it new, however often it asks. */
  foundBy?: number;
  /** Its source has told that it is gone; it goes with its file once that is allowed. Absent: it is there. */
  isGone?: boolean;
  /** The listing that was last refused a look into it; absent: it can be listed. */
  closedBy?: number;
  syncedAt: Date;
  createdAt: Date;
  updatedAt: Date;
}

const nullable = <T>(type: T) => ({ type, default: null });

const item: Schema<ItemDoc> = new Schema<ItemDoc>(
  {
    _id: Number,
    organizationId: { type: Number, required: true },
    userId: { type: Number, required: true },
    customerId: { type: String, required: true },
    dataSourceId: { type: Number, required: true },
    source: { type: String, required: true },
    externalId: { type: String, required: true },
    parentExternalId: nullable(String),
    rootExternalId: nullable(String),
    name: String,
    itemType: String,
    externalUrl: nullable(String),
    fileFormat: nullable(String),
    isSelectable: Boolean,
    isExpandable: Boolean,
    version: String,
    place: String,
    listedBy: { type: Number, required: true },
    foundBy: Number,
    isGone: Boolean,
    closedBy: Number,
    syncedAt: { type: Date, required: true },
    createdAt: { type: Date, required: true },
    updatedAt: { type: Date, required: true },
  },
  { versionKey: false, minimize: false },
);
// list by external id; a listing finds known items by it.
item.index({ dataSourceId: 1, externalId: 1 }, { unique: true });
// list in each order, of all items and of a folder.
item.index({ dataSourceId: 1, name: 1, _id: 1 });
item.index({ dataSourceId: 1, isExpandable: -1, name: 1, _id: 1 });
item.index({ dataSourceId: 1, parentExternalId: 1, name: 1, _id: 1 });
// countVanished, unlist.
item.index({ dataSourceId: 1, listedBy: 1 });
// goneItems, reopened; items of one place: rare, so the others have no entry.
item.index({ dataSourceId: 1, _id: 1 }, { partialFilterExpression: { isGone: true } });
item.index({ dataSourceId: 1, closedBy: 1 }, { partialFilterExpression: { closedBy: { $gt: 0 } } });
item.index({ dataSourceId: 1, place: 1 }, { partialFilterExpression: { place: { $exists: true } } });
// removeAll.
item.index({ organizationId: 1, userId: 1 });

export function itemModel(connection: Connection): Model<ItemDoc> {
  return connection.model<ItemDoc>('items', item, 'items');
}
