/** Options and results of the baseline of `bench:retrieval`, `bench/langchain/retrieve.ts`. */
import type { EmbeddingModel } from '../../engines/embeddingModel.js';

export interface RetrievalOptions {
  /** A QuestionSet as JSON. */
  readonly file: string;
  readonly chunkSize: number;
  readonly chunkOverlap: number;
  /** Number of chunks in one list. */
  readonly depth: number;
  readonly vectors: EmbeddingModel & { readonly qdrantUrl: string; readonly threads: number };
}

export interface RetrievalDone {
  /** The passage of each chunk. */
  readonly passages: readonly number[];
  /** Indexes of chunks for each question, best first. */
  readonly dense: readonly (readonly number[])[];
  readonly bm25: readonly (readonly number[])[];
}
