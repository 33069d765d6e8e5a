import { SaxesParser } from 'saxes';

import { Fault } from '../../contract/failures.js';
import { shownUrl } from '../statusFault.js';

/** One `<url>` or `<sitemap>` element. */
export interface SitemapItem {
  readonly location: string;
  readonly lastModified: string | null;
}

export interface SitemapParser {
  readonly items: readonly SitemapItem[];
  /** Whether the items are sitemaps (of an index) instead of pages. */
  isIndex(): boolean;
  /** Parses the next characters. Throws a Fault if they are invalid or exceed a limit; items before them remain. */
  write(text: string): void;
  end(): void;
}

/** Limit of the sitemap protocol. */
export const MAX_ITEMS = 50_000;
const MAX_LOCATION = 4096;
const MAX_DEPTH = 32;
const MAX_ATTRIBUTES = 100;

/** Creates an incremental parser for one sitemap file: XML, or a plain list of URLs. */
export function createSitemapParser(url: string): SitemapParser {
  const items: SitemapItem[] = [];
  const add = (location: string, lastModified: string | null): void => {
    if (location === '' || location.length > MAX_LOCATION) return;
    if (items.length >= MAX_ITEMS) {
      throw new Fault(
        'too_large',
        `The sitemap ${shownUrl(url)} has more than ${MAX_ITEMS.toLocaleString('en')} entries. Split it and name the parts in a sitemap index.`,
      );
    }
    items.push({ location, lastModified });
  };
  let format: Omit<SitemapParser, 'items'> | null = null;
  return {
    items,
    isIndex: () => format?.isIndex() ?? false,
    write(text) {
      // Blank lines before the XML declaration are a common and harmless error.
      const unreadText = format === null ? text.trimStart() : text;
      if (unreadText === '') return;
      // HTML with a lower-case doctype is not XML: the parser would report a less helpful error.
      if (format === null && /^<!doctype\s+html\b/i.test(unreadText)) throw isWebPage(url);
      format ??= unreadText.startsWith('<') ? xmlFormat(url, add) : listFormat(url, items, add);
      format.write(unreadText);
    },
    end() {
      if (format === null) throw broken(url, "is empty. Check its address, or ask the site's operator to fill it.");
      format.end();
    },
  };
}

function xmlFormat(
  url: string,
  add: (location: string, lastModified: string | null) => void,
): Omit<SitemapParser, 'items'> {
  const parser = new SaxesParser();
  /** Local names of the open elements, because sites choose their own prefixes. */
  const path: string[] = [];
  let root = '';
  let attributes = 0;
  let fields: Record<string, string> = {};
  const isItem = (): boolean => path.length === 2 && path[1] === ITEM_OF[path[0] ?? ''];

  const text = (characters: string): void => {
    if (path.length !== 3) return;
    const field = path[2] ?? '';
    if (field === 'loc' || field === 'lastmod')
      fields[field] = `${fields[field] ?? ''}${characters}`.slice(0, MAX_LOCATION + 1);
  };
  parser.on('doctype', (doctype) => {
    // Declared entities are never expanded; references to them are errors.
    if (/^\s*html\b/i.test(doctype)) throw isWebPage(url);
  });
  parser.on('opentagstart', ({ name }) => {
    attributes = 0;
    const local = name.slice(name.indexOf(':') + 1);
    if (path.length === 0) {
      checkRoot(url, local);
      root = local;
    }
    path.push(local);
    if (path.length > MAX_DEPTH)
      throw broken(url, 'has too deeply nested elements. Create it again as a plain list of pages.');
    if (isItem()) fields = {};
  });
  parser.on('attribute', () => {
    attributes += 1;
    if (attributes > MAX_ATTRIBUTES)
      throw broken(url, 'has an element with too many attributes. Create it again as a plain list of pages.');
  });
  parser.on('text', text);
  parser.on('cdata', text);
  parser.on('closetag', () => {
    if (isItem()) add((fields['loc'] ?? '').trim(), readDate(fields['lastmod']));
    path.pop();
  });

  /** Runs the parser, and converts its errors, whose messages begin with line:column, to Faults. */
  const feed = (work: () => void): void => {
    try {
      work();
    } catch (error) {
      if (error instanceof Fault) throw error;
      throw broken(
        url,
        `is broken XML (line ${(error as Error).message.slice(0, 200)}). Repair it, or create it again.`,
        error,
      );
    }
  };
  return {
    isIndex: () => root === 'sitemapindex',
    write: (characters) => {
      feed(() => parser.write(characters));
    },
    end: () => {
      feed(() => parser.close());
    },
  };
}

const ITEM_OF: Readonly<Record<string, string>> = { urlset: 'url', sitemapindex: 'sitemap' };

function checkRoot(url: string, name: string): void {
  if (Object.hasOwn(ITEM_OF, name)) return;
  if (name.toLowerCase() === 'html') throw isWebPage(url);
  if (name === 'rss' || name === 'feed' || name === 'RDF')
    throw broken(url, `is a feed, not a sitemap. ${whereSitemapsAre(url)}`);
  throw broken(
    url,
    `is XML but not a sitemap: it begins with <${name.slice(0, 50)}>, not <urlset> or <sitemapindex>. ${whereSitemapsAre(url)}`,
  );
}

/** Parses a list with one URL per line. Relative URLs are rejected, since any text would match otherwise. */
function listFormat(
  url: string,
  items: readonly SitemapItem[],
  add: (location: string, lastModified: null) => void,
): Omit<SitemapParser, 'items'> {
  let unreadText = '';
  const addLine = (line: string): void => {
    if (/^https?:\/\/\S+$/i.test(line.trim())) add(line.trim(), null);
  };
  return {
    isIndex: () => false,
    write(characters) {
      const lines = (unreadText + characters).split(/\r\n|\r|\n/);
      unreadText = (lines.pop() ?? '').slice(0, MAX_LOCATION + 1);
      lines.forEach(addLine);
    },
    end() {
      addLine(unreadText);
      if (items.length === 0) throw broken(url, `is neither XML nor a list of addresses. ${whereSitemapsAre(url)}`);
    },
  };
}

/** Returns a date unchanged if it has a format that sitemaps allow: from a year to a time with zone. */
function readDate(text: string | undefined): string | null {
  const date = (text ?? '').trim();
  return /^\d{4}(-\d\d(-\d\d(T\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:?\d\d)?)?)?)?$/.test(date) &&
    !Number.isNaN(Date.parse(date))
    ? date
    : null;
}

function isWebPage(url: string): Fault {
  return broken(url, `is a web page, not a sitemap. ${whereSitemapsAre(url)}`);
}

function whereSitemapsAre(url: string): string {
  const { origin } = new URL(url);
  return `Give the address of the sitemap itself, often ${origin}/sitemap.xml; ${origin}/robots.txt may name it.`;
}

function broken(url: string, what: string, cause?: unknown): Fault {
  return new Fault('broken_content', `The sitemap ${shownUrl(url)} ${what}`, { cause });
}
