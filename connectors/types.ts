/** Interfaces of content sources. A source accesses no store, and throws Faults. */
import type { Fault } from '../contract/failures.js';

/** A page listed in a sitemap. */
export interface SitemapEntry {
  /** Normalised (see contract/urls.ts). */
  readonly url: string;
  /** ISO 8601 as in the sitemap; null if it is missing or invalid. */
  readonly lastModified: string | null;
}

/** A sitemap file that could not be read, or not completely. */
export interface SitemapProblem {
  readonly url: string;
  readonly fault: Fault;
}

export interface FetchedPage {
  readonly bytes: Uint8Array;
  readonly contentType: string | null;
  /** Normalised URL after redirects. */
  readonly finalUrl: string;
  /** Null if the server sends none, and for a page whose text is rendered by scripts. */
  readonly etag: string | null;
  readonly lastModified: string | null;
  /** How it was fetched: file_metadata.fetched_with in the record. */
  readonly fetchedWith: 'http' | 'browser' | 'premium_proxy' | 'browser_premium_proxy';
}

/** An entry of a feed. Texts are HTML unless stated otherwise. */
export interface FeedEntry {
  /** Unique in its feed, and the same whenever the feed is read. */
  readonly id: string;
  /** Normalised URL of the page that it links to. */
  readonly url: string | null;
  /** Plain text. */
  readonly title: string | null;
  /** ISO 8601. */
  readonly publishedAt: string | null;
  /** The full text, if the feed contains it. */
  readonly content: string | null;
  readonly summary: string | null;
}

export interface Feed {
  /** Plain text. */
  readonly title: string | null;
  /** In feed order. */
  readonly entries: readonly FeedEntry[];
  /** Both are null for a truncated feed, so that the next reading fetches it again. */
  readonly validators: Validators;
}

export interface FeedRequest {
  /** Normalised. */
  readonly url: string;
  /** A FeedLogin as JSON (contract/runs/feeds.ts); null for a public feed. */
  readonly credentials: string | null;
  /** Validators of the last reading; null: fetch unconditionally. */
  readonly known: Validators | null;
  readonly signal: AbortSignal;
}

export interface FeedAnswer {
  /** Null if the feed is unchanged. */
  readonly feed: Feed | null;
  /** The new URL after a permanent redirect; null if there was none. */
  readonly movedTo: string | null;
}

export interface FeedSource {
  /** Reads a feed: RSS, Atom or JSON Feed. Throws a Fault if it cannot be read. */
  readFeed(request: FeedRequest): Promise<FeedAnswer>;
}

/** Values by which a server recognises an unchanged copy (ETag and Last-Modified). */
export interface Validators {
  readonly etag: string | null;
  readonly lastModified: string | null;
}

export interface PageRequest {
  readonly url: string;
  /**
   * Whether to render each page in a browser, with styles, images and fonts. Otherwise only pages without text of their
   * own are rendered. Without a browser, plain HTTP is used.
   */
  readonly downloadCssAndMedia: boolean;
  /** Whether to fetch a page through the premium proxies after the site refused it on the default route. */
  readonly usePremiumProxies: boolean;
  /** Validators of the stored copy; null: fetch unconditionally. */
  readonly known: Validators | null;
  readonly signal: AbortSignal;
}

/** A downloaded file. */
export interface Download {
  /** As declared by the server. */
  readonly contentType: string | null;
  /** File name from the server, without folders; null if there is none. */
  readonly name: string | null;
  /** The URL after redirects. */
  readonly finalUrl: string;
  /** Decoded. Throws a Fault if a limit is exceeded. */
  readonly body: AsyncIterable<Uint8Array>;
}

export interface WebSource {
  /**
   * Streams the pages of a sitemap in its order: it follows index files to a maximum depth, yields pages of the same
   * host only, and no duplicates. Throws a Fault if the sitemap itself cannot be read, or if errors leave no page. If
   * only some files fail, onProblem is called. The listing is then incomplete: a missing page may still exist.
   */
  discover(
    sitemapUrl: string,
    signal: AbortSignal,
    onProblem?: (problem: SitemapProblem) => void,
    /** Whether to fetch a sitemap file through the premium proxies after the site refused it on the default route. */
    usePremiumProxies?: boolean,
  ): AsyncIterable<SitemapEntry>;
  /**
   * Fetches one page; null if the stored copy is current. Throws a Fault for any status but 2xx. Observes robots.txt
   * and the limits per host.
   */
  fetchPage(request: PageRequest): Promise<FetchedPage | null>;
  /** Fetches a file, of any type, at a URL that a user gave; `take` receives its stream. Throws a Fault. */
  download<T>(url: string, signal: AbortSignal, take: (file: Download) => Promise<T>): Promise<T>;
  /**
   * Whether robots.txt permits a page; checked before the page is queued. True if robots.txt is temporarily
   * unavailable.
   */
  mayFetch(url: string, signal: AbortSignal): Promise<boolean>;
  close(): Promise<void>;
}
