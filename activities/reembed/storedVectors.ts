import { Fault } from '../../contract/failures.js';
import type { ChunkRow } from '../../store/chunks/queries.js';
import type { FileDoc } from '../../store/models/files.js';
import type { Tenant } from '../../store/users/accept.js';
import type { ActivityDeps, OpenedOriginal } from '../deps.js';
import { embedTexts } from '../ingest/prepare/embedTexts.js';
import { callerVectors } from '../ingest/prepare/callerChunks.js';
import { isUploaded, openOriginal } from '../ingest/prepare/originals.js';
import { embedPicture } from '../ingest/prepare/pictures.js';
import type { VectorTarget } from './target.js';

/** Returns the vectors of stored chunks, in their order. */
export type VectorsOfRows = (rows: readonly ChunkRow[]) => Promise<readonly Float32Array[]>;

/**
 * Returns a function that computes vectors of chunks from stored data; nothing is fetched.
 * @param files the files of the requested chunks
 * @throws Fault if the stored data is missing or cannot be embedded
 */
export function createVectorsOfRows(
  tenant: Tenant,
  { space, from }: VectorTarget,
  files: ReadonlyMap<number, FileDoc>,
  deps: ActivityDeps,
  signal: AbortSignal,
): VectorsOfRows {
  if (from === 'chunks') return (rows) => embedTexts(tenant, space, rows, { deps, signal, tokens: null });
  // Keep the vectors of a file: the chunks of a long file are requested in several calls.
  const vectorsByFile = new Map<number, readonly Float32Array[]>();
  const vectorsOf = async (file: FileDoc): Promise<readonly Float32Array[]> =>
    from === 'given vectors'
      ? callerVectors(file, deps)
      : withPicture(file, deps, (picture) => embedPicture(tenant, space, picture, deps, signal));
  return async (rows) => {
    const vectors: Float32Array[] = [];
    for (const { fileId, chunkIndex } of rows) {
      const file = files.get(fileId);
      if (!file) throw new Error(`file ${fileId} does not belong to this batch`);
      const vectorsOfFile = vectorsByFile.get(fileId) ?? (await vectorsOf(file));
      vectorsByFile.set(fileId, vectorsOfFile);
      const vector = vectorsOfFile[chunkIndex];
      if (!vector)
        throw new Fault('broken_content', `The vector of chunk ${chunkIndex} is not stored. Upload the file again.`);
      vectors.push(vector);
    }
    return vectors;
  };
}

/** @throws Fault if this service does not store the picture */
async function withPicture<T>(
  file: FileDoc,
  deps: ActivityDeps,
  work: (picture: OpenedOriginal) => Promise<T>,
): Promise<T> {
  if (!isUploaded(file)) {
    throw new Fault('gone', 'The picture is kept only at its source. Resync the file to embed it again.');
  }
  const picture = await openOriginal(file, deps, true);
  try {
    return await work(picture);
  } finally {
    await picture.close();
  }
}
