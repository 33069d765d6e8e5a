/**
 * GitHub's pagination by the Link header. Only the query of its URLs is used, so that credentials are never sent to
 * another host.
 */

/** Returns the query of the next page; null after the last one. Host and path of the URL are ignored. */
export function nextQuery(headers: Readonly<Record<string, string>>): URLSearchParams | null {
  const address = /<([^<>]*)>;\s*rel="?next"?/.exec(headers['link'] ?? '')?.[1];
  return address !== undefined && URL.canParse(address) ? new URL(address).searchParams : null;
}

/** Returns the number of the next page; null after the last one. */
export function nextPage(headers: Readonly<Record<string, string>>): number | null {
  const page = nextQuery(headers)?.get('page') ?? '';
  return /^\d+$/.test(page) && Number.isSafeInteger(Number(page)) ? Number(page) : null;
}
