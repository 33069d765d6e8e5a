import { type Connection, type Model, Schema } from 'mongoose';

import type { IngestOptions } from '../../contract/ingestOptions.js';
import type { TagValue } from '../../contract/records.js';

/** Something of a connected account that somebody chose: each pass looks into it again. */
export interface SelectionDoc {
  organizationId: number;
  userId: number;
  dataSourceId: number;
  /** Null: all there is. */
  externalId: string | null;
  /** How what is new in it becomes files: as it was chosen last. */
  tags: Record<string, TagValue>;
  ingest: IngestOptions;
  /** Of tags and ingest: what has the same is looked at together. */
  optionsKey: string;
  chosenAt: Date;
}

/** Something that a caller deleted: no pass brings it back. */
export interface LeftOutDoc {
  organizationId: number;
  userId: number;
  /** The schedule whose passes would. */
  scheduleId: string;
  externalFileId: string;
}

const tenant = {
  organizationId: { type: Number, required: true },
  userId: { type: Number, required: true },
} as const;

const selection: Schema<SelectionDoc> = new Schema<SelectionDoc>(
  {
    ...tenant,
    dataSourceId: { type: Number, required: true },
    externalId: { type: String, default: null },
    tags: Schema.Types.Mixed,
    ingest: Schema.Types.Mixed,
    optionsKey: { type: String, required: true },
    chosenAt: { type: Date, required: true },
  },
  { versionKey: false, minimize: false },
);
// Each item is selected once.
selection.index({ dataSourceId: 1, externalId: 1 }, { unique: true });
// nextGroup: what was selected with the same options.
selection.index({ dataSourceId: 1, optionsKey: 1 });
// removeAll.
selection.index({ organizationId: 1, userId: 1 });

const leftOut: Schema<LeftOutDoc> = new Schema<LeftOutDoc>(
  { ...tenant, scheduleId: { type: String, required: true }, externalFileId: { type: String, required: true } },
  { versionKey: false },
);
// leftOut, bringBack.
leftOut.index({ scheduleId: 1, externalFileId: 1 }, { unique: true });
// removeAll.
leftOut.index({ organizationId: 1, userId: 1 });

export interface SelectionModels {
  readonly selections: Model<SelectionDoc>;
  readonly leftOut: Model<LeftOutDoc>;
}

export const selectionModel = (connection: Connection): Model<SelectionDoc> =>
  connection.model<SelectionDoc>('selections', selection, 'selections');

export const leftOutModel = (connection: Connection): Model<LeftOutDoc> =>
  connection.model<LeftOutDoc>('leftOut', leftOut, 'left_out');
