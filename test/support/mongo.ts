import type { Connection } from 'mongoose';

import { loadProduct } from './product.js';

/**
 * Opens a connection to a database of the run's MongoDB. The service's own copy of the driver opens it, because loading
 * the driver for each suite takes a quarter of a second.
 */
export const connectMongo = async (uri: string): Promise<Connection> =>
  (await loadProduct()).mongoose.createConnection(uri).asPromise();
