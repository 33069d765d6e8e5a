import type { ClientSession, Model } from 'mongoose';

/** Whether rows with the same key were there already. */
function onlyDuplicates(error: unknown): boolean {
  return typeof error === 'object' && error !== null && 'code' in error && error.code === 11000;
}

/** Inserts rows past mongoose's schema: they were built by our own code, and casting each again costs more than the write. */
export async function insertRows<T>(
  model: Model<T>,
  rows: readonly T[],
  session: ClientSession | null = null,
): Promise<void> {
  await model.collection.insertMany(rows as unknown as Parameters<typeof model.collection.insertMany>[0], {
    ordered: false,
    ...(session ? { session } : {}),
  });
}

/**
 * Inserts rows whose ids are made of what they hold, so that rows of an earlier try are left as they are.
 * @returns whether all of them were new
 */
export async function insertOnce<T>(model: Model<T>, rows: readonly T[]): Promise<boolean> {
  if (rows.length === 0) return true;
  try {
    await insertRows(model, rows);
    return true;
  } catch (error) {
    if (!onlyDuplicates(error)) throw error;
    return false;
  }
}
