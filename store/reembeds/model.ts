import { type Connection, type Model, Schema } from 'mongoose';

import type { KeptReason } from '../../contract/reembed.js';

/** What a run of re-embedding did with one file. */
export interface ReembedDoc {
  /** run:file. */
  _id: string;
  organizationId: number;
  userId: number;
  runId: number;
  fileId: number;
  /** Null while it is under way. */
  outcome: 'reembedded' | 'skipped' | 'failed' | null;
  /** Of one that was skipped. */
  reason: KeptReason | null;
  /** Of one that failed. */
  message: string | null;
  /** Of one that was embedded anew. */
  chunks: number;
  tokens: number;
  /** The generation that readers saw when the file was begun, and the one given out for the new vectors; null: not begun. */
  from: number | null;
  generation: number | null;
  at: Date;
}

/** A run is asked for its counts, and a death settled, within days. */
const LIFE_SECONDS = 30 * 24 * 3600;

const reembed: Schema<ReembedDoc> = new Schema<ReembedDoc>(
  {
    _id: String,
    organizationId: { type: Number, required: true },
    userId: { type: Number, required: true },
    runId: { type: Number, required: true },
    fileId: { type: Number, required: true },
    outcome: { type: String, default: null },
    reason: { type: String, default: null },
    message: { type: String, default: null },
    chunks: { type: Number, default: 0 },
    tokens: { type: Number, default: 0 },
    from: { type: Number, default: null },
    generation: { type: Number, default: null },
    at: { type: Date, required: true },
  },
  { versionKey: false },
);
// open, failures and sums of a run.
reembed.index({ runId: 1, outcome: 1, fileId: 1 });
reembed.index({ at: 1 }, { expireAfterSeconds: LIFE_SECONDS });

export function reembedModel(connection: Connection): Model<ReembedDoc> {
  return connection.model<ReembedDoc>('reembeds', reembed, 'reembeds');
}
