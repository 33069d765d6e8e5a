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

/** Maximum number of links that a crawl follows per page. */
export const LINKS_PER_PAGE = 1000;

/** Returns the external id of a crawl's parent. The start page has its own id. */
export const crawlId = (url: string): string => `web_scrape:${url}`;
