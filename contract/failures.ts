/**
 * Why an item could not be ingested: one row per kind. Every leaf (egress, connectors, documents, embeddings)
 * throws a Fault; the activity decides from the row alone whether the item is tried again.
 */
export const FAULTS = {
  /** The address is not one the service may call (private, link-local, bad scheme or port). */
  address_refused: { retryable: false },
  /** The page does not exist (404). */
  not_found: { retryable: false },
  /** The page is gone for good (410). */
  gone: { retryable: false },
  /** The site's robots.txt forbids the page. */
  robots_disallowed: { retryable: false },
  /** The server refuses us (401, 403, 451). */
  access_denied: { retryable: false },
  /** A connected account no longer takes its credentials, or they were taken back here. */
  access_revoked: { retryable: false },
  /** A source no longer knows the point that its changes were asked from. */
  stale_cursor: { retryable: false },
  /** Any other 4xx. */
  bad_response: { retryable: false },
  /** More than the allowed number of redirects, or a loop. */
  too_many_redirects: { retryable: false },
  /** Bytes, text, depth or expansion past a named setting. */
  too_large: { retryable: false },
  /** Not a type that can be read as text. */
  unsupported_type: { retryable: false },
  /** Its text is longer than a limit of one file or one upload. */
  over_limit: { retryable: false },
  /** A limit of all that the user has leaves no room for it now: it waits for its turn. */
  no_room: { retryable: false },
  /** There is no readable text in it. */
  no_text: { retryable: false },
  /** The content can't be parsed. */
  broken_content: { retryable: false },
  /** It can't be read without a password. */
  encrypted: { retryable: false },
  /** Parsing passed its time or memory limit. */
  parse_limit: { retryable: false },
  /** The worker died twice on this very item. */
  quarantined: { retryable: false },
  /** The host name does not resolve. */
  dns_failed: { retryable: true },
  /** The connection failed or broke. */
  unreachable: { retryable: true },
  /** No answer, or not the whole answer, in time. */
  timed_out: { retryable: true },
  /** 5xx. */
  server_error: { retryable: true },
  /** 429, or 503 with Retry-After. */
  rate_limited: { retryable: true },
  /** A setting of the service that this needs is missing, or refused where it is used. */
  not_configured: { retryable: false },
  /** The embedding provider failed. */
  embedding_failed: { retryable: true },
  /** The service's own disk took no more: no fault of the content. */
  disk_failed: { retryable: true },
} as const satisfies Record<string, { retryable: boolean }>;

export type FaultKind = keyof typeof FAULTS;

/** What the caller of a failed step must know. `message` is a sentence a user understands: what failed, why, what to do. */
export class Fault extends Error {
  readonly kind: FaultKind;
  /** Milliseconds after which the other side said to try again; null when it said nothing. */
  readonly retryAfterMs: number | null;

  constructor(kind: FaultKind, message: string, options: { retryAfterMs?: number; cause?: unknown } = {}) {
    super(message, 'cause' in options ? { cause: options.cause } : undefined);
    this.name = 'Fault';
    this.kind = kind;
    this.retryAfterMs = options.retryAfterMs ?? null;
  }

  get retryable(): boolean {
    return FAULTS[this.kind].retryable;
  }
}
