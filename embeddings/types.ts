import type { EmbeddingModelId } from '../contract/embeddingModels.js';

/** What computed a vector. Vectors of different spaces are never compared; each has a Qdrant collection of its own. */
export interface VectorSpace {
  /** Stable for ever, e.g. minilm-l6-v2-384: stored on files and used in point ids. */
  readonly name: string;
  readonly dimensions: number;
}

/** One way to compute vectors. Throws a Fault embedding_failed. Vectors are normalised and in the order of `texts`. */
export interface EmbeddingProvider {
  readonly space: VectorSpace;
  embed(texts: readonly string[], purpose: 'document' | 'query', signal?: AbortSignal): Promise<Float32Array[]>;
  close(): Promise<void>;
}

/** Which provider serves which model id, made once at start by createEmbeddings. */
export interface Embeddings {
  /** The space in which texts for this model id are embedded now. */
  spaceOf(model: EmbeddingModelId): VectorSpace;
  /** Embeds in a named space (also one that no longer serves new texts); throws a Fault embedding_failed when nothing serves it. */
  embed(space: string, texts: readonly string[], purpose: 'document' | 'query', signal?: AbortSignal): Promise<Float32Array[]>;
  close(): Promise<void>;
}
