import { markdownTable, oneLine, type TextBuilder } from '../../textBuilder.js';

/** Properties of a paragraph, valid until \\pard. */
export interface Paragraph {
  /** Heading level from 0; null for no heading. */
  outline: number | null;
  /** Bullet or number of a list item. */
  mark: string | null;
  level: number;
  inTable: boolean;
}

export const PLAIN: Readonly<Paragraph> = { outline: null, mark: null, level: 0, inTable: false };

/** Writes the paragraphs, headings, list items and tables of an RTF file as Markdown. */
export class Blocks {
  readonly #writer: TextBuilder;
  #lastWasItem = false;
  #rows: string[][] = [];

  constructor(writer: TextBuilder) {
    this.#writer = writer;
  }

  paragraph(text: string, { outline, mark, level }: Readonly<Paragraph>): void {
    this.endTable();
    const shown = mark === null ? '' : oneLine(mark);
    const isItem = shown !== '' && outline === null;
    if (outline !== null && outline < 6) this.#writer.block(`${'#'.repeat(outline + 1)} ${oneLine(text)}`);
    else if (isItem) {
      this.#writer.break(!this.#lastWasItem);
      this.#writer.add(`${'  '.repeat(level)}${/^\(?[\p{L}\d]{1,4}[.)]/u.test(shown) ? shown : '-'} ${text}`);
    } else this.#writer.block(text);
    this.#lastWasItem = isItem;
  }

  /** Adds a row to the open table, or begins one. Ignores a row without cells. */
  row(cells: string[]): void {
    if (cells.length > 0) this.#rows.push(cells);
  }

  endTable(): void {
    if (this.#rows.length === 0) return;
    this.#writer.block(markdownTable(this.#rows));
    this.#rows = [];
    this.#lastWasItem = false;
  }
}
