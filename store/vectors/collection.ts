import type { QdrantClient } from '@qdrant/js-client-rest';

import type { VectorSpace } from '../../contract/vectors/embeddingModels.js';
import { VECTOR_SPACES } from '../../contract/vectors/spaces.js';
import { type CollectionLayout, creationOf } from './layout.js';

/** Names of a point's vectors. Both are declared when a collection is created, because neither can be added later. */
export const DENSE = 'dense';
export const SPARSE = 'sparse';

/** Payload fields for filters, with their index types. All indexes are created before the first write. */
const PAYLOAD_INDEXES = [
  ['organization_id', { type: 'keyword', is_tenant: true }],
  ['user_id', 'integer'],
  ['file_id', 'integer'],
  ['parent_id', 'integer'],
  ['ancestors', 'integer'],
  ['generation', 'integer'],
  ['model', 'keyword'],
  ['source', 'keyword'],
  ['file_type_at_source', 'keyword'],
  ['media_type', 'keyword'],
  ['tags', 'keyword'],
] as const;

export interface Collections {
  /** Returns the name of the space's collection, and creates it with its indexes if it does not exist. */
  ensure(space: Pick<VectorSpace, 'name' | 'dimensions'>): Promise<string>;
  /**
   * Creates the space's collection if it does not exist, then calls `work`, which writes to it. If Qdrant answers 404,
   * the collection was lost or rebuilt since this process created it: creates it again and repeats `work` once.
   */
  write<T>(space: Pick<VectorSpace, 'name' | 'dimensions'>, work: (name: string) => Promise<T>): Promise<T>;
  /** Makes the next `ensure` check Qdrant again, because the collection was deleted. */
  invalidate(space: string): void;
  nameOf(space: string): string;
  /** Returns the names of all collections of this deployment. */
  all(): Promise<string[]>;
}

const NOT_FOUND = 404;

/** Returns the HTTP status of Qdrant's error; null for any other error. */
export function statusOf(error: unknown): number | null {
  if (typeof error !== 'object' || error === null) return null;
  if ('status' in error && typeof error.status === 'number') return error.status;
  // The client's error for 429 with Retry-After has no status.
  return 'retry_after' in error ? 429 : null;
}

/**
 * Returns whether a collection belongs to the deployment with this prefix. The prefix of another deployment may begin
 * with this one: `allotrope-test-openai-3-small-1536` does not belong to `allotrope-`.
 */
export function isOfDeployment(collection: string, prefix: string): boolean {
  if (!collection.startsWith(prefix)) return false;
  const space = collection.slice(prefix.length);
  return VECTOR_SPACES.has(space) || ![...VECTOR_SPACES].some((known) => space.endsWith(known));
}

/** Creates the collections, one per vector space. `prefix` separates several deployments on one Qdrant. */
export function createCollections(client: QdrantClient, prefix: string, layout: CollectionLayout): Collections {
  const creations = new Map<string, Promise<string>>();
  const nameOf = (space: string): string => `${prefix}${space}`;

  const createIndexes = async (name: string): Promise<void> => {
    await Promise.all(
      PAYLOAD_INDEXES.map(([field_name, field_schema]) =>
        client.createPayloadIndex(name, { field_name, field_schema, wait: true }),
      ),
    );
  };

  const make = async ({ name: space, dimensions }: Pick<VectorSpace, 'name' | 'dimensions'>): Promise<string> => {
    const name = nameOf(space);
    const { exists } = await client.collectionExists(name);
    if (!exists) {
      try {
        await client.createCollection(name, creationOf(dimensions, { dense: DENSE, sparse: SPARSE }, layout));
      } catch (error) {
        // Another process created it at the same moment.
        if (statusOf(error) !== 409) throw error;
      }
    }
    await createIndexes(name);
    return name;
  };

  const invalidate = (space: string): void => void creations.delete(space);
  const ensure: Collections['ensure'] = (space) => {
    const existing = creations.get(space.name);
    if (existing) return existing;
    const creation = make(space).catch((error: unknown) => {
      invalidate(space.name);
      throw error;
    });
    creations.set(space.name, creation);
    return creation;
  };

  return {
    nameOf,
    invalidate,
    ensure,
    async write(space, work) {
      const name = await ensure(space);
      try {
        return await work(name);
      } catch (error) {
        if (statusOf(error) !== NOT_FOUND) throw error;
        invalidate(space.name);
        return work(await ensure(space));
      }
    },
    async all() {
      const { collections } = await client.getCollections();
      return collections.map(({ name }) => name).filter((name) => isOfDeployment(name, prefix));
    },
  };
}
