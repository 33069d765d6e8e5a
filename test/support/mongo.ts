import type { Connection } from 'mongoose';

import { loadProduct } from './product.js';

/**
 * Opens a connection to a MongoDB database with the service's own copy of the driver, because loading the driver for
 * each suite takes a quarter of a second.
 */
export const connectMongo = async (uri: string): Promise<Connection> =>
  (await loadProduct()).mongoose.createConnection(uri).asPromise();

/** Runs a function with a direct connection to the database of a service. */
export async function withDatabase<T>(
  { env }: { readonly env: NodeJS.ProcessEnv },
  work: (connection: Connection) => Promise<T>,
): Promise<T> {
  const connection = await connectMongo(env['MONGODB_URI'] ?? '');
  try {
    return await work(connection);
  } finally {
    await connection.close();
  }
}

/**
 * Returns the number of documents of each collection, in the order of `names`.
 *
 * @throws if a collection does not exist: a wrong name would otherwise count 0 documents
 */
export async function countDocuments(
  connection: Connection,
  names: readonly string[],
  filter: object = {},
): Promise<number[]> {
  const existing = new Set((await connection.listCollections()).map(({ name }) => name));
  const missing = names.filter((name) => !existing.has(name));
  if (missing.length > 0) throw new Error(`The database has no collection ${missing.join(', ')}.`);
  return Promise.all(names.map((name) => connection.collection(name).countDocuments(filter)));
}
