import type { Connection } from 'mongoose';

import { loadProduct } from './product.js';

/**
 * Opens a connection to a database of the run's MongoDB. The service's own copy of the driver opens it, because loading
 * the driver for each suite takes a quarter of a second.
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
