import { SaxesParser } from 'saxes';

import { escapeHtml } from '../html.js';
import { FeedItem, isPlainText, type RawEntry } from './feedItem.js';
import { XML_ENTITIES } from './xmlEntities.js';

/** A parsed feed with unresolved URLs. */
export interface RawFeed {
  /** HTML. */
  title: string;
  readonly entries: RawEntry[];
}

/**
 * Thrown for a file that is not a readable feed. Its message continues a sentence that begins with "The feed <URL>".
 */
export class InvalidFeed extends Error {}

/** Thrown after the maximum number of entries. The rest of the feed is skipped. */
export class EntryLimitReached extends Error {}

/** Maximum number of entries of one feed; podcasts have about a thousand. Feeds begin with the newest ones. */
export const MAX_ENTRIES = 5000;
const MAX_DEPTH = 64;
const MAX_ATTRIBUTES = 100;
const MAX_TITLE = 1000;

const ENTRY_PARENTS: ReadonlySet<string> = new Set(['channel', 'rdf:RDF', 'rss', 'feed']);
const ROOT_ELEMENTS: ReadonlySet<string> = new Set(['rss', 'feed', 'rdf:RDF']);

/**
 * Parses RSS 0.9x to 2.0, RSS 1.0 (RDF) and Atom incrementally. If it throws, the parsed entries remain. Entities
 * declared in a document type are never expanded; references to them are errors.
 */
export function createFeedParser(): { readonly feed: RawFeed; write(text: string): void; end(): void } {
  const feed: RawFeed = { title: '', entries: [] };
  const parser = new SaxesParser();
  // Entities of HTML that feeds use without a declaration.
  Object.assign(parser.ENTITIES, XML_ENTITIES);
  const path: string[] = [];
  let prefix = '';
  let attributes = 0;
  let item: FeedItem | null = null;
  /** Whether the title of the feed is text instead of HTML. */
  let isTitleText = false;

  /** Returns a name without the feed's own namespace prefix: <atom:feed> becomes <feed>. */
  const plain = (name: string): string => (prefix !== '' && name.startsWith(prefix) ? name.slice(prefix.length) : name);

  /** Whether the parser is in the title of the feed, or in an element of an XHTML title. */
  const isInTitle = (): boolean => {
    const at = path.indexOf('title');
    return at > 0 && ENTRY_PARENTS.has(path[at - 1] ?? '');
  };

  const text = (characters: string): void => {
    if (item) item.text(characters);
    else if (isInTitle() && feed.title.length < MAX_TITLE)
      feed.title += (isTitleText ? escapeHtml(characters) : characters).slice(0, MAX_TITLE);
  };
  parser.on('doctype', (doctype) => {
    if (/^\s*html\b/i.test(doctype)) throw isWebPage();
  });
  parser.on('opentagstart', ({ name }) => {
    attributes = 0;
    if (path.length === 0) prefix = checkRoot(name);
    path.push(plain(name));
    if (path.length > MAX_DEPTH) throw new InvalidFeed('has too deeply nested elements.');
  });
  parser.on('attribute', () => {
    attributes += 1;
    if (attributes > MAX_ATTRIBUTES) throw new InvalidFeed('has an element with too many attributes.');
  });
  parser.on('opentag', (tag) => {
    const name = path.at(-1) ?? '';
    if (item) item.open(name, tag.attributes);
    else if ((name === 'item' || name === 'entry') && ENTRY_PARENTS.has(path.at(-2) ?? '')) {
      if (feed.entries.length >= MAX_ENTRIES) throw new EntryLimitReached();
      item = new FeedItem(tag.attributes['rdf:about'] ?? '', name === 'entry');
    } else if (name === 'title') isTitleText = isPlainText(tag.attributes['type'] ?? '', path[0] === 'feed');
  });
  parser.on('text', text);
  parser.on('cdata', text);
  parser.on('closetag', () => {
    const name = path.pop() ?? '';
    if (item && !item.close(name)) {
      feed.entries.push(item.entry());
      item = null;
    }
  });
  return {
    feed,
    write: (characters) => void parser.write(characters),
    end: () => void parser.close(),
  };
}

/** Returns the namespace prefix of the feed's own elements. */
function checkRoot(name: string): string {
  const local = name.slice(name.indexOf(':') + 1);
  if (local.toLowerCase() === 'html') throw isWebPage();
  if (name === 'urlset' || name === 'sitemapindex')
    throw new InvalidFeed('is a sitemap, not a feed. Scrape it as a sitemap.');
  if (ROOT_ELEMENTS.has(name)) return '';
  if (ROOT_ELEMENTS.has(local)) return name.slice(0, -local.length);
  throw new InvalidFeed(
    `is XML but not a feed: it begins with <${name.slice(0, 50)}>. Give the address of an RSS or Atom feed.`,
  );
}

export const isWebPage = (): InvalidFeed =>
  new InvalidFeed('is a web page, not a feed. Give the address of the feed itself; the page often links to it.');
