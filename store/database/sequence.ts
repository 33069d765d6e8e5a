import type { ClientSession, Connection } from 'mongoose';
import { number, type RecordOf, schemaOf, textOf } from './record.js';

export type SequenceKind =
  | 'organization'
  | 'user'
  | 'file'
  | 'original'
  | 'run'
  | 'apiKey'
  | 'dataSource'
  | 'item'
  | 'whiteLabel'
  | 'webhook';

const SEQUENCE = {
  _id: textOf<SequenceKind>(),
  last: number,
};

interface SequenceDoc extends RecordOf<typeof SEQUENCE> {}

/** Integer ids from one counter a kind. */
export interface Sequence {
  /**
   * Takes `count` ids at once and returns the first; the rest follow it. Ids of a failed write are not given back, and
   * single ids of busy kinds come from a block of this process: numbers are unique, but neither dense nor in order of time.
   */
  take(kind: SequenceKind, count?: number): Promise<number>;
  /** Makes sure that ids up to `id` are never given out. */
  reserve(kind: SequenceKind, id: number): Promise<void>;
}

/** Kinds of which a request takes one: a round trip less for each. */
const BLOCK_KINDS: readonly SequenceKind[] = ['file', 'run', 'original'];
const BLOCK_SIZE = 32;

/** Gives out a block's ids one by one; callers who find it empty wait for the same new one. */
function createBlock(takeBlock: () => Promise<number>): () => Promise<number> {
  let [next, left] = [0, 0];
  let filling: Promise<void> | null = null;
  return async () => {
    while (left === 0) {
      filling ??= takeBlock()
        .then((first) => {
          [next, left] = [first, BLOCK_SIZE];
        })
        .finally(() => {
          filling = null;
        });
      await filling;
    }
    left -= 1;
    next += 1;
    return next - 1;
  };
}

export function createSequence(connection: Connection): Sequence {
  const model = connection.model<SequenceDoc>('sequences', schemaOf<SequenceDoc>(SEQUENCE), 'sequences');
  const takeRow = async (kind: SequenceKind, count: number): Promise<number> => {
    const row = await model
      .findByIdAndUpdate(kind, { $inc: { last: count } }, { upsert: true, returnDocument: 'after' })
      .lean();
    return row.last - count + 1;
  };
  const blocks = new Map(BLOCK_KINDS.map((kind) => [kind, createBlock(() => takeRow(kind, BLOCK_SIZE))]));
  return {
    // Outside the caller's transaction on purpose: the counter's row would make all writers of a kind wait for one another.
    async take(kind, count = 1) {
      const block = blocks.get(kind);
      if (block && count === 1) return block();
      return takeRow(kind, count);
    },
    async reserve(kind, id) {
      await model.updateOne({ _id: kind }, { $max: { last: id } }, { upsert: true });
    },
  };
}

/** A MongoDB session inside a transaction, or none. */
export type Session = ClientSession | null;
