import type { EmbeddingModelId, VectorSpace } from '../contract/embeddingModels.js';

export type { VectorSpace };

/** Why a text is embedded. Somebody waits for a query, so queries go first. */
export type EmbeddingPurpose = 'document' | 'query';

/**
 * One way to compute vectors. Throws a Fault embedding_failed; an aborted signal rejects with its reason instead.
 * Vectors are normalised and in the order of `texts`.
 */
export interface EmbeddingProvider {
  readonly space: VectorSpace;
  /** @param party on whose behalf: parties take turns, the calls of one are served in order. By default each call is its own. */
  embed(
    texts: readonly string[],
    purpose: EmbeddingPurpose,
    signal?: AbortSignal,
    party?: unknown,
  ): Promise<Float32Array[]>;
  close(): Promise<void>;
}

/** Which provider serves which model id, made once at start by createEmbeddings. */
export interface Embeddings {
  /** The space in which texts for this model id are embedded now. */
  spaceOf(model: EmbeddingModelId): VectorSpace;
  /** Embeds in a named space (also one that no longer serves new texts); throws a Fault embedding_failed when nothing serves it. */
  embed(
    space: string,
    texts: readonly string[],
    purpose: EmbeddingPurpose,
    signal?: AbortSignal,
    party?: unknown,
  ): Promise<Float32Array[]>;
  close(): Promise<void>;
}
