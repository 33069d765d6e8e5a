import type { Model } from 'mongoose';

import type { Session } from './sequence.js';

/** One write of a bulk: an update, an update pipeline, or a whole row in place of the present one. */
export type RowWrite =
  | { readonly filter: object; readonly update: object; readonly upsert?: boolean }
  | { readonly filter: object; readonly replacement: object; readonly upsert: true };

/**
 * Writes many rows past mongoose's schema, in any order: they were built by our own code, and casting each again costs
 * more than the write. With insertRows, the only place that hands the driver rows that mongoose has not cast; the driver
 * types every id as an ObjectId, which is why they are cast.
 * @returns how many rows matched
 */
export async function updateRows<T>(
  model: Model<T>,
  writes: readonly RowWrite[],
  session: Session = null,
): Promise<number> {
  if (writes.length === 0) return 0;
  const { matchedCount } = await model.collection.bulkWrite(
    writes.map((write) => {
      const { upsert = false } = write;
      const filter = write.filter as object;
      return 'replacement' in write
        ? { replaceOne: { filter, replacement: write.replacement as object, upsert } }
        : { updateOne: { filter, update: write.update as object, upsert } };
    }),
    { ordered: false, ...(session && { session }) },
  );
  return matchedCount;
}
