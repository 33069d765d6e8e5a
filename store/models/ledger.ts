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
  /** See itemKey: ids of one run are together, those of files in their order. */
  _id: text,
  organizationId: required(number),
  userId: required(number),
  runId: required(number),
  /** Null of what no file was made of. */
  fileId: nullable(number),
  externalId: required(text),
  /** Null where it is the external id. */
  name: nullable(text),
  outcome: required(textOf<ItemOutcome>()),
  stage: nullable(textOf<ItemStage>()),
  cause: nullable(textOf<ItemCause>()),
  /** The message for its user. */
  message: nullable(text),
  ...COST,
  at: required(date),
  expiresAt: required(date),
};

/** How one run ended with one thing that it met. */
export interface LedgerItemDoc extends RecordOf<typeof LEDGER_ITEM> {}

const item = schemaOf<LedgerItemDoc>(LEDGER_ITEM);
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
