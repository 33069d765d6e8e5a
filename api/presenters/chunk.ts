import type { ChunkRecord } from '../../contract/files/records.js';
import type { StoredChunk } from '../../store/models/chunks.js';

/** Converts a stored chunk to its record; `embedding` is null unless vectors were requested. */
export function presentChunk(chunk: StoredChunk, embedding: number[] | null): ChunkRecord {
  return {
    user_file_id: chunk.fileId,
    chunk_index: chunk.chunkIndex,
    source_content: chunk.text,
    embedding,
    content_metadata: chunk.metadata,
  };
}
