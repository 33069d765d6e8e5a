import { createHash } from 'node:crypto';
import { decodeHTMLStrict } from 'entities';

import { Fault } from '../../contract/failures.js';
import type { FeedLogin } from '../../contract/runs/feeds.js';
import { normaliseUrl } from '../../contract/urls.js';
import type { Egress } from '../../egress/types.js';
import type { FeedAnswer, FeedEntry, FeedRequest } from '../types.js';
import { createFeedParser, EntryLimitReached, isWebPage, InvalidFeed, type RawFeed } from './feedParser.js';
import type { RawEntry } from './feedItem.js';
import { parseJsonFeed } from './jsonFeed.js';
import { conditions, validatorsOf } from '../conditional.js';
import { unpackedText } from '../unpackedText.js';
import { shownUrl, statusFault } from '../statusFault.js';

/** Maximum size of a feed in bytes, decompressed: it stays in memory while its entries are stored. */
const MAX_BYTES = 10_000_000;
/** Longer entry ids are replaced by their hash. */
const MAX_ID = 500;
const SENTENCES = {
  401: 'asks for a login. Add it again with the login in its address: https://name:password@host/…',
  404: 'does not exist. Check the address.',
  410: 'was removed permanently. Its stored entries are kept; add it again if it returns.',
} as const;
const PERMANENT_REDIRECTS: ReadonlySet<number> = new Set([301, 308]);

export interface FeedSettings {
  /** Maximum size in bytes, decoded. */
  readonly maxPageBytes: number;
  /** Time limit from the request to the last byte. */
  readonly pageTimeoutMs: number;
}

/**
 * Fetches a feed: RSS, RDF, Atom or JSON Feed. The content decides the format, not the media type. A truncated feed
 * yields the entries before the cut, or a Fault if there are none. Entries above the maximum number are skipped.
 */
export async function readFeed(
  egress: Pick<Egress, 'request'>,
  settings: FeedSettings,
  now: () => number,
  { url, credentials, known, signal }: FeedRequest,
): Promise<FeedAnswer> {
  let movedTo: string | null = null;
  let isPermanent = true;
  const answer = await egress.request({
    url,
    signal,
    headers: {
      accept: 'application/rss+xml, application/atom+xml, application/feed+json, application/xml;q=0.9, */*;q=0.5',
      ...conditions(known),
      ...loginFor(url, credentials),
    },
    maxBytes: Math.min(MAX_BYTES, settings.maxPageBytes),
    totalTimeoutMs: settings.pageTimeoutMs,
    onRedirect(next, status) {
      // The target of a temporary redirect is not the feed's new address.
      isPermanent &&= PERMANENT_REDIRECTS.has(status);
      if (isPermanent) movedTo = normaliseUrl(next);
    },
  });
  if (answer.status === 304 && known) {
    await answer.discard();
    return { feed: null, movedTo };
  }
  const refused = statusFault('The feed', answer, now(), SENTENCES);
  if (refused) {
    await answer.discard();
    throw refused;
  }
  let total = 0;
  const count = (bytes: number): void => {
    total += bytes;
    if (total > MAX_BYTES)
      throw new InvalidFeed(`is larger than the maximum of ${MAX_BYTES.toLocaleString('en')} bytes.`);
  };
  const { feed, error } = await parse(unpackedText(answer.body, answer.headers['content-type'], count));
  if (error !== null) {
    signal.throwIfAborted();
    if (feed.entries.length === 0) throw asFault(url, error);
  }
  return {
    feed: {
      title: textOf(feed.title) || null,
      entries: entriesOf(feed.entries, answer.url),
      validators: error === null ? validatorsOf(answer.headers) : { etag: null, lastModified: null },
    },
    movedTo,
  };
}

/** Returns the Authorization header, for the origin of the login only. */
function loginFor(url: string, credentials: string | null): Record<string, string> {
  if (credentials === null) return {};
  const { origin, username, password } = JSON.parse(credentials) as FeedLogin;
  if (new URL(url).origin !== origin) return {};
  return { authorization: `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}` };
}

async function parse(pieces: AsyncIterable<string>): Promise<{ feed: RawFeed; error: unknown }> {
  const xml = createFeedParser();
  let json = '';
  let format: 'xml' | 'json' | null = null;
  try {
    for await (const piece of pieces) {
      const unreadText: string = format === null ? piece.trimStart() : piece;
      if (unreadText === '') continue;
      if (format === null) {
        // HTML with a lower-case doctype is not XML: the parser would report a less helpful error.
        if (/^<!doctype\s+html\b/i.test(unreadText)) throw isWebPage();
        if (!/^[<{]/.test(unreadText))
          throw new InvalidFeed('is neither XML nor JSON. Give the address of an RSS, Atom or JSON feed.');
        format = unreadText.startsWith('{') ? 'json' : 'xml';
      }
      if (format === 'json') json += unreadText;
      else xml.write(unreadText);
    }
    if (format === null) throw new InvalidFeed("is empty. Check its address, or ask the site's operator to fill it.");
    if (format === 'json') return { feed: parseJsonFeed(json), error: null };
    xml.end();
    return { feed: xml.feed, error: null };
  } catch (error) {
    // A feed with too many entries is not an error: the rest is skipped, as in a JSON feed. Its validators are kept,
    // because reading the unchanged feed again would yield the same entries.
    return { feed: xml.feed, error: error instanceof EntryLimitReached ? null : error };
  }
}

function asFault(url: string, error: unknown): Fault {
  if (error instanceof Fault) return error;
  const what =
    error instanceof InvalidFeed
      ? error.message
      : // The parser throws plain errors that begin with line:column.
        `can't be read (${(error as Error).message.slice(0, 200)}). Correct it.`;
  return new Fault('broken_content', `The feed ${shownUrl(url)} ${what}`, { cause: error });
}

/** Returns the entries without repeated ids: the first one is the newest. */
function entriesOf(raw: readonly RawEntry[], base: string): FeedEntry[] {
  const entries = new Map<string, FeedEntry>();
  for (const { id, link, title, summary, content, published, isPermalink } of raw) {
    const url = link !== '' ? normaliseUrl(link, base) : isPermalink ? permalink(id) : null;
    const name = shortened(id || (url ?? '') || textOf(title));
    if (name === '' || entries.has(name)) continue;
    const time = Date.parse(published);
    entries.set(name, {
      id: name,
      url,
      title: textOf(title) || null,
      publishedAt: Number.isNaN(time) ? null : new Date(time).toISOString(),
      content: content || null,
      summary: summary || null,
    });
  }
  return [...entries.values()];
}

const permalink = (id: string): string | null => (/^https?:\/\//i.test(id) ? normaliseUrl(id) : null);

const shortened = (id: string): string =>
  id.length <= MAX_ID ? id : `sha256:${createHash('sha256').update(id).digest('hex')}`;

/** Returns the text of a title, which is HTML. */
const textOf = (title: string): string =>
  decodeHTMLStrict(title.replace(/<[^<>]*>/g, ' '))
    .replace(/\s+/g, ' ')
    .trim();
