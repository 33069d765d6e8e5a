import type { Model } from 'mongoose';

import type { Session } from './sequence.js';
import { bulkWrite } from './driver.js';

/** One write of a bulk: an update, an update pipeline, or a replacement of the whole row. */
export type RowWrite =
  | { readonly filter: object; readonly update: object; readonly upsert?: boolean }
  | { readonly filter: object; readonly replacement: object; readonly upsert: true };

/**
 * Writes many rows without mongoose's casts, in any order. Our own code builds the rows, and casting each costs more
 * than the write.
 * @returns the number of matched rows
 */
export async function updateRows<T>(
  model: Model<T>,
  writes: readonly RowWrite[],
  session: Session = null,
): Promise<number> {
  if (writes.length === 0) return 0;
  return bulkWrite(
    model,
    writes.map((write) => {
      const { filter, upsert = false } = write;
      return 'replacement' in write
        ? { replaceOne: { filter, replacement: write.replacement, upsert } }
        : { updateOne: { filter, update: write.update, upsert } };
    }),
    session,
  );
}
