import { type ClientSession, type Connection, Schema } from 'mongoose';

export type SequenceKind = 'organization' | 'user' | 'file' | 'run' | 'apiKey';

interface SequenceDoc {
  _id: SequenceKind;
  last: number;
}

/** Integer ids from one counter a kind. */
export interface Sequence {
  /** Takes `count` ids at once and returns the first; the rest follow it. Ids of a failed write are not given back. */
  take(kind: SequenceKind, count?: number): Promise<number>;
  /** Makes sure that ids up to `id` are never given out. */
  reserve(kind: SequenceKind, id: number): Promise<void>;
}

export function createSequence(connection: Connection): Sequence {
  const model = connection.model<SequenceDoc>(
    'sequences',
    new Schema<SequenceDoc>({ _id: String, last: Number }, { versionKey: false }),
    'sequences',
  );
  return {
    // Outside the caller's transaction on purpose: the counter's row would make all writers of a kind wait for one another.
    async take(kind, count = 1) {
      const row = await model
        .findByIdAndUpdate(kind, { $inc: { last: count } }, { upsert: true, returnDocument: 'after' })
        .lean();
      return row.last - count + 1;
    },
    async reserve(kind, id) {
      await model.updateOne({ _id: kind }, { $max: { last: id } }, { upsert: true });
    },
  };
}

/** A MongoDB session inside a transaction, or none. */
export type Session = ClientSession | null;
