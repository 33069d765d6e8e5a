/** Comparison of requests and results before and after the redaction. */
import { timeOf, TIME } from './times.js';
import { decode, WORD } from './words.js';

/**
 * Maximum difference between two times that count as the same. A connector may derive times from its clock. A replay
 * sets this clock only at the start of each step, and its requests take less time than the recorded ones.
 */
const MAX_DRIFT_MS = 600_000;
const TOKEN = new RegExp(`${TIME.source}|${WORD.source}|[^\\p{L}\\p{M}\\p{N}]`, 'gu');

const tokensOf = (text: string): string[] => text.match(TOKEN) ?? [];

/** Whether two words are times that differ by at most MAX_DRIFT_MS. */
function isSameTime(a: string, b: string): boolean {
  const [left, right] = [timeOf(a), timeOf(b)];
  return left !== null && right !== null && Math.abs(left - right) <= MAX_DRIFT_MS;
}

/** Whether two texts are equal, except for times that differ by at most MAX_DRIFT_MS. */
export function isSameText(a: string, b: string): boolean {
  if (a === b) return true;
  const [left, right] = [tokensOf(a), tokensOf(b)];
  return (
    left.length === right.length && left.every((word, at) => word === right[at] || isSameTime(word, right[at] ?? ''))
  );
}

/** Functions of the redaction that a comparison needs. */
export interface Comparison {
  /** Returns the redacted form of a text. */
  redact(text: string): string;
  /** Returns the redacted form of the scheme and host of an address. */
  origin(text: string): string;
  readonly offsetMs: number;
}

/**
 * Whether the second text is the redacted form of the first: each word is the same, its pseudonym, or its shifted time.
 */
export function isRedactedText(original: string, redacted: string, { redact, origin, offsetMs }: Comparison): boolean {
  if (original === redacted || redact(original) === redacted) return true;
  const right = tokensOf(decode(redacted));
  const isSame = (left: readonly string[]): boolean =>
    left.length === right.length &&
    left.every((word, at) => {
      const other = right[at] ?? '';
      if (word === other || redact(word) === other) return true;
      const time = timeOf(word);
      return time !== null && isSameTime(String(time + offsetMs), other);
    });
  // A host of the account is redacted, but one in the code of the connector stays.
  const text = decode(original);
  return isSame(tokensOf(text)) || isSame(tokensOf(text.replaceAll(/https?:\/\/[^/?#\s"'<>]+/g, origin)));
}

/**
 * Fields whose values may be digests that a connector computes. The digest of a redacted content differs from the
 * redacted form of the original digest. Therefore such values are only compared for consistency: the same original
 * value must have the same counterpart everywhere.
 */
const DIGESTS = /^(?:version|etag)$/i;

/**
 * Compares a result with that of the redacted responses. Returns the path of the first difference; null if there is
 * none.
 */
export function findDifference(original: unknown, redacted: unknown, comparison: Comparison): string | null {
  const digests = new Map<string, string>();
  const compare = (left: unknown, right: unknown, path: string): string | null => {
    if (typeof left === 'string' && typeof right === 'string') {
      if (isRedactedText(left, right, comparison)) return null;
      if (!DIGESTS.test(path.split('.').at(-1) ?? '')) return path;
      const digest = digests.get(left) ?? right;
      digests.set(left, digest);
      return digest === right ? null : path;
    }
    if (typeof left === 'number' && typeof right === 'number') return left === right || left >= 100_000 ? null : path;
    if (typeof left !== 'object' || typeof right !== 'object' || left === null || right === null)
      return left === right ? null : path;
    const [ours, theirs] = [Object.entries(left), Object.entries(right) as [string, unknown][]];
    if (ours.length !== theirs.length) return path;
    for (const [at, [, value]] of ours.entries()) {
      const [name, other] = theirs[at] ?? [];
      const found = compare(value, other, `${path}.${name}`);
      if (found !== null) return found;
    }
    return null;
  };
  return compare(original, redacted, '');
}
