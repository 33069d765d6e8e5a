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

/**
 * Returns whether the URL starts with `prefix`: a path such as /questions/, with or without its leading slash, or a
 * full URL.
 */
function isUnder(url: URL, prefix: string): boolean {
  if (/^https?:\/\//i.test(prefix)) return url.href.startsWith(prefix);
  return url.pathname.startsWith(prefix.startsWith('/') ? prefix : `/${prefix}`);
}

/**
 * Returns the filter of a sitemap's pages for a request. Exclusions take precedence; empty lists select all pages.
 * `urlsToScrape` are normalised.
 */
export function pageFilter(
  options: Pick<ScrapeOptions, 'urlPathsToInclude' | 'urlPathsToExclude' | 'urlsToScrape'>,
): (url: string) => boolean {
  const chosen = new Set(options.urlsToScrape);
  return (text) => {
    if (chosen.size > 0 && !chosen.has(text)) return false;
    const url = new URL(text);
    if (options.urlPathsToExclude.some((prefix) => isUnder(url, prefix))) return false;
    return options.urlPathsToInclude.length === 0 || options.urlPathsToInclude.some((prefix) => isUnder(url, prefix));
  };
}
