import type { IngestOptions, PageOptions } from './ingestOptions.js';
import type { TagValue } from './records.js';
import type { SourceType } from './sources.js';
import { normaliseUrl, withScheme } from './urls.js';

/** The source of a feed and of its entries. */
export const FEED_SOURCE = 'RSS_FEED' satisfies SourceType;

/** With which a feed is asked for (HTTP Basic), at the origin for which it was given and nowhere else. */
export interface FeedLogin {
  readonly origin: string;
  readonly username: string;
  readonly password: string;
}

/** The address of a feed as a request names it: normalised, and the login that stands in it. Null when it is none. */
export function readFeedAddress(text: string): { readonly url: string; readonly login: FeedLogin | null } | null {
  try {
    const given = new URL(withScheme(text));
    const { origin } = given;
    const [username, password] = [decodeURIComponent(given.username), decodeURIComponent(given.password)];
    given.username = '';
    given.password = '';
    const url = normaliseUrl(given.href);
    if (url === null) return null;
    return { url, login: username + password === '' ? null : { origin, username, password } };
  } catch {
    return null;
  }
}

/** What a run of syncFeed was asked for. */
export interface SyncFeedRequest {
  /** Where the feed is by now, normalised. Its record's external id is where it was when it was added. */
  readonly url: string;
  readonly tags: Readonly<Record<string, TagValue>>;
  readonly ingest: IngestOptions;
  /** How the pages behind entries are read. */
  readonly scrape: PageOptions;
}

export interface SyncFeedProgress {
  /** Set once the feed is read. */
  readonly found?: FeedFound;
}

/** A reading of a feed whose entries are all there, with nothing of them left to read. Kept on the feed's record. */
export interface FeedReading {
  /** By what its server knows it again. */
  readonly etag: string | null;
  readonly lastModified: string | null;
  /** Hash of everything else that the outcome depends on. */
  readonly asked: string;
  /** The run that read it, and how many entries it took in: fewer are left of it where some were changed or deleted. */
  readonly runId: number;
  readonly entries: number;
}

/** What a run found when it read its feed. */
export type FeedFound = { readonly unchanged: true } | { readonly reading: FeedReading };

/** Where an entry's content is: kept on its record. */
export interface FeedEntryOptions extends PageOptions {
  readonly feedUrl: string;
  readonly entryId: string;
  /** The page that the entry leads to; null for an entry without one. */
  readonly pageUrl: string | null;
}

/** An entry's own name is used where it is one for the whole world; others are only unique in their feed. */
export const entryFileId = (feedUrl: string, entryId: string): string =>
  /^(?:https?|urn|tag):/i.test(entryId) && entryId !== feedUrl ? entryId : `${feedUrl}#${entryId}`;
