/**
 * Reasons why an item could not be ingested, one row per kind. The lower layers (egress, connectors, documents,
 * embeddings) throw a Fault; the activity retries the item if the row permits it. `remedy` tells the user what to do.
 */
export const FAULTS = {
  /** The service may not call the address (private, link-local, bad scheme or port). */
  address_refused: {
    retryable: false,
    remedy: 'Use a public http or https address, or ask the operator to allow the host in ALLOWED_PRIVATE_HOSTS.',
  },
  /** The page does not exist (404). */
  not_found: { retryable: false, remedy: 'Check that it still exists, or omit it.' },
  /** The page is permanently gone (410). */
  gone: { retryable: false, remedy: 'It was deleted permanently. Delete it here too, or send it again.' },
  /** The site's robots.txt forbids the page. */
  robots_disallowed: {
    retryable: false,
    remedy: "Ask the site's owner to allow the page in robots.txt, or omit it.",
  },
  /** The server denies access (401, 403, 407, 451). */
  access_denied: { retryable: false, remedy: 'Ask its owner for access, then retry it.' },
  /** The credentials of a connected account no longer work, or were removed here. */
  access_revoked: { retryable: false, remedy: 'Connect the account again, then retry it.' },
  /** The source rejects the cursor of its change feed. */
  stale_cursor: { retryable: false, remedy: 'No action needed: the next listing reads the whole account again.' },
  /**
   * A status below 500 that is not a success and has no kind of its own; a request that is invalid; or an answer that
   * cannot be used.
   */
  bad_response: { retryable: false, remedy: 'Open it in a browser to see the response of the server, then retry it.' },
  /** More than the allowed number of redirects, or a loop. */
  too_many_redirects: { retryable: false, remedy: 'Use the address at which the redirects end.' },
  /** Bytes, text, depth or expansion exceed a named setting. */
  too_large: { retryable: false, remedy: 'Split it, or ask the operator to raise the setting that its message names.' },
  /** Not a type that can be read as text. */
  unsupported_type: { retryable: false, remedy: 'Convert it to a supported format, or omit it.' },
  /** The text exceeds a limit per file or per upload. */
  over_limit: { retryable: false, remedy: "Ask the operator to raise the user's limit, then retry it." },
  /** The user has reached a total limit. The item waits. */
  no_room: { retryable: false, remedy: "It continues when the user's limit is raised or files are deleted." },
  /** The file contains no readable text. */
  no_text: { retryable: false, remedy: 'Send it with use_ocr if its text is in pictures, or omit it.' },
  /** The content cannot be parsed. */
  broken_content: {
    retryable: false,
    remedy: 'Repair the file and send it again. If the service has a defect, its log names the cause.',
  },
  /** The file is protected by a password. */
  encrypted: { retryable: false, remedy: 'Remove the password and send it again.' },
  /** Parsing exceeded its time or memory limit. */
  parse_limit: { retryable: false, remedy: 'Split or simplify it, or ask the operator to raise the parsing limits.' },
  /** The worker, or the reader of the content, crashed repeatedly on this item. */
  quarantined: { retryable: false, remedy: 'Repair or split it, then retry it.' },
  /** The host name does not resolve. */
  dns_failed: { retryable: true, remedy: 'Check the address; if it is right, retry it later.' },
  /** The connection failed or broke. */
  unreachable: { retryable: true, remedy: 'Check that the server is up, then retry it.' },
  /** The response did not arrive completely in time. */
  timed_out: { retryable: true, remedy: 'Retry it when the server is faster.' },
  /** 5xx. */
  server_error: { retryable: true, remedy: 'Retry it when the server has recovered.' },
  /** 429, or 503 with Retry-After. */
  rate_limited: { retryable: true, remedy: 'Retry it later, or ask for a higher limit at the source.' },
  /** A required setting of the service is missing or was rejected. */
  not_configured: {
    retryable: false,
    remedy: 'Ask the operator to correct the setting that its message names, then retry it.',
  },
  /** The embedding provider failed. */
  embedding_failed: { retryable: true, remedy: 'Check the embedding provider and its key, then retry it.' },
  /** The disk of the service is full or defective. The content is not the cause. */
  disk_failed: { retryable: true, remedy: "Ask the operator to free space on the service's disk, then retry it." },
} as const satisfies Record<string, { retryable: boolean; remedy: string }>;

export type FaultKind = keyof typeof FAULTS;

/**
 * An error that the caller of a step must handle. `message` is a sentence for users: what failed, why, and what to do.
 */
export class Fault extends Error {
  readonly kind: FaultKind;
  /** Milliseconds until the server allows a retry; null if it did not state a time. */
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
