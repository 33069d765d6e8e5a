import { type CommentedText, commentText } from '../../office/commentedText.js';
import type { NoteMarks } from '../../office/noteMarks.js';
import { readXml } from '../../office/readXml.js';
import { markdownTable, oneLine, tidyLines } from '../../textBuilder.js';
import type { DocumentLimits } from '../../types.js';
import { isInline, SHAPES, SKIPPED } from './elements.js';
import { type ListItem, OpenLists } from './openLists.js';
import { closeInline, openInline, type OpenParagraph } from './openParagraph.js';
import { OpenTables } from './openTables.js';
import { objectName } from './readObjects.js';
import type { Styles } from './readStyles.js';

/** A paragraph outside of tables, notes and comments. */
export interface Paragraph {
  readonly text: string;
  /** Rank, 1 to 6; null for other paragraphs. */
  readonly heading: number | null;
  readonly item: ListItem | null;
}

/** Receives the content of a document in its order. */
export interface ContentHandler {
  paragraph(paragraph: Paragraph): void;
  /** A table as Markdown, or a chart. */
  block(markdown: string): void;
  open?(name: string, attributes: Readonly<Record<string, string>>): void;
  close?(name: string): void;
}

export interface ContentParts {
  readonly styles: Styles;
  /** Charts as blocks, by the name of their object. */
  readonly charts: ReadonlyMap<string, readonly string[]>;
  readonly limits: DocumentLimits;
  readonly marks: NoteMarks;
  readonly commented: CommentedText;
}

/** An element with paragraphs of its own. */
interface Container {
  readonly kind: 'cell' | 'covered' | 'note' | 'comment' | 'shape';
  readonly lines: string[];
  /** Number of lists that were open around it. */
  readonly lists: number;
  /** Id of a note; author of a comment, and the name of the text range to which it refers. */
  readonly about: { id: string; author: string; name: string | null };
}

/** The role of an open element for the reader, which decides how its end is handled. */
type Role = 'paragraph' | 'inline' | 'list' | 'item' | 'table' | 'row' | 'container' | 'author' | 'aside' | 'other';

/**
 * Reads the body of a text document or presentation. Open elements are on stacks instead of recursion, because text
 * boxes contain paragraphs, and cells contain tables.
 */
export class ContentReader {
  readonly #parts: ContentParts;
  readonly #handler: ContentHandler;
  readonly #lists: OpenLists;
  readonly #roles: Role[] = [];
  /** Open paragraphs; null for an inner element whose text does not belong to the paragraph. */
  readonly #paragraphs: (OpenParagraph | null)[] = [];
  readonly #containers: Container[] = [];
  readonly #tables: OpenTables<Paragraph | string>;
  /** Charts in a paragraph or table that is still open. */
  #shown: string[] = [];
  /** Whether the text is the author of a comment. */
  #inAuthor = false;
  readonly #changes = { insertions: 0, deletions: 0 };
  readonly #notes: { readonly id: string; readonly text: string }[] = [];
  readonly #comments: { readonly author: string; readonly name: string | null; readonly text: string }[] = [];
  #fields = 0;

  constructor(parts: ContentParts, handler: ContentHandler) {
    this.#parts = parts;
    this.#handler = handler;
    this.#lists = new OpenLists(parts.styles);
    this.#tables = new OpenTables(parts.limits.maxCells);
  }

  /** Number of tracked changes. */
  get changes(): Readonly<{ insertions: number; deletions: number }> {
    return this.#changes;
  }

  /** Number of form fields, whose values are not read. */
  get formFields(): number {
    return this.#fields;
  }

  /** Returns the notes so far as `[^1]: …`. */
  get notes(): string[] {
    return this.#notes.filter(({ text }) => text !== '').map(({ id, text }) => `${id}: ${text}`);
  }

  /** Returns and removes the comments collected so far. */
  takeComments(): string[] {
    return this.#comments
      .splice(0)
      .map(({ author, name, text }) =>
        commentText(author, name === null ? '' : this.#parts.commented.quoteOf(name), text),
      );
  }

  read(part: Uint8Array): void {
    let skipped = 0;
    let inBody = false;
    readXml(part, this.#parts.limits, {
      skipsDoctype: true,
      open: (name, attributes) => {
        if (name === 'insertion') this.#changes.insertions += 1;
        else if (name === 'deletion') this.#changes.deletions += 1;
        if (name === 'control') this.#fields += 1;
        if (skipped > 0 || SKIPPED.test(name)) skipped += 1;
        else if (name === 'body') inBody = true;
        else if (inBody) this.#open(name, attributes);
      },
      text: (text) => {
        if (skipped === 0 && inBody) this.#text(text);
      },
      close: (name) => {
        if (skipped > 0) skipped -= 1;
        else if (name === 'body') inBody = false;
        else if (inBody) this.#close(name);
      },
    });
  }

  #open(name: string, attributes: Readonly<Record<string, string>>): void {
    this.#handler.open?.(name, attributes);
    this.#roles.push(this.#begin(name, attributes));
  }

  #begin(name: string, attributes: Readonly<Record<string, string>>): Role {
    const paragraph = this.#paragraphs.at(-1);
    if (name === 'p' || name === 'h') {
      this.#paragraphs.push({ text: '', heading: this.#rankOf(name, attributes), link: null });
      return 'paragraph';
    }
    if (paragraph && isInline(name)) {
      openInline(paragraph, name, attributes);
      if (name === 's' || name === 'tab' || name === 'line-break') this.#addCommented(' ');
      return 'inline';
    }
    if (name === 'list') {
      this.#lists.begin(attributes, this.#containers.at(-1)?.lists ?? 0);
      return 'list';
    }
    if (name === 'list-item' || name === 'list-header') {
      this.#lists.beginItem(attributes, name === 'list-header');
      return 'item';
    }
    if (name === 'table') {
      this.#tables.begin();
      return 'table';
    }
    const about = this.#aboutContainer(name, attributes, paragraph ?? null);
    if (about) {
      this.#containers.push({ ...about, lines: [], lists: this.#lists.depth });
      this.#paragraphs.push(null);
      return 'container';
    }
    if (name === 'table-row') {
      this.#tables.beginRow();
      return 'row';
    }
    if (name === 'creator' && this.#containers.at(-1)?.kind === 'comment') {
      this.#inAuthor = true;
      return 'author';
    }
    if (name === 'annotation-end') this.#parts.commented.end(attributes['name'] ?? '');
    else if (name === 'object') this.#shown.push(...(this.#parts.charts.get(objectName(attributes['href'])) ?? []));
    if (!paragraph) return 'other';
    this.#paragraphs.push(null);
    return 'aside';
  }

  /** Returns the kind and details of an element with paragraphs of its own; null for other elements. */
  #aboutContainer(
    name: string,
    attributes: Readonly<Record<string, string>>,
    paragraph: OpenParagraph | null,
  ): Pick<Container, 'kind' | 'about'> | null {
    const about = { id: '', author: '', name: null };
    if (SHAPES.has(name)) return { kind: 'shape', about };
    if (name === 'note') {
      const kind = attributes['note-class'] === 'endnote' ? 'endnotes' : 'footnotes';
      const id = this.#parts.marks.refer(kind, String(this.#notes.length));
      if (paragraph) paragraph.text += id;
      return { kind: 'note', about: { ...about, id } };
    }
    if (name === 'annotation') {
      const quoted = attributes['name'] ?? null;
      if (quoted !== null) this.#parts.commented.begin(quoted);
      return { kind: 'comment', about: { ...about, name: quoted } };
    }
    if (this.#tables.depth === 0 || (name !== 'table-cell' && name !== 'covered-table-cell')) return null;
    this.#tables.beginCell(attributes);
    return { kind: name === 'table-cell' ? 'cell' : 'covered', about };
  }

  #rankOf(name: string, attributes: Readonly<Record<string, string>>): number | null {
    if (name === 'h') return Math.min(6, Math.max(1, Number(attributes['outline-level'] ?? 1) || 1));
    return this.#parts.styles.isTitle(attributes['style-name'] ?? null) ? 1 : null;
  }

  #text(raw: string): void {
    if (this.#inAuthor) {
      const comment = this.#containers.at(-1);
      if (comment) comment.about.author += raw;
      return;
    }
    const paragraph = this.#paragraphs.at(-1);
    if (!paragraph) return;
    const text = raw.replace(/[\t\r\n ]+/g, ' ');
    paragraph.text += text;
    this.#addCommented(text);
  }

  #addCommented(text: string): void {
    if (this.#containers.at(-1)?.kind !== 'comment') this.#parts.commented.add(text);
  }

  #close(name: string): void {
    const role = this.#roles.pop();
    const paragraph = this.#paragraphs.at(-1);
    if (role === 'paragraph') {
      this.#paragraphs.pop();
      if (paragraph) this.#endParagraph(paragraph);
    } else if (role === 'inline') {
      if (paragraph) closeInline(paragraph, name);
    } else if (role === 'list') this.#lists.end();
    else if (role === 'item') this.#lists.endItem();
    else if (role === 'container') this.#endContainer();
    else if (role === 'row') this.#tables.endRow();
    else if (role === 'table') this.#endTable();
    else if (role === 'author') this.#inAuthor = false;
    else if (role === 'aside') this.#paragraphs.pop();
    this.#writeShown();
    this.#handler.close?.(name);
  }

  #endContainer(): void {
    const ended = this.#containers.pop();
    this.#paragraphs.pop();
    if (!ended) return;
    const text = ended.lines.join(' ');
    const { id, author, name } = ended.about;
    if (ended.kind === 'note') this.#notes.push({ id, text });
    else if (ended.kind === 'comment' && text !== '') this.#comments.push({ author, name, text });
    else if (ended.kind === 'cell' || ended.kind === 'covered')
      this.#tables.endCell(ended.kind === 'covered' ? null : text);
  }

  #endParagraph({ text: raw, heading }: OpenParagraph): void {
    this.#addCommented(' ');
    const text = tidyLines(raw);
    const innermost = this.#containers.at(-1);
    const item = this.#lists.place(innermost?.lists ?? 0, text === '');
    if (text === '') return;
    const container = this.#containers.findLast(({ kind }) => kind !== 'shape');
    const paragraph = { text, heading, item: heading === null ? item : null };
    if (!container) this.#handler.paragraph(paragraph);
    else {
      container.lines.push(oneLine(`${item?.number ?? ''} ${text}`));
      if (container.kind === 'cell') this.#tables.keep(paragraph);
    }
  }

  #endTable(): void {
    const table = this.#tables.end();
    if (table === null) return;
    const { rows, framed } = table;
    const outer = this.#containers.findLast(({ kind }) => kind !== 'shape');
    // Markdown cannot nest tables: the text of an inner table stays in the cell or note that contains it.
    const parts = framed ?? [markdownTable(rows)];
    if (outer) {
      outer.lines.push(rows.flat().filter(Boolean).join(' '));
      if (outer.kind === 'cell') for (const part of parts) this.#tables.keep(part);
    } else {
      for (const part of parts) {
        if (typeof part === 'string') this.#handler.block(part);
        else this.#handler.paragraph(part);
      }
    }
  }

  /** Writes charts after the paragraph or table that contains them. */
  #writeShown(): void {
    if (this.#shown.length === 0 || this.#paragraphs.length > 0 || this.#tables.depth > 0) return;
    for (const block of this.#shown) this.#handler.block(block);
    this.#shown = [];
  }
}
