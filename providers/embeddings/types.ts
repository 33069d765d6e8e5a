import type { EmbeddingModelId, EmbeddingModelRow, VectorSpace } from '../../contract/vectors/embeddingModels.js';
import type { FairnessKey } from './fairQueue.js';

export type { VectorSpace };

/** Purpose of an embedding. Queries are served first, because their callers wait. */
export type EmbeddingPurpose = 'document' | 'query';

/**
 * Computes the vectors of one vector space, with one model. Throws a Fault of kind embedding_failed, or of the kind of
 * the provider's error; an aborted signal rejects with its reason instead. Vectors are normalised and in the order of
 * their inputs.
 */
export interface EmbeddingProvider {
  readonly space: VectorSpace;
  /** Starts slow preparations before the first text is embedded. Absent if there are none. */
  prepare?(): void;
  /**
   * Embeds texts.
   * @param fairnessKey organization and user of the texts. The organizations take turns, and so do the users of each;
   * calls with the same fairnessKey are served in order. By default, each call takes turns on its own.
   */
  embed(
    texts: readonly string[],
    purpose: EmbeddingPurpose,
    signal?: AbortSignal,
    fairnessKey?: FairnessKey,
  ): Promise<Float32Array[]>;
  /** Embeds PNG, JPEG, GIF or BMP files in the same space as texts. Absent: the model accepts only texts. */
  embedImages?(images: readonly Uint8Array[], signal?: AbortSignal, fairnessKey?: FairnessKey): Promise<Float32Array[]>;
  close(): Promise<void>;
}

/** The usage of one answered request to a provider, for one of the organizations whose inputs it contained. */
export interface EmbeddingUsage {
  readonly requests: number;
  /**
   * Number of tokens: the provider's count if it reports one, else our own (cl100k). If a request contains inputs of
   * several organizations, each has the share of the count that its inputs have by our own count.
   */
  readonly tokens: number;
}

/** Called after each answered request to a provider, once per organization whose inputs it contained. */
export type OnUsage = (organizationId: number, space: string, usage: EmbeddingUsage) => void;

/** Called after each request to a provider. @param outcome the kind of the Outcome (remote/exchange.ts) */
export type OnRequest = (space: string, outcome: string) => void;

/** The provider and model that serve a model id. */
export interface ServedModel {
  readonly model: EmbeddingModelId;
  /** Null: the embedded model, which runs on this machine. */
  readonly provider: EmbeddingModelRow['provider'] | null;
  /** The provider's name of the model. */
  readonly upstream: string;
  readonly space: VectorSpace;
  /** Maximum number of tokens that are embedded at once; longer texts are cut into windows. */
  readonly window: number;
  readonly takesImages: boolean;
}

/** Maps model ids to providers; created once at start by createEmbeddings. */
export interface Embeddings {
  /** Returns the space in which texts for this model id are embedded now. */
  spaceOf(model: EmbeddingModelId): VectorSpace;
  /** Starts to load the model of a space, before its first text arrives. Does nothing if the model is loaded. */
  prepare(space: string): void;
  /** Returns every model id in the order of the contract. */
  models(): readonly ServedModel[];
  /**
   * Embeds in a named space, also in one that no longer serves new texts.
   * @throws Fault embedding_failed when no provider serves it
   */
  embed(
    space: string,
    texts: readonly string[],
    purpose: EmbeddingPurpose,
    signal?: AbortSignal,
    fairnessKey?: FairnessKey,
  ): Promise<Float32Array[]>;
  /**
   * Embeds pictures in a named space.
   * @throws Fault unsupported_type if its model accepts only texts
   */
  embedImages(
    space: string,
    images: readonly Uint8Array[],
    signal?: AbortSignal,
    fairnessKey?: FairnessKey,
  ): Promise<Float32Array[]>;
  close(): Promise<void>;
}
