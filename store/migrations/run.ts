import { type Connection, Schema } from 'mongoose';

/** The version of the records that this code reads and writes. */
export const SCHEMA_VERSION = 1;

interface MetaDoc {
  _id: 'schema';
  version: number;
}

/** Brings the records to this version before anything reads them. @throws when the data is from a newer version */
export async function runMigrations(connection: Connection): Promise<void> {
  const meta = connection.model<MetaDoc>(
    'meta',
    new Schema<MetaDoc>({ _id: String, version: Number }, { versionKey: false }),
    'meta',
  );
  const row = await meta
    .findByIdAndUpdate(
      'schema',
      { $setOnInsert: { version: SCHEMA_VERSION } },
      { upsert: true, returnDocument: 'after' },
    )
    .lean();
  if (row.version > SCHEMA_VERSION) {
    throw new Error(
      `The data is from a newer version of Allotrope (records ${row.version}, this version reads ${SCHEMA_VERSION}). Start the newer version again, or restore a backup.`,
    );
  }
}
