import type { ChunkRecord } from '../../contract/records.js';
import type { StoredChunk } from '../../store/chunks/model.js';

/** A stored chunk as the interface answers it; `embedding` is null unless vectors were asked for. */
export function presentChunk(chunk: StoredChunk, embedding: number[] | null): ChunkRecord {
  return {
    user_file_id: chunk.fileId,
    chunk_index: chunk.chunkIndex,
    source_content: chunk.text,
    embedding,
    content_metadata: chunk.metadata,
  };
}
