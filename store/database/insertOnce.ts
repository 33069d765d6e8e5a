import { type ClientSession, type Model, mongo } from 'mongoose';

import { insertWithoutCasts } from './driver.js';

const DUPLICATE_KEY = 11_000;

const isDuplicateKeyError = (error: unknown): error is mongo.MongoServerError =>
  error instanceof mongo.MongoServerError && error.code === DUPLICATE_KEY;

/**
 * Returns the error if a row was not stored for a reason other than an existing key; otherwise null. The code of a bulk
 * error is that of its first row only.
 */
function otherFailure(error: mongo.MongoServerError): mongo.MongoServerError | null {
  if (!(error instanceof mongo.MongoBulkWriteError)) return null;
  const other =
    [error.writeErrors].flat().find(({ code }) => code !== DUPLICATE_KEY) ?? error.result.getWriteConcernError();
  if (!other) return null;
  const { code = 0, errmsg = error.message } = other;
  return Object.assign(error, { code, message: errmsg });
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
 * Inserts rows that an earlier attempt may have inserted. Rows whose keys exist stay unchanged.
 * @returns whether all rows were new
 */
export async function insertOnce<T>(model: Model<T>, rows: readonly T[]): Promise<boolean> {
  if (rows.length === 0) return true;
  try {
    await insertRows(model, rows);
    return true;
  } catch (error) {
    if (!isDuplicateKeyError(error)) throw error;
    const other = otherFailure(error);
    if (other) throw other;
    return false;
  }
}
