/** The interface of outbound requests. createEgress is its only implementation. */

export interface EgressSettings {
  /**
   * Hosts, host:port or CIDR ranges that may be called although they are private. Link-local and metadata addresses are
   * never allowed.
   */
  readonly allowedPrivateHosts: readonly string[];
  /** Ports that may be called in addition to those in allowedPrivateHosts; empty: any port. */
  readonly allowedPorts: readonly number[];
  readonly userAgent: string;
  readonly connectTimeoutMs: number;
  /** Milliseconds from the request to the response headers. */
  readonly headersTimeoutMs: number;
  /** Maximum milliseconds between two parts of a body. */
  readonly bodyTimeoutMs: number;
  readonly maxRedirects: number;
  /** Maximum number of connections to one host. */
  readonly connectionsPerHost: number;
  /** URLs of the premium HTTP proxies, with credentials if needed. Secret. */
  readonly premiumProxies: readonly string[];
}

/** Called when an exchange begins, with its method and host only. The returned function is called with the result. */
export type WatchRequest = (call: {
  readonly system: 'http';
  readonly operation: string;
  readonly target: string;
}) => (end: { readonly failed: boolean; readonly status?: number }) => void;

/** The route of a request: directly to the site, or through the next of EgressSettings.premiumProxies. */
export type RouteKind = 'direct' | 'premium_proxy';

export interface EgressRequest {
  readonly url: string;
  readonly method?: 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly headers?: Readonly<Record<string, string>>;
  /** A stream can be sent only once, so it requires `redirects: 'answer'`. It is closed with the exchange. */
  readonly body?: string | Uint8Array | AsyncIterable<Uint8Array>;
  /** Length of a streamed body, if known; otherwise the body is sent in chunks. */
  readonly bodyBytes?: number;
  readonly signal?: AbortSignal;
  /** Maximum size of the decoded body in bytes; beyond it the read fails with a Fault too_large. */
  readonly maxBytes: number;
  /** Time limit of the whole exchange, including redirects and body, in milliseconds. */
  readonly totalTimeoutMs: number;
  /** Default: direct. All redirects use the same route. */
  readonly route?: RouteKind;
  /** Default: follow. With `answer`, a redirect is returned as the response. */
  readonly redirects?: 'follow' | 'answer';
  /** Called before a redirect is followed, with its status. An error that it throws ends the exchange. */
  readonly onRedirect?: (url: string, status: number) => Promise<void> | void;
}

export interface EgressResponse {
  readonly status: number;
  /** Header names in lower case; repeated headers are joined with ', '. */
  readonly headers: Readonly<Record<string, string>>;
  /** The final URL after redirects. */
  readonly url: string;
  /**
   * The decoded body (gzip, deflate, br) as a stream, limited by maxBytes, the timeouts and the signal. Read it or call
   * discard().
   */
  readonly body: AsyncIterable<Uint8Array>;
  /** Reads the whole body. */
  bytes(): Promise<Uint8Array>;
  /** Releases the connection without reading the remaining body. */
  discard(): Promise<void>;
}

/** An HTTP proxy on loopback for a browser. Every request and tunnel passes the same checks. */
export interface EgressProxy {
  /** Value of the browser's proxy setting. */
  readonly url: string;
  /** Returns whether maxBytes was exceeded; the proxy then forwards nothing. */
  exceeded(): boolean;
  /** Returns host:port of each refused target, without duplicates. */
  refused(): readonly string[];
  /** Closes every request and tunnel. */
  close(): Promise<void>;
}

/**
 * Sends the outbound requests of the service. Every address is resolved and checked at each connection, also after
 * redirects. Throws a Fault (address_refused, dns_failed, unreachable, timed_out, too_many_redirects, too_large). An
 * HTTP error status is a response, not an error. Aborting `signal` rejects with its reason.
 */
export interface Egress {
  request(request: EgressRequest): Promise<EgressResponse>;
  /**
   * Resolves a URL's host and throws a Fault address_refused when the URL may not be called. Used when a URL is
   * accepted.
   */
  check(url: string, signal?: AbortSignal): Promise<void>;
  /**
   * Returns whether a URL may be called by its port and, if its host is an IP literal, its host. Does not resolve
   * names.
   */
  mayCall(url: URL): boolean;
  /** Whether premium proxies are configured. Without them, a request with the route premium_proxy throws an Error. */
  readonly hasPremiumProxies: boolean;
  /**
   * Opens a proxy for one rendered page. A browser resolves names and follows redirects by itself, so checking its URLs
   * beforehand is not enough. `maxBytes` limits all responses together, in bytes on the wire.
   */
  openProxy(options: { readonly maxBytes: number; readonly route?: RouteKind }): Promise<EgressProxy>;
  close(): Promise<void>;
}
