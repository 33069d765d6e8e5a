/** Times in texts: recordings shift all of them by one offset. */

/** ISO 8601 and similar formats, dates of HTTP headers, and times of Slack, which are also ids. */
export const TIME =
  /(?<![\p{L}\d])(?:\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:Z|[+-]\d\d:?\d\d)?)?|[A-Z][a-z]{2}, \d{1,2} [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d (?:GMT|[+-]\d{4})|\d{10}\.\d{6})(?![\p{L}\d])/u;
const ISO = /^(\d{4}-\d\d-\d\d)(?:([T ])(\d\d:\d\d)(:\d\d)?(.*))?$/;
const SLACK = /^(\d{10})(\.\d{6})$/;
/** A time of Slack in a URL, in microseconds: `p1700000000000100`. */
const MICROSECONDS = /^[a-z](\d{10})\d{6}$/;
/** Range of numbers that count as seconds since 1970: the years 2001 to 2039. */
const MIN_S = 1_000_000_000;
const MAX_S = 2_200_000_000;

const isSeconds = (value: number): boolean => value >= MIN_S && value < MAX_S;
const isMilliseconds = (value: number): boolean => value >= MIN_S * 1000 && value < MAX_S * 1000;

/** Returns a number of seconds or milliseconds since 1970, shifted; null if it is neither. */
export function shiftNumber(value: number, offsetMs: number): number | null {
  if (isSeconds(value)) return value + offsetMs / 1000;
  return isMilliseconds(value) ? value + offsetMs : null;
}

/**
 * Shifts a text that matches TIME. The offset is whole days, so times of day and zones stay; only an HTTP date with a
 * zone other than GMT is converted to +0000.
 */
export function shiftTime(text: string, offsetMs: number): string {
  const slack = SLACK.exec(text);
  if (slack) return `${Number(slack[1]) + offsetMs / 1000}${slack[2]}`;
  const iso = ISO.exec(text);
  const at = Date.parse(iso ? `${iso[1]}T00:00:00Z` : text);
  if (Number.isNaN(at)) return text;
  const shifted = new Date(at + offsetMs);
  if (!iso) return shifted.toUTCString().replace('GMT', text.endsWith('GMT') ? 'GMT' : '+0000');
  return shifted.toISOString().slice(0, 10) + text.slice(10);
}

/**
 * Parses a time: a text that matches TIME, a number of seconds or milliseconds since 1970, or a time of Slack. Returns
 * milliseconds since 1970; null if the text is not a time.
 */
export function timeOf(text: string): number | null {
  if (/^\d+$/.test(text)) {
    const value = Number(text);
    return isSeconds(value) ? value * 1000 : isMilliseconds(value) ? value : null;
  }
  const slack = SLACK.exec(text) ?? MICROSECONDS.exec(text);
  if (slack && isSeconds(Number(slack[1]))) return Number(slack[1]) * 1000;
  const at = new RegExp(`^(?:${TIME.source})$`, 'u').test(text) ? Date.parse(text) : NaN;
  return Number.isNaN(at) ? null : at;
}
