/** Reranks texts by how well they answer a query, with external services. */
import type { RerankModel } from '../../contract/vectors/rerankers.js';
import type { Service } from '../serviceClient.js';

/** The index and score of one of the given texts. */
export interface Ranked {
  readonly index: number;
  /** The service's score; higher is better. */
  readonly score: number;
}

export interface Reranker {
  /**
   * Returns the best `count` of the texts, best first; some services omit irrelevant ones.
   * @throws Fault whose message says what to do; also for an invalid response
   */
  rerank(query: string, texts: readonly string[], count: number, signal?: AbortSignal): Promise<Ranked[]>;
}

export interface Rerankers {
  /**
   * Returns the reranker of a model.
   * @throws Fault not_configured naming the missing setting
   */
  choose(model: RerankModel): Reranker;
}

/** Address and key of a service. */
export interface ServiceSettings {
  /** Null: not configured. */
  readonly apiKey: string | null;
  /** Base URL without a trailing slash. */
  readonly baseUrl: string;
}

export interface RerankSettings {
  readonly services: Readonly<Record<'cohere' | 'jina' | 'pongo', ServiceSettings>>;
  /** Time limit of one request in milliseconds: a caller waits for it. */
  readonly timeoutMs: number;
}

/** The differences between services; one file each, providers/<service>.ts. */
export interface RerankService extends Service {
  /** Whether it may return fewer results than requested. */
  readonly filters: boolean;
  createRequest(
    settings: { readonly baseUrl: string; readonly apiKey: string },
    query: string,
    texts: readonly string[],
    count: number,
  ): { readonly url: string; readonly headers: Readonly<Record<string, string>>; readonly body: object };
  /** Returns index and score of each element of an answer, unchecked. Undefined if there is no list. */
  read(answer: unknown): readonly { readonly index: unknown; readonly score: unknown }[] | undefined;
}
