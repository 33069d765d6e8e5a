import type { EmbeddingModelId, VectorSpace } from '../../contract/vectors/embeddingModels.js';
import type { MediaType } from '../../contract/files/mediaTypes.js';
import type { SourceType } from '../../contract/sources/sources.js';
import type { SparseVector } from '../../contract/vectors/sparseVectors.js';
import type { Tenant } from '../users/accept.js';
import { DENSE, SPARSE } from './collection.js';
import { pointId } from './pointId.js';

/** The vectors of one file's new generation, in chunk order. */
export interface FileVectors extends Tenant {
  readonly fileId: number;
  /** The index of the first of these chunks; absent: 0. */
  readonly firstChunk?: number;
  readonly parentId: number | null;
  /** Ids of the file's ancestors. */
  readonly ancestors: readonly number[];
  readonly generation: number;
  readonly space: VectorSpace;
  readonly model: EmbeddingModelId;
  readonly source: SourceType;
  /** Type of a helpdesk item; null for other sources. */
  readonly fileTypeAtSource: string | null;
  readonly mediaType: MediaType;
  readonly tagPairs: readonly string[];
  readonly vectors: readonly Float32Array[];
  /** Computes the sparse vector of a chunk when it is written; absent if the file has none. */
  readonly sparseOf?: (chunkIndex: number) => SparseVector | null;
}

/**
 * Returns the Qdrant point of one chunk. The same file, generation, chunk and space give the same id.
 * @param index index into the vectors
 */
export function pointOf(file: FileVectors, index: number) {
  const chunkIndex = (file.firstChunk ?? 0) + index;
  const sparse = file.sparseOf?.(chunkIndex) ?? null;
  return {
    id: pointId(file.fileId, file.generation, chunkIndex, file.space.name),
    vector: {
      [DENSE]: Array.from(file.vectors[index] ?? []),
      ...(sparse ? { [SPARSE]: { indices: [...sparse.indices], values: [...sparse.values] } } : {}),
    },
    payload: {
      organization_id: String(file.organizationId),
      user_id: file.userId,
      file_id: file.fileId,
      parent_id: file.parentId,
      ancestors: file.ancestors,
      generation: file.generation,
      chunk_index: chunkIndex,
      model: file.model,
      source: file.source,
      file_type_at_source: file.fileTypeAtSource,
      media_type: file.mediaType,
      tags: file.tagPairs,
    },
  };
}
