import type { Connection, Model } from 'mongoose';

import type { ItemCause, ItemCost, ItemOutcome, ItemStage } from '../../contract/runs/ledger.js';
import {
  byDefault,
  date,
  nullable,
  number,
  type FieldsOf,
  type RecordOf,
  required,
  schemaOf,
  text,
  textOf,
} from '../database/record.js';

const COST: FieldsOf<ItemCost> = {
  bytes: byDefault(number, 0),
  tokens: byDefault(number, 0),
  reused: byDefault(number, 0),
};

const LEDGER_ITEM = {
  /** See itemKey: ids of one run are adjacent, and those of files are ordered by file. */
  _id: text,
  organizationId: required(number),
  userId: required(number),
  runId: required(number),
  /** Null for an item without a file. */
  fileId: nullable(number),
  externalId: required(text),
  /** Null if it equals the external id. */
  name: nullable(text),
  outcome: required(textOf<ItemOutcome>()),
  stage: nullable(textOf<ItemStage>()),
  cause: nullable(textOf<ItemCause>()),
  /** The message for the user. */
  message: nullable(text),
  ...COST,
  at: required(date),
  expiresAt: required(date),
};

/** Outcome of one item of one run. */
export interface LedgerItemDoc extends RecordOf<typeof LEDGER_ITEM> {}

const item = schemaOf<LedgerItemDoc>(LEDGER_ITEM);
// Used by `recordedItems` and by the sums of a run, by outcome.
item.index({ runId: 1, outcome: 1, _id: 1 });
// Successful items have neither cause nor stage, so most entries are in neither of these indexes.
item.index({ runId: 1, cause: 1, _id: 1 }, { partialFilterExpression: { cause: { $gt: '' } } });
item.index({ runId: 1, stage: 1, _id: 1 }, { partialFilterExpression: { stage: { $gt: '' } } });
// Used by the list of runs that processed a file.
item.index({ fileId: 1, runId: 1 }, { partialFilterExpression: { fileId: { $gt: 0 } } });
// Used by `removeAll`.
item.index({ organizationId: 1, userId: 1 });
item.index({ expiresAt: 1 }, { expireAfterSeconds: 0 });

export function ledgerModel(connection: Connection): Model<LedgerItemDoc> {
  return connection.model<LedgerItemDoc>('ledgerItems', item, 'ledger_items');
}
