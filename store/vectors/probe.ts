import type { QdrantClient } from '@qdrant/js-client-rest';

import { StoreFailure } from '../../contract/storeFailures.js';
import { DENSE, statusOf } from './collection.js';
import { qdrantFailure } from './qdrantFailure.js';

/** A collection whose searches fail. */
export interface BrokenCollection {
  readonly name: string;
  readonly reason: string;
}

const NOT_FOUND = 404;

async function searchOnce(client: QdrantClient, name: string): Promise<void> {
  const { config } = await client.getCollection(name);
  const size = (config.params.vectors as Record<string, { size: number } | undefined> | undefined)?.[DENSE]?.size;
  if (size === undefined) throw new Error(`it has no vectors named ${DENSE}`);
  // A search reads vectors of every segment, so it detects a damaged one. Listing collections does not.
  const query = Array.from({ length: size }, (_, at) => (at === 0 ? 1 : 0));
  await client.query(name, { query, using: DENSE, limit: 1, with_payload: false });
}

/**
 * Searches once in each collection and returns those that fail, for example because of a damaged segment.
 * @throws StoreFailure when Qdrant does not answer
 */
export async function brokenCollections(client: QdrantClient, names: readonly string[]): Promise<BrokenCollection[]> {
  const found = await Promise.all(
    names.map(async (name): Promise<BrokenCollection[]> => {
      try {
        await searchOnce(client, name);
        return [];
      } catch (error) {
        const failure = qdrantFailure(error);
        if (failure instanceof StoreFailure && failure.kind === 'unreachable') throw failure;
        // The collection was deleted since it was listed.
        return statusOf(error) === NOT_FOUND ? [] : [{ name, reason: (failure as Error).message }];
      }
    }),
  );
  return found.flat();
}
