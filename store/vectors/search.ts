import type { Schemas } from '@qdrant/js-client-rest';

import type { EmbeddingModelId } from '../../contract/vectors/embeddingModels.js';
import type { Tenant } from '../users/accept.js';
import { type Collections, DENSE, SPARSE, statusOf } from './collection.js';
import { pointId } from './pointId.js';
import type { QueryQdrant } from './reader.js';
import { type ChunkFilter, filterConditions } from './searchFilter.js';
import { tenantFilter } from './tenantFilter.js';

export interface VectorQuery extends Tenant {
  readonly space: string;
  readonly model: EmbeddingModelId;
  readonly filter: ChunkFilter;
  /** Dense vector of the query; null: no dense search. */
  readonly dense: readonly number[] | Float32Array | null;
  /** Weighted terms of the query; null: no sparse search. */
  readonly sparse: { readonly indices: readonly number[]; readonly values: readonly number[] } | null;
  /** Maximum number of hits of each kind. */
  readonly limit: number;
  /** Exact instead of approximate search. Sparse vectors are always searched exactly. */
  readonly exact: boolean;
  /** Cancels the search. */
  readonly signal?: AbortSignal;
}

export interface ChunkKey {
  readonly fileId: number;
  readonly generation: number;
  readonly chunkIndex: number;
}

export interface VectorHit extends ChunkKey {
  /** Cosine similarity, or the sum of the weights of shared terms. */
  readonly score: number;
}

/** Hits by kind, best first; ties are ordered by file and chunk. */
export interface VectorHits {
  readonly dense: VectorHit[];
  readonly sparse: VectorHit[];
}

export interface VectorSearch {
  /** Searches both kinds in one request. Returns nothing for a space without points. */
  search(query: VectorQuery): Promise<VectorHits>;
  /** Returns the dense vectors of chunks, by chunk key `fileId:generation:chunkIndex`. */
  retrieve(space: string, keys: readonly ChunkKey[]): Promise<Map<string, number[]>>;
}

/** Reads a hit from the payload's integer fields. */
function hit({ score, payload }: Schemas['ScoredPoint']): VectorHit {
  const { file_id, generation, chunk_index } = (payload ?? {}) as {
    file_id: number;
    generation: number;
    chunk_index: number;
  };
  return { fileId: file_id, generation, chunkIndex: chunk_index, score };
}

/** Orders hits, best first. Ties have a fixed order, so that equal queries have equal answers. */
export const byScore = (a: VectorHit, b: VectorHit): number =>
  b.score - a.score || a.fileId - b.fileId || a.chunkIndex - b.chunkIndex;

/** Creates the reader of points, by similarity and by key. It adds the filter of the tenant to every query. */
export function createVectorSearch(ask: QueryQdrant, { nameOf }: Pick<Collections, 'nameOf'>): VectorSearch {
  const pathOf = (space: string): string => `/collections/${encodeURIComponent(nameOf(space))}/points`;
  return {
    async search({ space, model, filter, dense, sparse, limit, exact, signal, ...tenant }) {
      const owned = tenantFilter(tenant);
      const must = [...owned, { key: 'model', match: { value: model } }, ...filterConditions(filter)];
      const common = {
        limit,
        filter: { must },
        with_payload: { include: ['file_id', 'generation', 'chunk_index'] },
      };
      const searches = [
        ...(dense
          ? [{ ...common, query: Array.from(dense), using: DENSE, ...(exact ? { params: { exact } } : {}) }]
          : []),
        ...(sparse
          ? [
              {
                ...common,
                query: { indices: [...sparse.indices], values: [...sparse.values] },
                using: SPARSE,
                // The rarity of a term among the chunks of the tenant only: other tenants must not change a ranking.
                // Qdrant before 1.19 ignores it (https://github.com/qdrant/qdrant/pull/9661).
                params: { idf: { corpus: { must: owned } } },
              },
            ]
          : []),
      ];
      if (searches.length === 0) return { dense: [], sparse: [] };
      try {
        const answers = (await ask(`${pathOf(space)}/query/batch`, { searches }, signal)) as Schemas['QueryResponse'][];
        const lists = answers.map(({ points }) => points.map(hit).sort(byScore));
        return { dense: dense ? (lists[0] ?? []) : [], sparse: sparse ? (lists.at(-1) ?? []) : [] };
      } catch (error) {
        if (statusOf(error) === 404) return { dense: [], sparse: [] };
        throw error;
      }
    },
    async retrieve(space, keys) {
      const ids = new Map(keys.map((key) => [pointId(key.fileId, key.generation, key.chunkIndex, space), key]));
      const question = { ids: [...ids.keys()], with_vector: [DENSE], with_payload: false };
      const points = (await ask(pathOf(space), question)) as Schemas['Record'][];
      const found = new Map<string, number[]>();
      for (const point of points) {
        const key = ids.get(String(point.id));
        const vector = (point.vector as Record<string, number[]> | undefined)?.[DENSE];
        if (key && vector) found.set(`${key.fileId}:${key.generation}:${key.chunkIndex}`, vector);
      }
      return found;
    },
  };
}
