/** Looks behind the API, into the stores, for proof that nothing was written. */
import { createHash } from 'node:crypto';
import mongoose from 'mongoose';

import { cpuNow } from './processes.js';
import type { BenchService } from './service.js';

export interface Evidence {
  /** Ids of all rows of texts, chunks and contents, which hold their generation; as a hash. */
  readonly rows: string;
  /** Writes of any kind that MongoDB has made to these rows so far. */
  readonly rowWrites: number;
  /** Ids of all points of all collections, as a hash. */
  readonly points: string;
  /** Processor time of the embedding processes. */
  readonly embeddingMs: number;
}

const hashOf = (ids: readonly string[]): string => createHash('sha256').update(ids.toSorted().join('\n')).digest('hex');

/** The collections that hold text, chunks and what came. */
const WRITTEN = ['segments', 'contents'];

async function writtenRows(uri: string): Promise<Pick<Evidence, 'rows' | 'rowWrites'>> {
  const client = new mongoose.mongo.MongoClient(uri);
  try {
    const looks = WRITTEN.map(async (name) => {
      const rows = client.db().collection<{ _id: string }>(name);
      const [statistics] = await rows.aggregate([{ $collStats: { latencyStats: {} } }]).toArray();
      const { ops } = (statistics as { latencyStats: { writes: { ops: mongoose.mongo.Long | number } } }).latencyStats
        .writes;
      const found = await rows.find({}, { projection: { _id: 1 } }).toArray();
      return { ids: found.map(({ _id }) => `${name} ${_id}`), writes: Number(ops) };
    });
    const all = await Promise.all(looks);
    return {
      rows: hashOf(all.flatMap(({ ids }) => ids)),
      rowWrites: all.reduce((sum, { writes }) => sum + writes, 0),
    };
  } finally {
    await client.close();
  }
}

async function points(url: string): Promise<string> {
  const ask = async <T>(where: string, body?: object): Promise<T> => {
    const init = body && {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    };
    const response = await fetch(`${url}${where}`, init);
    return ((await response.json()) as { result: T }).result;
  };
  const { collections } = await ask<{ collections: { name: string }[] }>('/collections');
  const all = await Promise.all(
    collections.map(async ({ name }) => {
      const found = await ask<{ points: { id: string }[] }>(`/collections/${name}/points/scroll`, {
        limit: 1_000_000,
        with_payload: false,
        with_vector: false,
      });
      return found.points.map(({ id }) => `${name} ${id}`);
    }),
  );
  return hashOf(all.flat());
}

/** What the stores hold and have done at this moment. */
export async function takeEvidence(service: BenchService): Promise<Evidence> {
  const [rows, found] = await Promise.all([writtenRows(service.mongodbUri), points(service.qdrantUrl)]);
  return { ...rows, points: found, embeddingMs: cpuNow().embedding ?? 0 };
}

/** What was written or embedded between two looks; empty when nothing was. */
export function differences(before: Evidence, after: Evidence): string[] {
  // An idle process still wakes up now and then.
  const embedded = after.embeddingMs - before.embeddingMs > 100;
  return [
    ...(before.rows === after.rows ? [] : ['other rows']),
    ...(before.rowWrites === after.rowWrites ? [] : [`${after.rowWrites - before.rowWrites} writes to rows`]),
    ...(before.points === after.points ? [] : ['other points']),
    ...(embedded ? [`${after.embeddingMs - before.embeddingMs} ms of embedding`] : []),
  ];
}
