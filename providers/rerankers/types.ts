/** A query and texts → the texts in the order of how well they answer it, by services of others. */
import type { RerankModel } from '../../contract/rerankers.js';
import type { Service } from '../serviceClient.js';

/** One text of those that were sent, by its place among them. */
export interface Ranked {
  readonly index: number;
  /** As the service scores it; higher is better. */
  readonly score: number;
}

export interface Reranker {
  /**
   * The best `count` of the texts, best first; some services may leave out what they find irrelevant.
   * @throws Fault whose message says what to do; a wrong answer is one too, and nothing of it is given on
   */
  rerank(query: string, texts: readonly string[], count: number, signal?: AbortSignal): Promise<Ranked[]>;
}

export interface Rerankers {
  /** @throws Fault not_configured naming the setting that is missing */
  choose(model: RerankModel): Reranker;
}

/** How a service is reached. */
export interface ServiceSettings {
  /** Null: it is not configured. */
  readonly apiKey: string | null;
  /** Without a slash at its end. */
  readonly baseUrl: string;
}

export interface RerankSettings {
  readonly services: Readonly<Record<'cohere' | 'jina' | 'pongo', ServiceSettings>>;
  /** For one request: somebody waits for it. */
  readonly timeoutMs: number;
}

/** What is particular to one service, in providers/<service>.ts. */
export interface RerankService extends Service {
  /** Whether it may answer fewer than it was asked for. */
  readonly filters: boolean;
  ask(
    settings: { readonly baseUrl: string; readonly apiKey: string },
    query: string,
    texts: readonly string[],
    count: number,
  ): { readonly url: string; readonly headers: Readonly<Record<string, string>>; readonly body: object };
  /** Index and score of each element of an answer as they stand there; checked by the caller. Undefined for no list. */
  read(answer: unknown): readonly { readonly index: unknown; readonly score: unknown }[] | undefined;
}
