import type { EmbeddingPurpose, VectorSpace } from '../types.js';

/** One thing to embed: a window of a text, or a picture. */
export type Input =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'image'; readonly bytes: Uint8Array };

/** What one request may hold at most. */
export interface RequestLimits {
  readonly inputs: number;
  readonly tokens: number;
  readonly bytes: number;
}

/** What one input may be at most; longer texts are cut. */
export interface InputLimits {
  /** As `countTokens` counts (cl100k): below the model's own where its tokenizer makes more tokens of a text. */
  readonly tokens: number;
  /** Bytes of UTF-8. */
  readonly bytes: number;
}

export interface RemoteRequest {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** To be sent as JSON. */
  readonly body: unknown;
}

/** A provider's answer as it stands; nothing of it is believed yet. */
export interface RemoteAnswer {
  /** In the order of the inputs; what is missing or no list of numbers is left undefined. */
  readonly vectors: readonly (Float32Array | undefined)[];
  /** Tokens that are billed; null when the provider does not say. */
  readonly tokens: number | null;
}

/** All that differs between providers and their models. */
export interface RemoteModel {
  readonly space: VectorSpace;
  readonly request: RequestLimits;
  readonly input: InputLimits;
  /** Bytes of a picture at most; absent: the model takes texts only. */
  readonly imageBytes?: number;
  /** Throws a Fault when credentials can't be had. */
  ask(inputs: readonly Input[], purpose: EmbeddingPurpose, signal: AbortSignal): Promise<RemoteRequest>;
  /** Reads a whole answer; throws anything for one of another shape. */
  read(answer: unknown, count: number): RemoteAnswer;
  /** Forgets a credential that was refused; false when there is no other to try. */
  renew?(): boolean;
}

/** Who is called with one key, in words for the user. */
export interface Upstream {
  /** E.g. OpenAI. */
  readonly name: string;
  /** The settings that hold its credentials. */
  readonly credentials: string;
  /** The settings that say where it is and what is asked for. */
  readonly address: string;
}

/** How hard one key is used. */
export interface RemotePace {
  /** Requests at once: never fewer, never more. */
  readonly minConcurrency: number;
  readonly maxConcurrency: number;
  /** Times one request is sent at most when it fails otherwise than by 429. */
  readonly tries: number;
  /** Time of one request. */
  readonly timeoutMs: number;
  /** How long texts of documents wait at most, in one try of their file, while the provider refuses with 429. */
  readonly patienceMs: number;
}
