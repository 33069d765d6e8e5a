import type { ClientSession, Model } from 'mongoose';

import { insertWithoutCasts } from './driver.js';

/** Returns whether an insert failed only because rows with the same key exist. */
function isDuplicateKeyError(error: unknown): boolean {
  return typeof error === 'object' && error !== null && 'code' in error && error.code === 11000;
}

/**
 * Returns the schema's defaults for a new row. All rows made from it share its lists and objects: never change them.
 */
export function blankRow<T>(model: Model<T>): T {
  const row = new model().toObject({ minimize: false }) as T & object;
  for (const value of Object.values(row)) Object.freeze(value);
  return row;
}

/** Inserts rows without mongoose's casts. Our own code builds the rows, and casting each costs more than the write. */
export async function insertRows<T>(
  model: Model<T>,
  rows: readonly T[],
  session: ClientSession | null = null,
): Promise<void> {
  await insertWithoutCasts(model, rows as readonly object[], session);
}

/**
 * Inserts rows whose ids derive from their contents. Rows of an earlier attempt stay unchanged.
 * @returns whether all of them were new
 */
export async function insertOnce<T>(model: Model<T>, rows: readonly T[]): Promise<boolean> {
  if (rows.length === 0) return true;
  try {
    await insertRows(model, rows);
    return true;
  } catch (error) {
    if (!isDuplicateKeyError(error)) throw error;
    return false;
  }
}
