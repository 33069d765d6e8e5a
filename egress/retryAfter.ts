type Headers = Readonly<Record<string, string>>;

/** Maximum wait in milliseconds. A longer wait is assumed to be an error of the provider and is reduced to this. */
export const MAX_WAIT_MS = 3_600_000;

/**
 * Returns the milliseconds that a provider requests the client to wait; null if it names none. Reads Retry-After
 * (seconds or a date), retry-after-ms (OpenAI, Azure) and, if both are absent, x-ratelimit-reset-* of the exhausted
 * limit.
 */
export function retryAfterMs(headers: Headers, now: number = Date.now()): number | null {
  const ms = positive(Number(headers['retry-after-ms'] ?? Number.NaN));
  const after = headers['retry-after'] ?? '';
  const seconds = after === '' ? null : positive(Number(after) * 1000);
  // A date contains letters. Without this check, Date.parse would accept bare numbers.
  const date = /[a-z]/i.test(after) ? positive(Date.parse(after) - now) : null;
  const wait = ms ?? seconds ?? date ?? resetOfExhausted(headers);
  return wait === null ? null : Math.min(MAX_WAIT_MS, Math.ceil(wait));
}

function positive(ms: number): number | null {
  return Number.isFinite(ms) && ms >= 0 ? ms : null;
}

function resetOfExhausted(headers: Headers): number | null {
  const waits = ['requests', 'tokens'].flatMap((what) => {
    if (headers[`x-ratelimit-remaining-${what}`] !== '0') return [];
    return duration(headers[`x-ratelimit-reset-${what}`] ?? '') ?? [];
  });
  return waits.length === 0 ? null : Math.max(...waits);
}

const UNITS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 };

/** Parses `6m0s`, `20ms`, or a bare number of seconds. */
function duration(text: string): number | null {
  if (/^\d+(\.\d+)?$/.test(text)) return Number(text) * 1000;
  const parts = [...text.matchAll(/(\d+(?:\.\d+)?)(ms|s|m|h)/g)];
  if (parts.length === 0 || parts.map(([whole]) => whole).join('') !== text) return null;
  return parts.reduce((sum, [, count, unit]) => sum + Number(count) * (UNITS[unit ?? ''] ?? 0), 0);
}
