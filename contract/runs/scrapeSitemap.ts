import type { IngestOptions, PageOptions, ScrapeOptions } from '../files/ingestOptions.js';
import type { TagValue } from '../files/records.js';
import type { SourceType } from '../sources/sources.js';

/** The source of scraped pages and of the scrape itself. */
export const WEB_PAGE_SOURCE = 'WEB_SCRAPE' satisfies SourceType;

/** Request of a scrapeSitemap run. */
export interface ScrapeSitemapRequest {
  /** The sitemap, normalised. */
  readonly url: string;
  readonly tags: Readonly<Record<string, TagValue>>;
  readonly ingest: IngestOptions;
  readonly scrape: ScrapeOptions;
}

export interface ScrapeSitemapProgress {
  /** Whether every sitemap file was read completely and every listed page was accepted. */
  readonly readWhole?: boolean;
  /** Number of accepted pages of a list longer than MAX_PAGES_PER_SCRAPE; null for a shorter list. */
  readonly cutAt?: number | null;
}

/** Returns the message of a finished run whose list was cut; null if it was complete. */
export const truncationMessage = ({ cutAt = null }: ScrapeSitemapProgress): string | null =>
  cutAt === null
    ? null
    : `${cutAt} pages of a longer list were accepted. A run accepts at most ${cutAt} (setting MAX_PAGES_PER_SCRAPE). Raise the setting, or scrape the parts of the list one by one.`;

/** Returns the options of a scrape that are stored on each of its pages. */
export function pageOptionsOf(scrape: PageOptions): PageOptions {
  const { htmlTagsToSkip, cssClassesToSkip, cssSelectorsToSkip, downloadCssAndMedia, usePremiumProxies } = scrape;
  return {
    ...{ htmlTagsToSkip, cssClassesToSkip, cssSelectorsToSkip, downloadCssAndMedia, usePremiumProxies },
    ...(scrape.removeRepeatedBlocks === false && { removeRepeatedBlocks: false }),
  };
}

/** Returns the options of the HTML reader for the parts of a page to skip. */
export const skipsOf = ({ htmlTagsToSkip, cssClassesToSkip, cssSelectorsToSkip }: PageOptions) => ({
  tags: htmlTagsToSkip,
  classes: cssClassesToSkip,
  selectors: cssSelectorsToSkip,
});

/** Spells percent-encoded bytes in capitals: sitemaps use both cases. */
const foldEscapes = (text: string): string => text.replaceAll(/%[\da-f]{2}/gi, (escape) => escape.toUpperCase());

/**
 * Spells a prefix as in normalised URLs: letters beyond ASCII and spaces percent-encoded, the host in lower case
 * without a default port. An `x` is appended for the URL parser and removed afterwards: without it, the parser would
 * resolve a prefix that ends with `/.` or `/..`.
 */
function normalPrefix(prefix: string): string {
  const [, origin, rest = ''] = /^(https?:\/\/[^/?#]*)(.*)$/is.exec(prefix) ?? [];
  if (origin === undefined) {
    const url = new URL('http://host');
    // The setter encodes ? and # too: a prefix of a path has neither query nor fragment.
    url.pathname = `${prefix.startsWith('/') ? '' : '/'}${prefix}x`;
    return foldEscapes(url.pathname.slice(0, -1));
  }
  if (!URL.canParse(origin)) return prefix;
  return foldEscapes(rest === '' ? new URL(origin).origin : new URL(`${origin}${rest}x`).href.slice(0, -1));
}

/**
 * Returns the check whether a URL starts with `prefix`: a path such as /questions/, with or without its leading slash,
 * or a full URL.
 */
function isUnder(prefix: string): (url: URL) => boolean {
  const start = normalPrefix(prefix);
  return start.startsWith('/')
    ? (url) => foldEscapes(url.pathname).startsWith(start)
    : (url) => foldEscapes(url.href).startsWith(start);
}

/**
 * Returns the filter of a sitemap's pages for a request. Exclusions take precedence; empty lists select all pages.
 * `urlsToScrape` are normalised.
 */
export function pageFilter(
  options: Pick<ScrapeOptions, 'urlPathsToInclude' | 'urlPathsToExclude' | 'urlsToScrape'>,
): (url: string) => boolean {
  const chosen = new Set(options.urlsToScrape);
  const included = options.urlPathsToInclude.map(isUnder);
  const excluded = options.urlPathsToExclude.map(isUnder);
  return (text) => {
    if (chosen.size > 0 && !chosen.has(text)) return false;
    const url = new URL(text);
    if (excluded.some((matches) => matches(url))) return false;
    return included.length === 0 || included.some((matches) => matches(url));
  };
}
