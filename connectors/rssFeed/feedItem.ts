import { escapeHtml } from '../html.js'; /** An entry as its feed gives it. '' is what it does not say. */
export interface RawEntry {
  readonly id: string;
  readonly link: string;
  /** HTML, as are the next two. */
  readonly title: string;
  readonly summary: string;
  readonly content: string;
  readonly published: string;
}

type FieldName = keyof RawEntry;
/** What a field holds, from its most to its least telling element. */
const FIELDS: Readonly<Record<FieldName, readonly string[]>> = {
  id: ['guid', 'id'],
  link: ['link'],
  title: ['title', 'dc:title'],
  summary: ['description', 'summary'],
  content: ['content:encoded', 'content'],
  published: ['pubDate', 'published', 'dc:date', 'issued', 'updated', 'date', 'modified'],
};
const NAMES: ReadonlySet<string> = new Set(Object.values(FIELDS).flat());
const HTML: ReadonlySet<string> = new Set([...FIELDS.summary, ...FIELDS.content]);

/** Characters of a text, and of anything else, that are read. */
const MAX_TEXT = 1_000_000;
const MAX_VALUE = 2000;

const VOID = /^(?:area|br|col|embed|hr|img|input|link|meta|source|track|wbr)$/i;

/** A start tag as HTML: of the markup that an entry holds as elements and not as text. */
function serialiseTag(name: string, attributes: Readonly<Record<string, string>>): string {
  const given = Object.entries(attributes).map(([key, value]) => ` ${key}="${escapeHtml(value)}"`);
  return `<${withoutPrefix(name)}${given.join('')}>`;
}

const withoutPrefix = (name: string): string => name.slice(name.indexOf(':') + 1);

/** Collects what the elements of one entry say. */
export class FeedItem {
  readonly #about: string;
  readonly #values = new Map<string, string>();
  #link = '';
  /** The element that is read: its name, its kind of text, how much is open in it. */
  #field: { name: string; escapes: boolean; limit: number; depth: number } | null = null;
  /** Elements open in the entry. */
  #depth = 0;
  /** Of the element that is read; their length bounds what an entry may grow to. */
  #parts: string[] = [];
  #length = 0;

  constructor(about: string) {
    this.#about = about;
  }

  open(name: string, attributes: Readonly<Record<string, string>>): void {
    this.#depth += 1;
    if (this.#field) {
      this.#field.depth += 1;
      if (HTML.has(this.#field.name)) this.#keep(serialiseTag(name, attributes));
      return;
    }
    if (this.#depth > 1) return;
    if (name === 'link' && attributes['href'] !== undefined) {
      const rel = attributes['rel'] ?? 'alternate';
      if (rel === 'alternate') this.#link ||= attributes['href'].slice(0, MAX_VALUE);
    }
    // A guid that is not an address is still an id. Content at another address is not fetched.
    if (!NAMES.has(name) || this.#values.has(name) || attributes['src'] !== undefined) return;
    const type = attributes['type'] ?? '';
    // RSS writes HTML as text; Atom says what it writes. Elements are markup in any case, text between them is text.
    const isText = type === '' ? name === 'content' || name === 'summary' : type === 'text' || type === 'text/plain';
    this.#field = {
      name,
      escapes: HTML.has(name) && (isText || type === 'xhtml' || type.endsWith('+xml')),
      limit: HTML.has(name) ? MAX_TEXT : MAX_VALUE,
      depth: 0,
    };
    this.#parts = [];
    this.#length = 0;
  }

  text(characters: string): void {
    if (this.#field) this.#keep(this.#field.escapes ? escapeHtml(characters) : characters);
  }

  /** False when it is the entry's own end. */
  close(name: string): boolean {
    if (this.#depth === 0) return false;
    this.#depth -= 1;
    if (!this.#field) return true;
    if (this.#field.depth > 0) {
      this.#field.depth -= 1;
      if (HTML.has(this.#field.name) && !VOID.test(withoutPrefix(name))) this.#keep(`</${withoutPrefix(name)}>`);
      return true;
    }
    const value = this.#parts.join('').trim();
    if (value !== '') this.#values.set(this.#field.name, value);
    this.#field = null;
    return true;
  }

  entry(): RawEntry {
    const value = (field: FieldName): string =>
      FIELDS[field].map((name) => this.#values.get(name) ?? '').find((one) => one !== '') ?? '';
    return {
      id: value('id') || this.#about,
      link: this.#link || value('link'),
      title: value('title'),
      summary: value('summary'),
      content: value('content'),
      published: value('published'),
    };
  }

  #keep(part: string): void {
    const room = (this.#field?.limit ?? 0) - this.#length;
    if (room <= 0) return;
    this.#parts.push(part.slice(0, room));
    this.#length += part.length;
  }
}
