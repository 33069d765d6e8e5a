import { type Connection, type Model, Schema } from 'mongoose';

import type { ItemCause, ItemCost, ItemOutcome, ItemStage } from '../../contract/ledger.js';

/** How one run ended with one thing that it met. */
export interface LedgerItemDoc extends ItemCost {
  /** See itemKey: ids of one run are together, those of files in their order. */
  _id: string;
  organizationId: number;
  userId: number;
  runId: number;
  /** Null of what no file was made of. */
  fileId: number | null;
  externalId: string;
  /** Null where it is the external id. */
  name: string | null;
  outcome: ItemOutcome;
  stage: ItemStage | null;
  cause: ItemCause | null;
  /** What its user was told. */
  message: string | null;
  at: Date;
  expiresAt: Date;
}

const item: Schema<LedgerItemDoc> = new Schema<LedgerItemDoc>(
  {
    _id: String,
    organizationId: { type: Number, required: true },
    userId: { type: Number, required: true },
    runId: { type: Number, required: true },
    fileId: { type: Number, default: null },
    externalId: { type: String, required: true },
    name: { type: String, default: null },
    outcome: { type: String, required: true },
    stage: { type: String, default: null },
    cause: { type: String, default: null },
    message: { type: String, default: null },
    bytes: { type: Number, default: 0 },
    tokens: { type: Number, default: 0 },
    reused: { type: Number, default: 0 },
    at: { type: Date, required: true },
    expiresAt: { type: Date, required: true },
  },
  { versionKey: false },
);
// linesOf and the sums of a run, by outcome.
item.index({ runId: 1, outcome: 1, _id: 1 });
// What went well has neither a cause nor a stage: most lines are in neither of these.
item.index({ runId: 1, cause: 1, _id: 1 }, { partialFilterExpression: { cause: { $gt: '' } } });
item.index({ runId: 1, stage: 1, _id: 1 }, { partialFilterExpression: { stage: { $gt: '' } } });
// list of runs that met a file.
item.index({ fileId: 1, runId: 1 }, { partialFilterExpression: { fileId: { $gt: 0 } } });
// removeAll.
item.index({ organizationId: 1, userId: 1 });
item.index({ expiresAt: 1 }, { expireAfterSeconds: 0 });

export function ledgerModel(connection: Connection): Model<LedgerItemDoc> {
  return connection.model<LedgerItemDoc>('ledgerItems', item, 'ledger_items');
}
