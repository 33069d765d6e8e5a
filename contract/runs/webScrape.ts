import type { IngestOptions, PageOptions } from '../files/ingestOptions.js';
import type { TagValue } from '../files/records.js';

/** Options of a crawl beyond IngestOptions, stored on its parent. */
export interface CrawlOptions extends PageOptions {
  /** Maximum number of links between the start page and a page; 0: only the start page. */
  readonly recursionDepth: number;
  readonly maxPagesToScrape: number;
  /** Only links under these paths are followed; empty: all links. The start page is always included. */
  readonly urlPathsToInclude: readonly string[];
  readonly enableAutoSync: boolean;
}

/** Request of a webScrape run. */
export interface WebScrapeRequest {
  /** The start address, normalised. */
  readonly url: string;
  readonly tags: Readonly<Record<string, TagValue>>;
  readonly ingest: IngestOptions;
  readonly scrape: CrawlOptions;
}

export interface WebScrapeProgress {
  /** Number of pages at which MAX_PAGES_PER_SCRAPE ended the crawl; absent if it did not. */
  readonly cutAt?: number;
}

/** Returns the message of a finished crawl that reached MAX_PAGES_PER_SCRAPE; null if it did not. */
export const crawlCutMessage = ({ cutAt }: WebScrapeProgress): string | null =>
  cutAt === undefined
    ? null
    : `${cutAt} pages were accepted, and the site has more. A run accepts at most ${cutAt} (setting MAX_PAGES_PER_SCRAPE). Raise the setting, or scrape parts of the site with url_paths_to_include.`;

/** Maximum number of links that a crawl follows per page. */
export const LINKS_PER_PAGE = 1000;

/** Returns the external id of a crawl's parent. The start page has its own id. */
export const crawlId = (url: string): string => `web_scrape:${url}`;
