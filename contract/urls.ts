/**
 * One spelling per address: scheme and host lower case, default port and fragment gone, the query kept.
 * Returns null when the text is not an http(s) URL or carries credentials.
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

/** The address of a page as people write it: without a scheme, https is meant. Normalised; null when it is none. */
export const pageUrl = (text: string): string | null => normaliseUrl(withScheme(text));

/** An address that people may have written without its scheme. */
export function withScheme(text: string): string {
  const given = text.trim();
  return /^[a-z][a-z\d+.-]*:\/\//i.test(given) ? given : `https://${given}`;
}
