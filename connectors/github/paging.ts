/** How GitHub's lists go on: by the header Link, whose addresses are read and never followed. */

/** What the next page is asked for by; null after the last one. Credentials go to no address that an answer names. */
export function nextQuery(headers: Readonly<Record<string, string>>): URLSearchParams | null {
  const address = /<([^<>]*)>;\s*rel="?next"?/.exec(headers['link'] ?? '')?.[1];
  return address !== undefined && URL.canParse(address) ? new URL(address).searchParams : null;
}

/** The number of the next page; null after the last one. */
export function nextPage(headers: Readonly<Record<string, string>>): number | null {
  const page = nextQuery(headers)?.get('page') ?? '';
  return /^\d+$/.test(page) && Number.isSafeInteger(Number(page)) ? Number(page) : null;
}
