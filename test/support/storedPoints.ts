import { QdrantClient } from '@qdrant/js-client-rest';

import type { TestService } from './service.js';

/** A point as stored in Qdrant. */
export interface StoredPoint {
  readonly collection: string;
  readonly chunkIndex: number;
  /** Number of dimensions of its dense vector. */
  readonly dense: number;
  readonly sparse: { readonly indices: number[]; readonly values: number[] } | null;
  readonly payload: Record<string, unknown>;
}

export const qdrantOf = ({ env }: Pick<TestService, 'env'>): QdrantClient =>
  new QdrantClient({ url: env['QDRANT_URL'] ?? '', checkCompatibility: false });

/** Returns the names of a service's collections. */
export async function collectionsOf(service: Pick<TestService, 'env'>): Promise<string[]> {
  const prefix = service.env['QDRANT_COLLECTION_PREFIX'] ?? '';
  const { collections } = await qdrantOf(service).getCollections();
  return collections.map(({ name }) => name).filter((name) => name.startsWith(prefix));
}

/** Returns the points of a file in all collections of the service, ordered by chunk. Reads Qdrant directly. */
export async function storedPoints(service: Pick<TestService, 'env'>, fileId: number): Promise<StoredPoint[]> {
  const client = qdrantOf(service);
  const storedInFile: StoredPoint[] = [];
  for (const collection of await collectionsOf(service)) {
    const { points } = await client.scroll(collection, {
      filter: { must: [{ key: 'file_id', match: { value: fileId } }] },
      limit: 1000,
      with_vector: true,
      with_payload: true,
    });
    for (const { vector, payload } of points) {
      const { dense, sparse = null } = vector as unknown as { dense: number[]; sparse?: StoredPoint['sparse'] };
      const chunkIndex = Number(payload?.['chunk_index']);
      storedInFile.push({ collection, chunkIndex, dense: dense.length, sparse, payload: payload ?? {} });
    }
  }
  return storedInFile.toSorted((a, b) => a.chunkIndex - b.chunkIndex);
}
