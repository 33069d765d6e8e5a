/** Where content comes from. Facts in, bytes out; nothing here knows a store. Errors are Faults. */
import type { Fault } from '../contract/failures.js';

/** A page that a sitemap names. */
export interface SitemapEntry {
  /** Normalised (see contract/urls.ts). */
  readonly url: string;
  /** ISO 8601 as the sitemap gave it; null when absent or unreadable. */
  readonly lastModified: string | null;
}

/** A sitemap file that could not be read, or not wholly. */
export interface SitemapProblem {
  readonly url: string;
  readonly fault: Fault;
}

export interface FetchedPage {
  readonly bytes: Uint8Array;
  readonly contentType: string | null;
  /** Where redirects ended, normalised. */
  readonly finalUrl: string;
  /** Null where the server names none, and for a page that scripts fill. */
  readonly etag: string | null;
  readonly lastModified: string | null;
  /** How it was fetched: file_metadata.fetched_with in the record. */
  readonly fetchedWith: 'http' | 'browser' | 'premium_proxy' | 'browser_premium_proxy';
}

/** An entry of a feed. Texts are HTML unless said otherwise. */
export interface FeedEntry {
  /** Unique in its feed, and the same whenever the feed is read. */
  readonly id: string;
  /** The page it leads to, normalised. */
  readonly url: string | null;
  /** Plain text. */
  readonly title: string | null;
  /** ISO 8601. */
  readonly publishedAt: string | null;
  /** The whole entry, where the feed carries it. */
  readonly content: string | null;
  readonly summary: string | null;
}

export interface Feed {
  /** Plain text. */
  readonly title: string | null;
  /** In the order of the feed. */
  readonly entries: readonly FeedEntry[];
  /** Of a feed that broke off: none. */
  readonly validators: Validators;
}

export interface FeedRequest {
  /** Normalised. */
  readonly url: string;
  /** A FeedLogin as JSON (contract/runs/feeds.ts); null for a public feed. */
  readonly credentials: string | null;
  /** What the server said of the reading we have; null to fetch in any case. */
  readonly known: Validators | null;
  readonly signal: AbortSignal;
}

export interface FeedAnswer {
  /** Null when the known reading is still the feed. */
  readonly feed: Feed | null;
  /** Where the feed has gone to stay; null while it is where it was asked for. */
  readonly movedTo: string | null;
}

export interface FeedSource {
  /** Reads a feed: RSS, Atom or JSON Feed. Throws a Fault with a sentence when it can't be read. */
  readFeed(request: FeedRequest): Promise<FeedAnswer>;
}

/** By what a server recognises the copy that a client has. */
export interface Validators {
  readonly etag: string | null;
  readonly lastModified: string | null;
}

export interface PageRequest {
  readonly url: string;
  /** Render in a browser with styles, images and fonts; else only an empty shell is. Without a browser on this machine: plain HTTP. */
  readonly downloadCssAndMedia: boolean;
  /** Once the site refuses the page to us: fetch it through the operator's second pool. */
  readonly usePremiumProxies: boolean;
  /** What the server said of the copy we have; null to fetch in any case. */
  readonly known: Validators | null;
  readonly signal: AbortSignal;
}

/** A file at an address, as its server gives it. */
export interface Download {
  /** As the server declares it. */
  readonly contentType: string | null;
  /** The name that the server gives, without folders; null without one. */
  readonly name: string | null;
  /** Where redirects ended. */
  readonly finalUrl: string;
  /** Decoded; obeys the limits, and ends with a Fault where they are passed. */
  readonly body: AsyncIterable<Uint8Array>;
}

export interface WebSource {
  /**
   * Streams the pages a sitemap names: index files followed (depth bounded), same host only, without duplicates, in the
   * sitemap's order. Throws a Fault with a sentence when the sitemap itself can't be read, or no page is found because
   * of a fault. If only some files fail, onProblem is called: then the listing is incomplete, and
   * a missing page may still exist.
   */
  discover(
    sitemapUrl: string,
    signal: AbortSignal,
    onProblem?: (problem: SitemapProblem) => void,
    /** Once the site refuses a sitemap file to us: fetch it through the operator's second pool. */
    usePremiumProxies?: boolean,
  ): AsyncIterable<SitemapEntry>;
  /** Fetches one page; null when the copy we have is still the page. Throws a Fault for anything but a 2xx. Obeys robots.txt and politeness per host. */
  fetchPage(request: PageRequest): Promise<FetchedPage | null>;
  /** Fetches a file that a user named, whatever its type; `take` gets it as it comes. Throws a Fault. */
  download<T>(url: string, signal: AbortSignal, take: (file: Download) => Promise<T>): Promise<T>;
  /** Whether robots.txt lets us fetch a page: asked before it is queued. True where robots.txt can't be read for now. */
  mayFetch(url: string, signal: AbortSignal): Promise<boolean>;
  close(): Promise<void>;
}
