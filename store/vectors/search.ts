import type { Schemas } from '@qdrant/js-client-rest';

import type { EmbeddingModelId } from '../../contract/vectors/embeddingModels.js';
import type { Tenant } from '../users/accept.js';
import { type Collections, DENSE, SPARSE, statusOf } from './collection.js';
import { pointId } from './pointId.js';
import type { QueryQdrant } from './reader.js';
import { type ChunkFilter, filterConditions } from './searchFilter.js';
import { isOfTenant, TENANT_FIELDS, tenantFilter } from './tenantFilter.js';

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

/** A found point. */
export interface PointHit {
  readonly id: string;
  /** As in `VectorHit`. */
  readonly score: number;
}

/** Hits by kind, best first. */
export interface Hits<T> {
  readonly dense: T[];
  readonly sparse: T[];
}

export interface VectorSearch {
  /**
   * Searches both kinds in one request. Returns nothing for a space without points. Ties are ordered by file and chunk.
   */
  search(query: VectorQuery): Promise<Hits<VectorHit>>;
  /**
   * Searches in the same way and returns ids only: Qdrant needs longer for the payloads of hundreds of points than for
   * the search. Ties are ordered by id.
   */
  searchIds(query: VectorQuery): Promise<Hits<PointHit>>;
  /** Returns the chunks of a tenant's points by id. Deleted points, and those of other tenants, are missing. */
  chunksOf(tenant: Tenant, space: string, ids: readonly string[], signal?: AbortSignal): Promise<Map<string, ChunkKey>>;
  /**
   * Returns for each of the given points of a tenant the nearest other given points by dense vectors, best first, at
   * most `count`. Deleted points, and those of other tenants, are missing. Qdrant before 1.12 cannot compute them: the
   * result is then empty.
   */
  neighboursOf(
    tenant: Tenant,
    space: string,
    points: { readonly ids: readonly string[]; readonly count: number },
    signal?: AbortSignal,
  ): Promise<Map<string, PointHit[]>>;
  /**
   * Returns the dense vectors of a tenant's chunks, by chunk key `fileId:generation:chunkIndex`. Those of other tenants
   * are missing, as are all of a space without a collection.
   */
  retrieve(tenant: Tenant, space: string, keys: readonly ChunkKey[]): Promise<Map<string, number[]>>;
}

/** The fields of the payload that identify a chunk. */
const CHUNK_FIELDS = { include: ['file_id', 'generation', 'chunk_index'] };

function chunkOf({ payload }: Pick<Schemas['Record'], 'payload'>): ChunkKey {
  const { file_id, generation, chunk_index } = (payload ?? {}) as {
    file_id: number;
    generation: number;
    chunk_index: number;
  };
  return { fileId: file_id, generation, chunkIndex: chunk_index };
}

/** Returns no points for a collection that does not exist. */
function emptyIfMissing(error: unknown): [] {
  if (statusOf(error) === 404) return [];
  throw error;
}

/** Orders hits, best first. Ties have a fixed order, so that equal queries have equal answers. */
export const byScore = (a: VectorHit, b: VectorHit): number =>
  b.score - a.score || a.fileId - b.fileId || a.chunkIndex - b.chunkIndex;

/** Orders points, best first. Ties have a fixed order. */
export const byScoreAndId = (a: PointHit, b: PointHit): number => b.score - a.score || (a.id < b.id ? -1 : 1);

/**
 * Creates the reader of points, by similarity and by key. Searches contain the filter of the tenant. Points that are
 * read by id are returned only if their payload has the tenant.
 */
export function createVectorSearch(queryQdrant: QueryQdrant, { nameOf }: Pick<Collections, 'nameOf'>): VectorSearch {
  const pathOf = (space: string): string => `/collections/${encodeURIComponent(nameOf(space))}/points`;
  const find = async (
    { space, model, filter, dense, sparse, limit, exact, signal, ...tenant }: VectorQuery,
    withPayload: typeof CHUNK_FIELDS | false,
  ): Promise<Hits<Schemas['ScoredPoint']>> => {
    const tenantConditions = tenantFilter(tenant);
    const must = [...tenantConditions, { key: 'model', match: { value: model } }, ...filterConditions(filter)];
    const common = { limit, filter: { must }, with_payload: withPayload };
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
              // Computes the rarity of a term from the chunks of this tenant only: other tenants must not change a
              // ranking. Qdrant before 1.19 ignores it (https://github.com/qdrant/qdrant/pull/9661).
              params: { idf: { corpus: { must: tenantConditions } } },
            },
          ]
        : []),
    ];
    if (searches.length === 0) return { dense: [], sparse: [] };
    try {
      const answers = (await queryQdrant(
        `${pathOf(space)}/query/batch`,
        { searches },
        signal,
      )) as Schemas['QueryResponse'][];
      const lists = answers.map(({ points }) => points);
      return { dense: dense ? (lists[0] ?? []) : [], sparse: sparse ? (lists.at(-1) ?? []) : [] };
    } catch (error) {
      if (statusOf(error) === 404) return { dense: [], sparse: [] };
      throw error;
    }
  };
  return {
    async search(query) {
      const { dense, sparse } = await find(query, CHUNK_FIELDS);
      const hits = (points: Schemas['ScoredPoint'][]): VectorHit[] =>
        points.map((point) => ({ ...chunkOf(point), score: point.score })).sort(byScore);
      return { dense: hits(dense), sparse: hits(sparse) };
    },
    async searchIds(query) {
      const { dense, sparse } = await find(query, false);
      const hits = (points: Schemas['ScoredPoint'][]): PointHit[] =>
        points.map(({ id, score }) => ({ id: String(id), score })).sort(byScoreAndId);
      return { dense: hits(dense), sparse: hits(sparse) };
    },
    async chunksOf(tenant, space, ids, signal) {
      if (ids.length === 0) return new Map();
      const include = [...CHUNK_FIELDS.include, ...TENANT_FIELDS];
      const question = { ids, with_vector: false, with_payload: { include } };
      const points = (await queryQdrant(pathOf(space), question, signal).catch(emptyIfMissing)) as Schemas['Record'][];
      const ownPoints = points.filter((point) => isOfTenant(point, tenant));
      return new Map(ownPoints.map((point) => [String(point.id), chunkOf(point)]));
    },
    async neighboursOf(tenant, space, { ids, count }, signal) {
      const nearest = new Map<string, PointHit[]>();
      if (ids.length < 2) return nearest;
      // A sample as large as the filter's points contains all of them:
      // https://github.com/qdrant/qdrant/blob/74f3e85b9473/lib/collection/src/collection/distance_matrix.rs
      const filter = { must: [...tenantFilter(tenant), { has_id: ids }] };
      const question = { filter, sample: ids.length, limit: count, using: DENSE };
      try {
        const answer = (await queryQdrant(
          `${pathOf(space)}/search/matrix/offsets`,
          question,
          signal,
        )) as Schemas['SearchMatrixOffsetsResponse'];
        const idAt = (offset: number | undefined): string => String(answer.ids[offset ?? -1]);
        answer.scores.forEach((score, pair) => {
          const id = idAt(answer.offsets_row[pair]);
          const others = nearest.get(id) ?? [];
          nearest.set(id, [...others, { id: idAt(answer.offsets_col[pair]), score }]);
        });
        return nearest;
      } catch (error) {
        if (statusOf(error) === 404) return nearest;
        throw error;
      }
    },
    async retrieve(tenant, space, keys) {
      const ids = new Map(keys.map((key) => [pointId(key.fileId, key.generation, key.chunkIndex, space), key]));
      const question = { ids: [...ids.keys()], with_vector: [DENSE], with_payload: { include: TENANT_FIELDS } };
      const points = (await queryQdrant(pathOf(space), question).catch(emptyIfMissing)) as Schemas['Record'][];
      const found = new Map<string, number[]>();
      for (const point of points) {
        const key = ids.get(String(point.id));
        const vector = (point.vector as Record<string, number[]> | undefined)?.[DENSE];
        if (key && vector && isOfTenant(point, tenant))
          found.set(`${key.fileId}:${key.generation}:${key.chunkIndex}`, vector);
      }
      return found;
    },
  };
}
