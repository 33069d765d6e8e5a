import type { QdrantClient } from '@qdrant/js-client-rest';

import type { VectorSpace } from '../../contract/vectors/embeddingModels.js';
import { type Collections, DENSE, statusOf } from './collection.js';
import { reasonOf } from './qdrantFailure.js';

/** Condition of one collection. */
export interface CollectionCondition {
  readonly space: string;
  /** Number of points, approximate; 0 for a damaged collection. */
  readonly points: number;
  /** Qdrant's error when the collection is read or searched; null if it works. */
  readonly problem: string | null;
}

export interface CollectionConditions {
  /**
   * Reads a point of every collection, and searches all its dense vectors without an index. Qdrant's status 500 counts
   * as damage. A collection that is deleted meanwhile (404) is omitted.
   * @throws any other error, for example when Qdrant does not answer
   */
  check(): Promise<CollectionCondition[]>;
  /** Deletes a space's collection with all its points and creates it with its indexes. Safe to repeat. */
  recreate(space: Pick<VectorSpace, 'name' | 'dimensions'>): Promise<void>;
}

const NOT_FOUND = 404;
const INTERNAL_ERROR = 500;
/** Maximum length of a reason in characters. */
const MAX_REASON_LENGTH = 300;

/** Returns the damage that a read reports; null if it succeeds. @throws any error other than Qdrant's status 500 */
export async function problemOf(read: () => Promise<unknown>): Promise<string | null> {
  try {
    await read();
    return null;
  } catch (error) {
    if (statusOf(error) === INTERNAL_ERROR) return reasonOf(error).slice(0, MAX_REASON_LENGTH);
    throw error;
  }
}

export function createCollectionConditions(
  client: QdrantClient,
  collections: Collections,
  spaceOf: (name: string) => string,
): CollectionConditions {
  const read = async (name: string): Promise<void> => {
    const { config } = await client.getCollection(name);
    const vectors = config.params.vectors as Record<string, { size: number }> | undefined;
    const size = vectors?.[DENSE]?.size ?? 1;
    await client.scroll(name, { limit: 1, with_payload: true, with_vector: true });
    // Exact, so that every vector of every segment is read. The result is discarded.
    const query = Array.from({ length: size }, (_, index) => (index === 0 ? 1 : 0));
    await client.query(name, { query, using: DENSE, limit: 1, params: { exact: true }, with_payload: false });
  };
  return {
    async check() {
      const found: CollectionCondition[] = [];
      for (const name of await collections.all()) {
        try {
          const problem = await problemOf(() => read(name));
          const points = problem === null ? (await client.count(name, { exact: false })).count : 0;
          found.push({ space: spaceOf(name), points, problem });
        } catch (error) {
          // The collection was deleted since it was listed.
          if (statusOf(error) !== NOT_FOUND) throw error;
        }
      }
      return found;
    },
    async recreate(space) {
      await client.deleteCollection(collections.nameOf(space.name));
      collections.invalidate(space.name);
      await collections.ensure(space);
    },
  };
}
