/** Reads counters and hashes of the stores directly, to check that a re-scrape wrote nothing. */
import { createHash } from 'node:crypto';
import mongoose from 'mongoose';

import { cpuNow } from './processes.js';
import type { BenchService } from './service.js';

export interface StoreSnapshot {
  /** Hash of the ids of all rows of texts, chunks and contents. The ids contain the generation. */
  readonly rows: string;
  /** Number of writes to the collections of these rows since the start of MongoDB. */
  readonly rowWrites: number;
  /** Hash of the ids of all points of all collections. */
  readonly points: string;
  /** Processor time of the embedding processes, in ms. */
  readonly embeddingMs: number;
}

const hashOf = (ids: readonly string[]): string => createHash('sha256').update(ids.toSorted().join('\n')).digest('hex');

/** Collections with texts, chunks and downloaded contents. */
const CONTENT_COLLECTIONS = ['segments', 'contents'];

async function contentRows(uri: string): Promise<Pick<StoreSnapshot, 'rows' | 'rowWrites'>> {
  const client = new mongoose.mongo.MongoClient(uri);
  try {
    const reads = CONTENT_COLLECTIONS.map(async (name) => {
      const rows = client.db().collection<{ _id: string }>(name);
      const [statistics] = await rows.aggregate([{ $collStats: { latencyStats: {} } }]).toArray();
      const { ops } = (statistics as { latencyStats: { writes: { ops: mongoose.mongo.Long | number } } }).latencyStats
        .writes;
      const found = await rows.find({}, { projection: { _id: 1 } }).toArray();
      return { ids: found.map(({ _id }) => `${name} ${_id}`), writes: Number(ops) };
    });
    const all = await Promise.all(reads);
    return {
      rows: hashOf(all.flatMap(({ ids }) => ids)),
      rowWrites: all.reduce((sum, { writes }) => sum + writes, 0),
    };
  } finally {
    await client.close();
  }
}

async function hashOfPoints(url: string): Promise<string> {
  const request = async <T>(path: string, body?: object): Promise<T> => {
    const init = body && {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    };
    const response = await fetch(`${url}${path}`, init);
    return ((await response.json()) as { result: T }).result;
  };
  const { collections } = await request<{ collections: { name: string }[] }>('/collections');
  const all = await Promise.all(
    collections.map(async ({ name }) => {
      const found = await request<{ points: { id: string }[] }>(`/collections/${name}/points/scroll`, {
        limit: 1_000_000,
        with_payload: false,
        with_vector: false,
      });
      return found.points.map(({ id }) => `${name} ${id}`);
    }),
  );
  return hashOf(all.flat());
}

/** Returns hashes of the stored data, and the counters of writes and of processor time. */
export async function takeSnapshot(service: BenchService): Promise<StoreSnapshot> {
  const [rows, found] = await Promise.all([contentRows(service.mongodbUri), hashOfPoints(service.qdrantUrl)]);
  return { ...rows, points: found, embeddingMs: cpuNow().embedding ?? 0 };
}

/** Describes what was written or embedded between two snapshots; empty if nothing was. */
export function differences(before: StoreSnapshot, after: StoreSnapshot): string[] {
  // An idle process still wakes up occasionally.
  const embedded = after.embeddingMs - before.embeddingMs > 100;
  return [
    ...(before.rows === after.rows ? [] : ['other rows']),
    ...(before.rowWrites === after.rowWrites ? [] : [`${after.rowWrites - before.rowWrites} writes to rows`]),
    ...(before.points === after.points ? [] : ['other points']),
    ...(embedded ? [`${after.embeddingMs - before.embeddingMs} ms of embedding`] : []),
  ];
}
