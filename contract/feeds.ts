import type { IngestOptions, PageOptions } from './ingestOptions.js';
import type { TagValue } from './records.js';
import type { SourceType } from './sources.js';

/** The source of a feed and of its entries. */
export const FEED_SOURCE = 'RSS_FEED' satisfies SourceType;

/** What a run of syncFeed was asked for, as its row keeps it. */
export interface SyncFeedRequest {
  /** The feed, normalised. */
  readonly url: string;
  readonly tags: Readonly<Record<string, TagValue>>;
  readonly ingest: IngestOptions;
  /** How the pages behind entries are read. */
  readonly scrape: PageOptions;
  /** Written down by the run itself. */
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
