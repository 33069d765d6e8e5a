import type { Connection, Model } from 'mongoose';

import type { IngestOptions } from '../../contract/files/ingestOptions.js';
import type { TagValue } from '../../contract/files/records.js';
import { date, json, nullable, number, type RecordOf, required, schemaOf, text } from '../database/record.js';

const TENANT = { organizationId: required(number), userId: required(number) };

const SELECTION = {
  ...TENANT,
  dataSourceId: required(number),
  /** Null: all items. */
  externalId: nullable(text),
  /** Options for new files of the selected item, from the latest request that selected it. */
  tags: json<Record<string, TagValue>>(),
  ingest: json<IngestOptions>(),
  /** Hash of tags and ingest: selections with equal options are listed together. */
  optionsKey: required(text),
  chosenAt: required(date),
};

/** An item of a connected account that a request selected, or all items: each scheduled sync syncs it again. */
export interface SelectionDoc extends RecordOf<typeof SELECTION> {}

const SKIPPED_ITEM = {
  ...TENANT,
  /** Id of the schedule that would add the item. */
  scheduleId: required(text),
  externalFileId: required(text),
};

/** An item that a caller deleted: scheduled syncs skip it. */
export interface SkippedItemDoc extends RecordOf<typeof SKIPPED_ITEM> {}

const selection = schemaOf<SelectionDoc>(SELECTION, { keepEmpty: true });
// Each item is selected at most once.
selection.index({ dataSourceId: 1, externalId: 1 }, { unique: true });
// Used by `nextGroup`: selections with the same options.
selection.index({ dataSourceId: 1, optionsKey: 1 });
// Used by `removeAll`.
selection.index({ organizationId: 1, userId: 1 });

const skippedItem = schemaOf<SkippedItemDoc>(SKIPPED_ITEM);
// Used by `filterSkipped` and `unskip`.
skippedItem.index({ scheduleId: 1, externalFileId: 1 }, { unique: true });
// Used by `removeAll`.
skippedItem.index({ organizationId: 1, userId: 1 });

export interface SelectionModels {
  readonly selections: Model<SelectionDoc>;
  readonly skippedItems: Model<SkippedItemDoc>;
}

export const selectionModel = (connection: Connection): Model<SelectionDoc> =>
  connection.model<SelectionDoc>('selections', selection, 'selections');

export const skippedItemModel = (connection: Connection): Model<SkippedItemDoc> =>
  // The collection keeps the name that it has in stored data of 0.2.0.
  connection.model<SkippedItemDoc>('skippedItems', skippedItem, 'left_out');
