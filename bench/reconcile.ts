/**
 * `npm run bench:reconcile`: time and memory of `reconcile`, which compares MongoDB with Qdrant and the file storage,
 * on 200,000 chunks without differences. `-- --chunks=50000` sets another number. It prints the results;
 * bench/reconcile.md is written by hand.
 */
import { randomBytes } from 'node:crypto';
import mongoose from 'mongoose';

import { reconcile } from '../cli/reconcile.js';
import { loadConfig, storeSettings } from '../config/config.js';
import { EMBEDDED_SPACE } from '../contract/vectors/spaces.js';
import { connectStore } from '../store/connect.js';
import { fileModel } from '../store/models/files.js';
import { createVectors } from '../store/vectors/vectors.js';
import { CHUNKS_PER_FILE, seedVectors } from './seedVectors.js';
import { startBenchService } from './service.js';

const CHUNKS = Number(process.argv.find((word) => word.startsWith('--chunks='))?.slice(9) ?? 200_000);
const printLine = (line: string): void => console.log(`· ${line}`);

const service = await startBenchService({ siteHost: '127.0.0.1', profileDir: null, printLine });
try {
  const { mongodbUri, qdrantUrl } = service;
  const env = {
    SECRET_KEY: `k1:${randomBytes(32).toString('base64')}`,
    MONGODB_URI: mongodbUri,
    QDRANT_URL: qdrantUrl,
  };
  const config = loadConfig(env);
  const store = await connectStore(storeSettings(config));
  const connection = await mongoose.createConnection(mongodbUri).asPromise();
  const vectors = createVectors({ ...config.qdrant, url: qdrantUrl });
  const { organizationId, userId } = await store.users.ensure(1, 'bench');
  const blank = new (fileModel(connection))().toObject({ minimize: false });
  const seed = { connection, vectors, tenant: { organizationId, userId }, space: EMBEDDED_SPACE, blank };
  printLine(`seeding ${CHUNKS} chunks`);
  await seedVectors(seed, 1, 1 + CHUNKS / CHUNKS_PER_FILE);
  // Measured after seeding: memory that the seeding still holds is part of `before` and of `peak`.
  const before = process.memoryUsage().rss;
  const startedAt = performance.now();
  const { user: userBefore, system: systemBefore } = process.cpuUsage();
  let peak = 0;
  const { report, progress } = await reconcile(store, {}, () => {
    peak = Math.max(peak, process.memoryUsage().rss);
  });
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
  const { user, system } = process.cpuUsage();
  const cpuSeconds = ((user + system - userBefore - systemBefore) / 1e6).toFixed(1);
  printLine(
    `${progress.files} files, ${progress.points} points: ${seconds} s, ${cpuSeconds} s of processor time, ` +
      `${(before / 1e6).toFixed(0)} MB resident before, ${(peak / 1e6).toFixed(0)} MB at most`,
  );
  printLine(`${report.countUnrepaired()} differences`);
  await connection.close();
  await store.close();
} finally {
  await service.stop();
}
