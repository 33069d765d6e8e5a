import { LRUCache } from 'lru-cache';

import type { ContentRef, OpenedContent } from '../activities/deps.js';
import type { Feed, FeedAnswer, FeedEntry, FeedRequest, FeedSource, WebSource } from '../connectors/types.js';
import { Fault } from '../contract/failures.js';
import { untilAborted } from '../contract/untilAborted.js';
import { FEED_SOURCE, type FeedEntryOptions } from '../contract/runs/feeds.js';
import { skipsOf } from '../contract/runs/scrapeSitemap.js';
import { openPage } from './pageContent.js';

/**
 * Lifetime of a cached feed in milliseconds: the entries of one sync share one request, and a later sync reads the feed
 * again.
 */
const LIFE_MS = 60_000;
/** Maximum total size of cached feeds, in characters. */
const MAX_CACHED_CHARACTERS = 40_000_000;

const sizeOf = ({ entries }: Feed): number =>
  Math.min(
    MAX_CACHED_CHARACTERS,
    entries.reduce((sum, { content, summary }) => sum + (content?.length ?? 0) + (summary?.length ?? 0) + 200, 1),
  );

/** The origin of an entry's text, as file_metadata.content_from states it. */
type ContentFrom = 'feed' | 'page' | 'summary';

/** Returns the cache key of a feed. It includes the credentials: another login may get another feed. */
const keyOf = (url: string, credentials: string | null): string => JSON.stringify([url, credentials]);

/** Reads feeds and the contents of their entries. */
export function createFeedContents(feeds: FeedSource, web: Pick<WebSource, 'fetchPage'>) {
  const cache = new LRUCache<string, Feed>({ maxSize: MAX_CACHED_CHARACTERS, sizeCalculation: sizeOf, ttl: LIFE_MS });
  /** Requests in progress, with the signals that end them. Batches that need the same feed share one request. */
  const inProgress = new Map<string, { readonly feed: Promise<Feed>; readonly signal: AbortSignal }>();

  const read = async (request: FeedRequest): Promise<FeedAnswer> => {
    const answer = await feeds.readFeed(request);
    // Cache a moved feed under both addresses: records of its entries have the address at the time of their sync.
    if (answer.feed)
      for (const url of new Set([request.url, answer.movedTo ?? request.url]))
        cache.set(keyOf(url, request.credentials), answer.feed);
    return answer;
  };
  const readWhole = async (request: FeedRequest): Promise<Feed> => {
    const { feed } = await read(request);
    if (feed === null) throw new Error('The response to an unconditional request for the feed has no content');
    return feed;
  };
  const shared = async (request: FeedRequest): Promise<Feed> => {
    const key = keyOf(request.url, request.credentials);
    for (;;) {
      const known = inProgress.get(key);
      if (!known) {
        const feed = readWhole(request).finally(() => inProgress.delete(key));
        inProgress.set(key, { feed, signal: request.signal });
        return feed;
      }
      try {
        return await untilAborted(request.signal, known.feed);
      } catch (error) {
        request.signal.throwIfAborted();
        // If only the caller that sent the request gave up, one of the waiting callers sends it again.
        if (!known.signal.aborted) throw error;
      }
    }
  };
  /** Returns an entry; null if it is no longer in its feed, or the feed is permanently gone. */
  const find = async (
    { feedUrl: url, entryId }: FeedEntryOptions,
    credentials: string | null,
    signal: AbortSignal,
  ): Promise<FeedEntry | null> => {
    const isRequested = ({ id }: FeedEntry): boolean => id === entryId;
    const entry = cache.get(keyOf(url, credentials))?.entries.find(isRequested);
    if (entry) return entry;
    try {
      return (await shared({ url, credentials, known: null, signal })).entries.find(isRequested) ?? null;
    } catch (error) {
      if (error instanceof Fault && error.kind === 'gone') return null;
      throw error;
    }
  };

  return {
    read,
    /**
     * Returns the full content of an entry if the feed contains it, otherwise the linked page, otherwise the summary.
     * Null if the content is unchanged, or if the entry is no longer in the feed and a copy is stored.
     */
    async open({ sourceOptions, known, credentials }: ContentRef, signal: AbortSignal): Promise<OpenedContent | null> {
      const options = sourceOptions as FeedEntryOptions;
      const entry = await find(options, await credentials(), signal);
      if (entry === null) {
        if (known) return null;
        throw new Fault(
          'gone',
          'The entry is no longer in its feed, so it cannot be read. If an earlier sync stored its text, that text is kept.',
        );
      }
      if (entry.content !== null) return entryContent(entry, entry.content, 'feed', options);
      if (options.pageUrl === null) return entryContent(entry, entry.summary ?? '', 'summary', options);
      try {
        const page = await openPage(web, options.pageUrl, options, known, signal);
        return (
          page && {
            ...page,
            recordedFormat: FEED_SOURCE,
            fileMetadata: { ...page.fileMetadata, ...metadataOf(entry, 'page') },
          }
        );
      } catch (error) {
        if (!(error instanceof Fault) || error.retryable || entry.summary === null) throw error;
        return entryContent(entry, entry.summary, 'summary', options);
      }
    },
  };
}

const metadataOf = ({ publishedAt }: FeedEntry, from: ContentFrom): Record<string, unknown> => ({
  content_from: from,
  ...(publishedAt === null ? {} : { published: publishedAt }),
});

const escaped = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');

/** Builds an HTML page from an entry. */
function entryContent(entry: FeedEntry, html: string, from: ContentFrom, options: FeedEntryOptions): OpenedContent {
  const title = entry.title === null ? '' : escaped(entry.title);
  const page = `<!doctype html><html><head><title>${title}</title></head><body><article>${title === '' ? '' : `<h1>${title}</h1>`}\n${html}</article></body></html>`;
  return {
    bytes: Buffer.from(page),
    contentType: 'text/html; charset=utf-8',
    format: 'HTML',
    recordedFormat: FEED_SOURCE,
    mimeType: 'text/html',
    url: entry.url ?? options.feedUrl,
    html: skipsOf(options),
    validators: { etag: null, lastModified: null },
    fileMetadata: metadataOf(entry, from),
  };
}
