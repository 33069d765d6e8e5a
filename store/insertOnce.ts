import type { Model } from 'mongoose';

/** A duplicate key means that an earlier try wrote the same row. */
function onlyDuplicates(error: unknown): boolean {
  return typeof error === 'object' && error !== null && 'code' in error && error.code === 11000;
}

/**
 * Inserts rows whose ids are made of what they hold, so that rows of an earlier try are left as they are. Past
 * mongoose's schema: the rows were built by our own code, and casting each again costs more than the write.
 * @returns whether all of them were new
 */
export async function insertOnce<T>(model: Model<T>, rows: readonly T[]): Promise<boolean> {
  if (rows.length === 0) return true;
  try {
    await model.collection.insertMany(rows as unknown as Parameters<typeof model.collection.insertMany>[0], {
      ordered: false,
    });
    return true;
  } catch (error) {
    if (!onlyDuplicates(error)) throw error;
    return false;
  }
}
