import type { QdrantClient } from '@qdrant/js-client-rest';

import type { VectorSpace } from '../../contract/embeddingModels.js';

/** Names inside a collection. A sparse vector is declared from the start: it can't be added later. */
export const DENSE = 'dense';
const SPARSE = 'sparse';

/** Payload fields and their indexes, all made before the first write. */
const PAYLOAD_INDEXES = [
  ['organization_id', { type: 'keyword', is_tenant: true }],
  ['user_id', 'integer'],
  ['file_id', 'integer'],
  ['parent_id', 'integer'],
  ['generation', 'integer'],
  ['model', 'keyword'],
  ['source', 'keyword'],
  ['tags', 'keyword'],
] as const;

export interface Collections {
  /** The space's collection, made with its indexes when absent. */
  ensure(space: Pick<VectorSpace, 'name' | 'dimensions'>): Promise<string>;
  nameOf(space: string): string;
  /** Every collection of ours. */
  all(): Promise<string[]>;
}

const status = (error: unknown): number | null =>
  typeof error === 'object' && error !== null && 'status' in error && typeof error.status === 'number'
    ? error.status
    : null;

/** One Qdrant collection a vector space; `prefix` keeps several deployments on one Qdrant apart. */
export function createCollections(client: QdrantClient, prefix: string): Collections {
  const made = new Map<string, Promise<string>>();
  const nameOf = (space: string): string => `${prefix}${space}`;

  const make = async ({ name: space, dimensions }: Pick<VectorSpace, 'name' | 'dimensions'>): Promise<string> => {
    const name = nameOf(space);
    const { exists } = await client.collectionExists(name);
    if (!exists) {
      try {
        await client.createCollection(name, {
          vectors: { [DENSE]: { size: dimensions, distance: 'Cosine' } },
          sparse_vectors: { [SPARSE]: { modifier: 'idf' } },
        });
      } catch (error) {
        // Another process made it at the same moment.
        if (status(error) !== 409) throw error;
      }
    }
    await Promise.all(
      PAYLOAD_INDEXES.map(([field_name, field_schema]) =>
        client.createPayloadIndex(name, { field_name, field_schema, wait: true }),
      ),
    );
    return name;
  };

  return {
    nameOf,
    ensure(space) {
      const known = made.get(space.name);
      if (known) return known;
      const making = make(space).catch((error: unknown) => {
        made.delete(space.name);
        throw error;
      });
      made.set(space.name, making);
      return making;
    },
    async all() {
      const { collections } = await client.getCollections();
      return collections.map(({ name }) => name).filter((name) => name.startsWith(prefix));
    },
  };
}
