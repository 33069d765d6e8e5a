/** What the rest of the service knows of the one way out. The implementation is made once, by createEgress. */

export interface EgressSettings {
  /** Hosts, host:port or CIDR that may be called although they are private. Link-local and metadata addresses never. */
  readonly allowedPrivateHosts: readonly string[];
  /** Ports that may be called besides those named in allowedPrivateHosts; empty means any. */
  readonly allowedPorts: readonly number[];
  readonly userAgent: string;
  readonly connectTimeoutMs: number;
  /** From the request to its headers. */
  readonly headersTimeoutMs: number;
  /** Silence allowed between two parts of a body. */
  readonly bodyTimeoutMs: number;
  readonly maxRedirects: number;
  /** Connections held open to one host at most. */
  readonly connectionsPerHost: number;
  /** The second way out: addresses of HTTP proxies, with credentials where they need them. Secret. */
  readonly premiumProxies: readonly string[];
}

/** Told as an exchange begins: its method and host, nothing else of its address. What it gives back is told how that ended. */
export type WatchRequest = (call: {
  readonly system: 'http';
  readonly operation: string;
  readonly target: string;
}) => (end: { readonly failed: boolean; readonly status?: number }) => void;

/** How a request leaves: straight to the site, or through the proxies of EgressSettings.premiumProxies in turn. */
export type Way = 'direct' | 'premium_proxy';

export interface EgressRequest {
  readonly url: string;
  readonly method?: 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly headers?: Readonly<Record<string, string>>;
  /** A stream can be sent once: it is for `redirects: 'answer'` alone, and is ended with the exchange. */
  readonly body?: string | Uint8Array | AsyncIterable<Uint8Array>;
  /** Of a stream: its length, where that is known; unset: it is sent in chunks. */
  readonly bodyBytes?: number;
  readonly signal?: AbortSignal;
  /** Bytes of the decoded body at most; past it the read fails with a Fault too_large. */
  readonly maxBytes: number;
  /** The whole exchange, redirects and body included, in milliseconds. */
  readonly totalTimeoutMs: number;
  /** Unset: direct. All redirects leave the same way. */
  readonly way?: Way;
  /** Unset: follow. `answer`: a redirect is an answer like any other. */
  readonly redirects?: 'follow' | 'answer';
  /** Called before a redirect is followed, with its status; what it throws ends the exchange. */
  readonly onRedirect?: (url: string, status: number) => Promise<void> | void;
}

export interface EgressResponse {
  readonly status: number;
  /** Names in lower case; a repeated header is joined by ', '. */
  readonly headers: Readonly<Record<string, string>>;
  /** Where the redirects ended. */
  readonly url: string;
  /** The decoded body (gzip, deflate, br undone) as a stream that obeys maxBytes, the timeouts and the signal. Read it or call discard(). */
  readonly body: AsyncIterable<Uint8Array>;
  /** The whole body. */
  bytes(): Promise<Uint8Array>;
  /** Gives the connection back without reading on. */
  discard(): Promise<void>;
}

/** A way out for a browser: an HTTP proxy on loopback whose every request and tunnel passes the same checks. */
export interface EgressProxy {
  /** For the browser's proxy setting. */
  readonly url: string;
  /** Whether maxBytes was passed; from then on nothing goes through. */
  exceeded(): boolean;
  /** host:port of what was refused, each once. */
  refused(): readonly string[];
  /** Ends every request and tunnel. */
  close(): Promise<void>;
}

/**
 * The one way out of the service. Every address is resolved here and checked at connect, at each redirect too.
 * Throws a Fault (address_refused, dns_failed, unreachable, timed_out, too_many_redirects, too_large); any HTTP
 * status is an answer, not an error. Aborting `signal` rejects with its reason.
 */
export interface Egress {
  request(request: EgressRequest): Promise<EgressResponse>;
  /** Throws a Fault address_refused when the URL may not be called: the check made on accepting a URL. Resolves names. */
  check(url: string, signal?: AbortSignal): Promise<void>;
  /** Whether a URL may be called by its port and, if its host is an IP literal, its host. Resolves no names. */
  mayCall(url: URL): boolean;
  /** Whether the way premium_proxy is open; without it a request that asks for it is an Error. */
  readonly hasPremiumProxies: boolean;
  /**
   * Opens a proxy for one rendered page. A browser resolves names and follows redirects by itself, so checking its
   * URLs beforehand is not enough. `maxBytes`: of all that comes back through it, as it comes over the wire.
   */
  openProxy(options: { readonly maxBytes: number; readonly way?: Way }): Promise<EgressProxy>;
  close(): Promise<void>;
}
