import type { Connection, Model } from 'mongoose';

import type { KeptReason } from '../../contract/runs/reembed.js';
import {
  byDefault,
  date,
  nullable,
  number,
  type RecordOf,
  required,
  schemaOf,
  text,
  textOf,
} from '../database/record.js';

const REEMBED = {
  /** run:file. */
  _id: text,
  organizationId: required(number),
  userId: required(number),
  runId: required(number),
  fileId: required(number),
  /** Null while it is under way. */
  outcome: nullable(textOf<'reembedded' | 'skipped' | 'failed'>()),
  /** Of one that was skipped. */
  reason: nullable(textOf<KeptReason>()),
  /** Of one that failed. */
  message: nullable(text),
  /** Chunks that were embedded again. */
  chunks: byDefault(number, 0),
  tokens: byDefault(number, 0),
  /** The generation that readers saw when the file was begun, and the one given out for the new vectors; null: not begun. */
  from: nullable(number),
  generation: nullable(number),
  at: required(date),
};

/** What a run of re-embedding did with one file. */
export interface ReembedDoc extends RecordOf<typeof REEMBED> {}

/** A run is asked for its counts, and a death settled, within days. */
const LIFE_SECONDS = 30 * 24 * 3600;

const reembed = schemaOf<ReembedDoc>(REEMBED);
// open, failures and sums of a run.
reembed.index({ runId: 1, outcome: 1, fileId: 1 });
reembed.index({ at: 1 }, { expireAfterSeconds: LIFE_SECONDS });

export function reembedModel(connection: Connection): Model<ReembedDoc> {
  return connection.model<ReembedDoc>('reembeds', reembed, 'reembeds');
}
