import { LRUCache } from 'lru-cache';

import type { ContentRef, OpenedContent } from '../activities/deps.js';
import type { Feed, FeedAnswer, FeedEntry, FeedRequest, FeedSource, WebSource } from '../connectors/types.js';
import { Fault } from '../contract/failures.js';
import { FEED_SOURCE, type FeedEntryOptions } from '../contract/feeds.js';
import { openPage, skipsOf } from './pageContent.js';

/** The entries of one sync read their feed together; a later sync reads it anew. */
const LIFE_MS = 60_000;
/** Characters of feeds kept at once. */
const MAX_KEPT = 40_000_000;

const sizeOf = ({ entries }: Feed): number =>
  Math.min(
    MAX_KEPT,
    entries.reduce((sum, { content, summary }) => sum + (content?.length ?? 0) + (summary?.length ?? 0) + 200, 1),
  );

/** Where an entry's text came from, as file_metadata.content_from says it. */
type ContentFrom = 'feed' | 'page' | 'summary';

/** Whoever asks with another login may be given another feed. */
const keyOf = (url: string, credentials: string | null): string => JSON.stringify([url, credentials]);

/** Reads feeds, and the contents of their entries. */
export function createFeedContents(feeds: FeedSource, web: Pick<WebSource, 'fetchPage'>) {
  const kept = new LRUCache<string, Feed>({ maxSize: MAX_KEPT, sizeCalculation: sizeOf, ttl: LIFE_MS });
  /** Batches that want the same feed wait for one request. */
  const underWay = new Map<string, Promise<Feed>>();

  const read = async (request: FeedRequest): Promise<FeedAnswer> => {
    const answer = await feeds.readFeed(request);
    // Its entries will ask for it where it is now.
    if (answer.feed) kept.set(keyOf(answer.movedTo ?? request.url, request.credentials), answer.feed);
    return answer;
  };
  const readWhole = async (request: FeedRequest): Promise<Feed> => {
    const { feed } = await read(request);
    if (feed === null) throw new Error('A feed that was asked for without a condition was not answered');
    return feed;
  };
  const shared = (request: FeedRequest): Promise<Feed> => {
    const key = keyOf(request.url, request.credentials);
    const known = underWay.get(key);
    // Who came first may give up: then those who waited read it themselves.
    if (known) return known.catch(() => readWhole(request));
    const reading = readWhole(request).finally(() => underWay.delete(key));
    underWay.set(key, reading);
    return reading;
  };
  /** Null when the entry has left its feed, or the feed is gone for good. */
  const find = async (
    { feedUrl: url, entryId }: FeedEntryOptions,
    credentials: string | null,
    signal: AbortSignal,
  ): Promise<FeedEntry | null> => {
    const named = ({ id }: FeedEntry): boolean => id === entryId;
    const entry = kept.get(keyOf(url, credentials))?.entries.find(named);
    if (entry) return entry;
    try {
      return (await shared({ url, credentials, known: null, signal })).entries.find(named) ?? null;
    } catch (error) {
      if (error instanceof Fault && error.kind === 'gone') return null;
      throw error;
    }
  };

  return {
    read,
    /**
     * The content of an entry: its own where the feed carries it whole, else the page it leads to, else its summary.
     * Null when that is unchanged, or the entry has left the feed and there is a copy.
     */
    async open({ sourceOptions, known, credentials }: ContentRef, signal: AbortSignal): Promise<OpenedContent | null> {
      const options = sourceOptions as FeedEntryOptions;
      const entry = await find(options, await credentials(), signal);
      if (entry === null) {
        if (known) return null;
        throw new Fault(
          'gone',
          'The entry is no longer in its feed, so it can not be read again. What was kept of it stays as it is.',
        );
      }
      if (entry.content !== null) return entryContent(entry, entry.content, 'feed', options);
      if (options.pageUrl === null) return entryContent(entry, entry.summary ?? '', 'summary', options);
      try {
        const page = await openPage(web, options.pageUrl, options, known, signal);
        return page && { ...page, recordedFormat: FEED_SOURCE, facts: { ...page.facts, ...factsOf(entry, 'page') } };
      } catch (error) {
        if (!(error instanceof Fault) || error.retryable || entry.summary === null) throw error;
        return entryContent(entry, entry.summary, 'summary', options);
      }
    },
  };
}

const factsOf = ({ publishedAt }: FeedEntry, from: ContentFrom): Record<string, unknown> => ({
  content_from: from,
  ...(publishedAt === null ? {} : { published: publishedAt }),
});

const escaped = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');

/** An entry as the page that it would be. */
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
    facts: factsOf(entry, from),
  };
}
