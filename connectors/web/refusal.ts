import { Fault, type FaultKind } from '../../contract/failures.js';
import { codeOf } from '../../egress/networkFault.js';

/** 401, 403, 407, 451; 429 and 503 with Retry-After. */
const BY_STATUS: ReadonlySet<FaultKind> = new Set(['access_denied', 'rate_limited']);
/** How a firewall turns a visitor away: no, hanging up, or silence at the door. */
const BY_CONNECTION: ReadonlySet<string> = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  'UND_ERR_CONNECT_TIMEOUT',
  'UND_ERR_SOCKET',
]);

/**
 * Whether a page failed because its site does not want *us*, so that another address may have more luck. Not: pages
 * that do not exist, servers that fail or are slow, names that do not resolve, certificates, and what robots.txt says.
 */
export function isRefusal(error: unknown): error is Fault {
  if (!(error instanceof Fault)) return false;
  // What kept us from robots.txt kept us from the site.
  if (error.cause instanceof Fault) return isRefusal(error.cause);
  return BY_STATUS.has(error.kind) || BY_CONNECTION.has(codeOf(error.cause));
}

/** The same Fault with a sentence more. */
export function withSentence(fault: Fault, sentence: string): Fault {
  return new Fault(fault.kind, `${fault.message} ${sentence}`, {
    cause: fault,
    ...(fault.retryAfterMs === null ? {} : { retryAfterMs: fault.retryAfterMs }),
  });
}
