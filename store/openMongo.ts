import mongoose, { type Connection } from 'mongoose';

import { timeLimits } from './database/timeLimits.js';
import { watchCommands } from './database/watchMongo.js';
import { runMigrations } from './migrations/run.js';
import { checkSecretKey } from './secrets/secretKeyCheck.js';
import { createSecrets, type Secrets } from './secrets/secrets.js';
import type { StoreSettings } from './storeSettings.js';

/**
 * Number of times that a process of an older version reads the schema version before a migration begins, so that it
 * stops in time.
 */
const READS_BEFORE_MIGRATION = 2;

/**
 * Connects to MongoDB, migrates its records and checks the keys that encrypt its secrets.
 * @throws when MongoDB can't be reached, its data is from a newer version, or its secrets were encrypted with another
 * key
 */
export async function openMongo(
  settings: StoreSettings,
): Promise<{ readonly connection: Connection; readonly secrets: Secrets }> {
  const { watch = null, timeLimitMs = null } = settings;
  const connection = await mongoose
    .createConnection(settings.mongodbUri, {
      // openModels.ts creates the collections, with their indexes.
      autoIndex: false,
      autoCreate: false,
      maxPoolSize: 50,
      monitorCommands: watch !== null,
      ...timeLimits(timeLimitMs),
    })
    .asPromise();
  if (watch) watchCommands(connection, watch);
  const closeAndThrow = async (error: unknown): Promise<never> => {
    // An open connection would keep the process running after a command of the CLI has failed.
    await connection.close();
    throw error;
  };
  await runMigrations(connection, READS_BEFORE_MIGRATION * settings.schemaCheckMs).catch(closeAndThrow);
  const secrets = createSecrets(settings.secretKeys);
  await checkSecretKey(connection, secrets).catch(closeAndThrow);
  return { connection, secrets };
}

/** A connection to MongoDB, and the encryption of its secrets. */
export type OpenMongo = Awaited<ReturnType<typeof openMongo>>;
