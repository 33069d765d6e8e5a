import type { EmbeddingModelId, EmbeddingModelRow, VectorSpace } from '../../contract/embeddingModels.js';
import type { Party } from './fairQueue.js';

export type { VectorSpace };

/** Why a text is embedded. Somebody waits for a query, so queries go first. */
export type EmbeddingPurpose = 'document' | 'query';

/**
 * One way to compute vectors. Throws a Fault, of kind embedding_failed or that of the provider's answer; an aborted
 * signal rejects with its reason instead. Vectors are normalised and in the order of what they were made of.
 */
export interface EmbeddingProvider {
  readonly space: VectorSpace;
  /** Something is about to be embedded: begins whatever takes its time before the first text. Absent where nothing does. */
  prepare?(): void;
  /** @param party takes turns with others; the calls of one party are served in order. By default each call is a party of its own. */
  embed(
    texts: readonly string[],
    purpose: EmbeddingPurpose,
    signal?: AbortSignal,
    party?: Party,
  ): Promise<Float32Array[]>;
  /** PNG, JPEG, GIF or BMP files, in the same space as texts. Absent: the model takes texts only. */
  embedImages?(images: readonly Uint8Array[], signal?: AbortSignal, party?: Party): Promise<Float32Array[]>;
  close(): Promise<void>;
}

/** What one answered request of a provider took, for one of the parties it was made for. */
export interface EmbeddingUsage {
  readonly requests: number;
  /** As the provider counts them where it says so, else as we do. A request for several parties is divided. */
  readonly tokens: number;
}

/** Called after each answered request to a provider, for each of the organizations it was made for. */
export type OnUsage = (organizationId: number, space: string, usage: EmbeddingUsage) => void;

/** Told after each request to a provider, whatever came of it, in a word. */
export type OnRequest = (space: string, outcome: string) => void;

/** Which provider serves a model id, and how. */
export interface ServedModel {
  readonly model: EmbeddingModelId;
  /** Null: the embedded model. */
  readonly provider: EmbeddingModelRow['provider'] | null;
  /** What the provider calls it. */
  readonly upstream: string;
  readonly space: VectorSpace;
  /** Tokens that are embedded at once; longer texts are by windows. */
  readonly window: number;
  readonly takesImages: boolean;
}

/** Which provider serves which model id, made once at start by createEmbeddings. */
export interface Embeddings {
  /** The space in which texts for this model id are embedded now. */
  spaceOf(model: EmbeddingModelId): VectorSpace;
  /** Texts for a space will come soon: a model that has to be loaded is loaded meanwhile. Costs nothing where it is. */
  prepare(space: string): void;
  /** Every model id, in the order of the contract. */
  models(): readonly ServedModel[];
  /** Embeds in a named space (also one that no longer serves new texts); throws a Fault embedding_failed when nothing serves it. */
  embed(
    space: string,
    texts: readonly string[],
    purpose: EmbeddingPurpose,
    signal?: AbortSignal,
    party?: Party,
  ): Promise<Float32Array[]>;
  /** Embeds pictures in a named space; throws a Fault unsupported_type where its model takes texts only. */
  embedImages(
    space: string,
    images: readonly Uint8Array[],
    signal?: AbortSignal,
    party?: Party,
  ): Promise<Float32Array[]>;
  close(): Promise<void>;
}
