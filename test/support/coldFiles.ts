/** Reads the vectors of files in Qdrant and file storage, and moves the timestamps of files into the past. */
import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { QdrantClient } from '@qdrant/js-client-rest';

import type { EventRowDoc } from '../../store/models/events.js';
import type { FileDoc } from '../../store/models/files.js';
import { withDatabase } from './mongo.js';

/** Returns the names of all vector copies in file storage: `<file id>/<generation>.<attempt>.vectors`. */
export async function storedVectors(env: NodeJS.ProcessEnv): Promise<string[]> {
  const root = path.join(env['DATA_DIR'] ?? '', 'files');
  const entries = await readdir(root, { recursive: true, withFileTypes: true }).catch(() => []);
  return entries
    .filter((entry) => entry.isFile() && entry.name.endsWith('.vectors'))
    .map(({ name, parentPath }) => `${path.basename(parentPath)}/${name}`)
    .toSorted();
}

/** Returns the file id of each vector copy in file storage. */
export const fileIdsWithStoredVectors = async (env: NodeJS.ProcessEnv): Promise<number[]> =>
  (await storedVectors(env)).map((name) => Number(name.split('/')[0]));

/** Returns all points of a file in Qdrant, sorted by point id. */
export async function pointsOfFile(env: NodeJS.ProcessEnv, fileId: number): Promise<unknown[]> {
  const client = new QdrantClient({ url: env['QDRANT_URL'] ?? '', checkCompatibility: false });
  const { collections } = await client.getCollections();
  const ownCollections = collections.filter(({ name }) => name.startsWith(env['QDRANT_COLLECTION_PREFIX'] ?? ''));
  const pages = await Promise.all(
    ownCollections.map(({ name }) =>
      client.scroll(name, {
        limit: 10_000,
        with_payload: true,
        with_vector: true,
        filter: { must: [{ key: 'file_id', match: { value: fileId } }] },
      }),
    ),
  );
  return pages
    .flatMap(({ points }) => points)
    .map(({ id, vector, payload }) => ({ id: String(id), vector, payload }))
    .toSorted((a, b) => (a.id < b.id ? -1 : 1));
}

/** Simulates the passage of days: moves lastUsedAt and coolsAt of files into the past. @param ids unset: all files */
export async function letDaysPass(env: NodeJS.ProcessEnv, days: number, ids?: readonly number[]): Promise<void> {
  const earlier = (field: string) => ({ $subtract: [`$${field}`, days * 24 * 3_600_000] });
  await withDatabase({ env }, async (connection) => {
    const files = connection.collection<FileDoc>('files');
    for (const field of ['coolsAt', 'lastUsedAt'])
      await files.updateMany({ [field]: { $type: 'date' }, ...(ids ? { _id: { $in: [...ids] } } : {}) }, [
        { $set: { [field]: earlier(field) } },
      ]);
  });
}

export const recordOf = (env: NodeJS.ProcessEnv, id: number): Promise<FileDoc | null> =>
  withDatabase(
    { env },
    (connection) => connection.collection<FileDoc>('files').findOne({ _id: id }) as Promise<FileDoc | null>,
  );

/** Returns the kinds of the events about a file, in order. */
export async function eventKindsOf(env: NodeJS.ProcessEnv, fileId: number): Promise<string[]> {
  return withDatabase({ env }, async (connection) => {
    const rows = await connection.collection<EventRowDoc>('events').find({}).sort({ at: 1 }).toArray();
    return (rows as unknown as EventRowDoc[]).flatMap(({ events }) =>
      events.flatMap(({ kind, objectId }) => ([objectId].flat().includes(String(fileId)) ? [kind] : [])),
    );
  });
}
