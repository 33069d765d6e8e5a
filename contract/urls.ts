/**
 * Normalises a URL: lower-case scheme and host, no default port, no fragment; the query stays. Returns null if the text
 * is not an http(s) URL or contains credentials.
 */
export function normaliseUrl(text: string, base?: string): string | null {
  let url: URL;
  try {
    url = new URL(text.trim(), base);
  } catch {
    return null;
  }
  if (url.protocol !== 'http:' && url.protocol !== 'https:') return null;
  if (url.username !== '' || url.password !== '') return null;
  url.hash = '';
  return url.href;
}

/** Normalises a page URL as users type it; https if the scheme is missing. Returns null if it is invalid. */
export const pageUrl = (text: string): string | null => normaliseUrl(withScheme(text));

/** Adds the scheme to an address if it is missing. */
export function withScheme(text: string): string {
  const trimmed = text.trim();
  return /^[a-z][a-z\d+.-]*:\/\//i.test(trimmed) ? trimmed : `https://${trimmed}`;
}
