import type { FactCache } from './factCache.js';
import type { OAuthGrant } from './oauthSpec.js';

/** The answer of a source that is not a success. */
export interface Refusal {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** Parsed where it is JSON; else the text. */
  readonly body: unknown;
}

/** A request that a connector made up by itself, for instance because it is signed. */
export interface SourceRequest {
  readonly url: string;
  /** Unset: GET. */
  readonly method?: 'GET' | 'POST';
  readonly body?: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Whether the content of an item is asked for: bounded and timed as such. */
  readonly isContent: boolean;
  /** Refusals that its connector deals with itself: they are answers. */
  readonly takes: (refusal: Refusal) => boolean;
}

export interface SourceAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly bytes: Uint8Array;
}

/** Where an answer has its list. */
export interface ListShape {
  /** The field of the answer with the list; absent: the answer is the list. */
  readonly within?: string;
  /** Whether the source answers 204 for an empty list. Otherwise an answer without a list is an error. */
  readonly isEmptyAt204?: boolean;
}

/** What a call may need besides its path. */
export interface CallOptions {
  /** Which of the source's addresses; unset: `api`. */
  readonly at?: string;
  /** Put on, or put in place of, what every request carries. */
  readonly headers?: Readonly<Record<string, string>>;
  /** What is posted goes as a form of texts; unset: as JSON. */
  readonly asForm?: boolean;
}

/** Calls a source for one account until its signal aborts: with the account's headers, within its limits, and with Faults for errors. */
export interface SourceClient {
  /** Ends each request that is under way. */
  readonly signal: AbortSignal;
  /** Where the source is, by the parts of its row. */
  readonly urls: Readonly<Record<string, string>>;
  /**
   * The JSON at a path below one of the source's addresses. Throws a Fault.
   * @param path its parts, not encoded: what a caller named stays one part
   */
  get(
    path: readonly string[],
    query: Readonly<Record<string, string>>,
    options?: CallOptions,
  ): Promise<Readonly<Record<string, unknown>>>;
  /** The same, asked for by a POST. @param body unset: an empty object; some methods without arguments want null */
  post(path: readonly string[], body: unknown, options?: CallOptions): Promise<Readonly<Record<string, unknown>>>;
  /**
   * Like `get` for a list, with the headers that contain the next page.
   * @param shape where the list is in the answer
   */
  list(
    path: readonly string[],
    query: Readonly<Record<string, string>>,
    shape?: ListShape,
  ): Promise<{ readonly values: readonly unknown[]; readonly headers: Readonly<Record<string, string>> }>;
  /** The content of an item. Redirects are followed, without credentials. Throws a Fault. */
  content(
    path: readonly string[],
    query: Readonly<Record<string, string>>,
    options?: CallOptions,
  ): Promise<SourceAnswer>;
  /** The answer to a request, in the same turn and with the same Faults. `headers` of the connector are not put on. */
  send(request: SourceRequest): Promise<SourceAnswer>;
}

/** What each function of a connector gets first: the client of an account, for the length of one call. */
export interface AccountClient<Credentials = unknown> extends SourceClient {
  readonly credentials: Credentials;
  /** Facts that calls of this source have cached. */
  readonly cache: FactCache;
}

/** The client of an account whose user gave consent. */
export type GrantClient = AccountClient<OAuthGrant>;
