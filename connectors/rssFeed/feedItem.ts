import { escapeHtml } from '../html.js';

/** An entry as its feed contains it. A missing field is ''. */
export interface RawEntry {
  readonly id: string;
  readonly link: string;
  /** HTML, like the next two fields. */
  readonly title: string;
  readonly summary: string;
  readonly content: string;
  readonly published: string;
  /** Whether an id that is a URL is also the address of the entry. */
  readonly isPermalink: boolean;
}

type FieldName = Exclude<keyof RawEntry, 'isPermalink'>;
/** Elements for each field, in order of preference. */
const FIELDS: Readonly<Record<FieldName, readonly string[]>> = {
  id: ['guid', 'id'],
  link: ['link'],
  title: ['title', 'dc:title'],
  summary: ['description', 'summary'],
  content: ['content:encoded', 'content'],
  published: ['pubDate', 'published', 'dc:date', 'issued', 'updated', 'date', 'modified'],
};
const READ_ELEMENTS: ReadonlySet<string> = new Set(Object.values(FIELDS).flat());
const HTML_ELEMENTS: ReadonlySet<string> = new Set([...FIELDS.summary, ...FIELDS.content]);

/** Maximum length of summary and content, in characters, and of any other field. */
const MAX_TEXT = 1_000_000;
const MAX_VALUE = 2000;

const VOID = /^(?:area|br|col|embed|hr|img|input|link|meta|source|track|wbr)$/i;

/** Serialises a start tag, for entries whose markup is elements instead of escaped text. */
function serialiseTag(name: string, attributes: Readonly<Record<string, string>>): string {
  const given = Object.entries(attributes).map(([key, value]) => ` ${key}="${escapeHtml(value)}"`);
  return `<${withoutPrefix(name)}${given.join('')}>`;
}

const withoutPrefix = (name: string): string => name.slice(name.indexOf(':') + 1);

/**
 * Whether the character data of an element is plain text, which must be escaped to become HTML. Otherwise it is HTML
 * source. In RSS it is HTML source; in Atom the attribute `type` decides. XHTML in Atom consists of nested elements,
 * and the character data between them is plain text.
 * @param type the attribute `type`; '' if it is missing
 * @param isAtom whether the element belongs to Atom, whose default type is text
 */
export const isPlainText = (type: string, isAtom: boolean): boolean =>
  type === '' ? isAtom : /^(?:text|text\/plain|xhtml|.*\+xml)$/.test(type);

/** Collects the fields of one entry from parser events. */
export class FeedItem {
  readonly #about: string;
  readonly #isAtom: boolean;
  readonly #values = new Map<string, string>();
  #link = '';
  #isPermalink = true;
  /** The element being read: its name, type of text, and number of open elements in it. */
  #field: { name: string; escapes: boolean; limit: number; depth: number } | null = null;
  /** Number of open elements in the entry. */
  #depth = 0;
  /** Texts of the element being read; `limit` bounds their total length. */
  #parts: string[] = [];
  #length = 0;

  constructor(about: string, isAtom: boolean) {
    this.#about = about;
    this.#isAtom = isAtom;
  }

  open(name: string, attributes: Readonly<Record<string, string>>): void {
    this.#depth += 1;
    if (this.#field) {
      this.#field.depth += 1;
      if (HTML_ELEMENTS.has(this.#field.name)) this.#append(serialiseTag(name, attributes));
      return;
    }
    if (this.#depth > 1) return;
    if (name === 'link' && attributes['href'] !== undefined) {
      const rel = attributes['rel'] ?? 'alternate';
      if (rel === 'alternate') this.#link ||= attributes['href'].slice(0, MAX_VALUE);
    }
    // Elements with `src` are skipped: content at another URL is not fetched.
    if (!READ_ELEMENTS.has(name) || this.#values.has(name) || attributes['src'] !== undefined) return;
    // https://www.rssboard.org/rss-specification#ltguidgtSubelementOfLtitemgt
    if (name === 'guid') this.#isPermalink = attributes['isPermaLink'] !== 'false';
    const type = attributes['type'] ?? '';
    // RSS has no elements `content` and `summary`.
    const isOfAtom = name === 'content' || name === 'summary' || (name === 'title' && this.#isAtom);
    this.#field = {
      name,
      escapes: (isOfAtom || HTML_ELEMENTS.has(name)) && isPlainText(type, isOfAtom),
      limit: HTML_ELEMENTS.has(name) ? MAX_TEXT : MAX_VALUE,
      depth: 0,
    };
    this.#parts = [];
    this.#length = 0;
  }

  text(characters: string): void {
    if (this.#field) this.#append(this.#field.escapes ? escapeHtml(characters) : characters);
  }

  /** Returns false at the end of the entry itself. */
  close(name: string): boolean {
    if (this.#depth === 0) return false;
    this.#depth -= 1;
    if (!this.#field) return true;
    if (this.#field.depth > 0) {
      this.#field.depth -= 1;
      if (HTML_ELEMENTS.has(this.#field.name) && !VOID.test(withoutPrefix(name)))
        this.#append(`</${withoutPrefix(name)}>`);
      return true;
    }
    const value = this.#parts.join('').trim();
    if (value !== '') this.#values.set(this.#field.name, value);
    this.#field = null;
    return true;
  }

  entry(): RawEntry {
    const value = (field: FieldName): string =>
      FIELDS[field].map((name) => this.#values.get(name) ?? '').find((text) => text !== '') ?? '';
    return {
      id: value('id') || this.#about,
      link: this.#link || value('link'),
      title: value('title'),
      summary: value('summary'),
      content: value('content'),
      published: value('published'),
      isPermalink: this.#isPermalink,
    };
  }

  #append(part: string): void {
    const remaining = (this.#field?.limit ?? 0) - this.#length;
    if (remaining <= 0) return;
    this.#parts.push(part.slice(0, remaining));
    this.#length += part.length;
  }
}
