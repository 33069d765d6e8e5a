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

/** Integer ids from one counter per kind. */
export interface Sequence {
  /**
   * Reserves `count` consecutive ids and returns the first. Ids of a failed write are not reused, and each process
   * reserves ids of some kinds in blocks. So ids are unique, but have gaps and are not in order of creation.
   */
  next(kind: SequenceKind, count?: number): Promise<number>;
  /** Ensures that ids up to `id` are never assigned. Not for BLOCK_KINDS: a process may hold lower ids. */
  reserve(kind: SequenceKind, id: number): Promise<void>;
}

/** Kinds of which a request needs one id. A block of ids saves a round trip per request. */
const BLOCK_KINDS: readonly SequenceKind[] = ['file', 'run', 'original'];
const BLOCK_SIZE = 32;

/**
 * Returns a function that assigns the ids of a block one by one. Callers that find the block empty wait for the same
 * new block.
 */
function createBlock(takeBlock: () => Promise<number>): () => Promise<number> {
  let [next, remaining] = [0, 0];
  let filling: Promise<void> | null = null;
  return async () => {
    while (remaining === 0) {
      filling ??= takeBlock()
        .then((first) => {
          [next, remaining] = [first, BLOCK_SIZE];
        })
        .finally(() => {
          filling = null;
        });
      await filling;
    }
    remaining -= 1;
    next += 1;
    return next - 1;
  };
}

export function createSequence(connection: Connection): Sequence {
  const model = connection.model<SequenceDoc>('sequences', schemaOf<SequenceDoc>(SEQUENCE), 'sequences');
  const reserveNumbers = async (kind: SequenceKind, count: number): Promise<number> => {
    const row = await model
      .findByIdAndUpdate(kind, { $inc: { last: count } }, { upsert: true, returnDocument: 'after' })
      .lean();
    return row.last - count + 1;
  };
  const blocks = new Map(BLOCK_KINDS.map((kind) => [kind, createBlock(() => reserveNumbers(kind, BLOCK_SIZE))]));
  return {
    // Outside the caller's transaction on purpose: otherwise all writers of a kind would wait for the counter's row.
    async next(kind, count = 1) {
      const block = blocks.get(kind);
      if (block && count === 1) return block();
      return reserveNumbers(kind, count);
    },
    async reserve(kind, id) {
      await model.updateOne({ _id: kind }, { $max: { last: id } }, { upsert: true });
    },
  };
}

/** A MongoDB session inside a transaction, or none. */
export type Session = ClientSession | null;
