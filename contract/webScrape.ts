import type { IngestOptions, PageOptions } from './ingestOptions.js';
import type { TagValue } from './records.js';

/** What a crawl was asked for beyond IngestOptions. Kept on its parent. */
export interface CrawlOptions extends PageOptions {
  /** Links between the start address and a page at most; 0: the start page alone. */
  readonly recursionDepth: number;
  readonly maxPagesToScrape: number;
  /** Links outside of these are not followed; empty: all are. The start address is taken in any case. */
  readonly urlPathsToInclude: readonly string[];
  readonly enableAutoSync: boolean;
}

/** What a run of webScrape was asked for. */
export interface WebScrapeRequest {
  /** The start address, normalised. */
  readonly url: string;
  readonly tags: Readonly<Record<string, TagValue>>;
  readonly ingest: IngestOptions;
  readonly scrape: CrawlOptions;
}

/** Links of one page that a crawl follows at most. */
export const LINKS_PER_PAGE = 1000;

/** A crawl's parent has a name of its own beside the page it starts from. */
export const crawlId = (url: string): string => `web_scrape:${url}`;
