import { type Connection, type Model, Schema } from 'mongoose';

import { QUARANTINE_STATES, type QuarantineState } from '../../contract/quarantine.js';
import type { ColdCopy, FileDoc } from '../files/model.js';

/** A file that vanished at its source. Its record lies here and not with the others, so that no list or search can find it. */
export interface QuarantinedDoc {
  /** The file's own. */
  _id: number;
  organizationId: number;
  userId: number;
  customerId: string;
  dataSourceId: number | null;
  parentId: number | null;
  state: QuarantineState;
  /** The run that missed it. */
  missedBy: number;
  /** The run that is at work on it, or was last. */
  runId: number;
  quarantinedAt: Date;
  /** From then on it can't be had back, and is erased. */
  keptUntil: Date;
  /** Where its vectors lie, once they are safe there; null without vectors. */
  copy: ColdCopy | null;
  /** The record as it was. */
  file: FileDoc;
}

/** How many there are of each data source, and until when: without a look at the records. */
export const OVERVIEW_INDEX = { organizationId: 1, state: 1, keptUntil: 1, dataSourceId: 1, parentId: 1 } as const;

const quarantined: Schema<QuarantinedDoc> = new Schema<QuarantinedDoc>(
  {
    _id: Number,
    organizationId: { type: Number, required: true },
    userId: { type: Number, required: true },
    customerId: { type: String, required: true },
    dataSourceId: { type: Number, default: null },
    parentId: { type: Number, default: null },
    state: { type: String, enum: QUARANTINE_STATES, required: true },
    missedBy: { type: Number, required: true },
    runId: { type: Number, required: true },
    quarantinedAt: { type: Date, required: true },
    keptUntil: { type: Date, required: true },
    copy: { type: Schema.Types.Mixed, default: null },
    file: { type: Schema.Types.Mixed, required: true },
  },
  { versionKey: false, minimize: false },
);
// claimAll, list and any: of a user.
quarantined.index({ organizationId: 1, userId: 1, _id: 1 });
// list, of an organization.
quarantined.index({ organizationId: 1, _id: 1 });
// owners and claimDue: what is kept no longer.
quarantined.index({ keptUntil: 1 }, { partialFilterExpression: { state: 'kept' } });
// adopt: steps that were left halfway.
quarantined.index({ state: 1, runId: 1 });
// createQuarantineOverview, by keys alone.
quarantined.index(OVERVIEW_INDEX);

export function quarantinedModel(connection: Connection): Model<QuarantinedDoc> {
  return connection.model<QuarantinedDoc>('quarantined_files', quarantined, 'quarantined_files');
}
