import type { CommentedText } from '../../office/commentedText.js';
import { listMark } from '../../office/formatNumber.js';
import type { NoteMarks } from '../../office/noteMarks.js';
import type { Relation } from '../../office/openPackage.js';
import { readXml } from '../../office/readXml.js';
import { type Span, spanOf, TableGrid } from '../../tables/tableGrid.js';
import { markdownTable, oneLine, type TextBuilder, tidyLines } from '../../textBuilder.js';
import type { DocumentLimits } from '../../types.js';
import { ListNumbers } from './listNumbers.js';
import { levelOf, type ListPlace, type Styles } from './readStyles.js';

interface Paragraph {
  text: string;
  style: string | null;
  numId: string | null;
  level: number | null;
  /**
   * Its place in a list, and its number with the text around it; undefined until it is counted, null outside of lists.
   */
  item?: ListItem | null;
  outline: number | null;
  /** An open link: the start of its text, and its address. */
  link: { readonly from: number; readonly url: string } | null;
}

interface ListItem {
  readonly level: number;
  /** `1.2`, `(a)`…; '' for a bullet. */
  readonly number: string;
}

export interface BodyParts {
  readonly styles: Styles;
  readonly relations: ReadonlyMap<string, Relation>;
  /** Charts, diagrams and inserted files as blocks, by relation id. */
  readonly figures: ReadonlyMap<string, readonly string[]>;
  readonly limits: DocumentLimits;
  readonly writer: TextBuilder;
  readonly marks: NoteMarks;
  readonly commented: CommentedText;
}

interface Table {
  readonly grid: TableGrid;
  cells: number;
  cell: string[];
  /** The paragraphs and tables of the first cell, while there is no other. */
  content: (Paragraph | string)[];
  span: Span;
  /** Whether the open cell continues the cell above it. */
  continues: boolean;
}

/** Elements of tracked changes. Insertions are read, deletions are skipped, and both are counted. */
const INSERTED = new Set(['ins', 'moveTo']);
const DELETED = new Set(['del', 'moveFrom']);

/** Elements that contain deleted text, a copy of other text, or no text. */
const NO_TEXT = ['del', 'moveFrom', 'Fallback', 'instrText', 'delText', 'delInstrText'];
/** Tracked changes of formatting, which contain the properties before the change. */
const OLD_FORMATTING = ['pPrChange', 'rPrChange', 'tblPrChange', 'trPrChange', 'tcPrChange', 'sectPrChange'];
const SKIPPED = new Set([...NO_TEXT, ...OLD_FORMATTING]);

/**
 * Writes the paragraphs, lists and tables of a text document's body (or notes) as Markdown-like text. Open elements are
 * kept on stacks instead of recursion, because text boxes contain paragraphs, and cells contain tables.
 */
export class BodyReader {
  readonly #styles: Styles;
  readonly #relations: ReadonlyMap<string, Relation>;
  readonly #limits: DocumentLimits;
  readonly #writer: TextBuilder;
  readonly #marks: NoteMarks;
  readonly #numbers: ListNumbers;
  readonly #figures: ReadonlyMap<string, readonly string[]>;
  /** Figures in a paragraph or table that is still open. */
  #shown: string[] = [];
  #lastWasItem = false;
  readonly #commented: CommentedText;
  readonly #changes = { insertions: 0, deletions: 0 };

  constructor({ styles, relations, figures, limits, writer, marks, commented }: BodyParts) {
    this.#commented = commented;
    this.#marks = marks;
    this.#styles = styles;
    this.#numbers = new ListNumbers(styles.levelOf);
    this.#relations = relations;
    this.#figures = figures;
    this.#limits = limits;
    this.#writer = writer;
  }

  /** Number of tracked changes in the parts that were read. */
  get changes(): Readonly<{ insertions: number; deletions: number }> {
    return this.#changes;
  }

  read(part: Uint8Array): void {
    const paragraphs: Paragraph[] = [];
    const tables: Table[] = [];
    let skipped = 0;
    let inText = false;
    readXml(part, this.#limits, {
      open: (name, attributes) => {
        if (INSERTED.has(name)) this.#changes.insertions += 1;
        else if (DELETED.has(name)) this.#changes.deletions += 1;
        if (skipped > 0 || SKIPPED.has(name)) skipped += 1;
        if (skipped > 0) return;
        const paragraph = paragraphs.at(-1);
        if (name === 'br' || name === 'cr' || name === 'tab') this.#commented.add(' ');
        if (name === 'p')
          paragraphs.push({ text: '', style: null, numId: null, level: null, outline: null, link: null });
        else if (name === 'tbl')
          tables.push({ grid: new TableGrid(), cells: 0, cell: [], content: [], span: ONE, continues: false });
        else if (name === 't') inText = true;
        else if (name === 'altChunk') {
          this.#show(attributes['r:id']);
          if (tables.length === 0) this.#writeShown();
        } else if (name === 'commentRangeStart') this.#commented.begin(attributes['id'] ?? '');
        else if (name === 'commentRangeEnd') this.#commented.end(attributes['id'] ?? '');
        else if (name === 'chart') this.#show(attributes['r:id']);
        else if (name === 'relIds') this.#show(attributes['r:dm']);
        else if (!openInTable(tables.at(-1), name, attributes) && paragraph)
          openInParagraph(paragraph, name, attributes, this.#relations, this.#marks);
      },
      text: (text) => {
        const paragraph = paragraphs.at(-1);
        if (!inText || skipped > 0 || !paragraph) return;
        paragraph.text += text;
        this.#commented.add(text);
      },
      close: (name) => {
        if (skipped > 0) {
          skipped -= 1;
          return;
        }
        const table = tables.at(-1);
        if (name === 't') inText = false;
        else if (name === 'p') {
          const paragraph = paragraphs.pop();
          this.#commented.add(' ');
          if (paragraph) this.#endParagraph(paragraph, table);
          if (paragraphs.length === 0 && table === undefined) this.#writeShown();
        } else if (name === 'hyperlink') closeLink(paragraphs.at(-1));
        else if (name === 'tc') endCell(table);
        else if (name === 'tr') table?.grid.endRow();
        else if (name === 'tbl') {
          tables.pop();
          this.#endTable(table, tables.at(-1));
          if (paragraphs.length === 0 && tables.length === 0) this.#writeShown();
        }
      },
    });
  }

  #show(id: string | undefined): void {
    this.#shown.push(...(this.#figures.get(id ?? '') ?? []));
  }

  /** Writes figures after the paragraph or table that contains them. */
  #writeShown(): void {
    for (const block of this.#shown) this.#writer.block(block);
    if (this.#shown.length > 0) this.#lastWasItem = false;
    this.#shown = [];
  }

  #endTable(table: Table | undefined, outer: Table | undefined): void {
    if (!table) return;
    const { grid, cells, content } = table;
    const markdown = markdownTable(grid.rows);
    if (outer) {
      // A nested table cannot be written as a table: its text stays in the cell.
      outer.cell.push(grid.rows.flat().filter(Boolean).join(' '));
      if (outer.cells === 0) outer.content.push(markdown);
    } else if (cells === 1) {
      // A table of one cell is a frame around text.
      for (const part of content) {
        if (typeof part === 'string') this.#writer.block(part);
        else this.#endParagraph(part, undefined);
      }
    } else this.#writer.block(markdown);
    this.#lastWasItem = false;
  }

  #endParagraph(paragraph: Paragraph, table: Table | undefined): void {
    const text = tidyLines(paragraph.text);
    // An empty item has a number too.
    const item = this.#itemOf(paragraph);
    if (table) {
      const shown = oneLine(`${item?.number ?? ''} ${text}`);
      if (shown !== '') table.cell.push(shown);
      if (table.cells === 0 && text !== '') table.content.push(paragraph);
      return;
    }
    if (text === '') return;
    const heading =
      this.#styles.headingOf(paragraph.style) ??
      (paragraph.outline !== null && paragraph.outline < 6 ? paragraph.outline + 1 : null);
    if (heading !== null) this.#writer.block(`${'#'.repeat(heading)} ${oneLine(`${item?.number ?? ''} ${text}`)}`);
    else if (item) this.#writeItem(item, text);
    else this.#writer.block(text);
    this.#lastWasItem = heading === null && item !== null;
  }

  /** Counts a paragraph in its list; a paragraph is counted once. */
  #itemOf(paragraph: Paragraph): ListItem | null {
    if (paragraph.item === undefined) {
      const place = this.#placeOf(paragraph);
      paragraph.item = place === null ? null : { level: place.level, number: this.#numbers.next(place) };
    }
    return paragraph.item;
  }

  #placeOf({ style, numId, level }: Paragraph): ListPlace | null {
    const ofStyle = this.#styles.listOf(style);
    const list = numId ?? ofStyle?.numId ?? '0';
    // Zero removes a paragraph from the list of its style.
    if (list === '0') return null;
    return { numId: list, level: level ?? (numId === null ? (ofStyle?.level ?? 0) : 0) };
  }

  #writeItem({ level, number }: ListItem, text: string): void {
    const indent = '  '.repeat(level);
    this.#writer.break(!this.#lastWasItem);
    this.#writer.add(`${indent}${listMark(number)} ${text.replaceAll('\n', `\n${indent}  `)}`);
  }
}

const ONE: Span = { columns: 1, rows: 1 };

/**
 * Reads the elements of rows and cells. Returns whether the element is one of them. A paragraph may be open at the same
 * time, because text boxes contain tables.
 */
function openInTable(table: Table | undefined, name: string, { val }: Readonly<Record<string, string>>): boolean {
  if (!table) return false;
  if (name === 'tr') table.grid.beginRow();
  else if (name === 'gridBefore') table.grid.addEmpty(Number(val ?? 0) || 0);
  else if (name === 'tc') [table.span, table.continues] = [ONE, false];
  else if (name === 'gridSpan') table.span = { columns: spanOf(val), rows: 1 };
  else if (name === 'vMerge') table.continues = val !== 'restart';
  else return false;
  return true;
}

function endCell(table: Table | undefined): void {
  if (!table) return;
  if (table.continues) table.grid.addContinued(table.span.columns);
  else table.grid.add(table.cell.join(' '), table.span, false);
  table.cells += 1;
  table.cell = [];
}

function openInParagraph(
  paragraph: Paragraph,
  name: string,
  attributes: Readonly<Record<string, string>>,
  relations: ReadonlyMap<string, Relation>,
  marks: NoteMarks,
): void {
  const { val } = attributes;
  if (name === 'pStyle') paragraph.style = val ?? null;
  else if (name === 'numId') paragraph.numId = val ?? null;
  else if (name === 'ilvl') paragraph.level = levelOf(val);
  else if (name === 'outlineLvl') paragraph.outline = Number(val ?? 9);
  else if (name === 'tab' && attributes['pos'] === undefined) paragraph.text += '\t';
  else if (name === 'br' || name === 'cr') paragraph.text += '\n';
  else if (name === 'noBreakHyphen') paragraph.text += '-';
  else if (name === 'footnoteReference') paragraph.text += marks.refer('footnotes', attributes['id'] ?? '');
  else if (name === 'endnoteReference') paragraph.text += marks.refer('endnotes', attributes['id'] ?? '');
  else if (name === 'hyperlink') {
    const relation = relations.get(attributes['r:id'] ?? '');
    if (relation?.external === true && /^(?:https?|mailto):/i.test(relation.target))
      paragraph.link = { from: paragraph.text.length, url: relation.target };
  }
}

function closeLink(paragraph: Paragraph | undefined): void {
  if (!paragraph?.link) return;
  const { from, url } = paragraph.link;
  const label = paragraph.text.slice(from);
  // If the label of a link is its address, write it once.
  if (label.trim() !== '' && label !== url) paragraph.text = `${paragraph.text.slice(0, from)}[${label}](${url})`;
  paragraph.link = null;
}
