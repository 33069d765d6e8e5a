import type { EmbeddingPurpose, VectorSpace } from '../types.js';

/** One input to embed: a window of a text, or a picture. */
export type Input =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'image'; readonly bytes: Uint8Array };

/** Maximum content of one request. */
export interface RequestLimits {
  readonly inputs: number;
  readonly tokens: number;
  readonly bytes: number;
}

/** Maximum size of one input; longer texts are cut. */
export interface InputLimits {
  /**
   * Counted by `countTokens` (cl100k). Lower than the model's own limit if its tokenizer makes more tokens of a text.
   */
  readonly tokens: number;
  /** Bytes of UTF-8. */
  readonly bytes: number;
}

export interface RemoteRequest {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Sent as JSON. */
  readonly body: unknown;
}

/** A provider's response, not validated yet. */
export interface RemoteAnswer {
  /** In the order of the inputs; undefined for a missing or invalid one. */
  readonly vectors: readonly (Float32Array | undefined)[];
  /** Billed tokens; null when the provider does not report them. */
  readonly tokens: number | null;
}

/** The differences between providers and their models. */
export interface RemoteModel {
  readonly space: VectorSpace;
  readonly request: RequestLimits;
  readonly input: InputLimits;
  /** Maximum size of a picture in bytes; absent: the model accepts only texts. */
  readonly imageBytes?: number;
  /**
   * Builds a request.
   * @throws Fault when credentials cannot be obtained
   */
  createRequest(inputs: readonly Input[], purpose: EmbeddingPurpose, signal: AbortSignal): Promise<RemoteRequest>;
  /** Parses a whole response; throws any error if its shape is wrong. */
  read(answer: unknown, count: number): RemoteAnswer;
  /** Discards a rejected credential; returns false if there is no other one. */
  renew?(): boolean;
}

/** The provider that a key belongs to, with the names that error messages use. */
export interface Upstream {
  /** E.g. OpenAI. */
  readonly name: string;
  /** The settings that contain its credentials. */
  readonly credentials: string;
  /** The settings that contain its address and models. */
  readonly address: string;
}

/** Limits of the use of one key. */
export interface KeyLimits {
  /** Lower and upper limit of parallel requests. */
  readonly minConcurrency: number;
  readonly maxConcurrency: number;
  /** Maximum number of attempts of one request, not counting 429. */
  readonly tries: number;
  /** Timeout of one request in milliseconds. */
  readonly timeoutMs: number;
  /**
   * Maximum time in milliseconds from the first 429 of a request with texts of documents to its last attempt, and
   * maximum pause before a retry after another error. The time before the first attempt does not count.
   */
  readonly timeLimitMs: number;
}
