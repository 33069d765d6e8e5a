/** What the web source is given; a subset of the service's settings. */
export interface WebSettings {
  /** Bytes of one page, decoded; also of everything a rendered page loads, over the wire. */
  readonly maxPageBytes: number;
  /** One page, from its first request to its last byte; rendering included. */
  readonly pageTimeoutMs: number;
  /** Bytes of one sitemap file, unpacked. */
  readonly sitemapMaxBytes: number;
  readonly sitemapMaxFiles: number;
  /** 0: the named sitemap only; 1: the files it names too; and so on. */
  readonly sitemapMaxDepth: number;
  readonly obeyRobots: boolean;
  /** As in the requests; robots.txt is read for the name before the slash. */
  readonly userAgent: string;
  /** Requests to one host at once; in this process, unless its limiter says otherwise. */
  readonly requestsPerHost: number;
  /** Null: looked for. */
  readonly chromiumPath: string | null;
  /** Whether one is installed where none is found. */
  readonly installChromium: boolean;
  readonly browserMaxPages: number;
  /** Bytes of one file that is fetched as it is. */
  readonly maxDownloadBytes: number;
  readonly downloadTimeoutMs: number;
}
