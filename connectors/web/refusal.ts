import { Fault, type FaultKind } from '../../contract/failures.js';
import { codeOf } from '../../egress/networkFault.js';

/** Fault kinds of status 401, 403, 407, 429 and 451, and of 503 with Retry-After. */
const BY_STATUS: ReadonlySet<FaultKind> = new Set(['access_denied', 'rate_limited']);
/** Connection errors by which firewalls block a client: refused, reset, or timed out. */
const BY_CONNECTION: ReadonlySet<string> = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  'UND_ERR_CONNECT_TIMEOUT',
  'UND_ERR_SOCKET',
]);

/**
 * Whether a site refused this client, so that another IP address may succeed. Not a refusal: missing pages, failing
 * or slow servers, unknown names, invalid certificates, and rules of robots.txt.
 */
export function isRefusal(error: unknown): error is Fault {
  if (!(error instanceof Fault)) return false;
  // A Fault that withSentence created, for example because robots.txt could not be read: check its cause, the original
  // Fault.
  if (error.cause instanceof Fault) return isRefusal(error.cause);
  return BY_STATUS.has(error.kind) || BY_CONNECTION.has(codeOf(error.cause));
}

/** Returns the Fault with an additional sentence. */
export function withSentence(fault: Fault, sentence: string): Fault {
  return new Fault(fault.kind, `${fault.message} ${sentence}`, {
    cause: fault,
    ...(fault.retryAfterMs === null ? {} : { retryAfterMs: fault.retryAfterMs }),
  });
}
