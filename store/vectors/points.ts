import type { QdrantClient } from '@qdrant/js-client-rest';

import type { VectorSpace } from '../../contract/vectors/embeddingModels.js';
import { type Collections, DENSE, SPARSE, statusOf } from './collection.js';
import { pointId } from './pointId.js';

/** A complete point, which can be restored exactly. */
export interface WholePoint {
  readonly chunkIndex: number;
  readonly dense: Float32Array;
  /** Both arrays have the same length, and each index occurs once; null if the chunk has no sparse vector. */
  readonly sparse: { readonly indices: Uint32Array; readonly values: Float32Array } | null;
  readonly payload: Readonly<Record<string, unknown>>;
}

/** The points of a file's published generation, the one that readers see. */
export interface PointsOfFile {
  readonly fileId: number;
  readonly generation: number;
  readonly space: VectorSpace;
}

export interface WholePoints {
  /** Yields points in batches, in the order of the chunks. Missing points are omitted. */
  readPoints(file: PointsOfFile, count: number): AsyncIterable<WholePoint[]>;
  /**
   * Writes points under their original ids. Safe to repeat. @param changed payload fields with new values
   */
  writePoints(
    file: PointsOfFile,
    points: readonly WholePoint[],
    changed: Readonly<Record<string, unknown>>,
  ): Promise<void>;
}

/** Maximum number of floats per request: about 8 MB of JSON, less than 16 MB with sparse vectors. */
const FLOATS_AT_ONCE = 300_000;

/** The vectors of a point in Qdrant's answer. */
interface NamedVectors {
  readonly [DENSE]?: readonly number[];
  readonly [SPARSE]?: { readonly indices: readonly number[]; readonly values: readonly number[] };
}

/** Reads complete points, and writes them again with the same vectors. */
export function createWholePoints(client: QdrantClient, collections: Collections): WholePoints {
  const idOf = ({ fileId, generation, space }: PointsOfFile, chunkIndex: number): string =>
    pointId(fileId, generation, chunkIndex, space.name);
  const read = async (file: PointsOfFile, ids: readonly string[]): Promise<WholePoint[]> => {
    try {
      const points = await client.retrieve(collections.nameOf(file.space.name), {
        ids: [...ids],
        with_vector: true,
        with_payload: true,
      });
      return points
        .flatMap(({ vector, payload }): WholePoint[] => {
          const { [DENSE]: dense, [SPARSE]: sparse } = (vector ?? {}) as NamedVectors;
          if (!dense || !payload) return [];
          return [
            {
              chunkIndex: Number(payload['chunk_index']),
              dense: Float32Array.from(dense),
              sparse: sparse
                ? { indices: Uint32Array.from(sparse.indices), values: Float32Array.from(sparse.values) }
                : null,
              payload,
            },
          ];
        })
        .sort((a, b) => a.chunkIndex - b.chunkIndex);
    } catch (error) {
      if (statusOf(error) === 404) return [];
      throw error;
    }
  };
  const stepOf = ({ space }: PointsOfFile): number => Math.max(1, Math.floor(FLOATS_AT_ONCE / space.dimensions));
  return {
    async *readPoints(file, count) {
      const step = stepOf(file);
      for (let from = 0; from < count; from += step) {
        const length = Math.min(step, count - from);
        const ids = Array.from({ length }, (_, index) => idOf(file, from + index));
        yield await read(file, ids);
      }
    },
    async writePoints(file, points, changed) {
      const step = stepOf(file);
      for (let from = 0; from < points.length; from += step) {
        const written = points.slice(from, from + step).map(({ chunkIndex, dense, sparse, payload }) => ({
          id: idOf(file, chunkIndex),
          vector: {
            [DENSE]: Array.from(dense),
            ...(sparse && { [SPARSE]: { indices: Array.from(sparse.indices), values: Array.from(sparse.values) } }),
          },
          payload: { ...payload, ...changed },
        }));
        await collections.write(file.space, (name) => client.upsert(name, { wait: true, points: written }));
      }
    },
  };
}
