import { Fault, type FaultKind } from '../contract/failures.js';

export interface Answer {
  readonly url: string;
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
}

interface Row {
  readonly kind: FaultKind;
  /** What happened and what to do; it follows the name and URL of the requested thing. */
  readonly sentence: string;
}

const BY_STATUS: Readonly<Record<number, Row>> = {
  401: { kind: 'access_denied', sentence: 'asks for a login. Make it public, or exclude it.' },
  403: {
    kind: 'access_denied',
    sentence: "was refused by its server. Make it public, or allow the service's user agent and IP address.",
  },
  404: {
    kind: 'not_found',
    sentence: 'does not exist. Check the address; if a link or a sitemap names it, correct that one.',
  },
  407: { kind: 'access_denied', sentence: 'is behind a proxy that asks for a login. Make it public, or exclude it.' },
  410: { kind: 'gone', sentence: 'was removed permanently. Remove its link from the page or sitemap that names it.' },
  429: { kind: 'rate_limited', sentence: 'was requested too often.' },
  451: { kind: 'access_denied', sentence: 'is withheld for legal reasons. Exclude it.' },
};
const SERVER_ERROR: Row = {
  kind: 'server_error',
  sentence: 'could not be sent, because its server failed. Try again later, or contact the operator of the site.',
};
const BUSY: Row = { kind: 'rate_limited', sentence: 'is unavailable at the moment.' };
const OTHER: Row = {
  kind: 'bad_response',
  sentence:
    "could not be fetched: the server gave an unexpected answer. Open it in a browser to see the server's message.",
};

/**
 * Returns the Fault for an HTTP status, with a sentence for the user; null for a 2xx.
 * @param subject the requested thing, as in "The page"
 * @param sentences replace the default sentences for this thing
 */
export function statusFault(
  subject: string,
  { url, status, headers }: Answer,
  now: number,
  sentences: Readonly<Record<number, string>> = {},
): Fault | null {
  if (status >= 200 && status < 300) return null;
  const retryAfterMs = parseRetryAfter(headers['retry-after'], now);
  const busy = status === 503 && retryAfterMs !== null ? BUSY : undefined;
  const row = busy ?? BY_STATUS[status] ?? (status >= 500 ? SERVER_ERROR : OTHER);
  const retryHint =
    row.kind === 'rate_limited'
      ? ` Try again ${retryAfterMs === null ? 'later' : `after ${String(Math.ceil(retryAfterMs / 1000))} s`}.`
      : '';
  const message = `${subject} ${shownUrl(url)} ${sentences[status] ?? row.sentence}${retryHint} (HTTP ${String(status)})`;
  return new Fault(row.kind, message, row.kind === 'rate_limited' && retryAfterMs !== null ? { retryAfterMs } : {});
}

/** Maximum wait in milliseconds: a run cannot end while it waits for a page. */
const MAX_WAIT_MS = 86_400_000;

/**
 * Parses Retry-After, in seconds or as a date. Returns milliseconds from now, at most a day; null if it is invalid.
 */
export function parseRetryAfter(header: string | undefined, now: number): number | null {
  const value = (header ?? '').trim();
  if (/^\d{1,9}$/.test(value)) return Math.min(Number(value) * 1000, MAX_WAIT_MS);
  // Date.parse also accepts texts such as "-1" or "2 weeks"; HTTP dates begin with a weekday.
  const date = /^[A-Z][a-z]{2}/.test(value) ? Date.parse(value) : NaN;
  return Number.isNaN(date) ? null : Math.min(Math.max(0, date - now), MAX_WAIT_MS);
}

/** Returns a URL shortened for an error text. */
export function shownUrl(url: string): string {
  return url.length > 300 ? `${url.slice(0, 300)}…` : url;
}
