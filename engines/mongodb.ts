/**
 * Runs the embedded MongoDB: mongod as a replica set with one member, because transactions and change streams need one.
 */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';

import mongoose from 'mongoose';

import { findBinary } from './binaries.js';
import { startEngine, type Engine, type StartOptions } from './engine.js';
import type { WantedPort } from './ports.js';
import { startChild } from './process.js';

export const MONGODB_PORT = 27027;

const REPLICA_SET = 'allotrope';
/** Server error code. */
const NOT_YET_INITIALIZED = 94;

export interface MongodbOptions extends StartOptions {
  readonly port?: WantedPort;
}

export interface MongodbEngine extends Engine {
  readonly uri: string;
}

/** Starts MongoDB on DATA_DIR/mongodb and waits until it accepts writes. */
export async function startMongodb(options: MongodbOptions): Promise<MongodbEngine> {
  const { dataDir, venv, port: wanted = MONGODB_PORT, ...events } = options;
  const program = await findBinary('mongod', venv);
  const dbPath = join(dataDir, 'mongodb');
  await mkdir(dbPath, { recursive: true });
  const engine = await startEngine({
    name: 'mongodb',
    ports: [wanted],
    ...events,
    launch: ([port = 0], signal) =>
      startChild({
        name: 'mongodb',
        dataDir,
        signal,
        port,
        python: venv.python,
        program,
        args: flags(dbPath, `${port}`),
        isReady: () => becomePrimary(`127.0.0.1:${port}`),
      }),
  });
  return Object.assign(engine, { uri: `mongodb://127.0.0.1:${engine.ports[0]}/?replicaSet=${REPLICA_SET}` });
}

function flags(dbPath: string, port: string): string[] {
  return [
    ...['--bind_ip', '127.0.0.1', '--port', port, '--nounixsocket', '--quiet'],
    ...['--dbpath', dbPath, '--replSet', REPLICA_SET],
    // The default is half of the machine's memory above 1 GB.
    ...['--wiredTigerCacheSizeGB', '0.5'],
    // A single member has no other member to which it could step down; without this, SIGTERM waits 15 s for one.
    ...['--setParameter', 'shutdownTimeoutMillisForSignaledShutdown=0'],
    ...['--setParameter', 'diagnosticDataCollectionEnabled=false'],
    // If an API process is killed inside a transaction, the records stay locked this long; the default is 60 s. The
    // transactions of this service take milliseconds.
    ...['--setParameter', 'transactionLifetimeLimitSeconds=5'],
    // No read of this service requests a snapshot of an earlier time. With the default of 300 s, mongod keeps dropped
    // collections and replaced versions of documents for that time.
    ...['--setParameter', 'minSnapshotHistoryWindowInSeconds=0'],
  ];
}

/**
 * Returns whether the member accepts writes. If its replica set is new, it is initialized first. If the set contains
 * the port of an earlier start, the set's configuration is corrected first. Otherwise mongod would first check whether
 * its old address is its own, which takes 30 s if another service uses the old port and never responds.
 */
async function becomePrimary(host: string): Promise<boolean> {
  const client = new mongoose.mongo.MongoClient(`mongodb://${host}/?directConnection=true`, {
    serverSelectionTimeoutMS: 2_000,
  });
  try {
    const admin = client.db('admin');
    const { isWritablePrimary } = await admin.command({ hello: 1 });
    if (isWritablePrimary) return true;
    const config = await replicaSetConfig(admin);
    if (!config) {
      await admin.command({ replSetInitiate: { _id: REPLICA_SET, members: [{ _id: 0, host }] } });
    } else if (config.members[0]?.host !== host) {
      const moved = { ...config, version: config.version + 1, members: [{ ...config.members[0], host }] };
      await admin.command({ replSetReconfig: moved, force: true });
    }
    return false;
  } finally {
    await client.close();
  }
}

interface ReplicaSetConfig {
  readonly version: number;
  readonly members: readonly { readonly host: string }[];
}

async function replicaSetConfig(admin: mongoose.mongo.Db): Promise<ReplicaSetConfig | undefined> {
  try {
    const { config } = await admin.command({ replSetGetConfig: 1 });
    return config as ReplicaSetConfig;
  } catch (error) {
    if (error instanceof mongoose.mongo.MongoServerError && error.code === NOT_YET_INITIALIZED) return undefined;
    throw error;
  }
}
