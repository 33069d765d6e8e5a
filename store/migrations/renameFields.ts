import type { Connection } from 'mongoose';

import { inParts } from '../database/inParts.js';
import type { Migration } from './migration.js';

/** New names by collection and old name. Dots separate the names of nested fields. */
export type RenamedFields = Readonly<Record<string, Readonly<Record<string, string>>>>;

interface Row {
  readonly _id: unknown;
}

/** MongoDB's error codes for a missing collection and a missing index. */
const MISSING_CODES: readonly unknown[] = [26, 27];
const isMissing = (error: unknown): boolean =>
  typeof error === 'object' && error !== null && 'code' in error && MISSING_CODES.includes(error.code);

/**
 * Returns a migration that renames fields in all rows, in batches. Only rows with an old name are changed, so a second
 * run continues where the first one ended, and runs may be concurrent.
 */
export const renameFields =
  (renamed: RenamedFields): Migration =>
  async (connection) => {
    for (const [name, fields] of Object.entries(renamed)) {
      const rows = connection.collection(name);
      const withOldName = { $or: Object.keys(fields).map((field) => ({ [field]: { $exists: true } })) };
      for await (const part of inParts<Row>(rows.find(withOldName, { projection: { _id: 1 } }))) {
        const ids = part.map(({ _id }) => _id);
        // One update per field, for the rows with this field: $rename fails if the parent of a nested field is null.
        for (const [from, to] of Object.entries(fields)) {
          // The driver types every id as an ObjectId.
          const ofPart: object = { _id: { $in: ids }, [from]: { $exists: true } };
          await rows.updateMany(ofPart, { $rename: { [from]: to } });
        }
      }
    }
  };

/** Drops an index that is no longer used. Does nothing if it does not exist. */
export async function dropIndex(connection: Connection, collection: string, index: string): Promise<void> {
  try {
    await connection.collection(collection).dropIndex(index);
  } catch (error) {
    if (!isMissing(error)) throw error;
  }
}
