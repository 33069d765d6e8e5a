/** Settings of the web source; a subset of the service's. */
export interface WebSettings {
  /** Maximum size of one page in bytes, decoded; also of all responses of a rendered page together, as transferred. */
  readonly maxPageBytes: number;
  /** Time limit for one attempt to load a page: a plain request up to its last byte, or one rendering. */
  readonly pageTimeoutMs: number;
  /** Maximum size of one sitemap file in bytes, decompressed. */
  readonly sitemapMaxBytes: number;
  readonly sitemapMaxFiles: number;
  /** Depth of index files: 0 is the named sitemap only, 1 includes the files that it lists, and so on. */
  readonly sitemapMaxDepth: number;
  readonly obeyRobots: boolean;
  /** The User-Agent header; robots.txt is matched with its leading letters, hyphens and underscores. */
  readonly userAgent: string;
  /** Maximum number of concurrent requests to one host; within this process, unless a shared limiter is given. */
  readonly requestsPerHost: number;
  /** Path of the Chromium program; null: search for one. */
  readonly chromiumPath: string | null;
  /** Whether to install Chromium if none is found. */
  readonly installChromium: boolean;
  readonly browserMaxPages: number;
  /** Maximum size of one downloaded file in bytes. */
  readonly maxDownloadBytes: number;
  readonly downloadTimeoutMs: number;
}
