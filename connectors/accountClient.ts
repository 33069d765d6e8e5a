import type { SourceCache } from './sourceCache.js';
import type { OAuthGrant } from './oauthSpec.js';

/** An error response of a source. */
export interface Refusal {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** The parsed JSON, or the text of other bodies. */
  readonly body: unknown;
}

/** A request that a connector builds itself, for instance because it is signed. */
export interface SourceRequest {
  readonly url: string;
  /** Unset: GET. */
  readonly method?: 'GET' | 'POST';
  readonly body?: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Whether it requests the content of an item. If so, the size and time limits for contents apply. */
  readonly isContent: boolean;
  /** Returns true for error responses that the connector handles itself: they are returned instead of thrown. */
  readonly isExpected: (refusal: Refusal) => boolean;
}

export interface SourceAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly bytes: Uint8Array;
}

/** The place of the list in an answer. */
export interface ListShape {
  /** The field of the answer with the list; absent: the answer is the list. */
  readonly within?: string;
  /** Whether the source answers 204 for an empty list. Otherwise an answer without a list is an error. */
  readonly isEmptyAt204?: boolean;
}

/** Options of a call. */
export interface CallOptions {
  /** Name of the source's base URL; unset: `api`. */
  readonly at?: string;
  /** Additional headers of this call. They replace the connector's headers of the same name. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Whether the body is sent as a form; unset: as JSON. */
  readonly asForm?: boolean;
}

/** Calls a source for one account: with the account's headers, within its limits, and with Faults for errors. */
export interface SourceClient {
  /** Aborts all requests in progress. */
  readonly signal: AbortSignal;
  /** Base URLs of the source, by name. */
  readonly urls: Readonly<Record<string, string>>;
  /**
   * Returns the JSON at a path below one of the source's base URLs. Throws a Fault.
   * @param path its segments, not encoded. `get` encodes each, so a `/` in a caller's id adds no segment
   */
  get(
    path: readonly string[],
    query: Readonly<Record<string, string>>,
    options?: CallOptions,
  ): Promise<Readonly<Record<string, unknown>>>;
  /**
   * Like `get`, with a POST request. @param body undefined: an empty object; some methods without arguments require
   * null
   */
  post(path: readonly string[], body: unknown, options?: CallOptions): Promise<Readonly<Record<string, unknown>>>;
  /**
   * Like `get` for a list. Also returns the headers, because some sources name the next page there.
   * @param shape where the list is in the answer
   */
  list(
    path: readonly string[],
    query: Readonly<Record<string, string>>,
    shape?: ListShape,
  ): Promise<{ readonly values: readonly unknown[]; readonly headers: Readonly<Record<string, string>> }>;
  /** Returns the content of an item. Redirects are followed without credentials. Throws a Fault. */
  content(
    path: readonly string[],
    query: Readonly<Record<string, string>>,
    options?: CallOptions,
  ): Promise<SourceAnswer>;
  /** Sends a request within the same limits and with the same Faults. The headers of the connector are not added. */
  send(request: SourceRequest): Promise<SourceAnswer>;
}

/** The client of an account for one call of a connector; the first argument of each of its functions. */
export interface AccountClient<Credentials = unknown> extends SourceClient {
  readonly credentials: Credentials;
  /** Values that calls of this source have cached. */
  readonly cache: SourceCache;
}

/** The client of an account whose user gave consent. */
export type GrantClient = AccountClient<OAuthGrant>;
