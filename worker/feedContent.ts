import { LRUCache } from 'lru-cache';

import type { ContentRef, OpenedContent } from '../activities/deps.js';
import type { Feed, FeedEntry, Validators, WebSource } from '../connectors/types.js';
import { Fault } from '../contract/failures.js';
import type { FeedEntryOptions } from '../contract/feeds.js';
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

/** Reads feeds, and the contents of their entries. */
export function createFeedContents(web: WebSource) {
  const kept = new LRUCache<string, Feed>({ maxSize: MAX_KEPT, sizeCalculation: sizeOf, ttl: LIFE_MS });
  /** By address: batches that want the same feed wait for one request. */
  const underWay = new Map<string, Promise<Feed>>();

  const read = async (url: string, signal: AbortSignal, known: Validators | null): Promise<Feed | null> => {
    const feed = await web.readFeed(url, signal, known);
    if (feed) kept.set(url, feed);
    return feed;
  };
  const readWhole = async (url: string, signal: AbortSignal): Promise<Feed> => {
    const feed = await read(url, signal, null);
    if (feed === null) throw new Error('A feed that was asked for without a condition was not answered');
    return feed;
  };
  const shared = (url: string, signal: AbortSignal): Promise<Feed> => {
    const known = underWay.get(url);
    // Who came first may give up: then those who waited read it themselves.
    if (known) return known.catch(() => readWhole(url, signal));
    const reading = readWhole(url, signal).finally(() => underWay.delete(url));
    underWay.set(url, reading);
    return reading;
  };
  const find = async ({ feedUrl, entryId }: FeedEntryOptions, signal: AbortSignal): Promise<FeedEntry | null> => {
    const named = ({ id }: FeedEntry): boolean => id === entryId;
    const entry = kept.get(feedUrl)?.entries.find(named);
    return entry ?? (await shared(feedUrl, signal)).entries.find(named) ?? null;
  };

  return {
    read,
    /**
     * The content of an entry: its own where the feed carries it whole, else the page it leads to, else its summary.
     * Null when that is unchanged, or the entry has left the feed and there is a copy.
     */
    async open({ sourceOptions, known }: ContentRef, signal: AbortSignal): Promise<OpenedContent | null> {
      const options = sourceOptions as FeedEntryOptions;
      const entry = await find(options, signal);
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
        return page && { ...page, facts: { ...page.facts, ...factsOf(entry, 'page') } };
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
    mimeType: 'text/html',
    url: entry.url ?? options.feedUrl,
    html: skipsOf(options),
    validators: { etag: null, lastModified: null },
    facts: factsOf(entry, from),
  };
}
