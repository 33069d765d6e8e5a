import type { IngestOptions, PageOptions } from '../files/ingestOptions.js';
import type { TagValue } from '../files/records.js';
import type { SourceType } from '../sources/sources.js';
import { normaliseUrl, withScheme } from '../urls.js';

/** The source of a feed and of its entries. */
export const FEED_SOURCE = 'RSS_FEED' satisfies SourceType;

/** HTTP Basic credentials of a feed. They are sent only to the origin for which they were given. */
export interface FeedLogin {
  readonly origin: string;
  readonly username: string;
  readonly password: string;
}

/** Parses the address of a feed in a request: the normalised URL, and the login in it. Null if it is invalid. */
export function readFeedAddress(text: string): { readonly url: string; readonly login: FeedLogin | null } | null {
  try {
    const parsed = new URL(withScheme(text));
    const { origin } = parsed;
    const [username, password] = [decodeURIComponent(parsed.username), decodeURIComponent(parsed.password)];
    parsed.username = '';
    parsed.password = '';
    const url = normaliseUrl(parsed.href);
    if (url === null) return null;
    return { url, login: username + password === '' ? null : { origin, username, password } };
  } catch {
    return null;
  }
}

/** Request of a syncFeed run. */
export interface SyncFeedRequest {
  /** The feed's current address, normalised. The external id of its record is the original address. */
  readonly url: string;
  readonly tags: Readonly<Record<string, TagValue>>;
  readonly ingest: IngestOptions;
  /** Options for reading the pages that entries link to. */
  readonly scrape: PageOptions;
}

export interface SyncFeedProgress {
  /** Set once the feed is read. */
  readonly found?: FeedFound;
}

/** A reading of a feed. It is stored on the feed's record once all its entries are ingested. */
export interface FeedReading {
  /** Validators for conditional requests. */
  readonly etag: string | null;
  readonly lastModified: string | null;
  /** Hash of all other inputs of the reading, such as tags, options and limits. */
  readonly fingerprint: string;
  /**
   * The run that read the feed, and the number of entries that it ingested (0 in the progress of the run). If the run
   * now has fewer READY files, some were changed or deleted.
   */
  readonly runId: number;
  readonly entries: number;
}

/** Result of reading a feed. */
export type FeedFound = { readonly unchanged: true } | { readonly reading: FeedReading };

/** Location of an entry's content, stored on its record. */
export interface FeedEntryOptions extends PageOptions {
  readonly feedUrl: string;
  readonly entryId: string;
  /** The page that the entry links to; null if there is none. */
  readonly pageUrl: string | null;
}

/** Returns the external id of an entry: its own id if it is globally unique, otherwise prefixed with the feed's URL. */
export const entryFileId = (feedUrl: string, entryId: string): string =>
  /^(?:https?|urn|tag):/i.test(entryId) && entryId !== feedUrl ? entryId : `${feedUrl}#${entryId}`;
