import type { Model } from 'mongoose';

import type { Session } from './sequence.js';
import { bulkWrite } from './driver.js';

/** One write of a bulk: an update, an update pipeline, or a whole row in place of the present one. */
export type RowWrite =
  | { readonly filter: object; readonly update: object; readonly upsert?: boolean }
  | { readonly filter: object; readonly replacement: object; readonly upsert: true };

/**
 * Writes many rows past mongoose's schema, in any order: they were built by our own code, and casting each again costs
 * more than the write.
 * @returns how many rows matched
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
