import type { VectorSpace } from '../contract/embeddingModels.js';
import type { SparseVector } from '../contract/sparseVectors.js';
import type { ProcessedDocument } from '../documents/types.js';
import type { SmallContent } from '../store/contents/contents.js';
import type { FinishedSync } from '../store/files/commands.js';
import type { StartedFile } from '../store/files/start.js';

/** A file whose content is fetched, read and embedded: all that is left is to write it down. */
export interface PreparedFile {
  readonly started: StartedFile;
  readonly finished: FinishedSync;
  /** To be written with the chunks; null when it is kept already. */
  readonly content: SmallContent | null;
  /** To be given to `closeText` once it is written, or not to be. */
  readonly document: ProcessedDocument | null;
  readonly space: VectorSpace | null;
  readonly vectors: readonly Float32Array[];
  /** Of each chunk, made when it is written; absent where no sparse vectors are wanted. */
  readonly sparseOf?: (chunkIndex: number) => SparseVector | null;
}

/** Gives back what a long text takes on disk. */
export function closeText(document: ProcessedDocument | null): void {
  if (document !== null && typeof document.text !== 'string') document.text.close();
}
