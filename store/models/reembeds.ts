import type { Connection, Model } from 'mongoose';

import type { ReembedSkipReason } from '../../contract/runs/reembed.js';
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
  /** `<run>:<file>`. */
  _id: text,
  organizationId: required(number),
  userId: required(number),
  runId: required(number),
  fileId: required(number),
  /** Null until the file is finished. */
  outcome: nullable(textOf<'reembedded' | 'skipped' | 'failed'>()),
  /** Reason of a skipped file. */
  reason: nullable(textOf<ReembedSkipReason>()),
  /** Message of a failed file. */
  message: nullable(text),
  /** Number of re-embedded chunks. */
  chunks: byDefault(number, 0),
  tokens: byDefault(number, 0),
  /** The published generation when the file was started, and the generation of the new vectors; null: not started. */
  from: nullable(number),
  generation: nullable(number),
  at: required(date),
};

/** Outcome of one file in a re-embedding run. */
export interface ReembedDoc extends RecordOf<typeof REEMBED> {}

/**
 * Lifetime of a row in seconds. Days would be enough: the rows give the counts of a run, and settle its attempts after
 * a crash.
 */
const LIFE_SECONDS = 30 * 24 * 3600;

const reembed = schemaOf<ReembedDoc>(REEMBED);
// Used by `listOpen`, `failures` and `sums`: the files of a run by state.
reembed.index({ runId: 1, outcome: 1, fileId: 1 });
reembed.index({ at: 1 }, { expireAfterSeconds: LIFE_SECONDS });

export function reembedModel(connection: Connection): Model<ReembedDoc> {
  return connection.model<ReembedDoc>('reembeds', reembed, 'reembeds');
}
